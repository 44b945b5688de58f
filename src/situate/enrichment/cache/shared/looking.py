"""Looks a server over, row by row. It writes nothing."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from situate.enrichment.cache.found import SHOWN, Finding, Row, content_of
from situate.enrichment.cache.rows import is_storable
from situate.enrichment.cache.shared.connection import Connection, named
from situate.enrichment.cache.shared.store import size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from situate.addresses import Server
    from situate.enrichment.cache.found import Content


class ServerLooking:
    """A server that is open to be read.

    It goes on being written meanwhile: what has gone since it was named is left out.
    """

    def __init__(self, connection: Connection) -> None:
        """Take the server."""
        self._connection = connection

    def rows(self, kind: str | None = None) -> Iterator[Row]:
        """Yield the rows, or those of one kind, in the order of their keys.

        Raises:
            CacheBroken: it cannot be read.
        """
        keys = self._connection.keys(kind or "")
        for key, value, day in self._connection.fields(keys):
            if value is None and day is None and not self._is_there(key):
                continue
            content: Content | None = None
            if not (is_text := is_storable(key)):
                problem: str | None = "its key is no text: situate has not written it"
            elif isinstance(value, bytes):
                try:
                    content, problem = content_of(key, value.decode())
                except UnicodeDecodeError:
                    problem = "its value is no text; it is never read"
            else:
                problem = "it is no row in our form; it is never read"
            yield Row(
                key=key if is_text else f"{key!r:.{SHOWN}}",
                day=day.decode("ascii", "replace") if isinstance(day, bytes) else None,
                content=content,
                problem=problem,
            )

    def faults(self) -> Iterator[Finding]:
        """Name what is wrong with the server as such.

        Raises:
            CacheBroken: it cannot be asked.
        """
        policy = self._connection.evicts()
        if policy is not None:
            message = f"maxmemory-policy is {policy}; only noeviction keeps everything"
            yield Finding(subject="server", message=message)

    def unused(self, kind: str, before: date) -> tuple[int, int]:
        """Count rows of a kind whose noted day is before one, and their bytes.

        Raises:
            CacheBroken: it cannot be read.
        """
        sizes = [
            len(key) + len(value)
            for key, value, day in self._connection.fields(self._connection.keys(kind))
            if isinstance(value, bytes) and day is not None
            if day < str(before).encode()
        ]
        return len(sizes), sum(sizes)

    def size(self) -> int:
        """Give the bytes of keys and values.

        Raises:
            CacheBroken: it cannot be read.
        """
        return size(self._connection)

    def _is_there(self, key: str) -> bool:
        with self._connection.failures():
            return bool(self._connection.client.exists(named(key)))


@contextmanager
def server_at(server: Server) -> Iterator[ServerLooking]:
    """Open a server to read it.

    Raises:
        ConfigError: it cannot be asked.
        CacheBroken: it cannot be read, inside the block.
    """
    with closing(Connection(server)) as connection:
        with connection.opening():
            connection.client.ping()
        yield ServerLooking(connection)
