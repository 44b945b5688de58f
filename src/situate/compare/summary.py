"""What the trial's numbers say: intervals, differences and verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.compare.comparison import ArmFacts, Standing
from situate.compare.querylog import judged_difference
from situate.compare.statistics import difference, level, resample
from situate.compare.verdicts import Candidate, verdicts
from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from situate.compare.arms import Arm, Entry
    from situate.compare.blind import Judged
    from situate.compare.comparison import Origin, Verdict
    from situate.compare.measures import Cuts
    from situate.compare.questions import Question
    from situate.compare.trial import Result


_FREE = ("breadcrumb", "run:breadcrumb", "none", "run:none")
"""What costs nothing to index, the better first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was settled before anybody looked at a number."""

    cuts: Cuts
    margin: float
    """The least gain of the primary measure that is worth paying for."""
    seed: int

    def __post_init__(self) -> None:
        """Refuse a margin that is no gain.

        Raises:
            ConfigError: it is not between 0 and 1.
        """
        if not 0 < self.margin < 1:
            message = f"margin {self.margin!r} is no gain of recall between 0 and 1"
            raise ConfigError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All that the numbers say."""

    standings: tuple[Standing, ...]
    verdicts: tuple[Verdict, ...]
    origins: Mapping[Origin, int]
    """Where the questions come from, and how many."""


def rivals(arms: Sequence[Arm]) -> dict[str, str | None]:
    """Give for each arm the one it is held against; None for that one.

    Statements have to beat what costs nothing: the breadcrumb where it is among the
    arms. A file with statements is held against the first file without any that has
    the same texts, a run against the run that has the breadcrumb, else the first.
    """
    found: dict[str, str | None] = {}
    for arm in arms:
        peers = [one for one in arms if (one.kind == "run") == (arm.kind == "run")]
        names = [one.name for one in peers]
        free = next((name for name in _FREE if name in names), names[0])
        if arm.name == free:
            is_line = arm.kind == "breadcrumb" and "none" in names
            found[arm.name] = "none" if is_line else None
        elif arm.kind == "none":
            found[arm.name] = None
        elif arm.kind == "file" and _has_statements(arm):
            without = (one.name for one in arms if _is_without(one, arm))
            found[arm.name] = next(without, free)
        else:
            found[arm.name] = free
    return found


def summarize(
    arms: Sequence[Arm],
    results: Sequence[Result],
    questions: Sequence[Question],
    judged: Sequence[Judged],
    terms: Terms,
) -> Found:
    """Hold every arm against its rival, under every retriever and by every measure.

    Verdicts are given on arms that add statements to what is free, by the primary
    measure alone, on the questions that were given: drafted ones decide where there
    are no others. What a person judged of a query log is decided on by itself.
    """
    return Found(
        standings=tuple(_standings(arms, results, questions, terms)),
        verdicts=verdicts(
            [
                *_candidates(arms, results, questions, terms),
                *(_preferred(arms, each, terms) for each in judged),
            ],
            margin=terms.margin,
        ),
        origins=Counter(
            [question.origin for question in questions]
            + ["judged" for each in judged for _ in each.judgements]
        ),
    )


def _standings(
    arms: Sequence[Arm],
    results: Sequence[Result],
    questions: Sequence[Question],
    terms: Terms,
) -> Iterator[Standing]:
    if not questions:
        return
    resamples = resample([question.cluster for question in questions], seed=terms.seed)
    for result, rival in _paired(arms, results):
        for measure in terms.cuts.measures:
            values = result.measures[measure]
            mean, low, high = level(values, resamples)
            yield Standing(
                retriever=result.retriever,
                arm=result.arm,
                measure=measure,
                mean=mean,
                low=low,
                high=high,
                against=None if rival is None else rival.arm,
                difference=None
                if rival is None
                else difference(values, rival.measures[measure], resamples),
            )


def _candidates(
    arms: Sequence[Arm],
    results: Sequence[Result],
    questions: Sequence[Question],
    terms: Terms,
) -> Iterator[Candidate]:
    """Yield what is to be decided on labelled questions."""
    given = [n for n, question in enumerate(questions) if question.origin == "given"]
    counted = given or list(range(len(questions)))
    if not counted:
        return
    clusters = [questions[number].cluster for number in counted]
    resamples = resample(clusters, seed=terms.seed)
    stated = {arm.name: arm for arm in judged_arms(arms)}
    primary = terms.cuts.primary
    for result, rival in _paired(arms, results):
        if rival is None or result.arm not in stated:
            continue
        ours, theirs = (
            [each.measures[primary][number] for number in counted]
            for each in (result, rival)
        )
        yield Candidate(
            retriever=result.retriever,
            arm=result.arm,
            against=rival.arm,
            measure=primary,
            difference=difference(ours, theirs, resamples),
            drafted=not given,
            usd=stated[result.arm].usd,
        )


def _preferred(arms: Sequence[Arm], judged: Judged, terms: Terms) -> Candidate:
    """Give what a person preferred as something to decide on."""
    ours, theirs = judged.key.arms
    retriever, _, arm = ours.partition(": ")
    by_name = {each.name: each for each in arms}
    return Candidate(
        retriever=f"{retriever}, judged",
        arm=arm,
        against=theirs.partition(": ")[2],
        measure="preferred",
        difference=judged_difference(judged, seed=terms.seed),
        drafted=False,
        usd=by_name[arm].usd if arm in by_name else None,
    )


def _paired(
    arms: Sequence[Arm], results: Sequence[Result]
) -> Iterator[tuple[Result, Result | None]]:
    """Yield each result with that of its arm's rival under the same retriever."""
    against = rivals(arms)
    by_place = {(result.retriever, result.arm): result for result in results}
    for result in results:
        yield result, by_place.get((result.retriever, against[result.arm] or ""))


def facts(
    arms: Sequence[Arm], words: Callable[[str], list[str]]
) -> tuple[ArmFacts, ...]:
    """Say what every arm is made of; `words` finds the words that count in a text."""
    against = rivals(arms)
    embedded = {
        arm.name: sum(entry.embed_tokens for entry in arm.entries) for arm in arms
    }
    found = []
    for arm in arms:
        rival = against[arm.name]
        stated = [entry for entry in arm.entries if entry.statement]
        found.append(
            ArmFacts(
                name=arm.name,
                kind=arm.kind,
                prompt=arm.statements.prompt if arm.statements else None,
                statement_in=arm.placing,
                entries=len(arm.entries),
                text_tokens=sum(entry.text_tokens for entry in arm.entries),
                embed_tokens=embedded[arm.name],
                growth=embedded[arm.name] / embedded[rival]
                if rival is not None and embedded[rival]
                else None,
                statements=len(stated),
                added_words=_share(stated, words) if stated else None,
                usd=arm.usd,
                unplaced=arm.unplaced,
            )
        )
    return tuple(found)


def _share(stated: Sequence[Entry], words: Callable[[str], list[str]]) -> float:
    """Give the share of statements that say a word that nothing else indexed says."""
    added = sum(
        not set(words(entry.statement or "")).issubset(
            words(f"{entry.breadcrumb}\n{entry.text}")
        )
        for entry in stated
    )
    return added / len(stated)


def judged_arms(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """Give the arms to decide on: with statements, and the breadcrumb if there is one.

    A sentence alone is what nobody indexes; it is judged where nothing else has one.
    """
    stated = [arm for arm in arms if _has_statements(arm)]
    merged = [arm for arm in stated if arm.kind != "statement"]
    return tuple(merged or stated)


def _has_statements(arm: Arm) -> bool:
    return any(entry.statement for entry in arm.entries)


def _is_without(one: Arm, arm: Arm) -> bool:
    """Tell whether an arm is a file of the same texts, and no statements."""
    return (
        one.kind == "file"
        and not _has_statements(one)
        and [entry.text for entry in one.entries]
        == [entry.text for entry in arm.entries]
    )
