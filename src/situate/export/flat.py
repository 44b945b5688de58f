"""A record as one row of plain columns, for stores that take no nested values.

Every row has every column, so that an update takes away what is gone: where nothing
stands there it is null, or an empty list. `metadata` is the whole of it as JSON, so
that nothing of a record is lost; what one filters by stands beside it:

    id           its id in the store, as `documents.document_id` gives it
    group_id     that of the parent; one's own where there is none
    valid_from   first day, `documents.FIRST` where that is open; null for what is
    valid_to     last day, `documents.LAST`    never in force
    acl, classification   as in `documents`
    classified   whether there is a class
    custom       every other `key=value` of `metadata.custom`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from situate.errors import RecordError
from situate.export.documents import (
    document_id,
    fields,
    metadata_of,
    said_otherwise,
)
from situate.fields import typed
from situate.index.parcel import TEXTS
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue
    from situate.records import Record

Kind = Literal["text", "count", "flag", "day", "texts", "counts"]

COLUMNS: Final[Mapping[str, Kind]] = {
    "id": "text",
    "schema": "count",
    "record_id": "text",
    "chunk_id": "text",
    "doc_id": "text",
    "doc_version": "text",
    "parent_record_id": "text",
    "parent_chunk_id": "text",
    "group_id": "text",
    "level": "text",
    "text": "text",
    "context_prefix": "text",
    "embed_text": "text",
    "lexical_text": "text",
    "block_ids": "texts",
    "metadata": "text",
    "corpus": "text",
    "title": "text",
    "doc_type": "text",
    "source": "text",
    "language": "text",
    "breadcrumb": "texts",
    "ordinal": "count",
    "token_count": "count",
    "pages": "counts",
    "embed": "flag",
    "embed_hash": "text",
    "valid_from": "day",
    "valid_to": "day",
    "acl": "texts",
    "classification": "texts",
    "classified": "flag",
    "custom": "texts",
}
"""What each column holds, in order; days are ISO dates."""

_LARGEST: Final = 2**63
"""Counts are below it: columns of whole numbers have 64 bits."""


def days(validity: JsonValue) -> tuple[str | None, str | None]:
    """Give the first and the last day of `validity`, as `documents` gives it."""
    if validity is None:
        return None, None
    ends = typed(dict, validity, "validity")
    return str(ends["gte"]), str(ends["lte"])


def metadata_text(record: Record) -> str:
    """Give the metadata of a record as JSON.

    Raises:
        RecordError: a value has no place in JSON or in UTF-8.
    """
    metadata = metadata_of(record)
    # Its error names the record.
    to_line({"chunk_id": record["chunk_id"], "metadata": metadata})
    return to_line(metadata)[:-1].decode("utf-8")


def whole_day(day: str) -> int:
    """Give a day as a number, such as 20260131, for stores that compare no dates."""
    return int(day.replace("-", ""))


def flat(record: Record) -> Record:
    """Give the row of a record; of one without texts the row has none.

    Raises:
        RecordError: a date is none, or a value has no place in JSON or in a column.
    """
    known = {**metadata_of(record), **fields(record, None)}
    first, last = days(known["validity"])
    known |= {
        "id": document_id(record),
        "metadata": metadata_text(record),
        "valid_from": first,
        "valid_to": last,
        "classified": bool(known["classification"]),
        "custom": said_otherwise(record),
    }
    row = {name: known[name] for name in COLUMNS if name in record or name not in TEXTS}
    for name, kind in COLUMNS.items():
        if kind in {"count", "counts"}:
            _check_counts(record, name, row[name])
    return row


def _check_counts(record: Record, name: str, value: JsonValue) -> None:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int) and not -_LARGEST <= each < _LARGEST:
            message = f"{record['chunk_id']!r}: {name} is {each}, which no store counts"
            raise RecordError(message)
