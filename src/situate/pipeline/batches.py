"""A corpus through a vendor's batch system: handed in, looked after, collected."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.asking import Held
from situate.enrichment.batch import unusable
from situate.enrichment.batches import (
    Chooser,
    Office,
    Pending,
    Splitter,
    Tickets,
    pauses,
    tickets_folder,
)
from situate.enrichment.cache import Cache
from situate.enrichment.estimate import Tally, bounds
from situate.enrichment.providers.batching import open_batches
from situate.enrichment.throttle import Timing
from situate.errors import (
    BudgetExceeded,
    ConfigError,
    ProviderError,
    TransientError,
)
from situate.pipeline.jobs import ready

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence
    from decimal import Decimal

    from situate.config import Config
    from situate.enrichment.batches import Collected, Ticket
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.providers.batching import BatchState
    from situate.enrichment.reasons import SkipReason, StopReason
    from situate.pipeline.jobs import Asking, Job
    from situate.pipeline.watching import Watcher

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is about to be handed in, and what it costs."""

    requests: int
    most_tokens: int
    """Input and output together."""
    usd_low: Decimal | None
    """None where no price is known."""
    usd_high: Decimal | None
    """More is not spent, whatever comes back."""
    pending: int
    """Requests that are on their way already."""
    ask_live: int
    """Requests that a batch brought no answer to; `run` asks them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What was handed in."""

    offer: Offer
    tickets: tuple[Ticket, ...]
    too_long: tuple[str, ...]
    """Chunks whose request fits no batch."""
    stopped: str | None
    """Why not everything was handed in."""
    messages: tuple[str, ...]
    """About batches of before that are not clear."""

    @property
    def is_certain(self) -> bool:
        """Whether all there was to hand in is with the vendor."""
        return (
            not self.messages
            and not self.too_long
            and self.stopped is None
            and all(ticket.state == "submitted" for ticket in self.tickets)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A ticket, and what the vendor says of it now."""

    ticket: Ticket
    vendor: BatchState | None
    """None where the vendor has nothing to say, or did not."""
    message: str | None


def submit(
    config: Config, watcher: Watcher, *, timing: Timing | None = None
) -> Submission:
    """Hand in what has no answer and is in no open batch; the price comes first.

    Raises:
        ConfigError: something in the config cannot be used, or its provider has no
            batch system.
        BudgetExceeded: it may cost more than the config allows; nothing is sent.
        ProviderError: the vendor cannot be asked, or took nothing in.
        SituateError: a glob matches nothing, or something cannot be written.
    """
    job, asking = _opened(config)
    asking.check()
    with _office(job, asking, watcher, timing) as office, office.tickets.locked():
        messages = _run(office, office.recover())
        chosen: set[str] = set()
        plans = job.plans(job.sources(), watcher)
        offer = _offer(office, plans, chosen)
        _refuse_what_is_too_dear(asking, offer)
        watcher.note(_in_words(job, offer))
        splitter = Splitter(provider=office.batches, facts=asking.facts)
        # What has changed since it was priced waits for the next time.
        again = _chooser(office)
        wanted = (
            each
            for plan in job.plans(job.sources() if chosen else (), watcher)
            for each in again.missing(plan)
            if each.key in chosen
        )
        known = {ticket.ticket for ticket in office.own()}
        stopped = None
        try:
            _run(office, office.submit(splitter.drafts(wanted)))
        except (ProviderError, BudgetExceeded) as error:
            stopped = str(error)
            if all(each.ticket in known or not each.is_open for each in office.own()):
                raise
        return Submission(
            offer=offer,
            tickets=tuple(each for each in office.own() if each.ticket not in known),
            too_long=tuple(splitter.too_long),
            stopped=stopped,
            messages=tuple(messages),
        )


def hand_over(config: Config, watcher: Watcher) -> Held:
    """Collect what is over, hand in what is left, and say what waits for an answer.

    Where nothing can be handed in now, what is left is not asked live either: it
    would cost twice as much.

    Raises:
        ConfigError: something in the config cannot be used, or its provider has no
            batch system.
        ProviderUnusable: the key or the model is wrong.
        SituateError: a ticket or the cache cannot be written.
    """
    reason: StopReason | SkipReason = "pending"
    try:
        for message in collect(config, watcher).messages:
            watcher.note(message)
        submission = submit(config, watcher)
        for message in filter(None, (*submission.messages, submission.stopped)):
            watcher.note(message)
    except BudgetExceeded as error:
        watcher.note(str(error))
        reason = "budget"
    except TransientError as error:
        watcher.note(str(error))
        reason = "outage"
    outlook = Pending.of(tickets_folder(config.cache.directory)).state
    return Held(ask_live=lambda key: outlook(key) == "ask_live", reason=reason)


def status(config: Config, watcher: Watcher) -> tuple[Standing, ...]:
    """Give every ticket of a corpus's vendor, and how far the open ones are.

    Raises:
        ConfigError: something in the config cannot be used, or its provider has no
            batch system.
        SituateError: a ticket cannot be read.
    """
    job, asking = _opened(config)
    with _office(job, asking, watcher) as office:

        async def standing(ticket: Ticket) -> Standing:
            vendor, message = None, ticket.reason
            if ticket.state == "submitted":
                try:
                    vendor = await office.progress(ticket)
                except ProviderError as error:
                    message = str(error)
            return Standing(ticket=ticket, vendor=vendor, message=message)

        async def all_of_them() -> tuple[Standing, ...]:
            return tuple([await standing(ticket) for ticket in office.own()])

        return _run(office, all_of_them())


def collect(
    config: Config,
    watcher: Watcher,
    *,
    wait: bool = False,
    timing: Timing | None = None,
) -> Collected:
    """Put the answers of batches that are over into the cache.

    With `wait` until none is open. Others may work on the tickets in between.

    Raises:
        ConfigError: something in the config cannot be used, or its provider has no
            batch system.
        SituateError: a ticket or the cache cannot be written, or the key is wrong.
    """
    job, asking = _opened(config)
    timing = timing or Timing()
    with _office(job, asking, watcher, timing) as office:

        async def until_done() -> Collected:
            report = await _collected(office)
            for pause in pauses():
                waiting = report.pending + report.unclear
                if not wait or not waiting:
                    break
                watcher.note(
                    f"{waiting:,} requests are open; looking again in {pause:.0f} s"
                )
                await timing.sleep(pause)
                report = (await _collected(office)).after(report)
            return report

        return _run(office, until_done())


def cancel(config: Config, watcher: Watcher, *, names: Sequence[str]) -> Collected:
    """Stop open batches, all or those named, and take in what they have.

    Raises:
        ConfigError: something in the config cannot be used, its provider has no
            batch system, or no ticket has such a name.
        SituateError: a ticket or the cache cannot be written, or the key is wrong.
    """
    job, asking = _opened(config)
    with _office(job, asking, watcher) as office, office.tickets.locked():
        for name in names:
            _ticket(office, name)

        async def cancelled() -> Collected:
            messages = await office.cancel(names)
            report = await office.collect()
            report.messages = list(dict.fromkeys(messages + report.messages))
            return report

        return _run(office, cancelled())


def resolve(
    config: Config, watcher: Watcher, *, name: str, batch_id: str | None
) -> Ticket:
    """Say what became of a ticket: it runs as `batch_id`, or for None is lost.

    Raises:
        ConfigError: something in the config cannot be used, its provider has no
            batch system, or no open ticket has this name.
        SituateError: a ticket cannot be written.
    """
    job, asking = _opened(config)
    with _office(job, asking, watcher) as office, office.tickets.locked():
        ticket = _ticket(office, name)
        if not ticket.is_open:
            message = f"ticket {name} is {ticket.state}; there is nothing to resolve"
            raise ConfigError(message)
        return office.resolve(ticket, batch_id)


def _opened(config: Config) -> tuple[Job, Asking]:
    (job,) = ready([config])
    if job.asking is None:
        message = f"{config.path}: enrichment.enabled is false; nothing is asked"
        raise ConfigError(message)
    return job, job.asking


@contextmanager
def _office(
    job: Job, asking: Asking, watcher: Watcher, timing: Timing | None = None
) -> Iterator[Office]:
    settings = asking.settings
    batches = open_batches(
        settings.provider,
        base_url=settings.base_url,
        endpoint=settings.endpoint,
        timeout_seconds=settings.timeout_seconds,
    )
    batches.check()
    with Cache(asking.cache_directory) as cache:
        yield Office(
            corpus=job.config.corpus.name,
            settings=settings,
            facts=asking.facts,
            live=asking.provider,
            batches=batches,
            tickets=Tickets(tickets_folder(asking.cache_directory)),
            cache=cache,
            note=watcher.note,
            timing=timing or Timing(),
        )


def _run(office: Office, work: Coroutine[None, None, _Result]) -> _Result:
    """Run to the end, and let go of connections: each loop has its own."""

    async def run() -> _Result:
        try:
            return await work
        finally:
            await office.batches.close()

    return asyncio.run(run())


async def _collected(office: Office) -> Collected:
    with office.tickets.locked():
        return await office.collect()


def _chooser(office: Office) -> Chooser:
    cache, live = office.cache, office.live

    def stored(key: str) -> bool:
        raw = cache.reply(key)
        try:
            return raw is not None and unusable(live.parse(raw)) is None
        except TransientError:
            return False

    outlook = Pending.among(office.tickets.all()).state
    return Chooser(known=cache.knows, stored=stored, outlook=outlook)


def _offer(office: Office, plans: Iterator[DocumentPlan], chosen: set[str]) -> Offer:
    """Price what has to be asked, and note its keys in `chosen`."""
    settings = replace(office.settings, mode="batch")
    tally = Tally(settings=settings, facts=office.facts)
    chooser, most_tokens = _chooser(office), 0
    for plan in plans:
        wanted = chooser.missing(plan)
        chosen.update(each.key for each in wanted)
        requests = tuple(each.request for each in wanted)
        tally.add(replace(plan, requests=requests), lambda _: False)
        most_tokens += sum(sum(bounds(each, facts=office.facts)) for each in requests)
    estimate = tally.estimate()
    return Offer(
        requests=len(chosen),
        most_tokens=most_tokens,
        usd_low=estimate.usd_low,
        usd_high=estimate.usd_high,
        pending=chooser.pending,
        ask_live=chooser.ask_live,
    )


def _refuse_what_is_too_dear(asking: Asking, offer: Offer) -> None:
    settings = asking.settings
    if (
        settings.max_usd is not None
        and offer.usd_high is not None
        and offer.usd_high > settings.max_usd
    ):
        message = (
            f"{offer.requests:,} requests may cost ${offer.usd_high:.2f} in a batch, "
            f"more than max_usd = {settings.max_usd}; nothing is sent"
        )
        raise BudgetExceeded(message)
    most = settings.max_total_tokens
    if most is not None and offer.most_tokens > most:
        message = (
            f"{offer.requests:,} requests may take {offer.most_tokens:,} tokens, more "
            f"than max_total_tokens = {most}; nothing is sent"
        )
        raise BudgetExceeded(message)


def _in_words(job: Job, offer: Offer) -> str:
    price = f"at a price nobody knows, {offer.most_tokens:,} tokens at most"
    if offer.usd_low is not None and offer.usd_high is not None:
        price = f"${offer.usd_low:.4f} to ${offer.usd_high:.4f} at the batch price"
    return (
        f"{job.config.corpus.name}: {offer.requests:,} requests for a batch, {price}; "
        f"{offer.pending:,} on their way already, {offer.ask_live:,} left to a live run"
    )


def _ticket(office: Office, name: str) -> Ticket:
    found = {ticket.ticket: ticket for ticket in office.own()}
    if name not in found:
        names = ", ".join(t.ticket for t in found.values() if t.is_open) or "none"
        message = f"there is no ticket {name!r}; open ones: {names}"
        raise ConfigError(message)
    return found[name]
