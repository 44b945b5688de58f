"""Names of records: ids of chunks, and whose wording they are of.

An index that keeps every wording of a document (S5) has several records of one chunk:
`chunk_id@version`. No id of a chunk has an `@` behind its first colon, and a version
that has one is quoted, so that a name says which it is.
"""

from __future__ import annotations

from typing import Final

from situate.model import quoted, unquoted

_APART: Final = "\0"
"""Between a document's id and a version: no id and no path can have it."""


def record_id(chunk_id: str, label: str | None) -> str:
    """Name the record of a chunk; without a label it has the chunk's id."""
    return chunk_id if label is None else f"{chunk_id}@{quoted(label, marks=':@')}"


def wording_key(doc_id: str, label: str | None) -> str:
    """Name a wording of a document; without a label that is the document."""
    return doc_id if label is None else f"{doc_id}{_APART}{label}"


def key_of(record: str) -> str:
    """Name the wording that a record is of, by the record's name."""
    document, _, place = record.partition(":")
    _, labelled, label = place.rpartition("@")
    return wording_key(unquoted(document), unquoted(label) if labelled else None)


def chunk_id_of(record: str) -> str:
    """Give the id of the chunk that a record is of."""
    document, colon, place = record.partition(":")
    chunk, labelled, label = place.rpartition("@")
    return f"{document}{colon}{chunk if labelled else label}"


def doc_id_of(key: str) -> str:
    """Give the id of the document that a wording is of."""
    return key.partition(_APART)[0]
