"""Means over questions are judged by the documents that the questions are about."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.compare.statistics import difference, holm, level, resample

if TYPE_CHECKING:
    from situate.compare.comparison import Difference
    from situate.compare.statistics import Resamples

scores = st.floats(min_value=0, max_value=1)
p_values = st.lists(st.floats(min_value=0, max_value=1), max_size=8)


@st.composite
def paired(draw: st.DrawFn) -> tuple[list[float], list[float], list[str]]:
    """Draw the scores of two arms, and the document of each question."""
    rows = draw(
        st.lists(
            st.tuples(scores, scores, st.sampled_from("abcdefg")),
            min_size=1,
            max_size=40,
        )
    )
    ours, theirs, documents = zip(*rows, strict=True)
    return list(ours), list(theirs), list(documents)


def each_its_own(questions: int) -> list[str]:
    """Give every question a document of its own."""
    return [f"document-{number}" for number in range(questions)]


def drawn(documents: list[str], *, draws: int = 500) -> Resamples:
    """Resample documents, always the same way."""
    return resample(documents, seed=5, draws=draws)


def compared(
    differences: list[float], documents: list[str] | None = None, *, draws: int = 2_000
) -> Difference:
    """Compare two arms that differ by so much on each question."""
    ours = [max(0.0, each) for each in differences]
    theirs = [max(0.0, -each) for each in differences]
    documents = documents or each_its_own(len(differences))
    return difference(ours, theirs, drawn(documents, draws=draws))


def test_the_mean_is_over_questions_not_over_documents() -> None:
    """A document with three questions counts three times."""
    found = compared([1, 1, 1, 0], ["a", "a", "a", "b"])

    assert found.mean == 0.75
    assert (found.questions, found.clusters) == (4, 2)


def test_questions_won_and_lost_are_counted() -> None:
    """However much a question is won by, it is one."""
    found = compared([0.5, 1, 0, -0.25, 0])

    assert (found.won, found.lost) == (2, 1)


def test_what_only_rounding_tells_apart_is_equal() -> None:
    """Thirds that add up to one in another order win nothing."""
    found = difference([0.1 + 0.2, 1.0], [0.3, 1.0], drawn(["a", "b"]))

    assert (found.won, found.lost, found.mean, found.p) == (0, 0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1] * 5, 2 / 2**5),
        ([1] * 6, 2 / 2**6),
        ([1] * 14 + [0] * 30, 2 / 2**14),
        ([1, 1, 1, -1], 10 / 2**4),
        ([1, -1], 1.0),
        ([0, 0, 0], 1.0),
    ],
    ids=["five won", "six won", "all of fourteen", "three of four", "even", "none"],
)
def test_few_documents_are_tested_exactly(differences: list[float], p: float) -> None:
    """With at most fourteen that differ, all signs are tried; zeros count nothing."""
    assert compared(differences).p == pytest.approx(p, rel=1e-12)


@given(totals=st.lists(st.sampled_from([-1, -0.5, 0, 0.25, 1]), min_size=2, max_size=9))
def test_the_exact_test_counts_signs_that_go_as_far(totals: list[float]) -> None:
    """Either way, and as far as seen or farther."""
    reached = abs(sum(totals))
    signs = list(product([-1, 1], repeat=len(totals)))
    far = sum(abs(np.dot(each, totals)) >= reached for each in signs)

    assert compared(totals).p == pytest.approx(far / len(signs), rel=1e-12)


def test_many_documents_are_tested_at_random_with_what_was_seen_among_them() -> None:
    """So p is never zero."""
    found = compared([1] * 60, draws=1_000)

    assert found.p == 1 / 1_001


def test_random_signs_agree_with_the_binomial() -> None:
    """Twenty-five won and fifteen lost are no more than a coin shows."""
    exact = 2 * sum(math.comb(40, heads) for heads in range(25, 41)) / 2**40

    found = compared([1] * 25 + [-1] * 15, draws=10_000)

    assert found.p == pytest.approx(exact, abs=0.012)


def test_relatives_are_not_independent() -> None:
    """Eight questions that one document wins are one win."""
    documents = [f"document-{number // 8}" for number in range(96)]
    differences = [1.0 if number // 8 < 4 else 0.0 for number in range(96)]

    together = compared(differences, documents)
    apart = compared(differences)

    assert together.mean == apart.mean
    assert apart.p < 0.001
    assert together.p > 0.1
    assert together.high - together.low > 2 * (apart.high - apart.low)
    assert together.detectable > 2 * apart.detectable


def test_the_interval_is_as_wide_as_one_by_students_t() -> None:
    """With 100 documents, half won and a fifth lost, bootstrap and formula agree."""
    differences = [1.0] * 50 + [-1.0] * 20 + [0.0] * 30

    found = compared(differences, draws=10_000)

    # Won and lost get one more each, and t of 99 degrees has 1.984 below 97.5 %.
    error = math.sqrt((51 + 21 - 30**2 / 102) / 101 / 102)
    assert found.low == pytest.approx(30 / 102 - 1.984 * error, abs=0.01)
    assert found.high == pytest.approx(30 / 102 + 1.984 * error, abs=0.01)


def test_few_documents_widen_the_interval_however_many_questions() -> None:
    """Eight documents of 60 questions: t of 7 degrees is 2.365, not 1.96."""
    won = [6, 12, 15, 18, 21, 24, 30, 34]
    differences = [float(at < many) for many in won for at in range(60)]
    documents = [f"document-{number // 60}" for number in range(480)]

    found = compared(differences, documents, draws=10_000)

    error = float(np.std([many / 60 for many in won], ddof=1)) / math.sqrt(8)
    assert found.high - found.low == pytest.approx(2 * 2.365 * error, rel=0.08)


def test_the_detectable_difference_follows_from_the_standard_error() -> None:
    """Quantiles of t with 99 degrees: 1.984 for 5 % two-sided, 0.845 for 80 %."""
    found = compared([1.0] * 50 + [-1.0] * 20 + [0.0] * 30)

    error = math.sqrt((51 + 21 - 30**2 / 102) / 101 / 102)
    assert found.detectable == pytest.approx((1.984 + 0.845) * error, rel=2e-3)


def test_four_times_the_documents_detect_half_the_difference() -> None:
    """Standard errors fall with the root of what is independent."""
    few = compared([1.0, -1.0, 0.0, 0.0] * 25)
    many = compared([1.0, -1.0, 0.0, 0.0] * 100)

    assert few.detectable / many.detectable == pytest.approx(2, rel=0.03)


@pytest.mark.parametrize("documents", [2, 8, 20, 100], ids=str)
def test_never_differing_is_no_certainty(documents: int) -> None:
    """Of so many documents the next one may differ."""
    found = compared([0.0] * documents)

    assert found.low < -2 / (documents + 2) < 2 / (documents + 2) < found.high
    assert found.detectable > 2 / (documents + 2)


def test_small_differences_are_not_drowned() -> None:
    """What is added for small samples is of the size of what was seen."""
    differences = [0.1, -0.1, 0.1] * 40

    found = compared(differences)

    assert found.high - found.low < 0.05


def test_one_document_says_nothing_about_others() -> None:
    """However many questions are about it."""
    found = compared([1.0] * 50, ["only"] * 50)

    assert (found.low, found.high, found.p, found.detectable) == (-1, 1, 1, 1)
    assert level([1.0] * 50, drawn(["only"] * 50)) == (1, 0, 1)


@given(case=paired())
def test_an_interval_holds_its_mean_and_stays_in_range(
    case: tuple[list[float], list[float], list[str]],
) -> None:
    """Whatever the scores and the documents."""
    ours, theirs, documents = case
    resamples = drawn(documents)

    found = difference(ours, theirs, resamples)
    mean, low, high = level(ours, resamples)

    assert -1 <= found.low <= found.mean <= found.high <= 1
    assert 0 < found.p <= 1
    assert 0 < found.detectable <= 1
    assert found.won + found.lost <= found.questions
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1


@given(case=paired())
def test_the_other_way_round_is_the_mirror_image(
    case: tuple[list[float], list[float], list[str]],
) -> None:
    """No arm is favoured by being the baseline."""
    ours, theirs, documents = case
    resamples = drawn(documents)

    forth = difference(ours, theirs, resamples)
    back = difference(theirs, ours, resamples)

    assert back.mean == pytest.approx(-forth.mean)
    assert back.p == pytest.approx(forth.p)
    assert (back.won, back.lost) == (forth.lost, forth.won)
    assert back.detectable == pytest.approx(forth.detectable)


@given(case=paired(), order=st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(
    case: tuple[list[float], list[float], list[str]], order: object
) -> None:
    """A question file may be sorted."""
    rows = list(zip(*case, strict=True))
    shuffled = list(rows)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # random.Random

    one, other = (
        difference(ours, theirs, drawn(list(documents)))
        for ours, theirs, documents in (
            zip(*each, strict=True) for each in (rows, shuffled)
        )
    )

    assert other.low == pytest.approx(one.low)
    assert other.high == pytest.approx(one.high)
    assert other.p == pytest.approx(one.p)


def test_a_seed_gives_the_same_figures_again_and_another_seed_others() -> None:
    """A report can be made again."""
    generator = np.random.default_rng(1)
    ours, theirs = generator.random((2, 90))
    documents = [f"document-{number % 30}" for number in range(90)]

    def figures(seed: int) -> tuple[Difference, tuple[float, float, float]]:
        resamples = resample(documents, seed=seed, draws=500)
        return difference(ours, theirs, resamples), level(ours, resamples)

    assert figures(7) == figures(7)
    assert figures(7) != figures(8)


def test_draws_in_blocks_are_whole_draws() -> None:
    """Every resample has as many documents as there are, two added ones included."""
    resamples = drawn(each_its_own(3_000), draws=800)

    assert set(resamples.counts.sum(axis=1, dtype=int).tolist()) == {3_002}
    assert set(np.unique(resamples.signs).tolist()) == {-1, 1}


def test_a_level_has_an_interval_even_when_everything_is_found() -> None:
    """Ten questions answered are no proof that all will be."""
    mean, low, high = level([1.0] * 10, drawn(each_its_own(10)))

    assert (mean, high) == (1.0, 1.0)
    assert 0.5 < low < 0.9


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([0.5], "2 questions were resampled"),
        ([0.5, math.nan], "question 1 is nan"),
        ([1.5, 0.5], r"question 0 is 1\.5"),
        ([0.5, -0.1], r"question 1 is -0\.1"),
    ],
    ids=["too few", "no number", "above one", "below zero"],
)
def test_scores_that_cannot_be_are_refused(wrong: list[float], said: str) -> None:
    """The message names the question."""
    resamples = drawn(["a", "b"])

    with pytest.raises(ValueError, match=said):
        difference(wrong, [0.5, 0.5], resamples)
    with pytest.raises(ValueError, match=said):
        difference([0.5, 0.5], wrong, resamples)
    with pytest.raises(ValueError, match=said):
        level(wrong, resamples)


@pytest.mark.parametrize(
    ("documents", "draws"), [([], 10), (["a"], 0)], ids=["no question", "no draw"]
)
def test_nothing_to_resample_is_refused(documents: list[str], draws: int) -> None:
    """A comparison without questions has no figures."""
    with pytest.raises(ValueError, match="both must be some"):
        resample(documents, seed=0, draws=draws)


def test_holm_adjusts_the_smallest_most() -> None:
    """Three times, twice and once, never below the one before."""
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))


@given(given_values=p_values)
def test_holm_keeps_order_and_never_helps(given_values: list[float]) -> None:
    """Adjusted values are no smaller, at most 1, and sorted as before."""
    adjusted = holm(given_values)

    assert len(adjusted) == len(given_values)
    for p, q in zip(given_values, adjusted, strict=True):
        assert p <= q <= 1
        assert q <= min(1, len(given_values) * p)
    ranked = sorted(zip(given_values, adjusted, strict=True))
    assert [q for _, q in ranked] == sorted(adjusted)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan], ids=str)
def test_holm_refuses_what_is_no_probability(wrong: float) -> None:
    """A missing p-value is no small one."""
    with pytest.raises(ValueError, match="not between 0 and 1"):
        holm([0.5, wrong])
