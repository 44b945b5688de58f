"""What can be said of a mean over questions that come in documents.

Questions about one document are relatives: a document that is chunked badly spoils
all of them. So documents, not questions, are what is resampled and whose signs are
flipped. Everything here is a pure function of its numbers and the seed; what the
numbers are worth is for `verdicts` to say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from situate.compare.comparison import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_NORMAL: Final = NormalDist()

_EXACT: Final = 14
"""Up to so many documents that differ, all 2^14 signs are tried."""

_BLOCK: Final = 2**20
"""Resampled counts held as floating point at a time: 8 MB."""

_EQUAL: Final = 1e-9
"""Scores nearer than this are equal: they are sums of fractions in any order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resamples:
    """Documents drawn again and again, for all measures of one set of questions.

    Made once by `resample` and shared: arms, retrievers and measures then differ
    by what they score and not by what was drawn. `D` draws over `C` documents
    take `D * (2 * C + 2)` bytes.
    """

    codes: NDArray[np.intp]
    """Shape `(questions,)`: each question's document, from 0."""
    counts: NDArray[np.uint8]
    """Shape `(draws, documents + 2)`: how often each was drawn. The last two are
    the added ones that `difference` and `level` speak of."""
    signs: NDArray[np.int8]
    """Shape `(draws, documents)`: 1 or -1 at random."""

    @property
    def questions(self) -> int:
        """The number of questions."""
        return len(self.codes)

    @property
    def clusters(self) -> int:
        """The number of documents."""
        return int(self.signs.shape[1])

    @property
    def draws(self) -> int:
        """The number of draws."""
        return int(self.signs.shape[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """A total and a number of questions for each cluster, added ones last."""

    totals: Floats
    sizes: Floats

    @property
    def standard_error(self) -> float:
        """Of the ratio of sums, by linearisation, clusters being independent.

        Cochran, Sampling Techniques (3rd edition, 1977), chapter 6.
        """
        size = float(self.sizes.sum())
        apart = self.totals - self.totals.sum() / size * self.sizes
        clusters = len(self.sizes)
        return math.sqrt(clusters / (clusters - 1) * float(apart @ apart)) / size


def resample(clusters: Sequence[str], *, seed: int, draws: int = 10_000) -> Resamples:
    """Draw documents with replacement, and signs for them.

    `clusters` names each question's document. The draws do not depend on the
    order of the questions.

    Raises:
        ValueError: there are no questions, or no draws.
    """
    if not clusters or draws < 1:
        message = f"{len(clusters)} questions and {draws} draws: both must be some"
        raise ValueError(message)
    names = {name: code for code, name in enumerate(sorted(set(clusters)))}
    for_counts, for_signs = np.random.SeedSequence(seed).spawn(2)
    return Resamples(
        codes=np.array([names[name] for name in clusters], np.intp),
        counts=_counts(len(names) + 2, draws, np.random.default_rng(for_counts)),
        signs=_signs(len(names), draws, np.random.default_rng(for_signs)),
    )


def difference(ours: ArrayLike, theirs: ArrayLike, resamples: Resamples) -> Difference:
    """Compare two arms question by question, documents taken as wholes.

    `ours` and `theirs` hold a score from 0 to 1 for each question of `resamples`,
    in its order; scores within 1e-9 are equal. The mean is over questions.

    The interval is the bootstrap's over documents, corrected twice for small
    samples. Its percentiles are expanded, so that it is as wide as one by Student's
    t: Hesterberg, What Teachers Should Know about the Bootstrap, The American
    Statistician 69 (2015). And one question won and one lost are added, each a
    document of its own, as for paired proportions: Bonett and Price, Journal of
    Educational and Behavioral Statistics 37 (2012). Without them the intervals of
    arms that differ on a handful of questions miss the truth up to half the time,
    and those of arms that never differ have no width. Where differences are
    fractions, those added are of their size: the root mean square of what was seen
    and one of 1. `python -m benchmarks.verdicts` measures the coverage. One document
    says nothing about others: its interval is from -1 to 1.

    `p` is the two-sided sign-flip test's over documents: exact with at most 14 of
    them that differ, else over the draws, the observed signs counted among them.
    `detectable` is for 80 % power, at most 1.

    Raises:
        ValueError: the lengths differ, or a score is not between 0 and 1.
    """
    ours, theirs = _scores(ours, resamples), _scores(theirs, resamples)
    by_question = ours - theirs
    by_question[np.abs(by_question) < _EQUAL] = 0
    won, lost = int((by_question > 0).sum()), int((by_question < 0).sum())
    # One question of size 1 is presumed, so that nothing seen is not no variance.
    size = math.sqrt((1 + float(by_question @ by_question)) / (1 + won + lost))
    sums = _sums(by_question, resamples, added=(size, -size))
    totals = sums.totals[:-2]
    clusters = resamples.clusters
    if clusters == 1:
        low, high, p, detectable = -1.0, 1.0, 1.0, 1.0
    else:
        low, high = _interval(sums, resamples)
        p = _sign_flip(totals, resamples)
        times = _t_quantile(0.975, clusters - 1) + _t_quantile(0.8, clusters - 1)
        detectable = min(1.0, times * sums.standard_error)
    return Difference(
        mean=float(totals.sum()) / resamples.questions,
        low=low,
        high=high,
        p=p,
        detectable=detectable,
        questions=resamples.questions,
        clusters=clusters,
        won=won,
        lost=lost,
    )


def level(values: ArrayLike, resamples: Resamples) -> tuple[float, float, float]:
    """Give one arm's mean and the ends of its 95 % interval.

    `values` holds a score from 0 to 1 for each question of `resamples`, in its
    order. The interval is that of `difference`, one question of 0 and one of 1
    added (Agresti and Caffo, The American Statistician 54, 2000). With a single
    document it is from 0 to 1.

    Raises:
        ValueError: the lengths differ, or a score is not between 0 and 1.
    """
    sums = _sums(_scores(values, resamples), resamples, added=(1.0, 0.0))
    mean = float(sums.totals[:-2].sum()) / resamples.questions
    if resamples.clusters == 1:
        return mean, 0.0, 1.0
    low, high = _interval(sums, resamples)
    return mean, low, high


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p-values for their number, in the order given.

    Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian
    Journal of Statistics 6 (1979): the chance that any of those below a limit is
    there by accident stays under that limit, however they hang together.

    Raises:
        ValueError: one is not between 0 and 1.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            message = f"a p-value is {p!r}, not between 0 and 1"
            raise ValueError(message)
    adjusted = [0.0] * len(p_values)
    above = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        above = max(above, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = above
    return tuple(adjusted)


def _counts(
    clusters: int, draws: int, generator: np.random.Generator
) -> NDArray[np.uint8]:
    # A count is near a Poisson variable of mean 1; none ever comes near 256.
    counts = np.empty((draws, clusters), np.uint8)
    for block in _blocks(draws, clusters):
        rows = block.stop - block.start
        drawn = generator.integers(0, clusters, (rows, clusters))
        drawn += np.arange(rows)[:, None] * clusters
        counts[block] = np.bincount(
            drawn.reshape(-1), minlength=rows * clusters
        ).reshape(rows, clusters)
    return counts


def _signs(
    clusters: int, draws: int, generator: np.random.Generator
) -> NDArray[np.int8]:
    signs = generator.integers(0, 2, (draws, clusters), dtype=np.int8)
    signs *= 2
    signs -= 1
    return signs


def _blocks(draws: int, clusters: int) -> Iterator[slice]:
    rows = max(1, _BLOCK // clusters)
    for start in range(0, draws, rows):
        yield slice(start, min(draws, start + rows))


def _scores(values: ArrayLike, resamples: Resamples) -> Floats:
    scores = np.array(values, np.float64)
    if scores.shape != (resamples.questions,):
        message = (
            f"scores have the shape {scores.shape}; "
            f"{resamples.questions} questions were resampled"
        )
        raise ValueError(message)
    # Negated, so that NaN is caught.
    outside = ~((scores >= -_EQUAL) & (scores <= 1 + _EQUAL))
    if outside.any():
        first = int(outside.argmax())
        message = f"the score of question {first} is {scores[first]}, not from 0 to 1"
        raise ValueError(message)
    return scores


def _sums(
    by_question: Floats, resamples: Resamples, *, added: tuple[float, float]
) -> _Sums:
    clusters = resamples.clusters
    totals = np.bincount(resamples.codes, by_question, clusters)
    sizes = np.bincount(resamples.codes, minlength=clusters)
    return _Sums(
        totals=np.concatenate((totals, added)),
        sizes=np.concatenate((sizes, (1.0, 1.0))),
    )


def _interval(sums: _Sums, resamples: Resamples) -> tuple[float, float]:
    clusters = resamples.clusters
    columns = np.stack((sums.totals, sums.sizes), axis=1)
    means = np.empty(resamples.draws)
    for block in _blocks(resamples.draws, clusters + 2):
        drawn = resamples.counts[block].astype(np.float64) @ columns
        means[block] = drawn[:, 0] / drawn[:, 1]
    wider = math.sqrt(clusters / (clusters - 1)) * _t_quantile(0.975, clusters - 1)
    tail = _NORMAL.cdf(-wider)
    low, high = np.quantile(means, (tail, 1 - tail))
    return float(low), float(high)


def _sign_flip(totals: Floats, resamples: Resamples) -> float:
    differing = totals[totals != 0]
    clusters = len(differing)
    if clusters == 0:
        return 1.0
    reached = abs(float(differing.sum())) - _EQUAL
    if clusters <= _EXACT:
        bits = np.arange(2**clusters)[:, None] >> np.arange(clusters) & 1
        return float((np.abs((2 * bits - 1) @ differing) >= reached).mean())
    extreme = 0
    for block in _blocks(resamples.draws, resamples.clusters):
        flipped = resamples.signs[block].astype(np.float64) @ totals
        extreme += int((np.abs(flipped) >= reached).sum())
    return (1 + extreme) / (1 + resamples.draws)


@cache
def _t_quantile(probability: float, degrees: int) -> float:
    """Give a quantile of Student's t above its median, by bisection."""
    low, high = 0.0, 1.0
    while _t_below(high, degrees) < probability:
        high *= 2
    # A double has 52 bits behind its leading one.
    for _ in range(53):
        middle = (low + high) / 2
        if _t_below(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def _t_below(value: float, degrees: int) -> float:
    """Give the share of Student's t below a value, by its finite series.

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3-4.
    """
    angle = math.atan(value / math.sqrt(degrees))
    sine, squared = math.sin(angle), math.cos(angle) ** 2
    odd = degrees % 2
    term, series = 1.0, 0.0
    for step in range(degrees // 2):
        series += term
        at = 2 * step + 1 + odd
        term *= squared * at / (at + 1)
    if odd:
        between = (angle + sine * math.cos(angle) * series) * 2 / math.pi
    else:
        between = sine * series
    return (1 + between) / 2
