"""Counts the statements that an index has, and says what they lack."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.pipeline.indexing import Stated
from situate.pipeline.shortfall import lacking

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.index.state import Statements
    from situate.manifest import Spent


def count(documents: Iterable[Statements], spent: Spent) -> Stated:
    """Add up what became of the wish for statements, and what this run spent."""
    fallbacks: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    found = list(documents)
    for each in found:
        fallbacks.update(each.fallbacks)
        skipped.update(each.skipped)
    return Stated(
        statements=sum(len(each.bases) for each in found),
        overdue=sum(each.overdue for each in found),
        fallbacks=dict(sorted(fallbacks.items())),
        skipped=dict(sorted(skipped.items())),
        requests=spent.requests,
        cost_usd=None if spent.cost_usd is None else str(spent.cost_usd),
        stopped=spent.stopped,
    )


def unstated(stated: Stated | None, most: float) -> tuple[str, ...]:
    """Say what keeps the statements from being all that were asked for.

    `most` is the share of asked chunks that may be fallbacks.
    """
    if stated is None:
        return ()
    reason = lacking(
        statements=stated.statements,
        fallbacks=stated.fallbacks,
        skipped=stated.skipped,
        stopped=stated.stopped,
        most=most,
    )
    kept = f"; {stated.overdue} keep that of before" if stated.overdue else ""
    return () if reason is None else (f"{reason}{kept}",)
