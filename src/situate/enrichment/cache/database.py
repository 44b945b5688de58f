"""Looks a database over, row by row.

It writes nothing and needs no working cache: a broken one is what there is to see.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from situate.enrichment.cache import rows
from situate.enrichment.cache.found import SHOWN, Finding, Row, content_of
from situate.enrichment.cache.store import (
    DATABASE,
    LOCK_TIMEOUT_SECONDS,
    bytes_of,
    foreign_settings,
)
from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from situate.enrichment.cache.found import Content

_RAW = 1  # diskcache's MODE_RAW: the value stands in its row.


class DatabaseLooking:
    """A database that is open to be read."""

    def __init__(self, database: sqlite3.Connection, directory: Path) -> None:
        """Take the open database and its folder."""
        self._database = database
        self._directory = directory

    def rows(self, kind: str | None = None) -> Iterator[Row]:
        """Yield the rows, or those of one kind, in the order of their keys.

        Raises:
            sqlite3.Error: it cannot be read.
        """
        return _each_row(self._database, kind)

    def faults(self) -> Iterator[Finding]:
        """Name what is wrong with the database as such.

        Raises:
            sqlite3.Error: it cannot be read.
        """
        return _faults(self._database)

    def unused(self, kind: str, before: date) -> tuple[int, int]:
        """Count rows of a kind whose noted day is before one, and their bytes.

        Raises:
            sqlite3.Error: it cannot be read.
        """
        ((count, taken),) = self._database.execute(
            "SELECT count(*), coalesce(sum(length(key) + length(value)), 0) "
            "FROM Cache WHERE tag < :before AND key >= :first AND key < :past",
            {"first": kind, "past": rows.past(kind), "before": str(before)},
        )
        return count, taken

    def size(self) -> int:
        """Give the bytes of the database and of the files that SQLite keeps beside."""
        return bytes_of(self._directory)


@contextmanager
def database_in(directory: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a cache to read it.

    Raises:
        ConfigError: there is none.
        CacheBroken: it cannot be read, now or inside the block.
    """
    path = directory / DATABASE
    if not path.is_file():
        message = f"cache {str(directory)!r}: there is none; name its directory"
        raise ConfigError(message)
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(
                address, uri=True, timeout=LOCK_TIMEOUT_SECONDS, isolation_level=None
            )
        ) as database:
            # What others write meanwhile is not seen in half.
            database.execute("BEGIN")
            # Bytes that are no UTF-8 are for us to name, not for the driver.
            database.text_factory = _text
            yield database
    except (OSError, sqlite3.Error) as error:
        message = f"cache {str(directory)!r} cannot be read: {error}"
        raise CacheBroken(message) from error


def _each_row(database: sqlite3.Connection, kind: str | None = None) -> Iterator[Row]:
    """Yield the rows of a database, or of one kind, in the order of their keys.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    found = database.execute(
        "SELECT key, raw, mode, filename, value, "
        "coalesce(tag, date(access_time, 'unixepoch')) FROM Cache "
        "WHERE :first IS NULL OR (key >= :first AND key < :past) ORDER BY key",
        {"first": kind, "past": kind and rows.past(kind)},
    )
    for key, raw, mode, filename, value, day in found:
        content: Content | None = None
        if not isinstance(key, str) or raw != 1:
            problem: str | None = "its key is no text: situate has not written it"
        elif filename is not None:
            problem = f"it names a file, {filename!r:.{SHOWN}}; none is ever opened"
        elif mode != _RAW or not isinstance(value, str):
            problem = "it is pickled or no text; it is never read"
        else:
            content, problem = content_of(key, value)
        yield Row(
            key=key if isinstance(key, str) else f"{key!r:.{SHOWN}}",
            day=day if isinstance(day, str) else None,
            content=content,
            problem=problem,
        )


def _faults(database: sqlite3.Connection) -> Iterator[Finding]:
    """Name what is wrong with the database as such."""
    for (message,) in database.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield Finding(subject="database", message=str(message))
    for name in foreign_settings(database):
        message = f"a setting is not known: {name:.{SHOWN}}"
        yield Finding(subject="database", message=message)
    for name in _doubled_settings(database):
        message = f"a setting stands there more than once: {name:.{SHOWN}}"
        yield Finding(subject="database", message=message)


def _doubled_settings(database: sqlite3.Connection) -> list[str]:
    """Name settings that have two values: diskcache cannot open such a database."""
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if ("Settings",) not in tables.fetchall():
        return []
    doubled = database.execute(
        "SELECT key FROM Settings GROUP BY key HAVING count(*) > 1 ORDER BY key"
    )
    return [str(key) for (key,) in doubled]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
