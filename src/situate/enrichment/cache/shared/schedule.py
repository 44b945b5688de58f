"""A rate that holds for all who share a server, by the server's own clock."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from situate.errors import CacheBroken

if TYPE_CHECKING:
    from situate.enrichment.cache.shared.connection import Connection

_RATES = "situate-rate:"

_BOOK = """
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local start = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now))
local after = start + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.0f', after),
           'PX', string.format('%.0f', math.max(1, (after - now) / 1000 + 60000)))
return string.format('%.0f', start - now)
"""
"""In microseconds; what is kept lapses a minute after it says anything."""

_CORRECT = """
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
local after = tonumber(redis.call('GET', KEYS[1]) or now) + tonumber(ARGV[1])
redis.call('SET', KEYS[1], string.format('%.0f', after),
           'PX', string.format('%.0f', math.max(1, (after - now) / 1000 + 60000)))
"""


class ServerSchedule:
    """When the next request of anybody may start."""

    def __init__(self, connection: Connection, name: str) -> None:
        """Take the server, and what the rate is for."""
        self._connection = connection
        self._key = f"{_RATES}{name}"

    def book(self, seconds: float) -> float:
        """Take the next start, and so many seconds of the rate from it on.

        Gives the seconds to wait until that start.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        return float(self._run(_BOOK, seconds)) / 1e6

    def correct(self, seconds: float) -> None:
        """Move the next start, later or earlier.

        Where that cannot be done a reply is still in hand; whoever books next hears.
        """
        with suppress(CacheBroken):
            self._run(_CORRECT, seconds)

    def _run(self, script: str, seconds: float) -> bytes:
        with self._connection.failures():
            told: bytes = self._connection.client.eval(
                script, 1, self._key, round(seconds * 1e6)
            )
            return told
