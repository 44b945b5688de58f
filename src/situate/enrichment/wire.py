"""Puts one request on the wire and brings back one answer.

What stands between a request and its answer stands here, once: cache, budget,
throttle, retries, ledger, and the decision to stop asking. What an answer is
worth is judged by whoever asked.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from situate.enrichment.accounts import Accounts, Bill
from situate.enrichment.alone import Alone
from situate.enrichment.budget import NOTHING, Budget
from situate.enrichment.commits import Commits
from situate.enrichment.exchange import fault
from situate.enrichment.flights import Flights
from situate.enrichment.keys import canonical, reply_key
from situate.enrichment.ledger import Entry
from situate.enrichment.outcomes import Stopped, outcome_of, stop_reason_of
from situate.enrichment.throttle import throttle_of
from situate.enrichment.waits import waits
from situate.errors import (
    BudgetExceeded,
    CacheBroken,
    DeadlinePassed,
    ProviderError,
    ProviderUnusable,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
    TransientError,
    Unanswered,
    UnsupportedParameter,
)
from situate.model import digest
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from situate.enrichment.budget import Committed
    from situate.enrichment.cache import Cache, Kept, Located, User
    from situate.enrichment.exchange import Body, Parameters, Provider, Rendered, Reply
    from situate.enrichment.ledger import Ledger, Source
    from situate.enrichment.questions import Passage
    from situate.enrichment.reasons import StopReason
    from situate.enrichment.settings import Settings, View
    from situate.enrichment.throttle import Throttle, Timing, Turn
    from situate.pricing import ModelFacts

_OUTAGE = 3
"""Requests in a row that failed on every attempt, with no answer in between."""


Note: TypeAlias = "tuple[Sequence[Located], Kept | None]"
"""Where answers stand, and the statement that was found in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request, and what ledger and budget want to know about it."""

    rendered: Rendered
    parameters: Parameters
    user: User
    """The document it is about."""
    chunk_ids: tuple[str, ...]
    view: View
    input_tokens: int
    """Estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply and the key it is stored under."""

    key: str
    reply: Reply
    source: Source


@dataclass(slots=True)
class _Sending:
    """One request while it is tried."""

    body: Body
    key: str
    question: Question
    dropped: frozenset[str]
    """What the body was rendered without."""
    bill: Bill = field(default_factory=Bill)


class _Outdated(Exception):
    """The body names a parameter that has been refused since it was rendered."""


class Wire:
    """One provider, asked by many at once."""

    def __init__(  # noqa: PLR0913 - each is one thing a request passes through
        self,
        *,
        settings: Settings,
        provider: Provider,
        cache: Cache,
        ledger: Ledger | None,
        facts: ModelFacts,
        timing: Timing,
        committed: Committed = NOTHING,
        publishes_anyway: bool = False,
        throttle: Throttle | None = None,
    ) -> None:
        """Take everything a request passes through.

        Raises:
            ConfigError: limits on spending do not fit the model.
        """
        self.stop_reason: StopReason | None = None
        self.stop_message: str | None = None
        self.fatal: ProviderUnusable | None = None
        """What the first request found to be wrong for all of them."""
        self._settings = settings
        self._provider = provider
        self._cache = cache
        self._ledger = ledger
        self._timing = timing
        self._source: Source = "replay" if settings.replayed else "wire"
        self.has_price = settings.replayed or facts.prices is not None
        self._commits = Commits(cache)
        self._budget = Budget(
            settings,
            facts,
            month=None if settings.replayed else self._commits,
            committed=committed,
        )
        self._throttle = throttle or throttle_of(settings, timing)
        self._throttle.share(
            cache.schedule(
                digest(canonical([provider.name, provider.endpoint, settings.model]))
            )
        )
        self.accounts = Accounts(
            provider=provider.name,
            replayed=settings.replayed,
            budget=self._budget,
            throttle=self._throttle,
        )
        self._dropped: frozenset[str] = frozenset()
        self._flights = Flights[Answer](ProviderError, Stopped, _Outdated)
        self._claimed = Alone(None if cache.is_sealed else cache.claims, timing)
        # A body may hold a whole document: no more are rendered than can be sent.
        self._bodies = asyncio.Semaphore(settings.concurrency)
        self._publishes_anyway = publishes_anyway
        self._deadline: float | None = None
        """On the clock; None before the first request, and without one."""
        self._reached = False
        # Keeps requests apart until the provider has answered one: a wrong key
        # is found once, and not by everybody.
        self._alone = asyncio.Lock()
        self._failed_in_a_row = 0

    def close(self) -> None:
        """Store what was paid for and nobody waits for any more."""
        self._commits.flush()

    async def ask(self, question: Question) -> Answer:
        """Give the answer, from the cache or from the provider.

        A parameter the provider does not know is left out from then on.

        Raises:
            Stopped: nothing is asked any more.
            RequestRejected: the provider refuses this request.
            TransientError: it failed on every attempt.
            ProviderUnusable: it was the first request, and none can succeed.
        """
        async with self._bodies:
            while True:
                dropped = self._dropped
                parameters = replace(question.parameters, dropped=dropped)
                body = self._provider.render(question.rendered, parameters)
                try:
                    return await self._ask_once(body, question, dropped)
                except _Outdated:
                    continue
                except UnsupportedParameter as error:
                    if error.parameter in dropped or error.parameter not in body:
                        raise
                    self._dropped |= {error.parameter}

    def stored(self, key: str) -> Reply | None:
        """Give a reply that is at hand; one that cannot be read is not.

        Raises:
            Stopped: the cache cannot be read.
        """
        with self._stopping():
            raw = self._cache.reply(key)
        try:
            return None if raw is None else self._provider.parse(raw)
        except TransientError:
            return None

    def answers(self, key: str) -> tuple[Located, ...]:
        """Give where it stands what was answered under a key before.

        Raises:
            Stopped: the cache cannot be read.
        """
        with self._stopping():
            return self._cache.answers(key)

    def kept(self, key: str) -> Kept | None:
        """Give the statement that was found under a key before.

        Raises:
            Stopped: the cache cannot be read.
        """
        with self._stopping():
            return self._cache.kept(key)

    def knows(self, passage: Passage) -> bool:
        """Say whether anything was answered about a chunk or its section before.

        Raises:
            Stopped: the cache cannot be read.
        """
        with self._stopping():
            return self._cache.knows(passage)

    def remember(
        self, notes: Mapping[str, Note], user: User, replies: Collection[str]
    ) -> None:
        """Note where answers stand, all or none, and which replies served a document.

        Stops when that fails.
        """
        if self._cache.is_sealed:
            return
        try:
            if notes:
                with self._cache.at_once():
                    for key, (answers, kept) in notes.items():
                        self._cache.store_answers(key, answers, kept)
            if replies:
                self._cache.note_uses(user, replies)
        except CacheBroken as error:
            self._stop(error)

    async def _ask_once(
        self, body: Body, question: Question, dropped: frozenset[str]
    ) -> Answer:
        """Ask one body once, however many want its answer at the same time."""
        key = reply_key(
            body, provider=self._provider.name, endpoint=self._provider.endpoint
        )
        shared = await self._flights.wait(key)
        if shared is not None:
            return replace(shared, source="cache")
        if (found := self._at_hand(key)) is not None:
            return found
        sending = _Sending(body, key, question, dropped)
        return await self._flights.lead(key, lambda: self._send_alone(sending))

    def _at_hand(self, key: str) -> Answer | None:
        reply = self.stored(key)
        return None if reply is None else Answer(key=key, reply=reply, source="cache")

    async def _send_alone(self, sending: _Sending) -> Answer:
        """Send, unless somebody on another machine does: then have what they get."""

        def at_hand() -> Answer | None:
            self._raise_when_stopped()
            return self._at_hand(sending.key)

        with self._stopping():
            return await self._claimed.ask(
                sending.key, at_hand=at_hand, ask=lambda: self._send(sending)
            )

    async def _send(self, sending: _Sending) -> Answer:
        if self._cache.is_sealed:
            message = (
                f"cache {str(self._cache.place)!r} can be read and not written: "
                "nobody is asked for what could not be kept"
            )
            raise self._stop(CacheBroken(message))
        if not self._reached:
            async with self._alone:
                if not self._reached:
                    return await self._send_until_answered(sending)
        return await self._send_until_answered(sending)

    async def _send_until_answered(self, sending: _Sending) -> Answer:
        """Repeat what may pass, within `max_attempts`: the one retry layer."""
        from tenacity import (
            AsyncRetrying,
            retry_if_exception_type,
            stop_after_attempt,
        )

        retrying = AsyncRetrying(
            sleep=self._pause,
            stop=stop_after_attempt(self._settings.max_attempts),
            wait=waits(self._settings.max_wait_seconds, self._timing.random),
            retry=retry_if_exception_type(TransientError),
            reraise=True,
        )
        try:
            self._raise_when_stopped()
            async with self._throttle.turn() as turn:
                reply: Reply = await retrying(self._attempt, sending, turn)
        except (ProviderError, Stopped) as error:
            if isinstance(error, TransientError):
                self._count_failure(error)
            if not isinstance(error, Stopped | UnsupportedParameter):
                self.accounts.failed(outcome_of(error), str(error))
            if sending.bill.attempts:
                self._note(sending, error)
            raise
        self._note(sending, reply)
        return Answer(key=sending.key, reply=reply, source=self._source)

    async def _attempt(self, sending: _Sending, turn: Turn) -> Reply:
        """Send once, when it may be sent and there is money for it."""
        self._raise_when_stopped()
        question, bill = sending.question, sending.bill
        with self._stopping():
            await turn.ready(question.input_tokens)
            self._raise_when_stopped()
            if sending.dropped != self._dropped:
                raise _Outdated
            reservation = await self._budget.reserve(
                input_tokens=question.input_tokens,
                output_tokens=question.parameters.max_output_tokens,
            )
        billed: Usage | None = Usage()
        try:
            self._raise_when_stopped()
            self.accounts.attempt(bill)
            began = self._timing.clock()
            try:
                raw = await self._provider.send(sending.body)
            finally:
                bill.seconds += self._timing.clock() - began
            reply = self._provider.parse(raw)
            billed = self.accounts.believed(reply.usage, reservation)
        except Unanswered as error:
            billed = error.usage
            if billed != Usage():
                billed = self.accounts.believed(billed, reservation)
            raise
        except RateLimited as error:
            self._hold_back(error, turn)
            raise
        except UnsupportedParameter:
            raise
        except RequestRejected:
            self._reached = True
            raise
        except ProviderUnusable as error:
            raise self._unusable(error) from error
        finally:
            self.accounts.settle(bill, reservation, billed)
        # No await from here on but for the disk: what was paid for is on its way there
        # before anything can call this task off.
        self._failed_in_a_row = 0
        self._throttle.speed_up()
        self.accounts.learn(expected_input=question.input_tokens, usage=billed)
        await self._store(sending, raw, reply)
        self._reached = True
        return reply

    def _count_failure(self, error: TransientError) -> None:
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _OUTAGE:
            message = f"{_OUTAGE} requests in a row failed on every attempt; {error}"
            self._stop(TransientError(message))

    async def _store(self, sending: _Sending, raw: str, reply: Reply) -> None:
        """Keep what is worth having again; an answer in hand survives a failure."""
        if fault(reply) is not None:
            return
        try:
            await self._commits.store_reply(sending.key, raw, sending.question.user)
        except CacheBroken as error:
            self._stop(error)

    def _hold_back(self, error: RateLimited, turn: Turn) -> None:
        wait = error.retry_after_seconds
        if wait is not None and wait > self._settings.max_wait_seconds:
            raise self._stop(error) from error
        turn.refused(wait)

    def _unusable(self, error: ProviderUnusable) -> Stopped | ProviderUnusable:
        stops = self._reached or self._publishes_anyway
        if stops or isinstance(error, QuotaExhausted):
            return self._stop(error)
        self.fatal = self.fatal or error
        return error

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Stop when the cache fails inside, or money ends."""
        try:
            yield
        except (BudgetExceeded, CacheBroken) as error:
            raise self._stop(error) from error

    def _stop(self, error: Exception) -> Stopped:
        """Stop asking; the first reason is the one that counts."""
        if self.stop_reason is not None:
            return Stopped(self.stop_reason)
        self.stop_reason, self.stop_message = stop_reason_of(error), str(error)
        return Stopped(self.stop_reason)

    async def _pause(self, seconds: float) -> None:
        """Wait between two attempts, no longer than anything is sent."""
        if self._deadline is not None:
            left = self._deadline - self._timing.clock()
            seconds = min(seconds, max(0.0, left))
        await self._timing.sleep(seconds)

    def _raise_when_stopped(self) -> None:
        if self.fatal is not None:
            raise self.fatal
        self._look_at_the_clock()
        if self.stop_reason is not None:
            raise Stopped(self.stop_reason)

    def _look_at_the_clock(self) -> None:
        """Stop once the time for asking is over; it begins with the first request."""
        allowed = self._settings.deadline_seconds
        if allowed is None or self._settings.replayed:
            return
        if self._deadline is None:
            self._deadline = self._timing.clock() + allowed
        elif self._timing.clock() >= self._deadline:
            message = f"enrichment.deadline of {allowed:,.0f} seconds has passed"
            self._stop(DeadlinePassed(message))

    def note_at_hand(
        self, key: str, *, model: str, outcome: str, chunk_ids: tuple[str, ...]
    ) -> None:
        """Write to the ledger that answers did not have to be asked for."""
        self._write(
            Entry(
                request=key,
                chunk_ids=chunk_ids,
                view=None,
                provider=self._provider.name,
                endpoint=self._provider.endpoint,
                model_asked=self._settings.model,
                model_answered=model,
                attempts=0,
                outcome=outcome,
                seconds=None,
                usage=None,
                cost_usd=Decimal(0) if self.has_price else None,
                source="cache",
            )
        )

    def _note(self, sending: _Sending, result: Reply | Exception) -> None:
        """Write to the ledger what came of a request that was sent."""
        bill = sending.bill
        answered = None if isinstance(result, Exception) else result.model
        self._write(
            Entry(
                request=sending.key,
                chunk_ids=sending.question.chunk_ids,
                view=sending.question.view,
                provider=self._provider.name,
                endpoint=self._provider.endpoint,
                model_asked=self._settings.model,
                model_answered=answered,
                attempts=bill.attempts,
                outcome=outcome_of(result),
                seconds=bill.seconds,
                usage=bill.usage,
                cost_usd=bill.cost_usd if self.has_price else None,
                source=self._source,
            )
        )

    def _write(self, entry: Entry) -> None:
        if self._ledger is None:
            return
        try:
            self._ledger.write(entry)
        except OSError as error:
            self._stop(error)
