"""Questions by the document whose true gain is known: `world(truth, generator)`.

No text and no index: only what an arm finds of each excerpt, as the arms of a
comparison do. Two enriched arms are held against one baseline under two retrievers.
A document is easy or hard as a whole, an arm helps or harms it as a whole, and what
one arm changes another is likely to change too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RETRIEVERS: Final = ("bm25", "dense")
ARMS: Final = ("situating", "findable")

# Of the excerpts the baseline finds.
_FOUND = 0.7

# Of what decides about an excerpt, how much is its question's.
_QUESTION = 0.3

# Of what decides about one arm and retriever, how much is common to all.
_COMMON = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What holds of the documents that a world is drawn from."""

    documents: int = 100
    won: float = 0.06
    """Chance that an excerpt is found with the arm and not without."""
    lost: float = 0.06
    related: float = 0.2
    """How much of what decides about an excerpt is its document's."""
    several: float = 0.25
    """Share of the questions with two or three excerpts."""
    largest: float = 0.0
    """Share of the questions that are about the first document alone."""

    @property
    def gain(self) -> float:
        """The true difference."""
        return self.won - self.lost

    @property
    def baseline(self) -> float:
        """The true mean of the baseline."""
        return _FOUND


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Scores of each question, from 0 to 1."""

    documents: tuple[str, ...]
    """Each question's."""
    baseline: NDArray[np.float64]
    """Shape `(retrievers, questions)`."""
    enriched: NDArray[np.float64]
    """Shape `(retrievers, arms, questions)`."""


def world(truth: Truth, generator: np.random.Generator) -> World:
    """Draw documents, one to eight questions about each, and what is found."""
    sizes = np.minimum(8, generator.geometric(0.38, truth.documents))
    if truth.largest:
        others = sizes[1:].sum()
        sizes[0] = round(truth.largest / (1 - truth.largest) * others)
    document = np.repeat(np.arange(truth.documents), sizes)
    several = generator.random(len(document)) < truth.several
    excerpts = np.where(several, generator.integers(2, 4, len(document)), 1)
    question = np.repeat(np.arange(len(document)), excerpts)

    def decided(kinds: int) -> NDArray[np.float64]:
        """Give standard normal numbers, shape `(kinds, excerpts)`."""

        def shared(units: int) -> NDArray[np.float64]:
            common = generator.standard_normal(units)
            own = generator.standard_normal((kinds, units))
            return math.sqrt(_COMMON) * common + math.sqrt(1 - _COMMON) * own

        return (
            math.sqrt(truth.related) * shared(truth.documents)[:, document[question]]
            + math.sqrt(_QUESTION) * shared(len(document))[:, question]
            + math.sqrt(1 - truth.related - _QUESTION) * shared(len(question))
        )

    found = decided(len(RETRIEVERS)) < _below(_FOUND)
    change = decided(len(RETRIEVERS) * len(ARMS)).reshape(
        len(RETRIEVERS), len(ARMS), -1
    )
    gained = change > _below(1 - truth.won / (1 - _FOUND))
    kept = change > _below(truth.lost / _FOUND)
    enriched = np.where(found[:, None], kept, gained)

    def by_question(hits: NDArray[np.bool_]) -> NDArray[np.float64]:
        starts = np.cumsum(excerpts) - excerpts
        return np.add.reduceat(hits.astype(np.float64), starts, axis=-1) / excerpts

    return World(
        documents=tuple(f"document-{number}.md" for number in document),
        baseline=by_question(found),
        enriched=by_question(enriched),
    )


def _below(share: float) -> float:
    """Give the number that this share of standard normal numbers is below."""
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else NormalDist().inv_cdf(share)
