"""What keeps a run from being what was asked for: the reasons for exit code 3."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.enrichment.reasons import AGAIN, NOT_WANTED, REASONS
from situate.errors import SituateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from situate.index.state import Statements
    from situate.manifest import Counts, Spent


def none_read(documents: int) -> SituateError:
    """Give the error for so many documents none of which could be read.

    There are none where manifests delete all that is there.
    """
    if not documents:
        return SituateError("manifests delete every document there is")
    return SituateError(f"none of {documents} documents could be read")


def too_many_failed(failed: int, documents: int, most: float) -> str | None:
    """Say that a larger share of documents failed than may."""
    if not documents or failed / documents <= most:
        return None
    return (
        f"{failed} of {documents} documents failed, above "
        f"corpus.max_failed_share = {most}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What has come of the wish for statements, and what this run spent on it."""

    statements: int
    """Chunks that have one."""
    overdue: int = 0
    """Of these, found before and kept because nothing newer came."""
    fallbacks: Mapping[str, int]
    """Chunks that were asked about in vain, by reason."""
    skipped: Mapping[str, int]
    """Chunks that were not asked about, by reason."""
    requests: int
    cost_usd: str | None
    """None where no price is known, and where nothing was asked."""
    stopped: str | None
    """Why the asking ended before its time."""

    @classmethod
    def of_run(cls, counts: Counts, spent: Spent) -> Stated:
        """Give it for what a run has published."""
        return cls(
            statements=counts.statements,
            fallbacks=counts.fallbacks,
            skipped=counts.skipped,
            requests=spent.requests,
            cost_usd=_text(spent),
            stopped=spent.stopped,
        )

    @classmethod
    def of_index(cls, documents: Iterable[Statements], spent: Spent) -> Stated:
        """Give it for all that an index has."""
        documents = list(documents)
        fallbacks: Counter[str] = Counter()
        skipped: Counter[str] = Counter()
        for each in documents:
            fallbacks.update(each.fallbacks)
            skipped.update(each.skipped)
        return cls(
            statements=sum(len(each.bases) for each in documents),
            overdue=sum(each.overdue for each in documents),
            fallbacks=dict(sorted(fallbacks.items())),
            skipped=dict(sorted(skipped.items())),
            requests=spent.requests,
            cost_usd=_text(spent),
            stopped=spent.stopped,
        )

    def shortfall(self, most: float) -> str | None:
        """Say that chunks lack the statement they were to have, or have an old one.

        `most` is the share of asked chunks that may be fallbacks.
        """
        skipped, overdue = self.skipped, self.overdue
        wanting = {each: skipped[each] for each in skipped if each not in NOT_WANTED}
        if self.stopped is not None:
            said = cut_short(sum(wanting.values()), self.fallbacks, overdue)
            return f"{said}; {self.stopped}"
        for reason, number in wanting.items():
            return f"{number} chunks have no statement yet: {REASONS[reason]}"
        if overdue:
            return f"{overdue} chunks keep their statement of before: none newer came"
        vain = sum(self.fallbacks.values())
        asked = vain + self.statements
        if asked and vain / asked > most:
            return (
                f"{vain} of {asked} chunks got no statement, above "
                f"enrichment.max_fallback_share = {most}"
            )
        return None


def cut_short(unasked: int, fallbacks: Mapping[str, int], overdue: int = 0) -> str:
    """Say how many chunks are wanting where the asking ended before its time.

    What was asked about in vain counts where another run may get it; `overdue` are
    chunks that keep the statement of before.
    """
    failed = sum(fallbacks.get(reason, 0) for reason in AGAIN)
    verb = "keep their statement of before"
    if failed:
        said = f"{unasked + failed:,} chunks have no statement"
        return f"{said}, {overdue:,} {verb}" if overdue else said
    said = f"{unasked + overdue:,} chunks were not asked about"
    return f"{said}, {overdue:,} of which {verb}" if overdue else said


def _text(spent: Spent) -> str | None:
    return None if spent.cost_usd is None else str(spent.cost_usd)
