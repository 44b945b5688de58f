"""Takes the results of a batch in, one by one, matched by nothing but their ids."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from situate import pricing
from situate.enrichment.batches.filing import file_reply
from situate.enrichment.batches.tickets import closed
from situate.enrichment.budget import Reservation
from situate.enrichment.estimate import INPUT_MARGIN
from situate.enrichment.exchange import fault
from situate.enrichment.ledger import Entry
from situate.enrichment.outcomes import outcome_of
from situate.errors import ProviderError, TransientError
from situate.usage import Usage

if TYPE_CHECKING:
    from situate.enrichment.batches.filing import AskedRequest
    from situate.enrichment.batches.tickets import Ticket
    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider, Reply
    from situate.enrichment.providers.batching import (
        BatchItem,
        BatchProvider,
        BatchState,
    )
    from situate.pricing import ModelFacts

_SHOWN = 5
"""Messages of a batch that are passed on; more say the same."""

_NAMED = 1_000
"""Ids of a kind that are kept of a batch: a file of nothing else has millions."""


@dataclass(slots=True)
class Collected:
    """What one look at the open tickets brought; counts are of requests."""

    answered: int = 0
    """Their reply is in the cache."""
    ask_live: int = 0
    """Chunks that got no usable answer, and are left to a live run."""
    pending: int = 0
    """Their batch is still worked on, or the vendor did not say."""
    unclear: int = 0
    """Nobody knows yet whether the vendor has them."""
    stuck: int = 0
    """The vendor does not know their batch, or keeps its results, or some of them,
    to itself."""
    failed: int = 0
    """Their batch was refused; they can be submitted again."""
    doubled: list[str] = field(default_factory=list)
    """Ids that came more than once, the first thousand of a batch; the first usable
    reply counts."""
    unknown: list[str] = field(default_factory=list)
    """Ids that belong to no request of their batch, the first thousand of each."""
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
    doubled: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    _answered: dict[str, frozenset[str]] = field(default_factory=dict)
    """The chunks each usable reply answers, by their keys."""
    _without: dict[str, BatchItem] = field(default_factory=dict)
    """What came in place of a usable reply."""
    _entries: dict[str, Entry] = field(default_factory=dict)
    _doubt: str | None = None
    """Why the usage of a reply was not believed, said once."""

    async def read(self, batches: BatchProvider) -> None:
        """Put every usable reply into the cache as it comes.

        Raises:
            ProviderError: the vendor did not say, or not all of it.
            CacheBroken: the cache cannot be written.
        """
        wanted = {each.custom_id: each for each in self.ticket.asked}
        async for item in batches.results(self.ticket.batch_id or ""):
            name = item.custom_id
            asked = wanted.get(name)
            if asked is None:
                _name(self.unknown, name)
                continue
            if name in self._entries:
                _name(self.doubled, name)
            if name not in self._answered:
                self._take(asked, item)

    def check(self, state: BatchState) -> None:
        """Compare what was read with what the vendor says there is.

        What is missing may have been answered and paid for.

        Raises:
            ProviderError: there is more than was read.
        """
        told = state.succeeded
        if not self._is_cancelled(state):
            told += state.failed
            # Who counts nothing has answered everything, or that is not the answer.
            if not told and state.status == "ended":
                told = self.ticket.requests
        told = min(told, self.ticket.requests)
        if len(self._entries) < told:
            message = (
                f"{self.ticket.provider} has results of {told:,} of its "
                f"{self.ticket.requests:,} requests, and gave those of "
                f"{len(self._entries):,}; it stays open"
            )
            raise ProviderError(message)

    @property
    def entries(self) -> list[Entry]:
        """What the ledger is told: a line for every request that came back."""
        return list(self._entries.values())

    @property
    def cost_usd(self) -> Decimal | None:
        """What is not known counts at its most; None where no price is known."""
        costs = [entry.cost_usd for entry in self.entries]
        known = [cost for cost in costs if cost is not None]
        return sum(known, Decimal(0)) if len(known) == len(costs) else None

    def closed(self, state: BatchState) -> Ticket:
        """Give the ticket that is over, with what is left to a live run."""
        is_cancelled = self._is_cancelled(state)
        left: dict[str, None] = {}
        for asked in self.ticket.asked:
            item = self._without.get(asked.custom_id)
            answered = self._answered.get(asked.custom_id)
            if answered is None and _was_cancelled(item, missing=is_cancelled):
                continue
            left.update(
                (each.chunk_key, None)
                for each in asked.passages
                if each.chunk_key not in (answered or ())
            )
        return closed(
            self.ticket,
            "cancelled" if is_cancelled else "collected",
            answered=len(self._answered),
            ask_live=tuple(left),
            cost_usd=self.cost_usd,
        )

    def report(self, done: Ticket, report: Collected) -> None:
        """Add what came of the batch to a report."""
        report.answered += done.answered
        report.ask_live += len(done.ask_live)
        report.doubled += self.doubled
        report.unknown += self.unknown
        told = [(k, item) for k, item in self._without.items() if item.message]
        report.messages += [
            f"request {key} {item.error}: {item.message}" for key, item in told[:_SHOWN]
        ]
        if self._doubt is not None:
            report.messages.append(
                f"{self.ticket.provider} {self._doubt}; where the usage is not known, "
                "a request counts as the most it may cost"
            )

    def _is_cancelled(self, state: BatchState) -> bool:
        return state.status == "cancelled" or self.ticket.cancel_asked is not None

    def _take(self, asked: AskedRequest, item: BatchItem) -> None:
        """Store a reply if a live run would; what it cost counts in any case."""
        name, reply, usage = asked.custom_id, None, None
        if item.raw is None:
            outcome, usage = str(item.error), Usage()
        else:
            try:
                reply = self.live.parse(item.raw)
            except TransientError:
                outcome = "unavailable"
            else:
                outcome, usage = outcome_of(reply), self._believed(asked, reply.usage)
        self._entries[name] = self._entry(asked, reply, outcome, usage)
        if item.raw is not None and reply is not None and fault(reply) is None:
            self._answered[name] = file_reply(
                self.cache, asked, item.raw, reply, corpus=self.ticket.corpus
            )
            self._without.pop(name, None)
        else:
            self._without.setdefault(name, item)

    def _believed(self, asked: AskedRequest, usage: Usage | None) -> Usage | None:
        """Give what a request used, None when that is not known."""
        doubt = self._set_aside(asked).doubt(usage)
        if doubt is None:
            return usage
        self._doubt = self._doubt or doubt
        return None

    def _set_aside(self, asked: AskedRequest) -> Reservation:
        """Give what was set aside for a request; no dollars without a price."""
        most_in = math.ceil(asked.input_tokens * INPUT_MARGIN)
        most_out = asked.output_tokens + self.facts.thinking_reserve
        usd, prices = Decimal(0), self.facts.prices
        if prices is not None:
            usd = pricing.estimate(most_in, most_out, prices) * prices.batch_factor
        return Reservation(
            usd=usd,
            tokens=most_in + most_out,
            input_tokens=asked.input_tokens,
            output_tokens=most_out,
        )

    def _cost(self, asked: AskedRequest, usage: Usage | None) -> Decimal | None:
        """Say what a request cost, at most where its usage is not known."""
        prices = self.facts.prices
        if prices is None:
            return None
        if usage is None:
            return self._set_aside(asked).usd
        return pricing.cost(usage, prices) * prices.batch_factor

    def _entry(
        self,
        asked: AskedRequest,
        reply: Reply | None,
        outcome: str,
        usage: Usage | None,
    ) -> Entry:
        return Entry(
            request=asked.custom_id,
            chunk_ids=asked.chunk_ids,
            view=asked.view,
            provider=self.ticket.provider,
            endpoint=self.ticket.endpoint,
            model_asked=self.ticket.model,
            model_answered=None if reply is None else reply.model,
            attempts=1,
            outcome=outcome,
            seconds=None,
            usage=usage,
            cost_usd=self._cost(asked, usage),
            source="batch",
        )


def _name(names: list[str], name: str) -> None:
    """Keep an id, if not too many are kept already."""
    if len(names) < _NAMED:
        names.append(name)


def _was_cancelled(item: BatchItem | None, *, missing: bool) -> bool:
    """Say whether a request was not asked because somebody stopped its batch.

    A cancelled batch need not list what it did not get to.
    """
    return missing if item is None else item.error == "cancelled"
