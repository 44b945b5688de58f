"""The frontier: recall against the share of the statements that is paid for.

A share is chosen by a score, the neediest chunks first, or at random. Both arms are
embedded and indexed once: a chunk that is not chosen keeps the vector it has without
its statement, so that the rankings of hundreds of choices are mixed out of two rows
of numbers a question. What is handed over are leaves as they were first ranked,
whatever a setting says of sections, levels and rerankers.

A score that is worth nothing is a random choice by another name. So it beats random
only where two tests agree: that the documents asked about, had others been drawn,
would say the same, and that few random choices do as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from situate.compare.comparison import FrontierPoint
from situate.compare.mixing import DENSE, NEVER, Bought, Mixed
from situate.compare.statistics import difference, holm, resample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from situate.compare.comparison import Difference
    from situate.compare.mixing import Pair
    from situate.compare.questions import Question
    from situate.compare.trial import Setting

SHARES: Final[tuple[float, ...]] = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Of the chunks that have a statement."""

_INNER: Final = slice(1, -1)
"""The shares at which there is something to choose."""

_FEWEST: Final = 200
"""Random choices: the ends of a band are then the fifth from either end."""

_EACH: Final = 40
"""Random choices for each score under each retriever: `luck` can fall to half of what
is left of 0.05 when it is shared among them."""

_EQUAL: Final = 1e-9
"""Means nearer than this are equal: they are sums of fractions in any order."""

_LIMIT: Final = 0.05
"""The chance of one or more scores being said to beat random that do not."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes:
    """What every choice finds, question by question."""

    arm: str
    scores: tuple[str, ...]
    recalls: Mapping[str, NDArray[np.float64]]
    """By retriever, shape `(choices, shares, questions)`; the choices are those of
    `scores`, in their order, then the random ones."""
    clusters: tuple[str, ...]
    """Each question's document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantage:
    """What a score has over the mean of random choices of the same share."""

    retriever: str
    arm: str
    score: str
    share: float | None
    """None for the mean over all shares but none and all."""
    difference: Difference
    """Paired by question and clustered by document."""
    luck: float
    """The share of the random choices that find as much, the score's among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """What choosing by scores brings, and whether that is more than luck."""

    points: tuple[FrontierPoint, ...]
    advantages: tuple[Advantage, ...]


def beating(frontiers: Sequence[Frontier]) -> tuple[Advantage, ...]:
    """Give the scores that beat random over all shares, of all arms together.

    The interval lies above zero, and the larger of both p-values, corrected for the
    number of scores, retrievers and arms (Holm), is at most 0.05. That the larger one
    counts is the intersection-union test (Berger, Technometrics 24, 1982).
    """
    overall = [
        one for each in frontiers for one in each.advantages if one.share is None
    ]
    adjusted = holm([max(one.difference.p, one.luck) for one in overall])
    return tuple(
        one
        for one, p in zip(overall, adjusted, strict=True)
        if p <= _LIMIT and one.difference.low > 0
    )


def frontier(
    pair: Pair,
    questions: Sequence[Question],
    setting: Setting,
    scores: Mapping[str, Sequence[float]],
    *,
    seed: int,
) -> Frontier:
    """Measure what each score brings at every share, beside random choices.

    `scores` have a number for each entry; the highest is bought first, of equal ones
    the first. The measure is the primary one of `setting.cuts`. Time grows with
    questions times entries; 20,000 entries and 1,000 questions take about a minute.
    Nothing comes of a setting without dense retrieval, or of arms without statements.

    Raises:
        ValueError: a score has not one finite number for each entry.
    """
    found = outcomes(pair, questions, setting, scores, seed=seed)
    return weighed(found, seed=seed)


def outcomes(
    pair: Pair,
    questions: Sequence[Question],
    setting: Setting,
    scores: Mapping[str, Sequence[float]],
    *,
    seed: int,
) -> Outcomes:
    """Ask every question of every choice.

    Raises:
        ValueError: a score has not one finite number for each entry.
    """
    retrievers = tuple(one for one in setting.retrievers if one in DENSE)
    bought = _bought(
        pair,
        scores,
        draws=max(_FEWEST, _EACH * len(scores) * len(retrievers)),
        seed=seed,
    )
    if not (setting.embedder and retrievers and len(pair.places) and questions):
        return Outcomes(arm=pair.stated.name, scores=(), recalls={}, clusters=())
    asked = setting.embedder.embed([one.query for one in questions], "query")
    mixed = Mixed(pair, retrievers, setting)
    shape = (bought.choices, len(SHARES), len(questions))
    recalls: dict[str, NDArray[np.float64]] = {
        one: np.empty(shape) for one in retrievers
    }
    for number, (question, vector) in enumerate(zip(questions, asked, strict=True)):
        for retriever, found in mixed.recalls(question, vector, bought):
            recalls[retriever][:, :, number] = found
    return Outcomes(
        arm=pair.stated.name,
        scores=tuple(scores),
        recalls=recalls,
        clusters=tuple(question.cluster for question in questions),
    )


def weighed(found: Outcomes, *, seed: int) -> Frontier:
    """Hold every score against the random choices."""
    if not found.recalls:
        return Frontier(points=(), advantages=())
    resamples = resample(found.clusters, seed=seed)
    points: list[FrontierPoint] = []
    advantages: list[Advantage] = []
    for retriever, recalls in found.recalls.items():
        chosen, random = np.split(recalls, [len(found.scores)])
        bands = np.quantile(random.mean(axis=2), (0.025, 0.975), axis=0)
        for score, mine in zip(found.scores, chosen, strict=True):
            points.extend(
                FrontierPoint(
                    retriever=retriever,
                    arm=found.arm,
                    score=score,
                    share=share,
                    mean=float(mine[at].mean()),
                    random_mean=float(random[:, at].mean()),
                    random_low=float(bands[0, at]),
                    random_high=float(bands[1, at]),
                )
                for at, share in enumerate(SHARES)
            )
            for share_or_all, ours, others in _shares(mine, random):
                # A choice's own mean is among those it is held against.
                as_good = int((others.mean(axis=1) >= ours.mean() - _EQUAL).sum())
                advantages.append(
                    Advantage(
                        retriever=retriever,
                        arm=found.arm,
                        score=score,
                        share=share_or_all,
                        difference=difference(ours, others.mean(axis=0), resamples),
                        luck=(1 + as_good) / (1 + len(others)),
                    )
                )
    return Frontier(points=tuple(points), advantages=tuple(advantages))


def _shares(
    mine: NDArray[np.float64], random: NDArray[np.float64]
) -> Iterator[tuple[float | None, NDArray[np.float64], NDArray[np.float64]]]:
    """Yield a score's numbers and the random ones: over all shares, then at each."""
    yield None, mine[_INNER].mean(axis=0), random[:, _INNER].mean(axis=1)
    for at, share in list(enumerate(SHARES))[_INNER]:
        yield share, mine[at], random[:, at]


def _bought(
    pair: Pair, scores: Mapping[str, Sequence[float]], *, draws: int, seed: int
) -> Bought:
    """Give the order in which each score buys, then that of random draws.

    Raises:
        ValueError: a score has not one finite number for each entry.
    """
    places, entries = pair.places, len(pair.free.entries)
    generator = np.random.default_rng(seed)
    order = np.full((entries, len(scores) + draws), NEVER, np.int32)
    turns = np.arange(len(places), dtype=np.int32)
    for column, (name, values) in enumerate(scores.items()):
        needs = np.array(values, np.float64)
        if needs.shape != (entries,) or not np.isfinite(needs).all():
            message = (
                f"score {name!r} has not one finite number for each of the "
                f"{entries} entries"
            )
            raise ValueError(message)
        # Stable: of equal ones the first is bought first.
        order[places[np.argsort(-needs[places], kind="stable")], column] = turns
    for column in range(len(scores), len(scores) + draws):
        order[places, column] = generator.permutation(turns)
    counts = tuple(round(share * len(places)) for share in SHARES[_INNER])
    return Bought(order=order, counts=counts)
