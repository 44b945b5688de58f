"""One gate in front of a provider, shared by everything that asks it.

Holds the number of requests in flight, the rates that were configured, the pauses
that were asked for and the pace they taught. It delays requests; it never repeats
one. Waits for a configured rate are as long as they have to be.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from situate.enrichment.cache.storage import Schedule
    from situate.enrichment.settings import Settings

_UNTOLD_PAUSE_SECONDS = 1.0
"""The common pause after a 429 that names none."""

_UNLUCKY = 2
"""Refusals after which a request is served alone and first, so that it does not
use up its attempts while others get through."""

_LEAST_SPREAD_SECONDS = 0.02
_MOST_SPREAD_SECONDS = 0.5
"""Requests held back by one pause do not all start at its end."""

_LONGEST_CORRECTION_SECONDS = 60.0
"""A rate is one per minute: nothing used weighs on what comes a minute later."""

_SPAN_SECONDS = 1.0
"""Over which starts are counted to find what was borne: limits of a minute may be
enforced by the second (OpenAI's words in its forum, thread 611241, read 2026-11)."""

_SLACK = 1.1
"""Between two starts, as a multiple of what was borne: at just that pace every
second one would come too early."""

_DOUBLED_SECONDS = 30.0
"""So long after a refusal the pace is twice what was borne, and 16 times after a
minute: limits are counted by the minute, and somebody else may have used them up. In
simulated storms (40 requests a second, 2026-11) 1.1 % more requests than answers in
the long run, where 60 s gave 1.0 %; 2,000 answers under a limit that was lifted after
8 s took 39 s instead of 49 s."""

_REMEMBERED = 1_000
"""Last starts that are kept: 2.5 s of what one event loop sends (400 a second
measured, 2026-11), so that a late refusal finds the span before its own start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where time and chance come from; neither ever reaches a request."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    """Numbers from 0 up to 1, to keep waits apart."""


def spread_seconds(told: float) -> float:
    """Say how long after a pause the last of those it held back may start.

    As long again as the pause, up to half a second.
    """
    return min(max(told, _LEAST_SPREAD_SECONDS), _MOST_SPREAD_SECONDS)


class Throttle:
    """Lets requests through at the pace a provider bears."""

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        timing: Timing,
    ) -> None:
        """Start wide open."""
        self._most = concurrency
        self._limit = float(concurrency)
        self._seconds_per_request = (
            60 / requests_per_minute if requests_per_minute else 0
        )
        self._seconds_per_token = 60 / tokens_per_minute if tokens_per_minute else 0
        self._timing = timing
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._schedule: Schedule = _OwnSchedule(timing)
        self._resume_at = timing.clock()
        self._spread_seconds = 0.0
        self._pace = _Pace(first_round=concurrency, now=timing.clock())
        self._unlucky: deque[Turn] = deque()
        self._served = asyncio.Event()

    def share(self, schedule: Schedule | None) -> None:
        """Keep rates together with all who have a schedule; None changes nothing."""
        self._schedule = schedule or self._schedule

    @property
    def limit(self) -> int:
        """How many requests may be in flight now."""
        return int(self._limit)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Wait for a turn, and hold it until the request is settled.

        It is held between attempts, too: in a storm those who were refused come
        before those who have not asked yet.
        """
        await self._enter()
        turn = Turn(self, started_at=self._timing.clock())
        try:
            yield turn
        finally:
            self._in_flight -= 1
            self._pace.hear(turn, self._timing.clock())
            self._serve_next(turn)
            self._wake()

    def speed_up(self) -> None:
        """Allow a little more after an answer: one more per full round of them."""
        self._limit = min(float(self._most), self._limit + 1 / self._limit)
        self._wake()

    def correct(self, *, estimated: int, used: int) -> None:
        """Make up for an estimate of tokens that was off, within a minute."""
        seconds = (used - estimated) * self._seconds_per_token
        if seconds:
            self._schedule.correct(min(seconds, _LONGEST_CORRECTION_SECONDS))

    async def ready(self, turn: Turn, tokens: int) -> None:
        """Wait until a request of about `tokens` may be sent.

        Raises:
            CacheBroken: the rates are kept on a server that cannot be asked.
        """
        await self._keep_pace(tokens)
        start: float | None = None
        pause = self._resume_at
        while True:
            now = self._timing.clock()
            if self._unlucky and self._unlucky[0] is not turn:
                await self._served.wait()
                start = None
            elif (left := self._resume_at - now) > 0:
                spread = self._timing.random() * self._spread_seconds
                await self._timing.sleep(left + spread)
            elif start is None or pause != self._resume_at:
                start, pause = self._pace.next_start(now, self.limit), self._resume_at
            elif start > now:
                await self._timing.sleep(start - now)
            else:
                self._pace.begin(turn, now)
                return

    def slow_down(self, turn: Turn, retry_after_seconds: float | None) -> None:
        """Pause everybody and halve what may be in flight, once per pause."""
        now = self._timing.clock()
        # What was sent before the last pause is no news.
        is_news = turn.started_at >= self._resume_at
        if is_news:
            self._limit = max(1.0, self._limit / 2)
        if retry_after_seconds is None:
            retry_after_seconds = _UNTOLD_PAUSE_SECONDS
        if now + retry_after_seconds > self._resume_at:
            self._resume_at = now + retry_after_seconds
            self._spread_seconds = spread_seconds(retry_after_seconds)
        self._pace.pause(
            turn, is_news=is_news, told=retry_after_seconds, until=self._resume_at
        )
        if turn.refusals == _UNLUCKY:
            self._unlucky.append(turn)

    async def _enter(self) -> None:
        while self._in_flight >= self.limit:
            free = asyncio.get_running_loop().create_future()
            self._waiting.append(free)
            try:
                await free
            except asyncio.CancelledError:
                # A place given to someone who no longer wants it is passed on.
                self._wake()
                raise
        self._in_flight += 1

    def _wake(self) -> None:
        free = self.limit - self._in_flight
        while free > 0 and self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                free -= 1

    def _serve_next(self, turn: Turn) -> None:
        if turn in self._unlucky:
            self._unlucky.remove(turn)
            self._served.set()
            self._served = asyncio.Event()

    async def _keep_pace(self, tokens: int) -> None:
        seconds = max(self._seconds_per_request, tokens * self._seconds_per_token)
        if not seconds:
            return
        wait = self._schedule.book(seconds)
        if wait > 0:
            await self._timing.sleep(wait)


class _OwnSchedule:
    """When the next request of this process may start."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._next_start = timing.clock()

    def book(self, seconds: float) -> float:
        now = self._timing.clock()
        start = max(now, self._next_start)
        self._next_start = start + seconds
        return start - now

    def correct(self, seconds: float) -> None:
        self._next_start += seconds


def throttle_of(settings: Settings, timing: Timing | None = None) -> Throttle:
    """Make the gate that the settings of a corpus describe."""
    return Throttle(
        concurrency=settings.concurrency,
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        timing=timing or Timing(),
    )


class Turn:
    """A request's place among those in flight."""

    def __init__(self, throttle: Throttle, *, started_at: float) -> None:
        self._throttle = throttle
        self.number = -1
        """How many were sent before it."""
        self.started_at = started_at
        """When it was last sent; until then, when it got its place."""
        self.refusals = 0
        """How often the provider said to slow down."""

    async def ready(self, tokens: int) -> None:
        """Wait until it may be sent; before every attempt."""
        await self._throttle.ready(self, tokens)

    def refused(self, retry_after_seconds: float | None) -> None:
        """Note that the provider said to slow down."""
        self.refusals += 1
        self._throttle.slow_down(self, retry_after_seconds)


class _Pace:
    """The time between two starts: none, until refusals teach one."""

    def __init__(self, *, first_round: int, now: float) -> None:
        self._first_round = first_round
        self._round_ends: float | None = now
        """The last start of the first round; None once one of it was heard of."""
        self._sent = 0
        self._last_starts: deque[float] = deque(maxlen=_REMEMBERED)
        self._refused: tuple[int, float] | None = None
        """Number and start of the first request that the last pause is about; None
        when that has taught its pace."""
        self._longest_told = 0.0
        self._seconds = 0.0
        """As they were learned."""
        self._learned_at = now
        self._next_start = now

    def next_start(self, now: float, limit: int) -> float:
        """Give away the next start; `limit` is what may be in flight."""
        if self._refused is not None:
            self._learn(*self._refused, limit)
            self._refused = None
        start = max(now, self._next_start)
        self._next_start = start + self._seconds_at(now)
        return start

    def begin(self, turn: Turn, now: float) -> None:
        """Note that a request is being sent."""
        turn.number, turn.started_at = self._sent, now
        self._sent += 1
        self._last_starts.append(now)
        if self._sent <= self._first_round and self._round_ends is not None:
            self._round_ends = now

    def hear(self, turn: Turn, now: float) -> None:
        """Let the first round be heard of as a whole before the second begins.

        What was sent in a row is answered in a row. Who is answered first waits as
        long as sending the row took, once: where its end is refused, all that is
        sent meanwhile would be refused, too.
        """
        if self._round_ends is None:
            return
        left = self._round_ends - turn.started_at
        if left > 0:
            self._next_start = max(self._next_start, now + left)
            self._round_ends = None

    def pause(self, turn: Turn, *, is_news: bool, told: float, until: float) -> None:
        """Take in that a request came too early, and that all wait."""
        this = (turn.number, turn.started_at)
        if is_news:
            self._refused = this
        elif self._refused is not None:
            self._refused = min(self._refused, this)
        self._longest_told = max(self._longest_told, told)
        self._next_start = until

    def _learn(self, number: int, start: float, limit: int) -> None:
        """Take as the pace what was borne just before a request that was not.

        Never less than all that may be in flight, which a refusal has halved, nor
        than one request for each pause.
        """
        first = self._sent - len(self._last_starts)
        borne = sum(
            before < number and began >= start - _SPAN_SECONDS
            for before, began in enumerate(self._last_starts, first)
        )
        seconds = max(self._seconds_at(start), _SPAN_SECONDS / max(borne, limit))
        self._seconds = _SLACK * min(seconds, self._longest_told)
        self._learned_at = self._next_start

    def _seconds_at(self, now: float) -> float:
        ago = max(0.0, now - self._learned_at) / _DOUBLED_SECONDS
        return self._seconds * math.exp2(-(ago * ago))
