"""Takes the results of a batch in, one by one, matched by nothing but their ids."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from situate import pricing
from situate.enrichment.batch import unusable
from situate.enrichment.batches.tickets import closed
from situate.errors import TransientError

if TYPE_CHECKING:
    from situate.enrichment.batches.tickets import Ticket
    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider
    from situate.enrichment.providers.batching import (
        BatchItem,
        BatchProvider,
        BatchState,
    )
    from situate.pricing import ModelFacts
    from situate.usage import Usage

_SHOWN = 5
"""Messages of a batch that are passed on; more say the same."""


@dataclass(slots=True)
class Collected:
    """What one look at the open tickets brought; counts are of requests."""

    answered: int = 0
    """Their reply is in the cache."""
    ask_live: int = 0
    """They got no usable reply, and are left to a live run."""
    pending: int = 0
    """Their batch is still worked on, or the vendor did not say."""
    unclear: int = 0
    """Nobody knows yet whether the vendor has them."""
    stuck: int = 0
    """The vendor does not know their batch, or keeps its results to itself."""
    failed: int = 0
    """Their batch was refused; they can be submitted again."""
    doubled: list[str] = field(default_factory=list)
    """Ids that came more than once; the first usable reply counts."""
    unknown: list[str] = field(default_factory=list)
    """Ids that belong to no request of their batch."""
    messages: list[str] = field(default_factory=list)

    def after(self, earlier: Collected) -> Collected:
        """Give both looks together; what was open then is counted now."""
        return replace(
            self,
            answered=earlier.answered + self.answered,
            ask_live=earlier.ask_live + self.ask_live,
            failed=earlier.failed + self.failed,
            doubled=earlier.doubled + self.doubled,
            unknown=earlier.unknown + self.unknown,
            messages=list(dict.fromkeys(earlier.messages + self.messages)),
        )

    @property
    def is_complete(self) -> bool:
        """Whether every request of every batch has its answer."""
        return not (
            self.ask_live or self.pending or self.unclear or self.stuck or self.failed
        )


@dataclass(slots=True)
class Intake:
    """Takes one batch in; doing it again changes nothing."""

    ticket: Ticket
    live: Provider
    """Reads the replies."""
    cache: Cache
    facts: ModelFacts
    cost_usd: Decimal | None = Decimal(0)
    """None once a reply does not say what it used, or no price is known."""
    answered: set[str] = field(default_factory=set)
    without: dict[str, BatchItem] = field(default_factory=dict)
    """What came in place of a usable reply."""
    doubled: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    async def read(self, batches: BatchProvider) -> None:
        """Put every usable reply into the cache as it comes.

        Raises:
            ProviderError: the vendor did not say, or not all of it.
            CacheBroken: the cache cannot be written.
        """
        wanted = set(self.ticket.custom_ids)
        seen: set[str] = set()
        async for item in batches.results(self.ticket.batch_id or ""):
            name = item.custom_id
            if name not in wanted:
                self.unknown.append(name)
                continue
            if name in seen:
                self.doubled.append(name)
            seen.add(name)
            if name in self.answered:
                continue
            if item.raw is not None and self._keep(name, item.raw):
                self.answered.add(name)
                self.without.pop(name, None)
            else:
                self.without.setdefault(name, item)

    def closed(self, state: BatchState) -> Ticket:
        """Give the ticket that is over, with what is left to a live run."""
        is_cancelled = (
            state.status == "cancelled" or self.ticket.cancel_asked is not None
        )
        return closed(
            self.ticket,
            "cancelled" if is_cancelled else "collected",
            answered=len(self.answered),
            ask_live=tuple(
                key
                for key in self.ticket.custom_ids
                if key not in self.answered
                and not _was_cancelled(self.without.get(key), missing=is_cancelled)
            ),
            cost_usd=self.cost_usd,
        )

    def report(self, done: Ticket, report: Collected) -> None:
        """Add what came of the batch to a report."""
        report.answered += done.answered
        report.ask_live += len(done.ask_live)
        report.doubled += self.doubled
        report.unknown += self.unknown
        told = [(k, item) for k, item in self.without.items() if item.message]
        report.messages += [
            f"request {key} {item.error}: {item.message}" for key, item in told[:_SHOWN]
        ]

    def _keep(self, key: str, raw: str) -> bool:
        """Store a reply if a live run would; what it cost counts in any case."""
        try:
            reply = self.live.parse(raw)
        except TransientError:
            return False
        self._count(reply.usage)
        if unusable(reply) is not None:
            return False
        self.cache.store_reply(key, raw)
        return True

    def _count(self, usage: Usage | None) -> None:
        prices = self.facts.prices
        if prices is None or usage is None or self.cost_usd is None:
            self.cost_usd = None
        else:
            self.cost_usd += pricing.cost(usage, prices) * prices.batch_factor


def _was_cancelled(item: BatchItem | None, *, missing: bool) -> bool:
    """Say whether a request was not asked because somebody stopped its batch.

    A cancelled batch need not list what it did not get to.
    """
    return missing if item is None else item.error == "cancelled"
