"""Rankings of many mixtures of two arms: some entries with their statement, some not.

An entry's score is one of two numbers, whatever the others' are. So a question is
answered for all mixtures at once: the few entries that can stand where a budget is
not yet full are found, and of these only who stands above the gold is reckoned.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from situate.compare.grounds import clip
from situate.compare.measures import Cuts, score
from situate.compare.ranking import DEPTH, Index, best

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from situate.compare.arms import Arm, Entry
    from situate.compare.embedders.contract import Embedder, Rows
    from situate.compare.questions import Question
    from situate.compare.ranking import Retriever
    from situate.compare.trial import Setting
    from situate.model import Span

    Places = NDArray[np.intp]
    Floats = NDArray[np.float64]

DENSE: Final[tuple[Retriever, ...]] = ("dense", "hybrid")
"""Retrievers that see a statement in the dense index."""

_FUSED: Final = 150
"""What `ranking.fuse` takes of each ranking,"""

_RRF: Final = 60
"""and its constant; a test holds these to it."""

_BITS: Final = 32
_PLACE: Final = 2**_BITS - 1

NEVER: Final = np.iinfo(np.int32).max

_UNREACHED: Final = -2
_WHOLE: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """The same entries without and with statements, in the dense index alone."""

    free: Arm
    stated: Arm
    free_rows: Rows
    stated_rows: Rows

    @property
    def places(self) -> Places:
        """Which entries have a statement, by their number."""
        return _places(self.stated)


def pair(free: Arm, stated: Arm, embedder: Embedder) -> Pair:
    """Embed two arms, what is the same in both once.

    Raises:
        ValueError: they differ in more than what the dense index has.
        ConfigError: the embedder cannot be used as configured.
        ProviderError: a server did not answer, or not with vectors.
    """
    for one, other in zip(free.entries, stated.entries, strict=True):
        if (one.entry_id, one.lexical) != (other.entry_id, other.lexical):
            message = (
                f"arms {free.name!r} and {stated.name!r} differ in more than what "
                f"the dense index has: see {other.entry_id!r}"
            )
            raise ValueError(message)
    free_rows = embedder.embed([entry.dense for entry in free.entries], "document")
    stated_rows = free_rows.copy()
    places = _places(stated)
    if len(places):
        texts = [stated.entries[place].dense for place in places]
        stated_rows[places] = embedder.embed(texts, "document")
    return Pair(free=free, stated=stated, free_rows=free_rows, stated_rows=stated_rows)


def _places(arm: Arm) -> Places:
    return np.array(
        [place for place, entry in enumerate(arm.entries) if entry.statement], np.intp
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Others:
    """All that stands between two entries that hold gold."""

    text_tokens: int
    doc_id: str = ""
    text: str = ""
    spans: tuple[Span, ...] = ()
    embed_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reached:
    """How far down gold stands, for each mixture."""

    places: Places
    """Entries that hold gold and can be reached."""
    before: Floats
    """Tokens above each, shape `(mixtures, places)`; infinite where it is not in
    the ranking."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bought:
    """Which statements are bought, choice by choice and share by share."""

    order: NDArray[np.int32]
    """When each is bought, from 0, shape `(entries, choices)`; that of entries
    without a statement is `NEVER`."""
    counts: tuple[int, ...]
    """How many are bought at each share between none and all."""

    @property
    def choices(self) -> int:
        """The number of choices."""
        return int(self.order.shape[1])

    @property
    def rows(self) -> int:
        """The number of mixtures: nothing, all, and each choice at each share."""
        return 2 + self.choices * len(self.counts)

    def among(self, places: Places) -> NDArray[np.bool_]:
        """Tell which of some entries are bought, shape `(rows, places)`."""
        order = self.order[places].T
        chosen = np.empty((self.rows, len(places)), np.bool_)
        chosen[0] = False
        chosen[1] = order[0] < NEVER
        counts = np.array(self.counts, np.int32)[None, :, None]
        np.less(
            order[:, None, :],
            counts,
            out=chosen[2:].reshape(self.choices, len(self.counts), len(places)),
        )
        return chosen

    def by_choice(self, rows: Floats) -> Floats:
        """Give a number for each mixture the shape `(choices, 2 + counts)`."""
        inner = rows[2:].reshape(self.choices, len(self.counts))
        ends = np.broadcast_to(rows[:2], (self.choices, 2))
        return np.hstack((ends[:, :1], inner, ends[:, 1:]))


class Mixed:
    """Two arms of the same entries, ready to be asked as any mixture of both."""

    def __init__(
        self, pair: Pair, retrievers: Sequence[Retriever], setting: Setting
    ) -> None:
        """Index entries once."""
        entries = pair.free.entries
        self._entries = entries
        self._stated = pair.stated_rows
        self._retrievers = retrievers
        self._index = Index(entries, retrievers, setting.words, pair.free_rows)
        self._budget = setting.cuts.budgets[0]
        self._primary = setting.cuts.primary
        self._tokens = np.array([one.text_tokens for one in entries], np.float64)
        self._by_document: dict[str, list[int]] = defaultdict(list)
        for place, entry in enumerate(entries):
            self._by_document[entry.doc_id].append(place)

    def recalls(
        self,
        question: Question,
        vector: NDArray[np.float32],
        bought: Bought,
    ) -> Iterator[tuple[Retriever, Floats]]:
        """Yield the primary measure of every mixture, by each retriever.

        Shape `(choices, 2 + counts)`: with nothing bought, with so many, with all.
        `vector` is the question's row.
        """
        scores = self._index.scores(question.query, vector)
        allowed = np.ones(len(self._entries), np.bool_)
        for doc_id in question.excluded:
            allowed[self._by_document.get(doc_id, [])] = False
        pool = _Pool(
            free=scores["dense"],
            stated=self._stated @ vector,
            allowed=allowed,
            tokens=self._tokens,
        )
        gold = self._holding(question)
        for retriever in self._retrievers:
            if retriever == "hybrid":
                first = self._index.ranking("bm25", scores, excluded=question.excluded)
                reached = pool.fused(first[:_FUSED], gold, bought)
            else:
                reached = pool.alone(self._budget, gold, bought)
            yield retriever, bought.by_choice(self._found(question, reached))

    def _holding(self, question: Question) -> Places:
        """Give the entries that hold something of a question's gold."""
        return np.array(
            sorted({
                place
                for excerpt in question.gold
                for place in self._by_document.get(excerpt.doc_id, [])
                if excerpt.words is not None
                or clip(self._entries[place].spans, excerpt.start, excerpt.end)
            }),
            np.intp,
        )  # fmt: skip

    def _found(self, question: Question, reached: _Reached) -> Floats:
        """Give the measure of every mixture; most mixtures reach the same gold."""
        tokens = self._tokens[reached.places]
        cut = np.where(reached.before < self._budget, reached.before, _UNREACHED)
        whole = reached.before + tokens <= self._budget
        states = np.where(whole, _WHOLE, cut).astype(np.int64)
        if not len(reached.places):
            return np.full(len(states), self._state(question, reached.places, ()))
        distinct, which = np.unique(states, axis=0, return_inverse=True)
        measures = [
            self._state(question, reached.places, state) for state in distinct.tolist()
        ]
        return np.array(measures)[which.reshape(-1)]

    def _state(self, question: Question, places: Places, state: Sequence[int]) -> float:
        """Score what is reached: in whole, or from so many tokens on."""
        ranking: list[Entry | _Others] = []
        used = 0
        for place, before in zip(places.tolist(), state, strict=False):
            if before == _WHOLE:
                ranking.append(self._entries[place])
                used += self._entries[place].text_tokens
        for place, before in zip(places.tolist(), state, strict=False):
            if before >= 0:
                ranking.append(_Others(text_tokens=before - used))
                ranking.append(self._entries[place])
        cuts = Cuts(ks=(1,), budgets=(self._budget,))
        return score(ranking, question.gold, cuts)[self._primary]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pool:
    """The two numbers of every entry, for one question."""

    free: NDArray[np.float32]
    stated: NDArray[np.float32]
    allowed: NDArray[np.bool_]
    tokens: Floats

    def alone(self, budget: int, gold: Places, bought: Bought) -> _Reached:
        """Say how far down gold stands by these numbers alone."""
        sure = self._sure(DEPTH)
        full = np.cumsum(self.tokens[sure]) >= budget
        # Nothing that always scores less can stand where the budget is not yet full.
        places = self._above(sure[: int(full.argmax()) + 1] if full.any() else sure)
        among = np.flatnonzero(np.isin(places, gold))
        keys = self._keys(places, bought)
        before = np.empty((len(keys), len(among)))
        # The second column counts entries: a ranking ends at DEPTH of them.
        weights = np.stack((self.tokens[places], np.ones(len(places))), axis=1)
        for at, column in enumerate(among):
            above = (keys > keys[:, [column]]) @ weights
            before[:, at] = np.where(above[:, 1] < DEPTH, above[:, 0], np.inf)
        return _Reached(places=places[among], before=before)

    def fused(self, lexical: Sequence[int], gold: Places, bought: Bought) -> _Reached:
        """Say how far down gold stands when ranks are fused with those of words."""
        places = self._above(self._sure(_FUSED))
        union = np.union1d(places, np.array(lexical, np.intp))
        among = np.flatnonzero(np.isin(union, gold))
        if not len(among):
            return _Reached(places=union[among], before=np.empty((bought.rows, 0)))
        fused = np.zeros((bought.rows, len(union)))
        parts = 1 / (_RRF + np.arange(1, _FUSED + 1))
        first = self._best(places, bought)
        dense = np.searchsorted(union, places)[first]
        np.put_along_axis(fused, dense, parts[None, : first.shape[1]], axis=1)
        fused[:, np.searchsorted(union, lexical)] += parts[: len(lexical)]
        before = np.empty((bought.rows, len(among)))
        for at, column in enumerate(among):
            own = fused[:, [column]]
            above = fused > own
            above[:, :column] |= fused[:, :column] == own
            tokens = above @ self.tokens[union]
            before[:, at] = np.where(own[:, 0] > 0, tokens, np.inf)
        return _Reached(places=union[among], before=before)

    def _sure(self, most: int) -> list[int]:
        """Give the entries whose lower number is highest, best first."""
        least = np.where(self.allowed, np.minimum(self.free, self.stated), -np.inf)
        return [place for place in best(least, most) if self.allowed[place]]

    def _above(self, sure: Sequence[int]) -> Places:
        """Give the entries that can score as much as the last of the sure ones."""
        if not len(sure):
            return np.empty(0, np.intp)
        least = min(self.free[sure[-1]], self.stated[sure[-1]])
        most = np.maximum(self.free, self.stated)
        return np.flatnonzero((most >= least) & self.allowed)

    def _best(self, places: Places, bought: Bought) -> NDArray[np.int64]:
        """Give which of the places rank first, best first, a row for each mixture."""
        keys = self._keys(places, bought)
        others = max(0, len(places) - _FUSED)
        if others:
            keys.partition(others, axis=1)
        ranked = np.sort(keys[:, others:], axis=1)[:, ::-1]
        return len(places) - 1 - (ranked & _PLACE)

    def _keys(self, places: Places, bought: Bought) -> NDArray[np.int64]:
        """Give whole numbers in the order of scores, higher for the first of equals.

        So that sorting them, which is quick, needs no care of ties.
        """
        order = np.arange(len(places) - 1, -1, -1)
        free, stated = (
            (_ordered(one[places]) << _BITS) | order for one in (self.free, self.stated)
        )
        return np.where(bought.among(places), stated, free)


def _ordered(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Give whole numbers in the order of floating ones, by their bits."""
    # Adding zero makes one of both zeros.
    bits = (scores + np.float32(0)).view(np.int32)
    return (bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))).astype(np.int64)
