"""What requests about one document, or a part of it, share, and how it is kept.

One request writes it, the next one has to find it, and only then do the others go
out at once. A vendor bills every request that comes too early as another write:
"a cache entry only becomes available after the first response begins" says
Anthropic's page on prompt caching, and in public reports it was not found right
after the response either, but always two seconds later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from situate.enrichment.throttle import Timing
    from situate.usage import Usage

_MOST_WARMING = 3
"""Requests that go one by one until one reads the cache. The second missed it in 8
of 20 and 6 of 10 public tries; a third miss is no accident."""

_SETTLING_SECONDS = 2.0
"""Between an answer and the next request, in the report without a single miss
(anthropics/anthropic-sdk-python, issue 1451)."""

_SETTLING_SHARE = 2
"""As a multiple of what the answer took: a server that answers in no time is not
waited for longer than that."""


@dataclass(slots=True)
class Prefix:
    """The shared beginning of requests."""

    timing: Timing
    sent: int = 0
    """Requests answered by the vendor that wanted it kept."""
    reads: int = 0
    """Of these, how many found it."""
    writes: int = 0
    """Of these, how many paid for writing it."""
    _readable_at: float = float("-inf")

    @property
    def is_warming(self) -> bool:
        """True while the next request has to wait for the last one's answer."""
        return not self.reads and self.sent < _MOST_WARMING

    @property
    def is_lost(self) -> bool:
        """True when it was written again and again and never found."""
        return not self.reads and self.sent >= _MOST_WARMING and self.writes > 1

    @property
    def was_unread(self) -> bool:
        """True when it should have been found and was not."""
        return not self.reads and self.sent > 1

    async def settled(self) -> float:
        """Wait until what was just written can be found; give the time then."""
        left = self._readable_at - self.timing.clock()
        if self.is_warming and left > 0:
            await self.timing.sleep(left)
        return self.timing.clock()

    def note(self, usage: Usage | None, *, asked_at: float) -> None:
        """Take in what an answer says of it.

        A request that finds it and keeps more behind it, as some vendors do by
        themselves, has not written it.
        """
        now = self.timing.clock()
        self.sent += 1
        wait = min(_SETTLING_SECONDS, _SETTLING_SHARE * (now - asked_at))
        self._readable_at = now + wait
        if usage is not None and usage.cache_read:
            self.reads += 1
        elif usage is not None and usage.cache_write:
            self.writes += 1
