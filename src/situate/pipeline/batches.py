"""A corpus through a vendor's batch system: handed in, looked after, collected."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.asking import Held
from situate.enrichment.batches import (
    Allowance,
    AskedRequest,
    Chooser,
    Office,
    Pending,
    Splitter,
    Tickets,
    file_reply,
    outstanding,
    pauses,
    tickets_folder,
)
from situate.enrichment.budget import NOTHING, Committed
from situate.enrichment.cache import Cache
from situate.enrichment.estimate import Tally
from situate.enrichment.exchange import fault
from situate.enrichment.providers.batching import open_batches
from situate.enrichment.throttle import Timing
from situate.errors import (
    AuthenticationFailed,
    BatchesUnknown,
    BudgetExceeded,
    ConfigError,
    ModelUnknown,
    ProviderError,
    ProviderUnusable,
    QuotaExhausted,
    RecordError,
    SituateError,
    TransientError,
)
from situate.pipeline.jobs import ready

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
    from decimal import Decimal

    from situate.config import Config
    from situate.corpus import Source
    from situate.enrichment.batches import Collected, Outlook, Ticket, Wanted
    from situate.enrichment.exchange import Provider
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.providers.batching import BatchState
    from situate.enrichment.reasons import StopReason
    from situate.pipeline.asking import Asking
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher

_Result = TypeVar("_Result")

_REASONS: tuple[tuple[type[SituateError], StopReason], ...] = (
    (BudgetExceeded, "budget"),
    (QuotaExhausted, "quota"),
    (AuthenticationFailed, "authentication"),
    (ModelUnknown, "model_unknown"),
    (ProviderUnusable, "unusable"),
    (ProviderError, "outage"),
    # Tickets lie in the cache's directory.
    (SituateError, "cache"),
)
"""Why nothing is handed in any more, by what was raised."""


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
    """Chunks that an open batch asks about already."""
    ask_live: int
    """Chunks that a batch brought no answer to; `run` asks about them."""
    postponed: int
    """Requests that the limits on spending leave to the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What was handed in."""

    offer: Offer
    tickets: tuple[Ticket, ...]
    too_long: tuple[str, ...]
    """Chunks whose request fits no batch; `run` asks about them."""
    stopped: str | None
    """Why not everything was handed in."""
    reason: StopReason | None
    """The word for it."""
    left: frozenset[str]
    """Chunks, by their keys, that no batch will answer."""
    messages: tuple[str, ...]
    """About batches of before that are not clear."""

    @property
    def committed(self) -> Committed:
        """What is handed in may cost at most, and what may be handed in."""
        running = [ticket for ticket in self.tickets if ticket.is_open]
        return Committed(
            usd=sum((each.most_usd or NOTHING.usd for each in running), NOTHING.usd),
            tokens=sum(each.most_tokens for each in running),
        )

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
    config: Config,
    watcher: Watcher,
    *,
    sources: Sequence[Source] | None = None,
    timing: Timing | None = None,
) -> Submission:
    """Hand in what has no answer and is in no open batch; the price comes first.

    In the order of the documents, as far as the limits on spending allow; of those of
    the corpus, or of some of them.

    Raises:
        ConfigError: something in the config cannot be used, or its provider has no
            batch system.
        BudgetExceeded: not even the first request fits the limits.
        ProviderError: the vendor cannot be asked, or took nothing in.
        SituateError: a glob matches nothing, or something cannot be written.
    """
    job, asking = opened(config)
    asking.check(mode="batch")
    with _office(job, asking, watcher, timing) as office, office.tickets.locked():
        messages = _run(office, office.recover())
        allowance = _allowance(office)
        chooser = _chooser(office)
        chosen: set[str] = set()
        if sources is None:
            sources = job.sources()
        plans = job.plans(sources, watcher)
        offer = _offer(office, plans, chooser, allowance, chosen)
        if allowance.exceeded is not None and not chosen:
            message = f"{allowance.exceeded}; nothing is sent"
            raise BudgetExceeded(message)
        watcher.note(_in_words(job, offer))
        splitter = Splitter(provider=office.batches, facts=asking.facts)
        # What has changed since it was priced waits for the next time.
        again = _chooser(office)
        wanted = (
            each
            for plan in job.plans(sources if chosen else (), watcher)
            for each in again.missing(plan)
            if each.key in chosen
        )
        known = {ticket.ticket for ticket in office.own()}
        stopped = allowance.exceeded
        reason: StopReason | None = None if stopped is None else "budget"
        try:
            _run(office, office.submit(splitter.drafts(wanted)))
        except SituateError as error:
            stopped, reason = str(error), _reason(error)
            if all(each.ticket in known or not each.is_open for each in office.own()):
                raise
        return Submission(
            offer=offer,
            tickets=tuple(each for each in office.own() if each.ticket not in known),
            too_long=tuple(each.chunk_id for each in splitter.too_long),
            stopped=stopped,
            reason=reason,
            left=frozenset(chooser.left | {e.chunk_key for e in splitter.too_long}),
            messages=tuple(messages),
        )


def hand_over(config: Config, sources: Sequence[Source], watcher: Watcher) -> Held:
    """Collect what is over, hand in what is left, and say what waits for an answer.

    Nothing is handed in but questions about `sources`.

    Where something cannot be handed in now it is not asked live either: that would
    cost twice as much. No trouble with batches keeps a run from publishing.

    Raises:
        AuthenticationFailed: the key is wrong.
        ModelUnknown: the vendor does not serve the model.
        BatchesUnknown: there is no batch system at this address.
    """
    reason: StopReason | None = None
    left: frozenset[str] = frozenset()
    committed = NOTHING
    try:
        for message in collect(config, watcher).messages:
            watcher.note(message)
        submission = submit(config, watcher, sources=sources)
        for message in filter(None, (*submission.messages, submission.stopped)):
            watcher.note(message)
        reason, left = submission.reason, submission.left
        committed = submission.committed
    except (AuthenticationFailed, BatchesUnknown, ModelUnknown):
        raise
    except SituateError as error:
        watcher.note(str(error))
        reason = _reason(error)
    try:
        of_tickets = outstanding(config.cache.directory)
    except RecordError as error:
        watcher.note(str(error))
        return Held(outlook=_nothing, otherwise="cache", committed=committed)

    def outlook(key: str) -> Outlook:
        found = of_tickets(key)
        return "ask_live" if found == "none" and key in left else found

    return Held(outlook=outlook, otherwise=reason, committed=committed)


def status(config: Config, watcher: Watcher) -> tuple[Standing, ...]:
    """Give every ticket of a corpus's vendor, and how far the open ones are.

    Raises:
        ConfigError: something in the config cannot be used, or its provider has no
            batch system.
        SituateError: a ticket cannot be read.
    """
    job, asking = opened(config)
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
    job, asking = opened(config)
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
    job, asking = opened(config)
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
    job, asking = opened(config)
    with _office(job, asking, watcher) as office, office.tickets.locked():
        ticket = _ticket(office, name)
        if not ticket.is_open:
            message = f"ticket {name} is {ticket.state}; there is nothing to resolve"
            raise ConfigError(message)
        return office.resolve(ticket, batch_id)


def opened(config: Config) -> tuple[Job, Asking]:
    """Make the job of a corpus that is asked about.

    Raises:
        ConfigError: enrichment is off, or something in the config cannot be used.
    """
    (job,) = ready([config])
    return job.of_wordings, job.asked()


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
    with Cache(asking.cache_place) as cache:
        yield Office(
            corpus=job.config.corpus.name,
            settings=settings,
            facts=asking.facts,
            live=asking.provider,
            batches=batches,
            tickets=Tickets(tickets_folder(asking.cache_directory)),
            cache=cache,
            ledger=job.config.output.beside("ledger.jsonl"),
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


def choosing(
    cache: Cache, live: Provider, outlook: Callable[[str], Outlook], *, corpus: str
) -> Chooser:
    """Give a chooser that looks into a cache."""

    def stored(wanted: Wanted) -> Collection[str] | None:
        raw = cache.reply(wanted.key)
        try:
            reply = None if raw is None else live.parse(raw)
        except TransientError:
            return None
        if raw is None or reply is None or fault(reply) is not None:
            return None
        asked = AskedRequest.of(wanted.key, wanted.request)
        return file_reply(cache, asked, raw, reply, corpus=corpus)

    return Chooser(known=cache.knows, stored=stored, outlook=outlook)


def _chooser(office: Office) -> Chooser:
    outlook = Pending.among(office.tickets.all()).state
    return choosing(office.cache, office.live, outlook, corpus=office.corpus)


def _allowance(office: Office) -> Allowance:
    month_usd = NOTHING.usd
    if office.settings.max_usd_month is not None:
        month_usd = office.cache.months().current().usd
    return Allowance(settings=office.settings, facts=office.facts, month_usd=month_usd)


def _offer(
    office: Office,
    plans: Iterator[DocumentPlan],
    chooser: Chooser,
    allowance: Allowance,
    chosen: set[str],
) -> Offer:
    """Price what is handed in now, and note its keys in `chosen`."""
    settings = replace(office.settings, mode="batch")
    tally = Tally(settings=settings, facts=office.facts)
    postponed = 0
    for plan in plans:
        wanted = chooser.missing(plan)
        taken = [each for each in wanted if allowance.takes(each.request)]
        postponed += len(wanted) - len(taken)
        chosen.update(each.key for each in taken)
        tally.add(plan.only([each.request for each in taken]), lambda _: False)
    estimate = tally.estimate()
    return Offer(
        requests=len(chosen),
        most_tokens=allowance.used.tokens,
        usd_low=estimate.usd_low,
        usd_high=None if office.facts.prices is None else allowance.used.usd,
        pending=chooser.pending,
        ask_live=len(chooser.left),
        postponed=postponed,
    )


def _reason(error: SituateError) -> StopReason:
    return next(word for kind, word in _REASONS if isinstance(error, kind))


def _nothing(_: str) -> Outlook:
    """Say what is known of a chunk where tickets cannot be read."""
    return "none"


def _in_words(job: Job, offer: Offer) -> str:
    price = f"at a price nobody knows, {offer.most_tokens:,} tokens at most"
    if offer.usd_low is not None and offer.usd_high is not None:
        price = f"${offer.usd_low:.4f} to ${offer.usd_high:.4f} at the batch price"
    later = f", {offer.postponed:,} for the next time" if offer.postponed else ""
    return (
        f"{job.config.corpus.name}: {offer.requests:,} requests for a batch, {price}"
        f"{later}; {offer.pending:,} chunks are on their way already, "
        f"{offer.ask_live:,} left to a live run"
    )


def _ticket(office: Office, name: str) -> Ticket:
    found = {ticket.ticket: ticket for ticket in office.own()}
    if name not in found:
        names = ", ".join(t.ticket for t in found.values() if t.is_open) or "none"
        message = f"there is no ticket {name!r}; open ones: {names}"
        raise ConfigError(message)
    return found[name]
