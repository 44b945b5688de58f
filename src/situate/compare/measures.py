"""What a ranking is worth: how much of the gold it brings, and how soon.

An excerpt is found at k when the first k entries together cover 80 % of it; `rec@k`
is the share of a question's excerpts that are found. `rec@Nr` takes entries in their
order until N tokens of `text` are full, the last one cut where it no longer fits:
what an answering model reads for its money. `rec@Nt` counts tokens of `embed_text`
in the same way. At a fixed k large chunks earn credit for size, so verdicts go by
`rec@Nr`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from situate.compare.grounds import clip, size, union
from situate.compare.questions import word_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from situate.compare.questions import Excerpt
    from situate.model import Span

FOUND: Final = 0.8
"""The share of an excerpt that has to be covered: a sentence's end may be missing,
not its point. The public bench for chunkers that figures are checked against says
the same."""

_RELEVANT: Final = 0.5
"""The share of an excerpt by which one entry alone counts as an answer for MRR."""

_CUTOFF: Final = 10
"""MRR and nDCG look at this many entries."""


class Entry(Protocol):
    """One retrieved passage, as far as scores go by it."""

    @property
    def doc_id(self) -> str:
        """The document it was cut from."""

    @property
    def text(self) -> str:
        """What an answering model reads."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """What it holds of its document's ground, in order."""

    @property
    def text_tokens(self) -> int:
        """Tokens of `text`."""

    @property
    def embed_tokens(self) -> int:
        """Tokens of `embed_text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Where a ranking is looked at."""

    ks: tuple[int, ...] = (1, 5, 10, 20)
    budgets: tuple[int, ...] = (2000, 5000)
    """Tokens; the first decides verdicts."""

    @property
    def primary(self) -> str:
        """The measure verdicts go by."""
        return f"rec@{self.budgets[0]}r"

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of all measures, the primary one first."""
        return (
            *(f"rec@{budget}r" for budget in self.budgets),
            *(f"rec@{budget}t" for budget in self.budgets),
            *(f"rec@{k}" for k in self.ks),
            f"mrr@{_CUTOFF}",
            f"ndcg@{_CUTOFF}",
            "fail@20",
        )

    @property
    def deepest(self) -> int:
        """How many entries every measure by number looks at."""
        return max(*self.ks, _CUTOFF, 20)


def score(
    ranking: Iterable[Entry], gold: Sequence[Excerpt], cuts: Cuts
) -> dict[str, float]:
    """Give the measures of one ranking, best entry first; all lie within 0 and 1."""
    cover = _Cover(gold)
    budgets = [
        _Budget(suffix=suffix, tokens=tokens, limits=sorted(cuts.budgets))
        for suffix, tokens in (("r", _text_tokens), ("t", _embed_tokens))
    ]
    measures: dict[str, float] = {}
    reciprocal = gained = 0.0
    wanted = frozenset((*cuts.ks, 20))
    for rank, entry in enumerate(ranking, 1):
        for budget in budgets:
            measures.update(budget.spend(entry, cover))
        before = cover.total
        alone = cover.add(entry)
        if rank <= _CUTOFF:
            gained += (cover.total - before) / math.log2(rank + 1)
            if not reciprocal and alone >= _RELEVANT:
                reciprocal = 1 / rank
        if rank in wanted:
            measures[f"rec@{rank}"] = cover.recall
        if rank >= cuts.deepest and not any(budget.limits for budget in budgets):
            break
    final = cover.recall
    ideal = sum(1 / math.log2(place + 2) for place in range(len(gold)))
    measures[f"mrr@{_CUTOFF}"] = reciprocal
    measures[f"ndcg@{_CUTOFF}"] = min(1.0, gained / ideal)
    measures["fail@20"] = 1 - measures.get("rec@20", final)
    return {name: measures.get(name, final) for name in cuts.measures}


def covers(entry: Entry, gold: Sequence[Excerpt]) -> float:
    """Give the largest share of an excerpt that one entry covers alone."""
    return _Cover(gold).add(entry)


@dataclass(slots=True)
class _Cover:
    """How much of each excerpt is covered so far."""

    gold: Sequence[Excerpt]
    shares: list[float] = field(init=False)
    total: float = 0.0
    _spans: list[tuple[Span, ...]] = field(init=False)
    _documents: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.shares = [0.0] * len(self.gold)
        self._spans = [()] * len(self.gold)
        self._documents = frozenset(excerpt.doc_id for excerpt in self.gold)

    @property
    def recall(self) -> float:
        """The share of the excerpts that are found."""
        return _found(self.shares)

    def add(self, entry: Entry) -> float:
        """Add what an entry holds; give the largest share that it covers alone."""
        most = 0.0
        if entry.doc_id not in self._documents:
            return most
        for number, excerpt in self._about(entry):
            alone, together, spans = self._with(
                number, excerpt, entry.spans, entry.text
            )
            most = max(most, alone)
            self._spans[number] = spans
            self.total += together - self.shares[number]
            self.shares[number] = together
        return most

    def recall_with(self, entry: Entry, share: float) -> float:
        """Give the recall if only the first share of an entry's tokens fitted."""
        if share <= 0 or entry.doc_id not in self._documents:
            return self.recall
        spans = _beginning(entry.spans, int(size(entry.spans) * share))
        text = entry.text[: int(len(entry.text) * share)]
        shares = list(self.shares)
        for number, excerpt in self._about(entry):
            _, shares[number], _ = self._with(number, excerpt, spans, text)
        return _found(shares)

    def _about(self, entry: Entry) -> Iterator[tuple[int, Excerpt]]:
        for number, excerpt in enumerate(self.gold):
            if excerpt.doc_id == entry.doc_id:
                yield number, excerpt

    def _with(
        self, number: int, excerpt: Excerpt, spans: Sequence[Span], text: str
    ) -> tuple[float, float, tuple[Span, ...]]:
        """Give the shares covered alone and together, and what is then covered."""
        if excerpt.words is not None:
            alone = _said(excerpt.words, text)
            return alone, max(self.shares[number], alone), ()
        length = excerpt.end - excerpt.start
        here = clip(spans, excerpt.start, excerpt.end)
        if not here:
            return 0.0, self.shares[number], self._spans[number]
        covered = union((*self._spans[number], *here))
        return size(here) / length, size(covered) / length, covered


@dataclass(slots=True)
class _Budget:
    """Tokens that fill up as entries are read."""

    suffix: str
    tokens: _Tokens
    limits: list[int]
    """Those not reached yet, least first."""
    used: int = 0

    def spend(self, entry: Entry, cover: _Cover) -> Iterator[tuple[str, float]]:
        """Yield the recall at each limit that falls inside an entry yet to be added."""
        tokens = self.tokens(entry)
        while self.limits and self.used + tokens > self.limits[0]:
            limit = self.limits.pop(0)
            share = (limit - self.used) / tokens
            yield f"rec@{limit}{self.suffix}", cover.recall_with(entry, share)
        self.used += tokens


class _Tokens(Protocol):
    def __call__(self, entry: Entry, /) -> int:
        """Count what a budget goes by."""


def _text_tokens(entry: Entry) -> int:
    return entry.text_tokens


def _embed_tokens(entry: Entry) -> int:
    return entry.embed_tokens


def _found(shares: Sequence[float]) -> float:
    return sum(share >= FOUND for share in shares) / len(shares)


def _said(wanted: Mapping[str, int], text: str) -> float:
    """Give the share of an excerpt's words that a text says, each as often."""
    said = word_counts(text)
    hits = sum(min(count, said[word]) for word, count in wanted.items())
    return hits / sum(wanted.values())


def _beginning(spans: Sequence[Span], length: int) -> list[Span]:
    """Give the first characters of spans."""
    kept = []
    for start, end in spans:
        if length <= 0:
            break
        kept.append((start, min(end, start + length)))
        length -= end - start
    return kept
