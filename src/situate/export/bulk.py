"""The lines of `_bulk`, which both vendors read alike.

A line that says what is to be done, then, but for a delete, one that says with what.
Every change says what is to be, not what is to be added: told twice it is told once.
No line names the index: the address they are sent to does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.export.documents import document, document_id, fields, searched_as
from situate.export.store import Told
from situate.records import to_line

if TYPE_CHECKING:
    from situate.records import Record

_PART: Final = "bulk-{:05}.ndjson"

_REFUSED: Final = frozenset('\\/*?"<>|,#: ')

_MOST_BYTES: Final = 255

# A partial document would be merged object by object: a key that is gone from
# `custom`, or the text under the analyser of another language, would stay.
LAID_OVER: Final = (
    "ctx._source.putAll(params.fields); "
    "if (params.analyser == null) "
    "{ ctx._source.lexical = null; ctx._source.remove('vector'); } "
    "else { ctx._source.lexical = [params.analyser: ctx._source.lexical_text]; }"
)
"""Painless. Replaces the given keys whole; texts stay, and the vector of what is found.

One text for all updates, so that a server compiles it once.
"""


def refusal(index: str) -> str | None:
    """Say why both vendors refuse the name of an index, None where they do not."""
    if not index or len(index.encode("utf-8", "replace")) > _MOST_BYTES:
        return f"it has to have 1 to {_MOST_BYTES} bytes"
    if index != index.lower():
        return "it has to be in lower case"
    if wrong := sorted(_REFUSED & {*index}):
        return f"it must not hold {wrong[0]!r}"
    if index[0] in "-_+." or not index.isprintable():
        return "it must not start with -, _, + or ., nor hold control characters"
    return None


def put(record: Record, vector: list[float] | None) -> Told:
    """Write that a record takes the place of what has its id.

    Raises:
        RecordError: a date is none, or a value has no place in JSON.
    """
    return _told(_action("index", record), to_line(document(record, vector)))


def update(record: Record, vector: list[float] | None) -> Told:
    """Write that a record without texts is laid over what has its id.

    Where nothing has, the store answers 404 for this line and goes on.

    Raises:
        RecordError: a date is none, or a value has no place in JSON.
    """
    script: Record = {
        "lang": "painless",
        "source": LAID_OVER,
        "params": {
            "fields": fields(record, vector),
            "analyser": searched_as(record),
        },
    }
    return _told(_action("update", record), to_line({"script": script}))


def delete(record: Record) -> Told:
    """Write that what has the id of a record goes.

    Where nothing has, the store answers 404 for this line and goes on.
    """
    return _told(_action("delete", record))


def _action(name: str, record: Record) -> bytes:
    return to_line({name: {"_id": document_id(record)}})


def _told(*lines: bytes) -> Told:
    return Told(part=_PART, line=b"".join(lines))
