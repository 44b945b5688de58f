"""What an index keeps of a document, and what a store has to be told to lose it.

Pure. Nothing but deletions names a forgotten document, and those only until the store
is known to have taken them in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.model import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.index.state import Documents, Hashes, Pending, State, Unsure


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What is known of a document."""

    states: tuple[State, ...]
    """Those that have it."""
    is_pending: bool
    """Whether the delta that waits has it."""
    doubts: Unsure
    """What a store may have of its chunks, by all that was sent."""
    paths: frozenset[str]
    """Where it stood."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known, deletions that wait aside."""
        return not self.states and not self.is_pending


def held(doc_id: str, states: Iterable[State], pending: Pending | None) -> Held:
    """Find a document; the state that was acknowledged last comes first."""
    states = tuple(states)
    doubts: dict[str, frozenset[Hashes | None]] = {}
    sent = [] if pending is None else [pending.documents]
    for documents in [*(state.documents for state in states[:1]), *sent]:
        for chunk_id, known in _chunks(documents, doc_id):
            doubts[chunk_id] = doubts.get(chunk_id, frozenset({None})) | {known}
    for chunk_id, possible in ({} if pending is None else pending.unsure).items():
        if document_of(chunk_id) == doc_id:
            doubts[chunk_id] = doubts.get(chunk_id, frozenset({None})) | possible
    everywhere = [*(state.documents for state in states), *sent]
    return Held(
        states=tuple(state for state in states if doc_id in state.documents),
        is_pending=pending is not None and doc_id in pending.documents,
        doubts={chunk_id: doubts[chunk_id] for chunk_id in sorted(doubts)},
        paths=frozenset(each[doc_id].path for each in everywhere if doc_id in each),
    )


def without(documents: Documents, doc_id: str) -> Documents:
    """Give documents but one."""
    return {key: known for key, known in documents.items() if key != doc_id}


def _chunks(documents: Documents, doc_id: str) -> Iterator[tuple[str, Hashes]]:
    if doc_id in documents:
        yield from documents[doc_id].chunks.items()
