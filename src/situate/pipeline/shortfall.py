"""What keeps a run from being what was asked for: the reasons for exit code 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.enrichment.reasons import NOT_WANTED, REASONS
from situate.errors import SituateError

if TYPE_CHECKING:
    from collections.abc import Mapping


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


def lacking(
    *,
    statements: int,
    fallbacks: Mapping[str, int],
    skipped: Mapping[str, int],
    stopped: str | None,
    most: float,
) -> str | None:
    """Say that chunks lack the statement they were to have.

    `fallbacks` and `skipped` count chunks by reason, `stopped` says why the asking
    ended, and `most` is the share of asked chunks that may be fallbacks.
    """
    wanting = {each: skipped[each] for each in skipped if each not in NOT_WANTED}
    if stopped is not None:
        return f"{sum(wanting.values())} chunks were not asked about; {stopped}"
    for reason, number in wanting.items():
        return f"{number} chunks have no statement yet: {REASONS[reason]}"
    vain = sum(fallbacks.values())
    asked = vain + statements
    if asked and vain / asked > most:
        return (
            f"{vain} of {asked} chunks got no statement, above "
            f"enrichment.max_fallback_share = {most}"
        )
    return None
