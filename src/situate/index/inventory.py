"""What a store says it has, held against what it should have.

Pure but for the reading of the file. A file of ids is what any store can give; the
hashes beside them tell which of them are stale.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from situate.errors import RecordError
from situate.fields import kind_of, typed
from situate.index.names import key_of
from situate.index.state import Hashes
from situate.index.withholding import has
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from situate.index.state import Documents, Pending, Unsure
    from situate.records import Record

_BOM: Final = b"\xef\xbb\xbf"

# Slugs hold letters, digits and marks of every script; what is no word for Python
# among these are marks.
_NAME: Final = re.compile(r"[^:]+:[^\s:@,;\"'\[\](){}]+(:p?\d+)?(@.+)?", re.DOTALL)
"""What a name of a record looks like."""

Inventory = dict[str, str | None]
"""`embed_hash` by name of a record; None where the store does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Where a store is not what was acknowledged."""

    missing: tuple[str, ...]
    stale: tuple[str, ...]
    surplus: tuple[str, ...]
    """Chunks of documents that are or were in the index, and should not be there."""
    foreign: tuple[str, ...]
    """Chunks of documents or wordings that the index never had; not ours to delete."""
    unsure: Unsure
    """What the store has instead of what was acknowledged."""


def read_inventory(path: Path) -> Inventory:
    """Read a file of names of records: plain, as JSON texts, or in objects.

    Those have a `record_id`, or else a `chunk_id`, which is the same without wordings,
    and may have an `embed_hash`, or `metadata` that has one.

    Raises:
        RecordError: it cannot be read, a line is none of these, or an id stands twice
            with different hashes.
    """
    found: Inventory = {}
    for where, line in read_lines(path):
        content = line.removeprefix(_BOM).strip()
        if content:
            chunk_id, embed_hash = _said(content, where)
            if found.setdefault(chunk_id, embed_hash) != embed_hash:
                message = f"{where}: {chunk_id!r} stands twice, with another hash"
                raise RecordError(message)
    return found


def compare(
    inventory: Inventory,
    acknowledged: Documents,
    *,
    unsure: Unsure,
    known: Collection[str],
) -> Finding:
    """Hold a store against what was acknowledged.

    `unsure` is what it may have instead; `known` are the documents and wordings that
    are or were in the index, as far back as anybody remembers.
    """
    expected = {
        chunk_id: hashes
        for document in acknowledged.values()
        for chunk_id, hashes in document.chunks.items()
    }
    has: dict[str, frozenset[Hashes | None]] = {}
    missing, stale = [], []
    for chunk_id, hashes in expected.items():
        if chunk_id not in inventory:
            missing.append(chunk_id)
            has[chunk_id] = frozenset({None})
        elif inventory[chunk_id] not in {None, hashes.embed}:
            stale.append(chunk_id)
            has[chunk_id] = frozenset({_unlike(inventory[chunk_id])})
        elif chunk_id in unsure:
            has[chunk_id] = _possible(unsure[chunk_id], inventory[chunk_id])
    surplus, foreign = [], []
    for chunk_id in inventory:
        if chunk_id in expected:
            continue
        if chunk_id in unsure or key_of(chunk_id) in known:
            surplus.append(chunk_id)
            has[chunk_id] = frozenset({_unlike(inventory[chunk_id])})
        else:
            foreign.append(chunk_id)
    return Finding(
        missing=tuple(missing),
        stale=tuple(stale),
        surplus=tuple(surplus),
        foreign=tuple(foreign),
        unsure=has,
    )


Agreement = Literal["surely", "perhaps"]
"""Whether a store has what a delta leads to, or may also have something that looks
the same by ids and hashes."""


def agreement(
    inventory: Inventory, pending: Pending, base: Documents, *, known: Collection[str]
) -> tuple[Finding, Agreement | None]:
    """Hold a store against what a delta leads to that waits, from `base`.

    None where the store has not taken it in, or not all of it.
    """
    wanted, doubts = pending.documents, dict(pending.unsure)
    for name in doubts:
        if has(base, name):
            doubts[name] |= {base[key_of(name)].chunks[name]}
    finding = compare(inventory, wanted, unsure=doubts, known=known)
    if finding.missing or finding.stale or set(finding.surplus) - pending.surplus:
        return finding, None
    is_told = all(
        possible <= {wanted[key_of(name)].chunks[name]}
        for name, possible in finding.unsure.items()
        if name not in pending.surplus
    )
    return finding, "surely" if is_told else "perhaps"


def joined(one: Unsure, other: Unsure) -> Unsure:
    """Give what a store may have by either word."""
    found = dict(one)
    for chunk_id, possible in other.items():
        found[chunk_id] = found.get(chunk_id, frozenset()) | possible
    return found


def _said(content: bytes, where: str) -> tuple[str, str | None]:
    if content.startswith(b"{"):
        record = from_line(content, where)
        return (
            _name(record.get("record_id", record.get("chunk_id")), where),
            _embed_hash(record, where),
        )
    if content.startswith(b"[") or content.endswith(b","):
        message = f"{where}: an id on a line of its own was expected, not a list"
        raise RecordError(message)
    try:
        text = content.decode("utf-8")
        if content.startswith(b'"'):
            return _name(json.loads(text), where), None
    except ValueError as error:
        message = f"{where}: not an id of a chunk: {error}"
        raise RecordError(message) from error
    return _name(text, where), None


def _embed_hash(record: Record, where: str) -> str | None:
    """Take the hash from where a store says it, or where a chunk's record has it."""
    found = record.get("embed_hash")
    if found is None and record.get("metadata") is not None:
        found = typed(dict, record["metadata"], f"{where}: metadata").get("embed_hash")
    return None if found is None else typed(str, found, f"{where}: embed_hash")


def _name(value: object, where: str) -> str:
    """Accept what can be the id of a chunk.

    Raises:
        RecordError: it is something else.
    """
    if not isinstance(value, str):
        message = f"{where}: chunk_id: a text was expected, not {kind_of(value)}"
        raise RecordError(message)
    if not _NAME.fullmatch(value):
        message = f"{where}: {value!r:.100} is not the id of a chunk"
        raise RecordError(message)
    return value


def _possible(
    doubts: frozenset[Hashes | None], embed_hash: str | None
) -> frozenset[Hashes | None]:
    """Give which of the doubts remain about a chunk that is there."""
    return frozenset(
        one for one in doubts if one is not None and embed_hash in {None, one.embed}
    )


def _unlike(embed_hash: str | None) -> Hashes:
    """Give hashes that no chunk of ours has."""
    return Hashes(embed_hash or "", "", "", "", "")
