"""Decides whether an arm's sentences are worth their price, and says why.

The rules are fixed before anybody looks: one measure, one margin, one correction
for all verdicts of a comparison. The first rule that holds decides:

1. skip, when the interval ends below the margin: whatever the arm gains is less
   than is worth paying for;
2. keep, when the interval starts above zero and the corrected p-value is at most
   0.05, unless every question is drafted;
3. undecided, with the gain that so many questions can show and how many more it
   takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context
from typing import TYPE_CHECKING, Final

from situate.compare.comparison import Verdict
from situate.compare.statistics import holm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from situate.compare.comparison import Choice, Difference

MARGIN: Final = 0.02
"""The least gain worth paying for, unless somebody says otherwise: two questions
of a hundred."""

LIMIT: Final = 0.05
"""The chance of one or more accidental keeps in a comparison without any effect."""

_PRICE_DIGITS: Final = 6
"""Kept of a quotient of dollars, which has no last digit by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An arm under one retriever, to be decided on."""

    retriever: str
    arm: str
    against: str
    measure: str
    """What the difference is of, as reasons name it."""
    difference: Difference
    """On the questions that count."""
    drafted: bool
    """Whether all of those are drafted."""
    usd: Decimal | None
    """What its sentences cost once; None when no price is known."""
    baseline: float = 0.0
    """What the arm it is held against reaches; no gain is larger than what is left."""
    partial: str | None = None
    """What is lacking for a verdict, in words; None where nothing is."""
    population: int | None = None
    """How many questions the mean speaks of; None: those it was taken from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """What all arms together say about one retriever."""

    retriever: str
    choice: Choice
    arm: str | None
    """The arm to keep; None when none is."""


def verdicts(
    candidates: Sequence[Candidate], *, margin: float = MARGIN
) -> tuple[Verdict, ...]:
    """Decide on every candidate of a comparison, in the order given.

    p-values are corrected for all of them together, so leave out arms that are
    equal by construction, as where the index holds no statement. `recovered` is the
    sum of the differences, to the nearest whole question: with one excerpt a
    question, those answered with the arm and not without, less those lost.

    Raises:
        ValueError: the margin is no gain.
    """
    if not 0 < margin < 1:
        message = f"the margin is {margin!r}; give a gain between 0 and 1"
        raise ValueError(message)
    adjusted = holm([candidate.difference.p for candidate in candidates])
    return tuple(
        _decided(candidate, p, len(candidates), margin)
        for candidate, p in zip(candidates, adjusted, strict=True)
    )


def overall(decided: Sequence[Verdict]) -> tuple[Overall, ...]:
    """Sum up the verdicts of each retriever, in the order they first appear.

    Keep if one arm is kept: that whose interval starts highest, the first of
    equals. Skip if all are skipped. Else undecided.
    """
    by_retriever: dict[str, list[Verdict]] = {}
    for verdict in decided:
        by_retriever.setdefault(verdict.retriever, []).append(verdict)
    found = []
    for retriever, verdicts_ in by_retriever.items():
        kept = [verdict for verdict in verdicts_ if verdict.choice == "keep"]
        choice: Choice = "undecided"
        if kept:
            choice = "keep"
        elif all(verdict.choice == "skip" for verdict in verdicts_):
            choice = "skip"
        best = max(kept, key=lambda verdict: verdict.difference.low, default=None)
        found.append(
            Overall(retriever=retriever, choice=choice, arm=best.arm if best else None)
        )
    return tuple(found)


def _decided(candidate: Candidate, p: float, family: int, margin: float) -> Verdict:
    difference, usd = candidate.difference, candidate.usd
    choice, why = _choice(candidate, p, family, margin)
    recovered = round(difference.mean * (candidate.population or difference.questions))
    return Verdict(
        retriever=candidate.retriever,
        arm=candidate.arm,
        against=candidate.against,
        choice=choice,
        reason=f"{_found(candidate, margin)}: {why}",
        difference=difference,
        p_adjusted=p,
        recovered=recovered,
        usd=usd,
        usd_per_recovered=(
            None
            if usd is None or recovered <= 0
            else Context(prec=_PRICE_DIGITS).divide(usd, recovered)
        ),
    )


def _choice(
    candidate: Candidate, p: float, family: int, margin: float
) -> tuple[Choice, str]:
    difference = candidate.difference
    if candidate.partial is not None:
        return "undecided", f"{candidate.partial}."
    if difference.high < margin:
        return "skip", _too_little(candidate, margin)
    if difference.low <= 0:
        return "undecided", f"no difference shown. {_missing(candidate, margin)}"
    exact = "< 0.001" if p < 0.001 else f"= {_figure(p, LIMIT)}"
    corrected = f"p {exact} after Holm's correction for {family}"
    if p > LIMIT:
        return "undecided", (
            f"a gain by itself, but {corrected}. {_missing(candidate, margin)}"
        )
    if candidate.drafted:
        return "undecided", (
            f"a gain, {corrected}, but all questions are drafted, and drafted "
            f"questions alone earn no keep. Give or judge some."
        )
    but = ", and more than" if difference.low > margin else ", perhaps less than"
    return "keep", f"a gain, {corrected}{but} {_worth(margin)}."


def _too_little(candidate: Candidate, margin: float) -> str:
    low, high, worth = (
        candidate.difference.low,
        candidate.difference.high,
        _worth(margin),
    )
    if high < 0:
        return f"worse than {candidate.against}."
    if low > 0:
        return f"a gain, but less than {worth}."
    if low > -margin:
        return f"no difference shown, and any is less than {worth}."
    return f"no difference shown, and any gain is less than {worth}."


def _worth(margin: float) -> str:
    return f"the {_figure(margin)} worth paying for"


def _found(candidate: Candidate, margin: float) -> str:
    difference = candidate.difference
    mean, low, high = (
        _figure(value, 0, margin, -margin, signed=True)
        for value in (difference.mean, difference.low, difference.high)
    )
    return (
        f"{candidate.measure} {mean} (95 % interval {low} to {high}), "
        f"{difference.won} won and {difference.lost} lost "
        f"of {_asked(candidate)}"
    )


def _asked(candidate: Candidate) -> str:
    difference = candidate.difference
    if candidate.population is not None:
        return (
            f"{_counted(difference.questions, 'judged question')}, for a log of "
            f"{candidate.population:,}"
        )
    return (
        f"{_counted(difference.questions, 'question')} "
        f"about {_counted(difference.clusters, 'document')}"
    )


def _missing(candidate: Candidate, margin: float) -> str:
    """Say what so few questions can show, and how many more it takes."""
    difference = candidate.difference
    if difference.clusters == 1:
        return "One document says nothing about others: ask about more of them."
    left = 1 - candidate.baseline
    if left < max(margin, difference.detectable):
        return (
            f"{candidate.against} alone reaches {_figure(candidate.baseline)}, which "
            f"leaves {_figure(left)} to gain: less than so many questions can show. A "
            "smaller budget leaves more."
        )
    if candidate.drafted:
        return "Drafted questions earn no keep, however many: give or judge some."
    able = (
        f"So many questions show a gain of {_figure(difference.detectable, margin)} "
        f"four times in five"
    )
    wanted = [
        f"about {_more(difference, gain)} more for one of {_figure(gain)}"
        for gain in (margin, difference.mean)
        if gain >= margin and gain < difference.detectable
    ]
    if not wanted:
        return f"{able}."
    more = ", ".join(dict.fromkeys(wanted))
    return f"{able}; it takes {more}, about as many more documents in proportion."


def _more(difference: Difference, gain: float) -> str:
    """Say how many questions are lacking, to two digits.

    A standard error falls with the root of the number of questions, as long as they
    are about as many more documents.
    """
    exact = difference.questions * ((difference.detectable / gain) ** 2 - 1)
    step = 10 ** max(0, math.floor(math.log10(max(1.0, exact))) - 1)
    return f"{max(1, math.ceil(exact / step)) * step:,}"


def _figure(value: float, *limits: float, signed: bool = False) -> str:
    """Write a figure with three decimals, or as many as keep it off the limits."""
    digits = 3
    while digits < 6 and any(
        (value > limit) != (round(value, digits) > limit)
        or (value < limit) != (round(value, digits) < limit)
        for limit in limits
    ):
        digits += 1
    # Zero added: there is no -0.000.
    return f"{round(value, digits) + 0.0:{'+' if signed else ''}.{digits}f}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
