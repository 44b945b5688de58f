"""The trial itself: every arm under every retriever, question by question."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Final, Literal, get_args

from situate.compare.measures import Cuts, score
from situate.compare.ranking import FUSED, LEXICAL, Index, looked_into, reranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from situate.compare.arms import Arm, Entry
    from situate.compare.embedders.contract import Embedder, Reranker, Role, Rows
    from situate.compare.outside import Run
    from situate.compare.questions import Question
    from situate.compare.ranking import Retriever, Scores

Returned = Literal["leaf", "section"]
"""What is handed over for a leaf that was found."""

RETURNED: Final[tuple[Returned, ...]] = get_args(Returned)

_KEPT = 10
"""Entries of a ranking that a report shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How every arm is asked."""

    retrievers: tuple[Retriever, ...]
    words: Callable[[str], list[str]]
    """Finds the words of a text for lexical indexes."""
    embedder: Embedder | None
    """None where no retriever needs vectors."""
    reranker: Reranker | None = None
    cuts: Cuts = field(default_factory=Cuts)
    returned: Returned = "leaf"
    drilled: bool = False
    """Whether documents are ranked first, and entries inside the best of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One arm under one retriever."""

    arm: str
    retriever: str
    measures: Mapping[str, tuple[float, ...]]
    """One number for each question, in their order."""
    first: tuple[tuple[Entry, ...], ...]
    """What is handed over first, best first, for each question."""
    milliseconds: float | None
    """Median time to rank one question, its embedding left out; None for a run."""


def retrievers_of(arm: Arm, setting: Setting) -> tuple[Retriever, ...]:
    """Name the retrievers that see what is new in an arm.

    Where the statement stands in the dense index alone, lexical ones would rank the
    arm as they rank the one without.
    """
    blind = LEXICAL if arm.placing == "dense" else frozenset()
    return tuple(one for one in setting.retrievers if one not in blind)


def try_arm(
    arm: Arm, questions: Sequence[Question], setting: Setting
) -> tuple[Result, ...]:
    """Ask an arm every question by every retriever that sees what is new in it."""
    retrievers = retrievers_of(arm, setting)
    if not retrievers or not arm.entries:
        return ()
    rankings = rankings_of(arm, questions, setting)
    measures: dict[str, list[dict[str, float]]] = {one: [] for one in retrievers}
    first: dict[str, list[tuple[Entry, ...]]] = {one: [] for one in retrievers}
    seconds: dict[str, list[float]] = {one: [] for one in retrievers}
    for question, retriever, ranking, taken in rankings:
        handed = handed_over(ranking, arm, setting.returned)
        measures[retriever].append(score(handed, question.gold, setting.cuts))
        first[retriever].append(tuple(handed[:_KEPT]))
        seconds[retriever].append(taken)
    return tuple(
        Result(
            arm=arm.name,
            retriever=one,
            measures={
                name: tuple(row[name] for row in measures[one])
                for name in setting.cuts.measures
            },
            first=tuple(first[one]),
            milliseconds=1000 * median(seconds[one]),
        )
        for one in retrievers
    )


def try_run(run: Run, questions: Sequence[Question], setting: Setting) -> Result:
    """Score rankings of a user's own engine, which counts as a retriever itself."""
    rankings = [
        tuple(
            entry
            for entry in run.rankings.get(question.qid, ())
            if entry.doc_id not in question.excluded
        )
        for question in questions
    ]
    scores = [
        score(ranking, question.gold, setting.cuts)
        for question, ranking in zip(questions, rankings, strict=True)
    ]
    return Result(
        arm=run.arm.name,
        retriever="run",
        measures={
            name: tuple(row[name] for row in scores) for name in setting.cuts.measures
        },
        first=tuple(ranking[:_KEPT] for ranking in rankings),
        milliseconds=None,
    )


def rankings_of(
    arm: Arm, questions: Sequence[Question], setting: Setting
) -> Iterator[tuple[Question, Retriever, list[Entry], float]]:
    """Yield each question's ranking by each retriever, and the seconds it took."""
    retrievers = retrievers_of(arm, setting)
    leaves = index_of(arm.entries, retrievers, setting)
    upper = None
    # Chunks from elsewhere have no level above them.
    if setting.drilled and arm.documents:
        upper = index_of(arm.documents, retrievers, setting)
    vectors = vectors_of(
        [question.query for question in questions], "query", retrievers, setting
    )
    for number, question in enumerate(questions):
        vector = None if vectors is None else vectors[number]
        seconds: dict[Retriever, float] = defaultdict(float)
        scores = _scored(leaves, question.query, vector, seconds)
        above = _scored(upper, question.query, vector, seconds) if upper else {}
        for retriever in retrievers:
            begun = time.perf_counter()
            within = None
            if upper is not None:
                within = looked_into(upper, retriever, above, question.excluded)
            places = leaves.ranking(
                retriever, scores, excluded=question.excluded, within=within
            )
            if setting.reranker is not None:
                places = reranked(places, question.query, arm.entries, setting.reranker)
            ranking = [arm.entries[place] for place in places]
            taken = time.perf_counter() - begun
            taken += sum(seconds[part] for part in FUSED.get(retriever, (retriever,)))
            yield question, retriever, ranking, taken


def _scored(
    index: Index,
    query: str,
    vector: NDArray[np.float32] | None,
    seconds: dict[Retriever, float],
) -> Scores:
    """Score entries by every part, and note how long each took."""
    scores: Scores = {}
    for part in index.parts:
        begun = time.perf_counter()
        scores[part] = index.score(part, query, vector)
        seconds[part] += time.perf_counter() - begun
    return scores


def index_of(
    entries: Sequence[Entry], retrievers: Sequence[Retriever], setting: Setting
) -> Index:
    """Index entries for the retrievers that are to ask them."""
    texts = [entry.dense for entry in entries]
    vectors = vectors_of(texts, "document", retrievers, setting)
    return Index(entries, retrievers, setting.words, vectors)


def vectors_of(
    texts: Sequence[str],
    role: Role,
    retrievers: Sequence[Retriever],
    setting: Setting,
) -> Rows | None:
    """Embed texts where a retriever needs it, one row for each; else None."""
    if LEXICAL.issuperset(retrievers) or setting.embedder is None:
        return None
    return setting.embedder.embed(texts, role)


def handed_over(ranking: Sequence[Entry], arm: Arm, returned: Returned) -> list[Entry]:
    """Give what is handed over for a ranking: its entries, or their sections once."""
    if returned == "leaf":
        return list(ranking)
    sections = (arm.sections.get(entry.entry_id, entry) for entry in ranking)
    return list({entry.entry_id: entry for entry in sections}.values())
