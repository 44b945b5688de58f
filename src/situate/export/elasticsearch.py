"""Elasticsearch from 8.16, where `rrf` came to take `collapse`.

`rrf` needs an Enterprise licence; `queries/hybrid-basic.json` does without and adds
the scores of words and vectors instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from situate.export import bulk, queries
from situate.export.mapping import LONGEST, mappings
from situate.export.store import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.export.store import Target, Told
    from situate.model import JsonValue
    from situate.records import Record

_WINDOW: Final = 50


@dataclass(frozen=True, slots=True)
class Elasticsearch:
    """Tells Elasticsearch of chunks."""

    target: Target

    holder: ClassVar[str] = "index"
    needs_vectors: ClassVar[bool] = False
    most_dimensions: ClassVar[int] = 4096
    """Of `dense_vector`, by the specification of 9.4."""

    def refusal(self) -> str | None:
        """Say why both vendors refuse the name of the index."""
        return bulk.refusal(self.target.index)

    def files(self) -> Mapping[str, bytes]:
        """Give the index template and the queries."""
        target = self.target
        found: dict[str, JsonValue] = {
            "index-template.json": {
                "index_patterns": [target.index],
                "template": {"mappings": _mappings(target.dimensions)},
            },
            "queries/as-of.json": queries.filtered(queries.IN_FORCE),
            "queries/acl.json": queries.filtered(queries.ALLOWED, queries.CLEARED),
        }
        if target.dimensions is not None:
            found["queries/hybrid.json"] = _fused(target.dimensions)
            found["queries/hybrid-basic.json"] = _added(target.dimensions)
        return {name: shown(value) for name, value in found.items()}

    def too_long(self, record: Record) -> Mapping[str, int]:  # noqa: ARG002 - a store may have to look
        """Find nothing: what is above `ignore_above` is stored and not indexed."""
        return {}

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write a whole record as `index`."""
        return bulk.put(record, vector)

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write a record without its texts as `update`."""
        return bulk.update(record, vector)

    def delete(self, record: Record) -> Told:
        """Write `delete`."""
        return bulk.delete(record)

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:  # noqa: ARG002 - all files are alike
        """Give the body of a request."""
        return b"".join(lines)


def _mappings(dimensions: int | None) -> Record:
    vector: JsonValue = {
        "type": "dense_vector",
        "dims": dimensions,
        "index": True,
        "similarity": "cosine",
    }
    # Twenty levels are the default, beyond which a record is refused.
    custom: JsonValue = {
        "type": "flattened",
        "ignore_above": LONGEST // 2,
        "depth_limit": 100,
    }
    return mappings(custom, None if dimensions is None else vector)


def _near(dimensions: int) -> Record:
    return {
        "field": "vector",
        "query_vector": queries.example(dimensions),
        "k": _WINDOW,
        "num_candidates": 4 * _WINDOW,
    }


def _fused(dimensions: int) -> Record:
    return {
        "size": queries.SIZE,
        "_source": queries.SHOWN,
        "retriever": {
            "rrf": {
                "retrievers": [
                    {"standard": {"query": queries.WORDS}},
                    {"knn": _near(dimensions)},
                ],
                "filter": [queries.SEARCHED],
                "rank_window_size": _WINDOW,
            }
        },
        "collapse": {"field": "group_id"},
    }


def _added(dimensions: int) -> Record:
    return {
        **queries.filtered(),
        "knn": {**_near(dimensions), "filter": [queries.SEARCHED]},
        "collapse": {"field": "group_id"},
    }
