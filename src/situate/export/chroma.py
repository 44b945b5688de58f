"""Chroma from 1.5, which came to take lists: calls of a collection's methods.

Its metadata are flat and merged with what is there, so every call gives every key,
with null for what is to go. It keeps no record without a vector: what is not to be
found by one gets zeros, and `searched` says so. A filter by it belongs in every query.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from situate.export.documents import document_id, metadata_of
from situate.export.flat import COLUMNS, flat, whole_day
from situate.export.store import Told, shown
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.export.store import Target
    from situate.model import JsonValue
    from situate.records import Record

_UPSERTS: Final = "upserts-{:05}.jsonl"
_UPDATES: Final = "updates-{:05}.jsonl"
_DELETES: Final = "deletes-{:05}.jsonl"

_METHODS: Final[Mapping[str, str]] = {
    _UPSERTS: "upsert",
    _UPDATES: "update",
    _DELETES: "delete",
}

MOST_RECORDS: Final = 300
"""Of a call. A local Chroma takes 5,461 (1.5.9, `get_max_batch_size`), its cloud 300
(docs.trychroma.com, quotas)."""

_APART: Final = frozenset({"id", "text", "embed"})
"""Columns that have other places than the metadata."""

_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]\Z")

_ADDRESS: Final = re.compile(r"[0-9]+(\.[0-9]+){3}\Z")


@dataclass(frozen=True, slots=True)
class Chroma:
    """Tells Chroma of chunks."""

    target: Target

    holder: ClassVar[str] = "collection"
    needs_vectors: ClassVar[bool] = True
    most_dimensions: ClassVar[int] = 65_536
    """Chroma names no limit; no embedder comes near this one."""

    def refusal(self) -> str | None:
        """Say why Chroma refuses the name of the collection."""
        name = self.target.index
        if not _NAME.match(name):
            return (
                "it has to have 3 to 512 of the characters a-z, A-Z, 0-9, ., _ and -, "
                "a letter or digit first and last"
            )
        if ".." in name or _ADDRESS.match(name):
            return "it must not hold .. nor be an address"
        return None

    def files(self) -> Mapping[str, bytes]:
        """Give the keyword arguments of `get_or_create_collection`.

        `embedding_function` is null: Chroma would embed what it shows.
        """
        collection: Record = {
            "name": self.target.index,
            "embedding_function": None,
            "configuration": {"hnsw": {"space": "cosine"}},
        }
        return {"collection.json": shown(collection)}

    def too_long(self, record: Record) -> Mapping[str, int]:  # noqa: ARG002 - a store may have to look
        """Find nothing: metadata may have any length."""
        return {}

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write the row of a whole record."""
        searched = vector is not None
        return _told(_UPSERTS, record, vector or self._nowhere(), searched=searched)

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write the row of a record without its texts.

        The vector stays, but for one that is given anew, and that of what is no
        longer to be found.
        """
        if not metadata_of(record)["embed"]:
            return _told(_UPDATES, record, self._nowhere(), searched=False)
        searched = None if vector is None else True
        return _told(_UPDATES, record, vector, searched=searched)

    def delete(self, record: Record) -> Told:
        """Write the id of a record."""
        named = {"chunk_id": record["chunk_id"], "ids": document_id(record)}
        return Told(part=_DELETES, line=to_line(named))

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:
        """Give a call on each line: a method, and its keyword arguments."""
        rows: dict[frozenset[str], list[dict[str, Any]]] = {}
        for line in lines:
            row = json.loads(line)
            del row["chunk_id"]
            # A call gives an argument for all of its records or for none.
            rows.setdefault(frozenset(row), []).append(row)
        calls: list[Record] = [
            {
                key: [row[key] for row in alike[start : start + MOST_RECORDS]]
                for key in alike[0]
            }
            for alike in rows.values()
            for start in range(0, len(alike), MOST_RECORDS)
        ]
        return b"".join(to_line({_METHODS[name]: call}) for call in calls)

    def _nowhere(self) -> list[float]:
        return [0.0] * (self.target.dimensions or 1)


def _told(
    part: str, record: Record, vector: list[float] | None, *, searched: bool | None
) -> Told:
    """Write the arguments of a call for one record; null leaves out what is kept."""
    row = flat(record)
    metadata = {name: _value(name, row[name]) for name in row if name not in _APART}
    if searched is not None:
        metadata["searched"] = searched
    found: Record = {"chunk_id": record["chunk_id"], "ids": row["id"]}
    if "text" in row:
        found["documents"] = row["text"]
    if vector is not None:
        found["embeddings"] = [*vector]
    return Told(part=part, line=to_line({**found, "metadatas": metadata}))


def _value(name: str, value: JsonValue) -> JsonValue:
    """Give a value as Chroma takes it: it refuses empty lists, and compares no text."""
    if isinstance(value, list):
        return value or None
    if COLUMNS[name] == "day" and isinstance(value, str):
        return whole_day(value)
    return value
