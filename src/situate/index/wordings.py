"""Wordings of one document side by side, each in force until the next one (S5).

A wording is told by the day from which it is in force: what is read with that day
corrects it, what is read with another stands beside it. Its records begin with it at
the earliest, and get the last day that follows from the next wording, so that a range
filter finds one wording for a day, whatever dates its headings name.
Pure; the lines of records are handed in.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from situate.fields import typed
from situate.index.names import record_id
from situate.index.state import Hashes
from situate.records import from_line, metadata_hash
from situate.validity import successions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from situate.index.state import Documents, DocumentState
    from situate.records import Record


def label_of(
    version: str, effective_from: str | None, others: Iterable[DocumentState]
) -> str | None:
    """Give the label of a wording among those of its document that are known.

    A correction keeps the label of what it corrects, and so the names of its records;
    a new wording has its version, with a number where another has that already.
    """
    known = tuple(others)
    for other in known:
        if other.effective_from == effective_from:
            return other.label
    taken = {other.label for other in known}
    if version not in taken:
        return version
    numbered = (f"{version}~{number}" for number in count(2))
    return next(label for label in numbered if label not in taken)


def nearest(
    effective_from: str | None, others: Iterable[DocumentState]
) -> DocumentState | None:
    """Give the known wording that what is read corrects, else the one that begins last.

    Chunks that both have go on with what is known of them.
    """
    found = sorted(others, key=lambda other: other.effective_from or "")
    same = [other for other in found if other.effective_from == effective_from]
    return next(iter((*same, *reversed(found))), None)


def in_order(
    documents: Documents, lines: Callable[[DocumentState], Mapping[str, bytes]]
) -> Documents:
    """Give documents in which each wording ends where the next one begins.

    One without others that has the ids of its chunks is as in an index of the latest.
    `lines` gives the records of a document by their names.

    Raises:
        RecordError: those of a wording whose days change are not there.
    """
    begins: dict[str, list[str | None]] = {}
    for document in documents.values():
        begins.setdefault(document.doc_id, []).append(document.effective_from)
    found = dict(documents)
    for key, document in documents.items():
        days = begins[document.doc_id]
        is_wording = document.label is not None or len(days) > 1
        since = document.effective_from if is_wording else None
        until = successions(days)[document.effective_from]
        if (since, until) != (document.since, document.until):
            bounded = replace(document, since=since, until=until)
            found[key] = _hashed(bounded, lines(document))
    return found


def as_sent(record: Record, document: DocumentState) -> Record:
    """Give a chunk's record as a store is to have it: with its name and its days."""
    found: Record = {}
    for key, value in record.items():
        found[key] = value
        if key == "chunk_id":
            found["record_id"] = record_id(str(value), document.label)
        elif key == "parent_chunk_id":
            found["parent_record_id"] = (
                None if value is None else record_id(str(value), document.label)
            )
    bounds = (
        ("effective_from", document.since, max),
        ("effective_to", document.until, min),
    )
    for key, day, narrower in bounds:
        if day is not None:
            metadata = typed(dict, found["metadata"], "metadata")
            own = typed(str, metadata[key] or day, key)
            metadata = {**metadata, key: narrower(own, day)}
            found["metadata"] = {**metadata, "metadata_hash": metadata_hash(metadata)}
    return found


def _hashed(document: DocumentState, lines: Mapping[str, bytes]) -> DocumentState:
    """Give a wording with the hashes of what is sent of it."""
    return replace(
        document,
        chunks={
            name: Hashes.of(as_sent(from_line(line, name), document), name)
            for name, line in lines.items()
        },
    )
