"""What a store has to be told so that it has what it should.

Pure. Hashes decide: a chunk whose texts differ is sent whole, one of which only
metadata or lineage differ without its texts, and one that is the same not at all.
What a store may have instead of what it acknowledged counts as well, so that it comes
out the same whichever of the deltas before it has taken in.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from situate.index.names import doc_id_of, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from situate.index.state import Documents, DocumentState, Hashes, Unsure

Op = Literal["upsert", "metadata_update", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is to be done with the chunks of one document, or wording of it."""

    key: str
    """What it goes by among documents."""
    ops: Mapping[str, Op]
    """By name: those it has in the order of its records, then those no longer had."""

    @property
    def doc_id(self) -> str:
        """The document."""
        return doc_id_of(self.key)

    def count(self, op: Op) -> int:
        """Count the chunks of which this is to be done."""
        return sum(each == op for each in self.ops.values())


def changes(base: Documents, target: Documents, unsure: Unsure) -> Iterator[Changes]:
    """Yield what leads to `target`, document by document, where anything does."""
    doubts = by_document(unsure)
    for key in sorted({*base, *target, *doubts}):
        before, after = base.get(key), target.get(key)
        doubtful = doubts.get(key, ())
        if before == after and not doubtful:
            continue
        ops = _ops(_chunks(before), _chunks(after), {c: unsure[c] for c in doubtful})
        if ops:
            yield Changes(key=key, ops=ops)


def doubts_after(target: Documents, unsure: Unsure, sent: Iterable[Changes]) -> Unsure:
    """Give what a store may have once this has been sent, taken in or not."""
    found = dict(unsure)
    for each in sent:
        after = _chunks(target.get(each.key))
        for chunk_id in each.ops:
            found[chunk_id] = found.get(chunk_id, frozenset()) | {after.get(chunk_id)}
    return found


def by_document(unsure: Unsure) -> dict[str, list[str]]:
    """Put names of records together by what they are of."""
    found: dict[str, list[str]] = {}
    for chunk_id in sorted(unsure):
        found.setdefault(key_of(chunk_id), []).append(chunk_id)
    return found


def _chunks(document: DocumentState | None) -> Mapping[str, Hashes]:
    return {} if document is None else document.chunks


def _ops(
    before: Mapping[str, Hashes], after: Mapping[str, Hashes], doubts: Unsure
) -> dict[str, Op]:
    found: dict[str, Op] = {}
    gone = (chunk_id for chunk_id in (*before, *doubts) if chunk_id not in after)
    for chunk_id in chain(after, dict.fromkeys(gone)):
        possible = {before.get(chunk_id), *doubts.get(chunk_id, ())}
        op = _op(after.get(chunk_id), possible)
        if op is not None:
            found[chunk_id] = op
    return found


def _op(wanted: Hashes | None, possible: set[Hashes | None]) -> Op | None:
    """Say what makes a store have what is wanted, whatever it has."""
    others = possible - {wanted}
    if not others:
        return None
    if wanted is None:
        return "delete"
    if all(other is not None and other.texts == wanted.texts for other in others):
        return "metadata_update"
    return "upsert"
