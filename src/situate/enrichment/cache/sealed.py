"""A database that can be read and not written: on a read-only mount, say.

What was paid for there is as good as ever. diskcache opens nothing that it cannot
write, so this stands in for it, and refuses whatever would write.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from pathlib import Path

    from situate.model import JsonValue

_RAW = 1  # diskcache's MODE_RAW: the value stands in its row.


class SealedRows:
    """What a store uses of diskcache's `Cache`, for reading alone."""

    def __init__(self, path: Path, *, timeout: float) -> None:
        """Open the database.

        Raises:
            sqlite3.Error: it cannot be read.
        """
        log = path.with_name(f"{path.name}-wal")
        # Without a log of changes nothing is missing from the file itself. SQLite
        # would make one for any reader, which it cannot where nothing is written.
        is_whole = not log.exists() or not log.stat().st_size
        mode = "immutable=1" if is_whole else "mode=ro"
        self._con = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True,
            timeout=timeout,
            isolation_level=None,
        )
        self._sql = self._con.execute
        self._sql("SELECT count(*) FROM Settings").fetchone()

    def get(self, key: str, *, tag: bool) -> tuple[JsonValue, str | None]:  # noqa: ARG002 - diskcache's signature
        """Give a value and the day it bears; nothing for what is not ours.

        Raises:
            sqlite3.Error: the database cannot be read.
        """
        row: tuple[Any, ...] | None = self._sql(
            "SELECT value, tag FROM Cache WHERE key = ? AND raw = 1 AND mode = ? "
            "AND filename IS NULL AND typeof(value) = 'text'",
            (key, _RAW),
        ).fetchone()
        if row is None:
            return None, None
        try:
            return json.loads(row[0]), row[1]
        except (ValueError, RecursionError):
            return None, None

    def __contains__(self, key: str) -> bool:
        found = self._sql("SELECT 1 FROM Cache WHERE key = ? AND raw = 1", (key,))
        return found.fetchone() is not None

    def transact(self) -> NoReturn:
        """Refuse to write.

        Raises:
            sqlite3.OperationalError: always.
        """
        message = "it is read-only"
        raise sqlite3.OperationalError(message)

    def close(self) -> None:
        """Let go of the database."""
        self._con.close()
