"""Who asks what at the moment, so that nobody on another machine asks it as well.

A claim lapses when whoever has it says nothing for a while: killed, it delays others by
that. One that lapses in life, in a process that was stopped, costs a request that is
paid for twice, and nothing else.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from situate.enrichment.cache.shared.connection import Connection

LEASE_SECONDS = 6.0
"""Three times as long as it takes to say that a request is still under way."""

_CLAIMS = "situate-claim:"
"""Not what rows begin with: a claim is none."""

_RENEW = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
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
        self.renewed_seconds = LEASE_SECONDS / 3

    def take(self, key: str) -> bool:
        """Claim a request; False while somebody else has it.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        with self._connection.failures():
            return bool(
                self._connection.client.set(
                    f"{_CLAIMS}{key}", self._token, nx=True, px=self._lease
                )
            )

    def renew(self, key: str) -> None:
        """Say that it is still being worked on.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        self._run(_RENEW, key, self._lease)

    def release(self, key: str) -> None:
        """Let others have it.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        self._run(_RELEASE, key)

    def _run(self, script: str, key: str, *values: int) -> None:
        with self._connection.failures():
            self._connection.client.eval(
                script, 1, f"{_CLAIMS}{key}", self._token, *values
            )
