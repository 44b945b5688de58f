"""What stands in a store for a record: the record, and what its searches need.

Beside the keys of the record:

    record_id, parent_record_id   as in a delta; those of the chunks where it is none
    group_id   the id, in the store, of the parent; one's own where there is none
    validity   first and last day; open ends are `FIRST` and `LAST`; null for what is
               never in force
    acl        every `acl_*` of `metadata.custom` as `key=value`
    classification   every value of that key of `metadata.custom`
    lexical    the lexical text under the analyser of its language; null where
               `metadata.embed` is false
    vector     where one is given
"""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Final

from situate.access import CLASSIFICATION, is_permission
from situate.errors import RecordError
from situate.export.languages import analyser
from situate.fields import typed
from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from situate.model import JsonValue
    from situate.records import Record

FIRST, LAST = "0001-01-01", "9999-12-31"
"""What stands for an end that is open: one range filter then finds every record."""

MOST_BYTES: Final = 512
"""Of an `_id`, in UTF-8.

Elasticsearch: "The _id field is limited to 512 bytes in size" (reference, `_id`
field); OpenSearch has kept the limit.
"""


def document_id(record: Record) -> str:
    """Give the `_id` of a record in the store, also of one that is to be deleted.

    It is the record's id; one of more than 512 bytes is cut, and ends in its hash.
    """
    return _fitting(str(record.get("record_id", record["chunk_id"])))


def document(record: Record, vector: list[float] | None) -> Record:
    """Give the document for a whole record.

    Raises:
        RecordError: a date is none.
    """
    found = fields(record, vector)
    name = searched_as(record)
    lexical = None if name is None else {name: record["lexical_text"]}
    return {**found, "lexical": lexical}


def fields(record: Record, vector: list[float] | None) -> Record:
    """Give what can be said of a record whose texts are not at hand.

    Raises:
        RecordError: a date is none.
    """
    parent = record.get("parent_record_id", record["parent_chunk_id"])
    found: Record = {
        **record,
        "record_id": record.get("record_id", record["chunk_id"]),
        "parent_record_id": parent,
        "group_id": document_id(record) if parent is None else _fitting(str(parent)),
        "validity": _validity(record),
        "acl": [*dict.fromkeys(_terms(record, _lists_people))],
        "classification": [*dict.fromkeys(_classes(record))],
    }
    if vector is not None:
        found["vector"] = [*vector]
    return found


def said_otherwise(record: Record) -> list[JsonValue]:
    """Give as `key=value` what custom keys say that are no permissions.

    Of lists every value; objects, and lists in lists, are left out.
    """
    return [*dict.fromkeys(_terms(record, lambda key: not is_permission(key)))]


def searched_as(record: Record) -> str | None:
    """Name the analyser of a record, None for one that is not to be found."""
    metadata = metadata_of(record)
    language = metadata["language"]
    if not metadata["embed"]:
        return None
    return analyser(language if isinstance(language, str) else None)


def metadata_of(record: Record) -> Record:
    """Give the metadata of a record that was checked."""
    return typed(dict, record["metadata"], "metadata")


def _fitting(name: str) -> str:
    encoded = name.encode("utf-8", "replace")
    if len(encoded) <= MOST_BYTES:
        return name
    end = f"~{digest(name)}"
    return encoded[: MOST_BYTES - len(end)].decode("utf-8", "ignore") + end


def _validity(record: Record) -> Record | None:
    first = _day(record, "effective_from") or FIRST
    last = _day(record, "effective_to") or LAST
    return {"gte": first, "lte": last} if first <= last else None


def _day(record: Record, key: str) -> str | None:
    value = metadata_of(record)[key]
    if value is None:
        return None
    try:
        if isinstance(value, str) and date.fromisoformat(value).isoformat() == value:
            return value
    except ValueError:
        pass
    message = f"{record['chunk_id']!r}: {key} is {value!r}, not a date as 2026-01-31"
    raise RecordError(message)


# Fields of their own, since the flat field of OpenSearch may not find keys that stand
# behind an array of objects (opensearch-project/OpenSearch issue 13698).
def _terms(record: Record, wanted: Callable[[str], bool]) -> Iterator[str]:
    custom = typed(dict, metadata_of(record)["custom"], "custom")
    for key, value in custom.items():
        if wanted(key):
            yield from (
                f"{key}={_said(each)}"
                for each in _each(value)
                if isinstance(each, str | int | float)
            )


def _lists_people(key: str) -> bool:
    return is_permission(key) and key != CLASSIFICATION


def _classes(record: Record) -> Iterator[str]:
    """Yield a term for every class, whatever it is.

    A record without one counts as open: no class may get lost by its size or kind.
    """
    custom = typed(dict, metadata_of(record)["custom"], "custom")
    for each in _each(custom.get(CLASSIFICATION)):
        if each is not None:
            yield _fitting(_said(each))


def _each(value: JsonValue) -> Iterable[JsonValue]:
    return value if isinstance(value, list) else [value]


def _said(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
