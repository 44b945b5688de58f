"""Divides texts among requests, and sees each of them answered.

How much a request may hold is learned from the endpoint: servers differ in how many
texts they take, in how long they need for one, and in how long a vector is written.
The first text goes alone; it finds a wrong key, an unknown model and all of these.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.enrichment.throttle import Throttle, Timing, spread_seconds
from situate.errors import (
    ContextTooLong,
    RateLimited,
    RequestRejected,
    TransientError,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeAlias

    from tenacity import RetryCallState

    from situate.compare.embedders.contract import Rows, Take
    from situate.enrichment.throttle import Turn

    Send: TypeAlias = Callable[[Sequence[str]], Awaitable["Answered"]]

MOST_TEXTS = 2_048
MOST_BYTES = 300_000
"""Of one request: 2,048 texts and 300,000 tokens, of which none is shorter than a
byte (reference of OpenAI's embeddings in its SDK 3.57, read 2026-11)."""

_REPLY_BYTES = 3_000_000
"""Aimed at, with a quarter in reserve: a connection gives up a reply of 4 MB."""

_SECONDS = 10.0
"""Aimed at for one request, so that a slow server is not given up as a dead one and
little is lost with a request that fails."""

_LONGEST_BACKOFF_SECONDS = 30.0
_SPREAD_SHARE = 0.25
"""Of a told wait, as for requests that enrich: so far apart those who were told the
same ask again."""

_SHOWN = 60
"""Characters of a refused text in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How many requests are under way, and how long an answer is waited for."""

    concurrency: int = 4
    """One server computes for all of them; more makes each wait longer."""
    max_attempts: int = 6
    timeout_seconds: float = 120
    """For one request: local servers compute while others wait."""
    max_wait_seconds: float = 120
    """A longer wait asked for by a server ends the embedding."""
    timing: Timing = field(default_factory=Timing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back for a request."""

    rows: Rows
    reply_bytes: int


class Limits:
    """How much a request may hold, as far as is known; outlives one asking."""

    def __init__(self) -> None:
        """Know nothing: one text at a time."""
        self._known = False
        self._accepted = MOST_TEXTS
        self._bytes_a_row = 0.0
        self._bytes = MOST_BYTES

    @property
    def texts(self) -> int:
        """How many texts."""
        if not self._known:
            return 1
        fitting = int(_REPLY_BYTES / (1.25 * max(self._bytes_a_row, 1)))
        return max(1, min(self._accepted, fitting))

    @property
    def bytes(self) -> int:
        """How many bytes of text, where there is more than one."""
        return self._bytes

    def learn(
        self, *, texts: int, sent_bytes: int, reply_bytes: int, seconds: float
    ) -> None:
        """Go by how an answer came about."""
        self._known = True
        self._bytes_a_row = max(self._bytes_a_row, reply_bytes / texts)
        bearable = _SECONDS * sent_bytes / max(seconds, 0.001)
        self._bytes = max(1, min(MOST_BYTES, int(bearable)))

    def refuse(self, texts: int) -> None:
        """Stay below what was refused."""
        self._accepted = max(1, min(self._accepted, texts // 2))


class Errand:
    """Texts that want their rows from one endpoint."""

    def __init__(
        self,
        texts: Sequence[str],
        *,
        send: Send,
        take: Take,
        limits: Limits,
        patience: Patience,
    ) -> None:
        self._texts = texts
        self._send = send
        self._take = take
        self._limits = limits
        self._patience = patience
        self._throttle = Throttle(
            concurrency=patience.concurrency,
            requests_per_minute=None,
            tokens_per_minute=None,
            timing=patience.timing,
        )
        self._left = deque([range(len(texts))])
        self._refused: RequestRejected | None = None

    async def run(self) -> None:
        """See to it that every text has its row.

        A request that is refused is divided, down to the text that is to blame.

        Raises:
            ProviderError: a text is refused, or none can be sent.
        """
        await self._settle(self._cut())
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._patience.concurrency):
                    group.create_task(self._work())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        if self._refused is not None:
            raise self._refused

    async def _work(self) -> None:
        # What others have under way when a text is refused is paid for: it is
        # waited for and taken.
        while self._left and self._refused is None:
            await self._settle(self._cut())

    def _cut(self) -> range:
        """Take as many of the texts that are left as a request may hold."""
        stretch = self._left.popleft()
        size = len(self._texts[stretch.start].encode("utf-8", "replace"))
        end = stretch.start + 1
        while end < stretch.stop and end - stretch.start < self._limits.texts:
            size += len(self._texts[end].encode("utf-8", "replace"))
            if size > self._limits.bytes:
                break
            end += 1
        if end < stretch.stop:
            self._left.appendleft(range(end, stretch.stop))
        return range(stretch.start, end)

    async def _settle(self, batch: range) -> None:
        texts = [self._texts[place] for place in batch]
        try:
            rows = await self._answered(texts)
        except RequestRejected as error:
            if len(batch) > 1:
                self._limits.refuse(len(batch))
                self._left.appendleft(batch)
                return
            self._refused = self._refused or _naming(error, texts[0])
            return
        self._take(batch, rows)

    async def _answered(self, texts: Sequence[str]) -> Rows:
        """Repeat what may pass, within `max_attempts`: the one retry layer."""
        from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

        retrying = AsyncRetrying(
            sleep=self._patience.timing.sleep,
            stop=stop_after_attempt(self._patience.max_attempts),
            wait=self._wait_seconds,
            retry=retry_if_exception(self._may_pass),
            reraise=True,
        )
        async with self._throttle.turn() as turn:
            rows: Rows = await retrying(self._attempt, texts, turn)
        return rows

    async def _attempt(self, texts: Sequence[str], turn: Turn) -> Rows:
        await turn.ready(0)
        clock = self._patience.timing.clock
        began = clock()
        try:
            answered = await self._send(texts)
        except RateLimited as error:
            if self._may_pass(error):
                turn.refused(error.retry_after_seconds)
            raise
        self._throttle.speed_up()
        self._limits.learn(
            texts=len(texts),
            sent_bytes=sum(len(text.encode("utf-8", "replace")) for text in texts),
            reply_bytes=answered.reply_bytes,
            seconds=clock() - began,
        )
        return answered.rows

    def _may_pass(self, error: BaseException) -> bool:
        told = error.retry_after_seconds if isinstance(error, RateLimited) else None
        return isinstance(error, TransientError) and (
            told is None or told <= self._patience.max_wait_seconds
        )

    def _wait_seconds(self, state: RetryCallState) -> float:
        """Wait as long as told and a little more, else back off with full jitter."""
        error = state.outcome.exception() if state.outcome else None
        told = error.retry_after_seconds if isinstance(error, RateLimited) else None
        chance = 1 - self._patience.timing.random()
        if told is not None:
            return told + chance * max(spread_seconds(told), told * _SPREAD_SHARE)
        return chance * min(
            _LONGEST_BACKOFF_SECONDS,
            self._patience.max_wait_seconds,
            0.5 * 2.0**state.attempt_number,
        )


def _naming(error: RequestRejected, text: str) -> RequestRejected:
    """Give the refusal of a text with the text's start in it."""
    kind = ContextTooLong if isinstance(error, ContextTooLong) else RequestRejected
    start = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    named = kind(f"{error}; the text begins {start!r}")
    named.__cause__ = error
    return named
