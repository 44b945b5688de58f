"""One gate in front of a provider, shared by everything that asks it.

Holds the number of requests in flight, the rates that were configured and the
pauses that were asked for. It delays requests; it never repeats one. Waits for
a configured rate are as long as they have to be.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

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
        self._next_start = timing.clock()
        self._resume_at = timing.clock()
        self._spread_seconds = 0.0
        self._unlucky: deque[Turn] = deque()
        self._served = asyncio.Event()

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
        turn = Turn(self)
        try:
            yield turn
        finally:
            self._in_flight -= 1
            self._serve_next(turn)
            self._wake()

    def speed_up(self) -> None:
        """Allow a little more after an answer: one more per full round of them."""
        self._limit = min(float(self._most), self._limit + 1 / self._limit)
        self._wake()

    def correct(self, *, estimated: int, used: int) -> None:
        """Make up for an estimate of tokens that was off, within a minute."""
        seconds = (used - estimated) * self._seconds_per_token
        self._next_start += min(seconds, _LONGEST_CORRECTION_SECONDS)

    async def ready(self, turn: Turn, tokens: int) -> None:
        """Wait until a request of about `tokens` may be sent."""
        await self._keep_pace(tokens)
        while True:
            if self._unlucky and self._unlucky[0] is not turn:
                await self._served.wait()
            elif (left := self._resume_at - self._timing.clock()) > 0:
                spread = self._timing.random() * self._spread_seconds
                await self._timing.sleep(left + spread)
            else:
                return

    def slow_down(self, turn: Turn, retry_after_seconds: float | None) -> None:
        """Pause everybody and halve what may be in flight, once per pause."""
        now = self._timing.clock()
        if now >= self._resume_at:
            self._limit = max(1.0, self._limit / 2)
        if retry_after_seconds is None:
            retry_after_seconds = _UNTOLD_PAUSE_SECONDS
        if now + retry_after_seconds > self._resume_at:
            self._resume_at = now + retry_after_seconds
            self._spread_seconds = spread_seconds(retry_after_seconds)
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
        now = self._timing.clock()
        start = max(now, self._next_start)
        self._next_start = start + max(
            self._seconds_per_request, tokens * self._seconds_per_token
        )
        if start > now:
            await self._timing.sleep(start - now)


class Turn:
    """A request's place among those in flight."""

    def __init__(self, throttle: Throttle) -> None:
        self._throttle = throttle
        self.refusals = 0
        """How often the provider said to slow down."""

    async def ready(self, tokens: int) -> None:
        """Wait until it may be sent; before every attempt."""
        await self._throttle.ready(self, tokens)

    def refused(self, retry_after_seconds: float | None) -> None:
        """Note that the provider said to slow down."""
        self.refusals += 1
        self._throttle.slow_down(self, retry_after_seconds)
