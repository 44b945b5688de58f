"""Which deletions wait for a person to allow them (S3).

Pure. What counts is what a store has been told to have and would lose, whatever was
proposed since: many small steps that nobody acknowledged are one large one. What is
withheld stays as it is, but for who may see it and when it is in force.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.access import VALIDITY, is_permission
from situate.fields import typed
from situate.index.names import key_of
from situate.records import metadata_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from situate.index.state import Documents, DocumentState, Unsure
    from situate.model import JsonValue, Metadata
    from situate.records import Record

Access = dict[str, "JsonValue"]
"""What a document says of who may see it and when it is in force, by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """What a store would lose."""

    chunks: Mapping[str, frozenset[str]]
    """Of documents and wordings, by their keys."""
    surplus: frozenset[str]
    """What no state has."""
    total: int
    """How many chunks it has, these included."""

    @classmethod
    def of(cls, counted: Documents, surplus: Unsure, target: Documents) -> Away:
        """Compare what a store has, and may have beside it, with what it is to have."""
        beside = [name for name in surplus if not has(counted, name)]
        return cls(
            chunks=lost(counted, target),
            surplus=frozenset(name for name in beside if not has(target, name)),
            total=len(beside) + sum(len(each.chunks) for each in counted.values()),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The records that would go."""
        return tuple(sorted(self.surplus.union(*self.chunks.values())))


def has(documents: Documents, name: str) -> bool:
    """Tell whether there is a record of this name."""
    document = documents.get(key_of(name))
    return document is not None and name in document.chunks


def lost(counted: Documents, target: Documents) -> dict[str, frozenset[str]]:
    """Name the chunks that a target no longer has, by document or wording."""
    found = {}
    for key, before in counted.items():
        after = target.get(key)
        if after is not before:
            left = () if after is None else after.chunks
            if away := before.chunks.keys() - left:
                found[key] = frozenset(away)
    return found


def parted(
    base: Documents, doubts: Unsure, names: Iterable[str]
) -> tuple[Unsure, Documents]:
    """Give what a store may have of these records, and documents without them."""
    surplus: Unsure = {}
    rest = dict(base)
    for name in names:
        surplus[name] = doubts.get(name, frozenset())
        if has(rest, name):
            chunks = dict(rest[key_of(name)].chunks)
            surplus[name] |= {chunks.pop(name)}
            rest[key_of(name)] = replace(rest[key_of(name)], chunks=chunks)
    return surplus, rest


def access(metadata: Metadata) -> Access:
    """Give what a document says of who may see it and when it is in force."""
    dates = {key: getattr(metadata, key) for key in VALIDITY}
    return {
        **{key: value for key, value in dates.items() if value is not None},
        **{key: said for key, said in metadata.custom.items() if is_permission(key)},
    }


def following(record: Record, before: DocumentState, after: DocumentState) -> Record:
    """Give a withheld chunk's record with what its document says of access now.

    What a heading said for its section alone stays, within the dates of the document.
    """
    metadata = dict(typed(dict, record["metadata"], "metadata"))
    custom = dict(typed(dict, metadata["custom"], "custom"))
    for key in dict.fromkeys((*VALIDITY, *before.access, *after.access)):
        said = metadata if key in VALIDITY else custom
        now = after.access.get(key)
        if said.get(key) != before.access.get(key):
            if key in VALIDITY:
                said[key] = _narrower(key, (said[key], now))
        elif now is None and key not in VALIDITY:
            said.pop(key, None)
        else:
            said[key] = now
    metadata["custom"] = custom
    metadata["metadata_hash"] = metadata_hash(metadata)
    return {**record, "metadata": metadata}


def _narrower(key: str, dates: Iterable[JsonValue]) -> str | None:
    said = [date for date in dates if isinstance(date, str)]
    if not said:
        return None
    return max(said) if key == "effective_from" else min(said)
