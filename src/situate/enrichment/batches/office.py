"""Hands batches in and takes their answers, and loses none in between.

A ticket is on the disk before its batch is handed in, and says what became of it
after each step. Until it is certain that a vendor does not have a batch, nothing
of it is sent again, in a batch or live.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.batches.collecting import Collected, Intake
from situate.enrichment.batches.finding import Sighting, look_for
from situate.enrichment.batches.tickets import closed, prepared
from situate.enrichment.ledger import Ledger
from situate.enrichment.providers.batching import is_id
from situate.enrichment.throttle import Timing
from situate.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    ConfigError,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    SituateError,
    TransientError,
    Unanswered,
)

if TYPE_CHECKING:
    from collections.abc import (
        Awaitable,
        Callable,
        Collection,
        Iterable,
        Iterator,
        Sequence,
    )
    from pathlib import Path

    from tenacity import RetryCallState

    from situate.enrichment.batches.choosing import Draft
    from situate.enrichment.batches.tickets import Ticket, Tickets
    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider
    from situate.enrichment.ledger import Entry
    from situate.enrichment.providers.batching import (
        BatchProvider,
        BatchState,
        Parcel,
    )
    from situate.enrichment.settings import Settings
    from situate.pricing import ModelFacts

SETTLE_SECONDS = 300.0
"""How long a batch may take to appear in the vendor's list after its hand-in broke
off. No vendor states a figure; pages of a list follow within seconds."""

_FIRST_PAUSE_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 600.0
_PAUSE_GROWTH = 1.5
"""Between two looks at a batch: most end within an hour, some take a day."""

_LONGEST_BACKOFF_SECONDS = 30.0

_BY_HAND = (
    "`situate batch resolve CONFIG TICKET --batch ID` says under which id it runs, "
    "`--lost` that it does not"
)

_Result = TypeVar("_Result")


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """One vendor's batches of one cache; its methods want the tickets locked."""

    corpus: str
    settings: Settings
    facts: ModelFacts
    live: Provider
    """Reads the replies."""
    batches: BatchProvider
    tickets: Tickets
    cache: Cache
    ledger: Path
    """Where requests are noted once their batch is over."""
    note: Callable[[str], None]
    """Hears what a person should know while it goes on."""
    timing: Timing = field(default_factory=Timing)
    now: Callable[[], datetime.datetime] = _now

    def own(self) -> tuple[Ticket, ...]:
        """Give the tickets of this vendor, the oldest first.

        Raises:
            RecordError: one cannot be read.
        """
        ours = (self.batches.name, self.batches.endpoint)
        return tuple(
            ticket
            for ticket in self.tickets.all()
            if (ticket.provider, ticket.endpoint) == ours
        )

    async def submit(self, drafts: Iterable[Draft]) -> list[Ticket]:
        """Hand batches in, one after another, and give their tickets.

        One that may or may not have been taken in is the last: its ticket stays
        `prepared`.

        Raises:
            BudgetExceeded: the next one may cross the limit of the month.
            ProviderError: a batch was not taken in; those before it were.
            SituateError: a batch's file or a ticket cannot be written.
        """
        done: list[Ticket] = []
        for draft in drafts:
            # A file that cannot be written needs no ticket.
            parcel = draft.parcel()
            newest = await self._asked(self.batches.newest)
            month = self._set_aside(draft.most.usd)
            ticket = prepared(
                corpus=self.corpus,
                provider=self.batches.name,
                endpoint=self.batches.endpoint,
                model=self.settings.model,
                created=self._time(),
                asked=tuple(draft.asked),
                after=newest,
                most_tokens=draft.most.tokens,
                most_usd=None if month is None else draft.most.usd,
                month=month,
            )
            self.tickets.write(ticket)
            done.append(await self._handed_in(ticket, parcel))
            if done[-1].state == "prepared":
                break
        return done

    async def recover(self) -> list[str]:
        """Find out what became of batches whose hand-in was not answered.

        Gives a sentence for every one that is not clear yet.

        Raises:
            AuthenticationFailed: the key is wrong.
        """
        messages = []
        for ticket in self.own():
            if ticket.state != "prepared":
                continue
            try:
                known = await self._looked_for(ticket)
            except (AuthenticationFailed, QuotaExhausted):
                raise
            except ProviderError as error:
                messages.append(f"ticket {ticket.ticket}: {error}; {_BY_HAND}")
            else:
                if known.state == "prepared":
                    messages.append(_unclear(known))
        return messages

    async def collect(self) -> Collected:
        """Look at every open ticket once and take in what is there.

        Raises:
            AuthenticationFailed: the key is wrong.
            CacheBroken: the cache cannot be written.
            SituateError: a ticket or the ledger cannot be written.
        """
        report = Collected(messages=await self.recover())
        for ticket in self.own():
            if ticket.state == "prepared":
                report.unclear += ticket.requests
            elif ticket.state == "submitted":
                try:
                    await self._collect(ticket, report)
                except (AuthenticationFailed, QuotaExhausted):
                    raise
                except TransientError as error:
                    report.pending += ticket.requests
                    report.messages.append(f"ticket {ticket.ticket}: {error}")
                except ProviderError as error:
                    report.stuck += ticket.requests
                    report.messages.append(
                        f"ticket {ticket.ticket}: {error}; {_BY_HAND}"
                    )
        return report

    async def progress(self, ticket: Ticket) -> BatchState:
        """Ask how far a batch is that the vendor has.

        Raises:
            ProviderError: the vendor did not say.
        """
        return await self._asked(partial(self.batches.poll, ticket.batch_id or ""))

    async def cancel(self, names: Collection[str] = ()) -> list[str]:
        """Ask the vendor to stop open batches, all or those named.

        What was answered by then is paid for, and collected like any other. Gives
        a sentence for every one that was not stopped.

        Raises:
            AuthenticationFailed: the key is wrong.
        """
        messages = await self.recover()
        for ticket in self.own():
            if ticket.state != "submitted" or (names and ticket.ticket not in names):
                continue
            try:
                await self._cancel(ticket)
            except (AuthenticationFailed, QuotaExhausted):
                raise
            except ProviderError as error:
                messages.append(f"ticket {ticket.ticket}: {error}")
        return messages

    def resolve(self, ticket: Ticket, batch_id: str | None) -> Ticket:
        """Say by hand what became of a ticket: it runs under this id, or is lost.

        What is lost can be submitted again.

        Raises:
            ConfigError: that is no id a vendor gives.
        """
        if batch_id is not None and not is_id(batch_id):
            message = f"{batch_id!r} is no id of a batch"
            raise ConfigError(message)
        found = (
            # What it cost, if it ran after all, stays set aside.
            closed(ticket, "failed", reason="given up by hand")
            if batch_id is None
            else _found(ticket, batch_id)
        )
        self.tickets.write(found)
        return found

    async def _handed_in(self, ticket: Ticket, parcel: Parcel) -> Ticket:
        """Hand a batch in, and again only where the vendor does not have it."""
        for _ in range(self.settings.max_attempts):
            try:
                batch_id = await self._asked(
                    partial(self.batches.submit, ticket.ticket, parcel)
                )
            except Unanswered as error:
                self.note(
                    f"{error}; whether it took batch {ticket.ticket} in shows within "
                    f"{SETTLE_SECONDS:.0f} s"
                )
                settled = await self._settled(ticket)
                if settled is not None:
                    return settled
            except ProviderError as error:
                self._closed(ticket, str(error))
                raise
            else:
                ticket = _found(ticket, batch_id)
                self.tickets.write(ticket)
                return ticket
        message = (
            f"batch {ticket.ticket} was not taken in at any of "
            f"{self.settings.max_attempts} attempts"
        )
        self._closed(ticket, message)
        raise TransientError(message)

    async def _settled(self, ticket: Ticket) -> Ticket | None:
        """Look for a batch now, and again when it must have appeared.

        None if the vendor does not have it.
        """
        for wait in (0.0, SETTLE_SECONDS):
            if wait:
                await self.timing.sleep(wait)
            try:
                sighting = await self._sighting(ticket)
            except TransientError as error:
                self.note(str(error))
                sighting = Sighting(verdict="unclear")
            if sighting.batch_id is not None:
                ticket = _found(ticket, sighting.batch_id)
                self.tickets.write(ticket)
                return ticket
        return None if sighting.verdict == "absent" else ticket

    async def _looked_for(self, ticket: Ticket) -> Ticket:
        """Look for the batch of a ticket that an earlier command left behind.

        The first look came after the end of that command. Where the batch was not
        there then and is not now, it never arrived.
        """
        sighting = await self._sighting(ticket)
        if sighting.batch_id is not None:
            ticket = _found(ticket, sighting.batch_id)
        elif sighting.verdict == "unclear":
            ticket = replace(ticket, unseen_since=None)
        elif ticket.unseen_since is None:
            ticket = replace(ticket, unseen_since=self._time())
        elif self._seconds_since(ticket.unseen_since) >= SETTLE_SECONDS:
            return self._closed(ticket, "the vendor never had it")
        self.tickets.write(ticket)
        return ticket

    async def _sighting(self, ticket: Ticket) -> Sighting:
        taken = {each.batch_id for each in self.own() if each.batch_id is not None}
        return await self._asked(lambda: look_for(ticket, self.batches, taken=taken))

    async def _collect(self, ticket: Ticket, report: Collected) -> None:
        state = await self.progress(ticket)
        if state.status == "in_progress":
            report.pending += ticket.requests
            return
        if state.status == "failed":
            reason = state.message or "the vendor refused it and did not say why"
            self._closed(ticket, reason)
            report.failed += ticket.requests
            report.messages.append(f"ticket {ticket.ticket} failed: {reason}")
            return

        async def take_in() -> Intake:
            intake = Intake(
                ticket=ticket, live=self.live, cache=self.cache, facts=self.facts
            )
            await intake.read(self.batches)
            return intake

        intake = await self._asked(take_in)
        intake.check(state)
        done = intake.closed(state)
        # Before the ticket is over: a kill in between tells too much, not too little.
        self._note_down(intake.entries)
        self.tickets.write(done)
        self._settle(done)
        intake.report(done, report)

    def _closed(self, ticket: Ticket, reason: str) -> Ticket:
        """Note that nothing will come of a batch."""
        done = closed(ticket, "failed", reason=reason, cost_usd=Decimal(0))
        self.tickets.write(done)
        self._settle(done)
        return done

    def _note_down(self, entries: Sequence[Entry]) -> None:
        """Write to the ledger what became of the requests of a batch."""
        try:
            with Ledger(self.ledger) as ledger:
                for entry in entries:
                    ledger.write(entry)
        except OSError as error:
            message = f"ledger {str(self.ledger)!r} cannot be written: {error}"
            raise SituateError(message) from error

    def _set_aside(self, usd: Decimal) -> str | None:
        """Set the price of a batch aside and name the month; None without a price."""
        if self.facts.prices is None:
            return None
        most = self.settings.max_usd_month
        month = self.cache.months().reserve(usd, most=most)
        if month is None:
            message = f"a batch of ${usd:.2f} at most may cross max_usd_month = {most}"
            raise BudgetExceeded(message)
        return month.name

    def _settle(self, done: Ticket) -> None:
        """Put what a batch did cost in place of what was set aside for it.

        After its ticket is written: a crash in between counts too much, not twice.
        """
        most = done.most_usd
        if done.month is None or most is None:
            return
        months = self.cache.months()
        # What is settled was set aside by another process, perhaps; `Months` writes
        # at once when as much is settled as this one has set aside.
        months.reserve(Decimal(0), most=None)
        cost = most if done.cost_usd is None else done.cost_usd
        months.settle(done.month, reserved=most, cost=cost)

    async def _cancel(self, ticket: Ticket) -> None:
        # Before asking: whatever comes back, some of it may be cancelled.
        self.tickets.write(replace(ticket, cancel_asked=self._time()))
        await self._asked(partial(self.batches.cancel, ticket.batch_id or ""))

    async def _asked(self, call: Callable[[], Awaitable[_Result]]) -> _Result:
        """Call the vendor, again where that may help and can do no harm."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        async def once() -> _Result:
            return await call()

        retrying = AsyncRetrying(
            sleep=self.timing.sleep,
            stop=stop_after_attempt(self.settings.max_attempts),
            wait=self._wait_seconds,
            retry=retry_if_exception(self._may_pass),
            reraise=True,
        )
        return await retrying(once)

    def _may_pass(self, error: BaseException) -> bool:
        if isinstance(error, Unanswered) or not isinstance(error, TransientError):
            return False
        told = error.retry_after_seconds if isinstance(error, RateLimited) else None
        return told is None or told <= self.settings.max_wait_seconds

    def _wait_seconds(self, state: RetryCallState) -> float:
        """Wait as long as told, and a little more by chance."""
        error = state.outcome.exception() if state.outcome else None
        told = error.retry_after_seconds if isinstance(error, RateLimited) else None
        backoff = min(_LONGEST_BACKOFF_SECONDS, 0.5 * 2.0**state.attempt_number)
        return (told or 0) + (1 - self.timing.random()) * backoff

    def _time(self) -> str:
        return self.now().isoformat(timespec="microseconds")

    def _seconds_since(self, time: str) -> float:
        return (self.now() - datetime.datetime.fromisoformat(time)).total_seconds()


def pauses() -> Iterator[float]:
    """Give the seconds between two looks at open batches, for ever."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(_LONGEST_PAUSE_SECONDS, pause * _PAUSE_GROWTH)


def _found(ticket: Ticket, batch_id: str) -> Ticket:
    return replace(ticket, state="submitted", batch_id=batch_id, unseen_since=None)


def _unclear(ticket: Ticket) -> str:
    return (
        f"ticket {ticket.ticket} ({ticket.requests:,} requests, {ticket.created}): "
        f"whether {ticket.provider} has it cannot be told yet, so nothing of it is "
        f"sent again; come back in {SETTLE_SECONDS / 60:.0f} minutes, or when the "
        f"vendor's running batches have ended; {_BY_HAND}"
    )
