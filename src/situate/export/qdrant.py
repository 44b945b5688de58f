"""Qdrant: the bodies of its REST API, which its clients take as well.

Its ids are UUIDs, made of a record's id. A point has its vector under a name: a
point may then be without one, which a container is, and no search by vectors finds
it. Requests go to `points/batch`.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from situate.export.documents import fields, metadata_of
from situate.export.flat import days, whole_day
from situate.export.store import Told, shown
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.export.store import Target
    from situate.model import JsonValue
    from situate.records import Record

VECTOR: Final = "dense"
"""The name of the vector of `embed_text`."""

_UPSERTS: Final = "upserts-{:05}.json"
_UPDATES: Final = "updates-{:05}.json"
_DELETES: Final = "deletes-{:05}.json"

_FRAMES: Final[Mapping[str, tuple[bytes, bytes]]] = {
    _UPSERTS: (b'{"operations":[{"upsert":{"points":[\n', b"\n]}}]}\n"),
    _UPDATES: (b'{"operations":[\n', b"\n]}\n"),
    _DELETES: (b'{"operations":[{"delete":{"points":[\n', b"\n]}}]}\n"),
}
"""What stands before and behind the changes of a request."""

_REFUSED: Final = frozenset('<>:"/\\|?*')

_MOST_CHARACTERS: Final = 255

_INDEXED: Final[Mapping[str, str]] = {
    "record_id": "keyword",
    "doc_id": "keyword",
    "group_id": "keyword",
    "acl": "keyword",
    "classification": "keyword",
    "valid_from": "integer",
    "valid_to": "integer",
    "metadata.embed": "bool",
    "metadata.language": "keyword",
}


def point_id(record_id: str) -> str:
    """Give the id of a record's point: the UUID, of version 5, of its own id."""
    readable = record_id.encode("utf-8", "replace").decode("utf-8")
    return str(uuid.uuid5(uuid.NAMESPACE_URL, readable))


@dataclass(frozen=True, slots=True)
class Qdrant:
    """Tells Qdrant of chunks."""

    target: Target

    holder: ClassVar[str] = "collection"
    needs_vectors: ClassVar[bool] = False
    most_dimensions: ClassVar[int] = 65_536
    """Of a vector, by the validation of its REST API."""

    def refusal(self) -> str | None:
        """Say why Qdrant refuses the name of the collection."""
        name = self.target.index
        if not 1 <= len(name) <= _MOST_CHARACTERS:
            return f"it has to have 1 to {_MOST_CHARACTERS} characters"
        if wrong := sorted(_REFUSED & {*name}):
            return f"it must not hold {wrong[0]!r}"
        if name in {".", ".."} or not name.isprintable():
            return "it must not be . or .., nor hold control characters"
        return None

    def files(self) -> Mapping[str, bytes]:
        """Give the collection, and the indexes of what one filters by."""
        size = self.target.dimensions
        vectors: Record = (
            {} if size is None else {VECTOR: {"size": size, "distance": "Cosine"}}
        )
        indexes = [
            to_line({"field_name": name, "field_schema": schema})
            for name, schema in _INDEXED.items()
        ]
        return {
            "collection.json": shown({"vectors": vectors}),
            "payload-indexes.ndjson": b"".join(indexes),
        }

    def too_long(self, record: Record) -> Mapping[str, int]:  # noqa: ARG002 - a store may have to look
        """Find nothing: a payload takes any value."""
        return {}

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write a whole record as a point."""
        found = _payload(record)
        payload = {key: each for key, each in found.items() if each is not None}
        point = b'{"id":"%b","vector":%b,"payload":%b}' % (
            _id(record).encode(),
            to_line({} if vector is None else {VECTOR: [*vector]})[:-1],
            to_line(payload)[:-1],
        )
        return Told(part=_UPSERTS, line=point)

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write what sets the keys of a record's payload, its texts apart.

        A key with null is taken away. The vector stays, but for one that is given
        anew, and that of what is no longer to be found.
        """
        payload = _payload(record)
        name = _id(record)
        # By filter: an id alone fails the whole request where there is no such point.
        those: Record = {"must": [{"has_id": [name]}]}
        operations: list[Record] = [
            {"set_payload": {"payload": payload, "filter": those}}
        ]
        if self.target.dimensions is not None:
            if not metadata_of(record)["embed"]:
                gone: Record = {"vector": [VECTOR], "filter": those}
                operations.append({"delete_vectors": gone})
            elif vector is not None:
                point: JsonValue = {"id": name, "vector": {VECTOR: [*vector]}}
                operations.append({"update_vectors": {"points": [point]}})
        to_line(payload)  # whose error names the record
        lines = [to_line(each)[:-1] for each in operations]
        return Told(part=_UPDATES, line=b",\n".join(lines))

    def delete(self, record: Record) -> Told:
        """Write the id of a point."""
        return Told(part=_DELETES, line=b'"%b"' % _id(record).encode())

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:
        """Give the body of a request to `points/batch`."""
        before, behind = _FRAMES[name]
        return before + b",\n".join(lines) + behind


def _id(record: Record) -> str:
    return point_id(str(record.get("record_id", record["chunk_id"])))


def _payload(record: Record) -> Record:
    """Give all keys of a record, and what one filters by; some are null."""
    found = fields(record, None)
    first, last = days(found.pop("validity"))
    parent = found["parent_record_id"]
    return {
        **found,
        "group_id": _id(record) if parent is None else point_id(str(parent)),
        "valid_from": None if first is None else whole_day(first),
        "valid_to": None if last is None else whole_day(last),
    }
