"""A verdict follows from one measure, one margin and rules fixed beforehand."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.compare.comparison import Difference
from situate.compare.statistics import difference, resample
from situate.compare.verdicts import MARGIN, Candidate, Overall, overall, verdicts

if TYPE_CHECKING:
    from situate.compare.comparison import Choice, Verdict

PLAIN = Difference(
    mean=0.0,
    low=-0.05,
    high=0.05,
    p=1.0,
    detectable=0.07,
    questions=200,
    clusters=80,
    won=10,
    lost=10,
)


def candidate(
    low: float = -0.05,
    high: float = 0.05,
    p: float = 1.0,
    *,
    retriever: str = "dense",
    arm: str = "findable",
) -> Candidate:
    """Make an arm with such an interval."""
    return Candidate(
        retriever=retriever,
        arm=arm,
        against="breadcrumb",
        measure="rec@2000r",
        difference=replace(PLAIN, mean=(low + high) / 2, low=low, high=high, p=p),
        drafted=False,
        usd=None,
    )


def decided(one: Candidate, margin: float = MARGIN) -> Verdict:
    """Decide on one arm alone."""
    (verdict,) = verdicts([one], margin=margin)
    return verdict


def planted(won: int, lost: int, equal: int) -> Difference:
    """Compare arms that differ on so many questions, four to a document."""
    ours = np.array([1.0] * won + [0.0] * lost + [1.0] * equal)
    theirs = np.array([0.0] * won + [1.0] * lost + [1.0] * equal)
    mixed = np.random.default_rng(3).permutation(len(ours))
    documents = [f"document-{number // 4}" for number in range(len(ours))]
    return difference(
        ours[mixed], theirs[mixed], resample(documents, seed=1, draws=2_000)
    )


@pytest.mark.parametrize(
    ("won", "lost", "equal", "choice", "said"),
    [
        (60, 5, 335, "keep", "a gain, p "),
        (5, 60, 335, "skip", "worse than breadcrumb"),
        (3, 3, 594, "skip", "no difference shown, and any is less than"),
        (6, 4, 30, "undecided", "no difference shown. So many questions show"),
    ],
    ids=["must win", "must lose", "must tie", "too few questions"],
)
def test_known_answers_are_found(
    won: int, lost: int, equal: int, choice: Choice, said: str
) -> None:
    """Planted gains, losses and ties are called what they are."""
    one = replace(candidate(), difference=planted(won, lost, equal))

    verdict = decided(one)

    assert verdict.choice == choice
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("low", "high", "p", "choice", "said"),
    [
        (-0.06, -0.01, 0.01, "skip", "worse than breadcrumb."),
        (0.004, 0.018, 0.01, "skip", "a gain, but less than the 0.020 worth"),
        (-0.012, 0.014, 0.9, "skip", "no difference shown, and any is less than"),
        (-0.045, 0.015, 0.3, "skip", "no difference shown, and any gain is less than"),
        (0.03, 0.09, 0.01, "keep", "and more than the 0.020 worth paying for."),
        (0.01, 0.09, 0.01, "keep", "perhaps less than the 0.020 worth paying for."),
        (0.01, 0.09, 0.05, "keep", "a gain, p = 0.050 after"),
        (0.01, 0.09, 0.06, "undecided", "a gain by itself, but p = 0.060 after"),
        (-0.01, 0.09, 0.04, "undecided", "no difference shown."),
        (-0.01, 0.02, 0.4, "undecided", "no difference shown."),
        (0.0, 0.09, 0.04, "undecided", "no difference shown."),
    ],
    ids=[
        "harm",
        "small gain",
        "equivalent",
        "no gain that pays",
        "large gain",
        "gain",
        "just significant",
        "not significant",
        "touching zero from below",
        "touching the margin",
        "starting at zero",
    ],
)
def test_the_first_rule_that_holds_decides(
    low: float, high: float, p: float, choice: Choice, said: str
) -> None:
    """Below the margin skip, above zero and significant keep, else undecided."""
    verdict = decided(candidate(low, high, p))

    assert verdict.choice == choice
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("drafted", "choice"),
    [(True, "undecided"), (False, "keep")],
    ids=["drafted", "given"],
)
def test_drafted_questions_alone_never_earn_a_keep(
    drafted: bool, choice: Choice
) -> None:
    """However large the gain."""
    verdict = decided(replace(candidate(0.1, 0.3, 0.001), drafted=drafted))

    assert verdict.choice == choice
    assert ("drafted questions alone earn no keep" in verdict.reason) == drafted


def test_drafted_questions_may_earn_a_skip() -> None:
    """Not to pay needs no better evidence than that."""
    drafted = replace(candidate(-0.01, 0.01), drafted=True)

    assert decided(drafted).choice == "skip"


def test_every_verdict_is_corrected_for_all_others() -> None:
    """What is significant alone is not among three others."""
    significant = candidate(0.01, 0.09, 0.02)
    others = [candidate(-0.05, 0.05, 0.9)] * 3

    alone = decided(significant)
    among, *_ = verdicts([significant, *others])

    assert (alone.choice, alone.p_adjusted) == ("keep", 0.02)
    assert (among.choice, among.p_adjusted) == ("undecided", 0.08)
    assert "p = 0.080 after Holm's correction for 4" in among.reason


def test_the_margin_is_the_users() -> None:
    """Whoever pays little is content with little."""
    found = candidate(0.004, 0.018, 0.01)

    assert decided(found).choice == "skip"
    assert decided(found, margin=0.01).choice == "keep"


@pytest.mark.parametrize("margin", [0.0, -0.02, 1.0, float("nan")], ids=str)
def test_a_margin_that_is_no_gain_is_refused(margin: float) -> None:
    """Without one, equivalence cannot be said."""
    with pytest.raises(ValueError, match="the margin is"):
        decided(candidate(), margin=margin)


def test_a_reason_gives_the_figures_that_decided() -> None:
    """Measure, change, interval, questions and documents."""
    verdict = decided(candidate(0.02, 0.092, 0.004))

    assert verdict.reason == (
        "rec@2000r +0.056 (95 % interval +0.020 to +0.092), 10 won and 10 lost of "
        "200 questions about 80 documents: a gain, p = 0.004 after Holm's correction "
        "for 1, perhaps less than the 0.020 worth paying for."
    )


@pytest.mark.parametrize(
    ("low", "high", "p", "shown"),
    [
        (0.0002, 0.05, 0.01, "interval +0.0002 to +0.050"),
        (-0.03, 0.01996, 0.5, "interval -0.030 to +0.01996"),
        (-0.0000001, 0.05, 0.5, "interval +0.000000 to"),
        (0.01, 0.09, 0.05004, "p = 0.05004 after"),
    ],
    ids=["above zero", "below the margin", "hardly below zero", "above the limit"],
)
def test_rounding_never_hides_what_decided(
    low: float, high: float, p: float, shown: str
) -> None:
    """A figure near a limit gets the digits that tell them apart, up to six."""
    reason = decided(candidate(low, high, p)).reason

    assert shown in reason


def test_undecided_says_how_many_questions_are_lacking() -> None:
    """Half the detectable difference takes four times the questions."""
    found = replace(PLAIN, mean=0.035, low=-0.02, high=0.09, detectable=0.08)

    verdict = decided(replace(candidate(), difference=found))

    assert verdict.reason.endswith(
        "no difference shown. So many questions show a gain of 0.080 four times in "
        "five; it takes about 3,000 more for one of 0.020, about 850 more for one of "
        "0.035, about as many more documents in proportion."
    )


def test_a_gain_as_large_as_the_margin_is_named_once() -> None:
    """The margin and what was seen may be one figure."""
    found = replace(PLAIN, mean=0.02, low=-0.02, high=0.06, detectable=0.06)

    reason = decided(replace(candidate(), difference=found)).reason

    assert "; it takes about 1,600 more for one of 0.020, about as many" in reason


def test_where_the_margin_can_be_shown_no_more_questions_are_asked_for() -> None:
    """It was a matter of luck, and the same number may decide next time."""
    found = replace(PLAIN, mean=0.012, low=-0.001, high=0.025, detectable=0.019)

    reason = decided(replace(candidate(), difference=found)).reason

    assert reason.endswith("show a gain of 0.019 four times in five.")


def test_one_document_asks_for_others() -> None:
    """More questions about it would not help."""
    found = replace(PLAIN, low=-1.0, high=1.0, detectable=1.0, clusters=1)

    verdict = decided(replace(candidate(), difference=found))

    assert verdict.choice == "undecided"
    assert "about 1 document: " in verdict.reason
    assert verdict.reason.endswith("ask about more of them.")


@pytest.mark.parametrize(
    ("mean", "usd", "recovered", "each"),
    [
        (0.05, "12.50", 10, "1.25"),
        (0.015, "1", 3, "0.333333"),
        (0.05, None, 10, None),
        (0.001, "12.50", 0, None),
        (-0.05, "12.50", -10, None),
        (0.05, "0", 10, "0"),
    ],
    ids=["paid", "thirds", "no price", "nothing recovered", "lost", "free"],
)
def test_dollars_are_those_of_each_question_recovered(
    mean: float, usd: str | None, recovered: int, each: str | None
) -> None:
    """The net sum of differences over 200 questions, as whole questions."""
    price = None if usd is None else Decimal(usd)
    found = replace(
        candidate(), difference=replace(PLAIN, mean=mean, high=0.5), usd=price
    )

    verdict = decided(found)

    assert verdict.recovered == recovered
    assert verdict.usd == price
    assert verdict.usd_per_recovered == (None if each is None else Decimal(each))


@given(
    low=st.floats(-0.2, 0.2),
    width=st.floats(0, 0.3),
    p=st.floats(0.001, 1),
    detectable=st.floats(0.001, 1),
)
def test_every_reason_is_one_line_that_reads_to_its_end(
    low: float, width: float, p: float, detectable: float
) -> None:
    """No choice without words, no figure like -0.000 or nan."""
    one = candidate(low, low + width, p)
    one = replace(one, difference=replace(one.difference, detectable=detectable))

    verdict = decided(one)

    assert re.fullmatch(r"rec@2000r [+-]0\.\d+ \(.*\.", verdict.reason)
    assert not re.search(r"-0\.0+\b|nan|inf\b", verdict.reason)
    assert (verdict.choice == "skip") == (low + width < 0.02)
    assert verdict.choice != "keep" or (low > 0 and p <= 0.05)


def test_a_retriever_keeps_the_arm_whose_interval_starts_highest() -> None:
    """Not the one with the luckiest mean."""
    decided_ = verdicts(
        [
            candidate(0.01, 0.2, 0.001, arm="lucky"),
            candidate(0.03, 0.09, 0.001, arm="sure"),
            candidate(-0.01, 0.01, arm="idle"),
        ]
    )

    assert overall(decided_) == (Overall(retriever="dense", choice="keep", arm="sure"),)


def test_each_retriever_is_summed_up_by_itself_in_order() -> None:
    """All skipped is skip; one undecided leaves it open."""
    decided_ = verdicts(
        [
            candidate(-0.01, 0.01, retriever="hybrid", arm="one"),
            candidate(-0.09, -0.01, retriever="bm25", arm="one"),
            candidate(-0.01, 0.05, retriever="hybrid", arm="two"),
            candidate(-0.01, 0.01, retriever="bm25", arm="two"),
        ]
    )

    assert overall(decided_) == (
        Overall(retriever="hybrid", choice="undecided", arm=None),
        Overall(retriever="bm25", choice="skip", arm=None),
    )


def test_nothing_to_decide_is_no_verdict() -> None:
    """A comparison of arms that are equal by construction has none."""
    assert verdicts([]) == ()
    assert overall(()) == ()
