"""Verdicts on corpora whose true gain is known are right as often as they say.

A short form of `python -m benchmarks.verdicts`, which decides on thousands; seeds
are fixed, and the bounds are such that a right procedure meets them surely.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.verdicts import tally
from tests.compare.known_truth import Truth, world

CORPORA = 100


def test_what_gains_nothing_is_seldom_kept() -> None:
    """Of 100 corpora 3 have a keep by these seeds; one more is allowed for."""
    seen = tally(Truth(), CORPORA, draws=400)

    assert seen.any_keep <= 4
    assert seen.choices["undecided"] > seen.choices["skip"] > 0


@pytest.mark.parametrize(
    "truth",
    [Truth(won=0.02, lost=0.02), Truth(won=0.1, lost=0.04)],
    ids=["no effect", "a gain"],
)
def test_an_interval_holds_the_truth_95_times_in_a_hundred(truth: Truth) -> None:
    """Give or take what 400 related intervals vary by."""
    seen = tally(truth, CORPORA, draws=400)

    assert 0.92 <= seen.coverage <= 0.98
    assert 0.9 <= seen.level_coverage <= 0.99


def test_a_gain_as_large_as_is_detectable_is_found_four_times_in_five() -> None:
    """At 5 % and uncorrected, as `detectable` says."""
    seen = tally(Truth(won=0.11, lost=0.04), CORPORA, draws=400)
    detectable = seen.detectable / seen.verdicts

    assert detectable == pytest.approx(seen.truth.gain, rel=0.1)
    assert 0.7 <= seen.found / seen.verdicts <= 0.9


def test_a_loss_is_never_kept() -> None:
    """And mostly skipped."""
    seen = tally(Truth(won=0.03, lost=0.09), 40, draws=400)

    assert seen.choices["keep"] == 0
    assert seen.choices["skip"] > 0.8 * seen.verdicts


def test_worlds_are_as_their_truth_says() -> None:
    """The mean gain of many documents is that which was planted."""
    truth = Truth(documents=20_000, won=0.09, lost=0.04)

    drawn = world(truth, np.random.default_rng(1))

    gains = drawn.enriched - drawn.baseline[:, None]
    assert gains.mean(axis=-1) == pytest.approx(np.full((2, 2), 0.05), abs=0.01)
    assert drawn.baseline.mean() == pytest.approx(truth.baseline, abs=0.01)
    assert len(drawn.documents) == gains.shape[-1] == pytest.approx(52_000, rel=0.02)
