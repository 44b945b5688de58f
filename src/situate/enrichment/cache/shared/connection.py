"""Talks to a server, and says in one line what is wrong with it.

No message holds a password.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.addresses import Server

PREFIX = "situate:"
"""What the names of rows begin with; a server may hold other things as well."""

AT_ONCE = 500
"""Keys that are asked for together, a few milliseconds of a server that serves
others in between."""

_CONNECT_SECONDS = 5
_REPLY_SECONDS = 10
"""As long as a process waits for the lock of a database."""


class Connection:
    """A server, spoken to when something is wanted of it."""

    def __init__(self, server: Server) -> None:
        """Make ready; nobody is spoken to yet.

        Raises:
            ConfigError: the client is not installed.
        """
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            message = (
                "cache.backend 'redis' needs a client; "
                "install it with: pip install 'situate[redis]'"
            )
            raise ConfigError(message) from error
        self.server = server
        self._errors = (redis.RedisError, OSError)
        where: dict[str, Any] = {"host": server.host, "port": server.port}
        if server.socket is not None:
            where = {"unix_socket_path": server.socket}
        if server.scheme == "rediss":
            where["ssl"] = True
        self.client: Any = redis.Redis(
            **where,
            db=server.database or 0,
            username=server.user,
            password=server.password,
            # What a server of the newer one says to a missing password helps nobody.
            protocol=2,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_REPLY_SECONDS,
            # A connection that was idle may have been cut; a new one is tried once.
            retry=Retry(NoBackoff(), 1),
        )

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Name the server in whatever goes wrong inside.

        Raises:
            CacheBroken: it cannot be asked, or refuses.
        """
        try:
            yield
        except self._errors as error:
            message = f"cache {str(self.server)!r} failed: {self.said(error)}"
            raise CacheBroken(message) from error

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Do so before anything has been asked.

        Raises:
            ConfigError: it cannot be asked, or refuses.
        """
        try:
            yield
        except self._errors as error:
            message = f"cache {str(self.server)!r} cannot be opened: {self.said(error)}"
            raise ConfigError(message) from error

    def said(self, error: Exception) -> str:
        """Give what an error says, on one line and without the password."""
        text = " ".join(str(error).split()) or type(error).__name__
        secret = self.server.password
        return text.replace(secret, "***") if secret else text

    def fields(self, keys: Iterable[str]) -> Iterator[tuple[str, Any, Any]]:
        """Yield the value and the day of rows, a batch at a time.

        Both are None of a row that is not there; the value is an error of one that is
        no hash.

        Raises:
            CacheBroken: it cannot be read.
        """
        rest = iter(keys)
        while batch := list(islice(rest, AT_ONCE)):
            with self.failures():
                pipe = self.client.pipeline(transaction=False)
                for key in batch:
                    pipe.hmget(named(key), "value", "day")
                answers = pipe.execute(raise_on_error=False)
            for key, answer in zip(batch, answers, strict=True):
                if isinstance(answer, Exception):
                    yield key, answer, None
                else:
                    yield key, *answer

    def keys(self, kind: str = "") -> list[str]:
        """Give the keys of rows, or of one kind, in their order.

        What is written meanwhile may be missing.

        Raises:
            CacheBroken: it cannot be read.
        """
        with self.failures():
            found = self.client.scan_iter(match=f"{PREFIX}{kind}*", count=1_000)
            # A server may name a key twice while it makes room.
            names = {name.decode("utf-8", "surrogateescape") for name in found}
        return sorted(name.removeprefix(PREFIX) for name in names)

    def evicts(self) -> str | None:
        """Give the policy by which rows are thrown away; None where none is.

        Raises:
            CacheBroken: it cannot be asked.
        """
        with self.failures():
            policy = str(self.client.info("memory").get("maxmemory_policy", ""))
        return None if policy in {"", "noeviction"} else policy

    def close(self) -> None:
        """Let go of the server."""
        self.client.close()


def named(key: str) -> bytes:
    """Give the name of a row on the server."""
    return f"{PREFIX}{key}".encode("utf-8", "surrogateescape")
