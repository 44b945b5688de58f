"""What an index keeps of a document, and what a store has to be told to lose it.

Pure. Nothing but deletions names a forgotten document, and those only until the store
is known to have taken them in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from situate.model import document_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.index.state import (
        Documents,
        DocumentState,
        Hashes,
        Pending,
        State,
        Unsure,
    )


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
        for name, known in _chunks(documents, doc_id):
            doubts[name] = doubts.get(name, frozenset({None})) | {known}
    beside = [state.surplus for state in states[:1]]
    unsure = beside if pending is None else [*beside, pending.unsure]
    for name, possible in chain.from_iterable(each.items() for each in unsure):
        if document_of(name) == doc_id:
            doubts[name] = doubts.get(name, frozenset({None})) | possible
    everywhere = [*(state.documents for state in states), *sent]
    return Held(
        states=tuple(state for state in states if forgotten(state, doc_id) != state),
        is_pending=any(_of(documents, doc_id) for documents in sent),
        doubts={name: doubts[name] for name in sorted(doubts)},
        paths=frozenset(
            known.path for documents in everywhere for known in _of(documents, doc_id)
        ),
    )


def standing_at(
    path: str, states: Iterable[State], pending: Pending | None
) -> frozenset[str]:
    """Name the documents that stand at a path, or did, and are called otherwise.

    It may lead there from the config's folder or from a folder below it.
    """
    sent = [] if pending is None else [pending.documents]
    return frozenset(
        known.doc_id
        for documents in [*(state.documents for state in states), *sent]
        for known in documents.values()
        if known.path == path
        or (
            known.path.endswith(f"/{path}")
            and not f"/{known.path}".endswith(f"/{known.doc_id}")
        )
    ) - {path}


def forgotten(state: State, doc_id: str) -> State:
    """Give a state without a document."""
    return replace(
        state,
        documents=without(state.documents, doc_id),
        surplus={
            name: state.surplus[name]
            for name in state.surplus
            if document_of(name) != doc_id
        },
    )


def without(documents: Documents, doc_id: str) -> Documents:
    """Give documents but one, in all its wordings."""
    return {key: known for key, known in documents.items() if known.doc_id != doc_id}


def _of(documents: Documents, doc_id: str) -> list[DocumentState]:
    """Give all wordings of a document."""
    return [known for known in documents.values() if known.doc_id == doc_id]


def _chunks(documents: Documents, doc_id: str) -> Iterator[tuple[str, Hashes]]:
    for known in _of(documents, doc_id):
        yield from known.chunks.items()
