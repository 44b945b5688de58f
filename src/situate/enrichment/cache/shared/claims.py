"""Who asks what at the moment, so that nobody on another machine asks it as well.

A claim lapses when whoever has it says nothing for a while: killed, it delays others by
that. One that lapses in life, in a process that was halted, costs a request that is
paid for twice, and nothing else.
"""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from situate.errors import CacheBroken

if TYPE_CHECKING:
    from situate.enrichment.cache.shared.connection import Connection

LEASE_SECONDS = 6.0
"""Three times as long as it takes to say that a request is still under way."""

_CLAIMS = "situate-claim:"
"""Not what rows begin with: a claim is none."""

_RENEW = """
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    redis.call('PEXPIRE', key, ARGV[2])
  end
end
"""

_RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
"""


class ServerClaims:
    """The claims of one process among those of all."""

    def __init__(self, connection: Connection) -> None:
        """Take the server."""
        self._connection = connection
        # In no request, no key and no output: it tells processes apart.
        self._token = secrets.token_hex(16)
        self._lease = int(LEASE_SECONDS * 1_000)
        # Protects what is held, which the thread reads.
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None

    def take(self, key: str) -> bool:
        """Claim a request until it is released; False while somebody else has it.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        with self._connection.failures():
            name, client = f"{_CLAIMS}{key}", self._connection.client
            if not client.set(name, self._token, nx=True, px=self._lease):
                return False
        with self._lock:
            self._held.add(key)
        if self._renewing is None:
            # A thread: importing a client keeps a loop busy for longer than a lease.
            self._renewing = threading.Thread(target=self._renew, daemon=True)
            self._renewing.start()
        return True

    def release(self, key: str) -> None:
        """Let others have it.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        with self._lock:
            self._held.discard(key)
        with self._connection.failures():
            name = f"{_CLAIMS}{key}"
            self._connection.client.eval(_RELEASE, 1, name, self._token)

    def close(self) -> None:
        """Say nothing any more."""
        self._ended.set()
        if self._renewing is not None:
            self._renewing.join()

    def _renew(self) -> None:
        """Say again and again what is still under way."""
        while not self._ended.wait(self._lease / 3_000):
            with self._lock:
                names = [f"{_CLAIMS}{key}" for key in self._held]
            # Whoever writes anything else will hear of a failure.
            with suppress(CacheBroken), self._connection.failures():
                self._connection.client.eval(
                    _RENEW, len(names), *names, self._token, self._lease
                )
