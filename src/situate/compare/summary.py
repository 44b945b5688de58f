"""What the trial's numbers say: intervals, differences and verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.compare.arms import FREE
from situate.compare.comparison import ArmFacts, Standing
from situate.compare.querylog import basis, judged_difference
from situate.compare.statistics import difference, level, resample
from situate.compare.verdicts import Candidate, verdicts
from situate.errors import ConfigError, RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from situate.compare.arms import Arm, Entry
    from situate.compare.blind import Judged
    from situate.compare.comparison import Origin, Verdict
    from situate.compare.measures import Cuts
    from situate.compare.questions import Question
    from situate.compare.trial import Result


_FREE_RUNS = ("run:breadcrumb", "run:none")
"""Runs that others are held against."""


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

    Statements have to beat what costs nothing, which is the same arm without them. A
    file with statements is held against the first file, else the breadcrumb, that has
    the same texts and none, a run against the one that is called `breadcrumb`, else
    `none`.
    """
    names = {arm.name for arm in arms}
    free = next((name for name in FREE[::-1] if name in names), None)
    run = next((name for name in _FREE_RUNS if name in names), None)
    found: dict[str, str | None] = {}
    for arm in arms:
        match arm.kind:
            case "none":
                rival = None
            case "breadcrumb":
                rival = "none" if "none" in names else None
            case "breadcrumb+statement":
                rival = "breadcrumb" if "breadcrumb" in names else None
            case "file" if _has_statements(arm):
                files = sorted(arms, key=lambda one: one.kind != "file")
                without = (one.name for one in files if _is_without(one, arm))
                rival = next(without, free)
            case "run":
                rival = None if arm.name == run else run
            case _:
                rival = free
        found[arm.name] = rival
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
    counted = counted_of(questions)
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
            drafted=questions[counted[0]].origin == "drafted",
            usd=stated[result.arm].usd,
            baseline=sum(theirs) / len(theirs),
            partial=_partial(stated[result.arm]),
        )


def counted_of(questions: Sequence[Question]) -> list[int]:
    """Give the places of questions that decide: those given, else all."""
    given = [n for n, question in enumerate(questions) if question.origin == "given"]
    return given or list(range(len(questions)))


def _partial(arm: Arm) -> str | None:
    """Say what an arm lacks of the sentences it is judged for."""
    if arm.statements is None or not arm.statements.unanswered:
        return None
    said = sum(bool(entry.statement) for entry in arm.entries)
    return (
        f"only {said:,} of {len(arm.entries):,} chunks have their sentence: "
        f"{arm.statements.unanswered:,} could not be asked about, or got no answer"
    )


def _preferred(arms: Sequence[Arm], judged: Judged, terms: Terms) -> Candidate:
    """Give what a person preferred as something to decide on.

    Raises:
        RecordError: the page was about other chunks or sentences.
    """
    ours, theirs = judged.key.arms
    retriever, _, arm = ours.partition(": ")
    by_name = {each.name: each for each in arms}
    rival = by_name.get(theirs.partition(": ")[2])
    ours_now = by_name.get(arm)
    if ours_now is None or rival is None or basis(ours_now, rival) != judged.key.basis:
        message = (
            f"what was judged of {arm!r} is about other chunks or sentences than these;"
            " have a new page judged"
        )
        raise RecordError(message)
    return Candidate(
        retriever=f"{retriever}, judged",
        arm=arm,
        against=theirs.partition(": ")[2],
        measure="preferred",
        difference=judged_difference(judged, seed=terms.seed),
        drafted=False,
        usd=ours_now.usd,
        partial=f"{len(judged.unjudged)} questions of the page are not judged yet"
        if judged.unjudged
        else _partial(ours_now),
        population=judged.log_size,
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
    A file is judged against the same texts without sentences. What a user's own engine
    indexed nobody knows here: a run is judged where one is called `breadcrumb` or
    `none`.
    """
    against = rivals(arms)
    stated = [arm for arm in arms if _has_statements(arm)]
    merged = [arm for arm in stated if arm.kind == "breadcrumb+statement"]
    alone = [arm for arm in stated if arm.kind == "statement"]
    others = [
        arm
        for arm in arms
        if (arm.kind == "run" and against[arm.name] is not None)
        or (
            arm.kind == "file"
            and _has_statements(arm)
            and any(
                one.name == against[arm.name] and _is_without(one, arm) for one in arms
            )
        )
    ]
    return (*(merged or alone), *others)


def _has_statements(arm: Arm) -> bool:
    return any(entry.statement for entry in arm.entries)


def _is_without(one: Arm, arm: Arm) -> bool:
    """Tell whether an arm has the same texts, and no statements."""
    return (
        one.kind in {"file", "breadcrumb"}
        and not _has_statements(one)
        and [entry.text for entry in one.entries]
        == [entry.text for entry in arm.entries]
    )
