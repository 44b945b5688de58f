"""What a reader has to know beside the figures, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.compare.frontier import beating
from situate.compare.ranking import LEXICAL
from situate.compare.summary import counted_of, judged_arms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.compare.arms import Arm
    from situate.compare.frontier import Frontier
    from situate.compare.outside import Run
    from situate.compare.questions import Question
    from situate.compare.trial import Setting


_LEAST = 20
"""Times the budget that a corpus should hold: with less, chance alone finds a twentieth
of the answers and any retriever most of them."""


def of_arms(arms: Sequence[Arm], setting: Setting) -> Iterator[str]:
    """Say what arms lack, and where there is no verdict."""
    yield from _unasked(arms)
    blind = [one for one in setting.retrievers if one in LEXICAL]
    placings = {arm.placing for arm in arms}
    if blind and "dense" in placings and "both" not in placings:
        yield (
            f"no verdict by {' and '.join(blind)}: the statements stand in the dense "
            "index alone, as `run` writes them; --statement-in both puts them in both"
        )
    judged = {arm.name for arm in judged_arms(arms)}
    for arm in arms:
        stated = any(entry.statement for entry in arm.entries)
        if arm.kind == "file" and stated and arm.name not in judged:
            yield (
                f"no verdict on {arm.name}: its sentences are held against other "
                "chunks; give the same chunks without them as a file, too"
            )
        if arm.unplaced:
            yield (
                f"{arm.name}: {arm.unplaced} of {len(arm.entries)} chunks stand "
                "nowhere in their document and cannot answer anything"
            )


def of_budget(arms: Sequence[Arm], setting: Setting) -> Iterator[str]:
    """Say where the budget that decides holds too much to tell arms apart."""
    budget = setting.cuts.budgets[0]
    for arm in arms[:1]:
        total = sum(entry.text_tokens for entry in arm.entries)
        if total < _LEAST * budget:
            yield (
                f"{budget:,} tokens are {min(1, budget / max(1, total)):.0%} of the "
                f"corpus's {total:,}, so that nearly everything is found in every arm; "
                f"decide by a smaller --budget, as {max(100, total // 100 * 2):,}"
            )


def of_questions(questions: Sequence[Question], runs: Sequence[Run]) -> Iterator[str]:
    """Say which questions decide, and which a run has nothing for."""
    counted = counted_of(questions)
    if len(counted) < len(questions):
        yield (
            f"verdicts go by the {len(counted):,} questions that were given; tables "
            f"and plots count the {len(questions) - len(counted):,} drafted ones, too"
        )
    by_kind = Counter(one.kind for one in questions if one.origin == "drafted")
    if by_kind["heading"]:
        yield (
            f"{by_kind['heading']:,} questions were drafted from headings: they favour "
            "arms that index headings, and say nothing of what the breadcrumb gains"
        )
    for run in runs:
        missing = sum(question.qid not in run.rankings for question in questions)
        if missing:
            yield (
                f"{run.arm.name} has no ranking for {missing:,} of {len(questions):,} "
                "questions; there it found nothing"
            )


def of_frontiers(frontiers: Sequence[Frontier]) -> Iterator[str]:
    """Say whether any way to choose chunks was better than none."""
    winners = beating(frontiers)
    for one in winners:
        yield (
            f"{one.retriever}: choosing chunks of {one.arm} by {one.score!r} beat "
            f"random choices of the same share by {one.difference.mean:+.3f}"
        )
    if not winners and any(each.points for each in frontiers):
        yield "no way to choose which chunks to spend on beat a random choice"


def _unasked(arms: Sequence[Arm]) -> Iterator[str]:
    """Say which prompts are judged on less than they would bring."""
    by_prompt = {arm.statements.prompt: arm for arm in arms if arm.statements}
    for prompt, arm in by_prompt.items():
        said = sum(bool(entry.statement) for entry in arm.entries)
        if arm.statements and (arm.statements.shortfall or not said):
            yield (
                f"{prompt}: {said} of {len(arm.entries)} chunks have a statement; "
                "the messages of this run say why the others have none"
            )
