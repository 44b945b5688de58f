"""Finds out whether a vendor has a batch whose hand-in was not answered.

Where batches carry our ticket their list tells. Where they do not, a batch that
was taken in since and has as many requests may be the one; whose it is shows when
it has results, and until then nothing is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection

    from situate.enrichment.batches.tickets import Ticket
    from situate.enrichment.providers.batching import BatchProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What the vendor's list says of a ticket."""

    verdict: Literal["found", "absent", "unclear"]
    batch_id: str | None = None
    """The vendor's id of what was found."""


async def look_for(
    ticket: Ticket, batches: BatchProvider, *, taken: Collection[str]
) -> Sighting:
    """Look for a ticket's batch; those of other tickets are `taken`.

    Raises:
        ProviderError: the vendor did not say.
    """
    working: list[str] = []
    over: list[str] = []
    async for each in batches.listed(ticket.after):
        if each.ticket == ticket.ticket:
            return Sighting(verdict="found", batch_id=each.batch_id)
        if (
            each.ticket is None
            and each.batch_id not in taken
            and each.state.total == ticket.requests
        ):
            alike = working if each.state.status == "in_progress" else over
            alike.append(each.batch_id)
    for batch_id in over:
        if await _answers(batches, batch_id, ticket):
            return Sighting(verdict="found", batch_id=batch_id)
    return Sighting(verdict="unclear" if working else "absent")


async def _answers(batches: BatchProvider, batch_id: str, ticket: Ticket) -> bool:
    """Say whether a batch's results are those of a ticket's requests."""
    wanted, seen = set(ticket.custom_ids), False
    async for item in batches.results(batch_id):
        seen = item.custom_id in wanted
        if not seen:
            break
    return seen
