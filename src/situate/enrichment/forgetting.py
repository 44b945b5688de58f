"""Takes a document out of a ledger, whose amounts stay.

What was spent on a document was spent; which chunks it was for is nobody's concern
once the document is forgotten. Of a line that names no other document nothing is left
but amounts, times and whom was asked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.model import document_of
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentions:
    """What a ledger says of a document."""

    lines: int
    """That name chunks of it."""
    broken: int
    """That a killed run has left half written; what they say cannot be told."""
    own: frozenset[str]
    """Keys of the replies that it was asked or served by."""
    others: frozenset[str]
    """Keys of those that another document was."""


def mentions(path: Path, doc_id: str) -> Mentions:
    """Find what a ledger says of a document; a missing one says nothing.

    Raises:
        RecordError: the file cannot be read.
    """
    lines = broken = 0
    own: set[str] = set()
    others: set[str] = set()
    for record, _ in _records(path):
        if record is None:
            broken += 1
            continue
        ids = _ids(record)
        documents = set(map(document_of, ids))
        reply = record.get("request")
        lines += doc_id in documents
        if isinstance(reply, str):
            if doc_id in documents:
                own.add(reply)
            if documents - {doc_id}:
                others.add(reply)
    return Mentions(
        lines=lines, broken=broken, own=frozenset(own), others=frozenset(others)
    )


def without(path: Path, doc_id: str) -> Iterator[bytes]:
    """Yield the lines of a ledger that does not name a document any more.

    Its chunks are counted under `forgotten`. Half lines are left out.

    Raises:
        RecordError: the file cannot be read.
    """
    for record, line in _records(path):
        if record is None:
            continue
        ids = _ids(record)
        left = [each for each in ids if document_of(each) != doc_id]
        if len(left) == len(ids):
            yield line
            continue
        before = record.get("forgotten")
        count = len(ids) - len(left) + (before if isinstance(before, int) else 0)
        # Equal requests of two documents have one key, which tells nothing of either.
        request = record.get("request") if left else None
        changed = {
            **record,
            "request": request,
            "chunk_ids": left,
            "forgotten": count,
        }
        yield json.dumps(changed, ensure_ascii=True).encode("ascii") + b"\n"


def _records(path: Path) -> Iterator[tuple[Record | None, bytes]]:
    """Yield lines and what they say; None for one that is half written."""
    if not path.exists():
        return
    for where, line in read_lines(path):
        if not line.strip():
            continue
        try:
            yield from_line(line, where), line
        except RecordError:
            yield None, line


def _ids(record: Record) -> list[str]:
    ids = record.get("chunk_ids")
    return (
        [each for each in ids if isinstance(each, str)] if isinstance(ids, list) else []
    )
