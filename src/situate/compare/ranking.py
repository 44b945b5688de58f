"""Rankings: which entries of an arm answer a question best, by each retriever.

BM25 gives what has a word of the question, dense retrieval what points the same way;
a hybrid fuses their ranks. Ties go to the entry that stands first, so that a ranking
is the same on every run.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from situate.compare.arms import above
from situate.compare.lexical import BM25

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from situate.compare.arms import Entry
    from situate.compare.embedders.contract import Reranker, Rows

Retriever = Literal["bm25", "bm25-fields", "dense", "hybrid", "hybrid-fields"]
"""`bm25` has breadcrumb and reading as one field, `bm25-fields` as two; `hybrid`
fuses the first with `dense`, `hybrid-fields` the second."""

RETRIEVERS: Final[tuple[Retriever, ...]] = get_args(Retriever)

LEXICAL: Final = frozenset({"bm25", "bm25-fields"})
"""Retrievers that see what the lexical index has and nothing else."""

FUSED: Final[Mapping[Retriever, tuple[Retriever, ...]]] = {
    "hybrid": ("bm25", "dense"),
    "hybrid-fields": ("bm25-fields", "dense"),
}
"""What each fusion is made of."""

DEPTH: Final = 400
"""Entries of a ranking: more than a budget of 5,000 tokens holds but of the tiniest."""

FUSION_DEPTH: Final = 150
"""Entries of each ranking that are fused."""

RRF: Final = 60
"""The constant of reciprocal rank fusion, as its authors set it (Cormack, Clarke and
Buettcher 2009)."""

_LOOKED_INTO = 10
"""Documents whose entries are ranked when levels are drilled down."""

_RERANKED = 50
"""Entries of a ranking that a reranker sees: it is slow, and what stands lower is
out of reach of most budgets."""

Scores = dict[Retriever, "NDArray[np.float32]"]


class Index:
    """Entries, ready to be asked by every retriever that is wanted."""

    def __init__(
        self,
        entries: Sequence[Entry],
        retrievers: Collection[Retriever],
        words: Callable[[str], list[str]],
        vectors: Rows | None,
    ) -> None:
        """Index at least one entry; `vectors` has a row of unit length for each.

        Raises:
            ValueError: a retriever needs vectors and there are none.
        """
        self.entries = entries
        self._vectors = vectors
        if vectors is None and not LEXICAL.issuperset(retrievers):
            message = "dense retrieval needs vectors"
            raise ValueError(message)
        self._fields: dict[Retriever, tuple[BM25, ...]] = {}
        prefixes, readings = zip(*(entry.lexical for entry in entries), strict=True)
        wanted = {part for one in retrievers for part in FUSED.get(one, (one,))}
        if "bm25" in wanted:
            joined = [above(*pair) for pair in zip(prefixes, readings, strict=True)]
            self._fields["bm25"] = (BM25(joined, words),)
        if "bm25-fields" in wanted:
            self._fields["bm25-fields"] = (BM25(prefixes, words), BM25(readings, words))
        self._places: dict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(entries):
            self._places[entry.doc_id].append(number)

    @property
    def parts(self) -> tuple[Retriever, ...]:
        """The retrievers it can score by, those that are no fusion of others."""
        return (*self._fields, *(("dense",) if self._vectors is not None else ()))

    def scores(self, query: str, vector: NDArray[np.float32] | None) -> Scores:
        """Score every entry by each of `parts`; without a vector, by lexical ones."""
        return {
            part: self.score(part, query, vector)
            for part in self.parts
            if part != "dense" or vector is not None
        }

    def score(
        self, part: Retriever, query: str, vector: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """Score every entry by one of `parts`.

        Raises:
            ValueError: there is no vector to hold entries against.
        """
        if part != "dense":
            first, *others = (one.scores(query) for one in self._fields[part])
            return sum(others, first)
        if self._vectors is None or vector is None:
            message = "dense retrieval needs vectors"
            raise ValueError(message)
        found: NDArray[np.float32] = self._vectors @ vector
        return found

    def ranking(
        self,
        retriever: Retriever,
        scores: Scores,
        *,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
    ) -> list[int]:
        """Give the places of the best entries, best first.

        Args:
            retriever: by which scores to rank.
            scores: what `scores` gave for the question.
            excluded: documents left out.
            within: the only documents to look into, where there are such.
        """
        if retriever in FUSED:
            return fuse(
                self.ranking(one, scores, excluded=excluded, within=within)
                for one in FUSED[retriever]
            )
        allowed = scores[retriever].copy()
        for doc_id in excluded:
            allowed[self._places.get(doc_id, [])] = -np.inf
        if within is not None:
            for doc_id, places in self._places.items():
                if doc_id not in within:
                    allowed[places] = -np.inf
        # An engine gives no text that has no word of the question.
        least = 0.0 if retriever in LEXICAL else -np.inf
        return [place for place in best(allowed, DEPTH) if allowed[place] > least]


def looked_into(
    documents: Index, retriever: Retriever, scores: Scores, excluded: Collection[str]
) -> frozenset[str]:
    """Give the documents whose entries are worth ranking."""
    ranking = documents.ranking(retriever, scores, excluded=excluded)
    return frozenset(
        documents.entries[place].doc_id for place in ranking[:_LOOKED_INTO]
    )


def best(scores: NDArray[np.float32], most: int) -> list[int]:
    """Give the places of the highest scores, the first of equal ones first."""
    most = min(most, len(scores))
    lowest = np.partition(scores, len(scores) - most)[len(scores) - most]
    places = np.flatnonzero(scores >= lowest)
    order = np.lexsort((places, -scores[places]))
    ranked: list[int] = places[order][:most].tolist()
    return ranked


def fuse(rankings: Iterable[Sequence[int]]) -> list[int]:
    """Fuse rankings by the reciprocals of their ranks."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, place in enumerate(ranking[:FUSION_DEPTH], 1):
            scores[place] += 1 / (RRF + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))


def reranked(
    ranking: Sequence[int], query: str, entries: Sequence[Entry], reranker: Reranker
) -> list[int]:
    """Order the first entries of a ranking by a reranker, the rest below them.

    It sees what the dense index has of an entry, prefix and statement included.
    """
    first = list(ranking[:_RERANKED])
    scores = reranker.score(query, [entries[place].dense for place in first])
    order = sorted(range(len(first)), key=lambda number: (-scores[number], number))
    return [*(first[number] for number in order), *ranking[_RERANKED:]]
