"""Queries that both vendors read alike, ready but for their words.

Each finds only what is to be found, by `SEARCHED`. Who may see what is closed by
default: a record without permissions is found by nobody who is asked for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from situate.model import JsonValue
    from situate.records import Record

SIZE: Final = 10

SEARCHED: Final[JsonValue] = {"term": {"metadata.embed": True}}
"""Leaves containers out, which are stored to be handed over by their id."""

WORDS: Final[JsonValue] = {
    "multi_match": {"query": "WORDS", "fields": ["lexical.*"], "type": "best_fields"}
}
"""Asks every language's field in its own way; name one to ask in one language."""

# A day as both ends, so that the hours that a store adds to either are covered.
IN_FORCE: Final[JsonValue] = {
    "range": {"validity": {"gte": "now/d", "lte": "now/d", "relation": "intersects"}}
}
"""Today, in UTC; put a date such as 2026-01-31 in both places."""

ALLOWED: Final[JsonValue] = {"terms": {"acl": ["acl_groups=GROUP"]}}
"""One `key=value` for every group of who asks."""

CLEARED: Final[JsonValue] = {
    "bool": {
        "should": [
            {"terms": {"classification": ["CLASS"]}},
            {"bool": {"must_not": [{"exists": {"field": "classification"}}]}},
        ],
        "minimum_should_match": 1,
    }
}
"""Every class that who asks may see, and what has none: that is open to the groups."""

SHOWN: Final[JsonValue] = {
    "excludes": ["vector", "embed_text", "lexical_text", "lexical"]
}


def filtered(*filters: JsonValue) -> Record:
    """Give a search by words among what passes the filters."""
    return {
        "size": SIZE,
        "_source": SHOWN,
        "query": {"bool": {"must": [WORDS], "filter": [SEARCHED, *filters]}},
    }


def example(dimensions: int) -> list[JsonValue]:
    """Give a vector to stand where that of the question belongs."""
    return [1.0, *[0.0] * (dimensions - 1)]
