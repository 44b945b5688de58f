"""The database a cache lies in: text keys, JSON objects, and nothing else.

An SQLite database that diskcache looks after. Two of diskcache's habits are not
wanted here. It pickles what is not plain and unpickles what a row says is pickled,
also in its `JSONDisk`, so that whoever can write the directory can run code
(CVE-2025-69872, no fixed release as of 5.6.3); and it evicts. The Disk below knows
neither pickles nor files.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from situate.enrichment.cache import deletions
from situate.enrichment.cache.mounts import refuse_network
from situate.enrichment.cache.rows import SCHEMA, past
from situate.enrichment.cache.sealed import SealedRows
from situate.enrichment.cache.storage import Stored
from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import date
    from pathlib import Path

    from situate.model import JsonValue

DATABASE = "cache.db"

TICKETS = "tickets"
"""Folder inside the cache's where batches are noted."""

VECTORS = "vectors"
"""Folder inside the cache's where `compare` keeps vectors that cost."""

_FULL = 2  # SQLite's synchronous=FULL: a commit survives a loss of power.

_SETTINGS: dict[str, str | int] = {
    "eviction_policy": "none",
    "cull_limit": 0,
    "size_limit": 2**62,
    "statistics": 0,
    "tag_index": 0,
    # Values stay in their rows, where FULL covers them; files are not synced.
    "disk_min_file_size": 2**62,
    "sqlite_synchronous": _FULL,
    "sqlite_journal_mode": "wal",
}

KNOWN_SETTINGS = frozenset(_SETTINGS) | {
    "count",
    "size",
    "hits",
    "misses",
    "disk_pickle_protocol",
    "sqlite_auto_vacuum",
    "sqlite_cache_size",
    "sqlite_mmap_size",
}
"""diskcache sets an attribute of itself for every row of its settings table."""

LOCK_TIMEOUT_SECONDS = 10


_Result = TypeVar("_Result")

_ASKED_AT_ONCE = 500
"""Keys in one statement; SQLite takes 32,766."""


class Store:
    """Values by key, each with the day it was used last."""

    def __init__(self, directory: Path, *, mounts: str | None = None) -> None:
        """Open the directory, making it for its owner alone if it is missing.

        `mounts` is what `/proc/self/mountinfo` says; None reads it.

        Raises:
            ConfigError: it cannot be used; nothing has been asked yet.
        """
        self.place = self.directory = directory
        self.claims: None = None
        self.warnings: tuple[str, ...] = ()
        self.is_sealed = False
        """Whether it can be read and not written."""
        refuse_network(directory, mounts)
        try:
            self._rows: Any = self._sealed()
            if self._rows is not None:
                self.is_sealed = True
                return
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._close_to_others()
            self._refuse_foreign_settings()
            # Absolute: diskcache expands a leading `~`.
            self._rows = _open(directory.absolute())
            self._verify()
        # diskcache trusts the shape of its own settings table.
        except (OSError, ValueError, sqlite3.Error) as error:
            message = f"cache {str(directory)!r} cannot be opened: {error}"
            raise ConfigError(message) from error

    def get(self, key: str) -> Stored | None:
        """Give a value; None when there is none, or none of ours.

        Raises:
            CacheBroken: the database cannot be read.
        """
        try:
            with self._failures():
                value, day = self._rows.get(key, tag=True)
        except _Foreign:
            # Not written by us: worth no more than a missing row, and the
            # answer that is asked for instead takes its place.
            return None
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            return None
        return Stored(value=value, day=day if isinstance(day, str) else None)

    def holds(self, key: str) -> bool:
        """Say whether there is a row, be it ours or not.

        Raises:
            CacheBroken: the database cannot be read.
        """
        with self._failures():
            return key in self._rows

    def held(self, keys: Collection[str]) -> set[str]:
        """Say which of some keys have a row, be it ours or not.

        Raises:
            CacheBroken: the database cannot be read.
        """
        found: set[str] = set()
        rest = iter(keys)
        with self._failures():
            while batch := list(islice(rest, _ASKED_AT_ONCE)):
                marks = ", ".join("?" * len(batch))
                asked = f"SELECT key FROM Cache WHERE raw = 1 AND key IN ({marks})"  # noqa: S608 - question marks alone
                found.update(key for (key,) in self._sql(asked, batch))
        return found

    def read_ahead(self, keys: Collection[str]) -> None:
        """Leave it: a row takes as long by itself as with others."""

    def schedule(self, name: str) -> None:
        """Give none: a database keeps no rates."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything inside or nothing; on the disk when the block ends.

        Raises:
            CacheBroken: the database cannot be written.
        """
        with self._failures():
            try:
                with self._rows.transact():
                    yield
            except BaseException:
                self._end_transaction()
                raise

    def atomically(
        self,
        work: Callable[[], _Result],
        *,
        reading: Collection[str],  # noqa: ARG002 - a transaction covers all there is
    ) -> _Result:
        """Do work in a transaction that nobody comes between.

        Raises:
            CacheBroken: the database cannot be written.
        """
        with self.transaction():
            return work()

    def put(self, key: str, value: Mapping[str, JsonValue], *, day: str | None) -> None:
        """Write a value, inside a transaction."""
        self._rows.set(key, value, tag=day)

    def note(self, keys: Iterable[str], day: str) -> None:
        """Note, inside a transaction, that values were used on a day."""
        for key in keys:
            self._sql(
                "UPDATE Cache SET tag = :day WHERE key = :key AND raw = 1 "
                "AND (tag IS NULL OR tag < :day)",
                {"day": day, "key": key},
            )

    def remove(self, keys: Iterable[str]) -> None:
        """Remove rows, inside a transaction."""
        for key in keys:
            self.change("DELETE FROM Cache WHERE key = :key AND raw = 1", {"key": key})

    def remove_unused(self, kind: str, *, before: date, today: date) -> int:
        """Remove the rows of a kind that were not used since a day; say how many.

        Raises:
            CacheBroken: the database cannot be written; what is removed stays so.
        """
        return deletions.remove_unused(self, kind, before=before, today=today)

    def remove_orphans(self) -> None:
        """Remove uses of replies that are gone.

        Raises:
            CacheBroken: as for `remove_unused`.
        """
        deletions.remove_orphans(self)

    def size(self) -> int:
        """Give the bytes of the database and of the files that SQLite keeps beside."""
        return bytes_of(self.directory)

    def change(self, statement: str, values: Mapping[str, str | int]) -> int:
        """Run a statement of upkeep, inside a transaction; give the rows it changed."""
        count: int = self._sql(statement, values).rowcount
        return count

    def select(
        self, statement: str, values: Mapping[str, str | int]
    ) -> list[tuple[int]]:
        """Give the numbers of rows, for upkeep.

        Raises:
            CacheBroken: the database cannot be read.
        """
        with self._failures():
            found: list[tuple[int]] = self._sql(statement, values).fetchall()
            return found

    def keys(self, start: str) -> set[str]:
        """Give the keys that begin with a text that ends in a colon.

        Raises:
            CacheBroken: the database cannot be read.
        """
        with self._failures():
            found = self._sql(
                "SELECT key FROM Cache WHERE key >= :first AND key < :past AND raw = 1",
                {"first": start, "past": past(start)},
            )
            return {key for (key,) in found if isinstance(key, str)}

    def shrink(self) -> None:
        """Give the disk back what removed rows took, as far as nobody reads.

        diskcache creates databases with auto_vacuum, so that a file shrinks when
        the log of changes is written into it. What is still read by others goes
        when they are done.

        Raises:
            CacheBroken: the database cannot be written.
        """
        self.empty_log()

    def rebuild(self) -> bool:
        """Write the database anew, so that no page has bytes of what is gone.

        Tells whether its log of changes is empty as well, which it is not while
        somebody reads what is older.

        Raises:
            CacheBroken: the database cannot be written, or another process did.
        """
        with self._failures():
            self._sql("VACUUM")
        return self.empty_log()

    def empty_log(self) -> bool:
        """Write the log of changes into the database; tell whether all of it was.

        Raises:
            CacheBroken: the database cannot be written.
        """
        with self._failures():
            ((busy, _, _),) = self._sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return not busy

    def close(self) -> None:
        """Let go of the database."""
        self._rows.close()

    @property
    def _sql(self) -> Callable[..., Any]:
        execute: Callable[..., Any] = self._rows._sql  # noqa: SLF001 - diskcache shows its connection no other way
        return execute

    @contextmanager
    def _failures(self) -> Iterator[None]:
        from diskcache import Timeout

        try:
            yield
        except Timeout as error:
            message = (
                f"cache {str(self.directory)!r} cannot be written: it is read-only, "
                f"or another process held it for {LOCK_TIMEOUT_SECONDS} s"
            )
            raise CacheBroken(message) from error
        except (OSError, sqlite3.Error) as error:
            message = f"cache {str(self.directory)!r} failed: {_first(error)}"
            raise CacheBroken(message) from error

    def _end_transaction(self) -> None:
        """Let other processes write after a commit that failed."""
        connection = self._rows._con  # noqa: SLF001 - as in `_sql`
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _sealed(self) -> SealedRows | None:
        """Open what is there where nothing can be written; None where it can."""
        path = self.directory / DATABASE
        if not path.is_file() or (
            os.access(path, os.W_OK) and os.access(self.directory, os.W_OK)
        ):
            return None
        return SealedRows(path, timeout=LOCK_TIMEOUT_SECONDS)

    def _close_to_others(self) -> None:
        """Take access from group and others: replies tell of documents."""
        mode = self.directory.stat().st_mode & 0o777
        if not mode & 0o077:
            return
        # A directory that serves something else, too, is not ours to close.
        is_ours = all(
            path.name.startswith(DATABASE) or path.name in {TICKETS, VECTORS}
            for path in self.directory.iterdir()
        )
        try:
            if is_ours:
                self.directory.chmod(mode & 0o700)
                return
        except PermissionError:
            pass
        self.warnings += (
            f"cache {str(self.directory)!r} is open to others (mode {mode:04o}); "
            "what it holds tells of documents, give it a directory of its own",
        )

    def _refuse_foreign_settings(self) -> None:
        """Look at the settings before diskcache takes them over unseen."""
        if "$" in str(self.directory.absolute()):
            # diskcache would put the value of a variable in its place.
            message = f"cache {str(self.directory)!r} has a $ in its path; name another"
            raise ConfigError(message)
        path = self.directory / DATABASE
        if not path.exists():
            return
        with closing(sqlite3.connect(path, timeout=LOCK_TIMEOUT_SECONDS)) as database:
            unknown = foreign_settings(database)
        if unknown:
            message = (
                f"cache {str(self.directory)!r} has settings this version does not "
                f"know ({', '.join(unknown)}); name another cache.directory"
            )
            raise ConfigError(message)

    def _verify(self) -> None:
        """Check that what was asked for is what holds."""
        path = self.directory / DATABASE
        with closing(sqlite3.connect(path, timeout=LOCK_TIMEOUT_SECONDS)) as database:
            stored = dict(database.execute("SELECT key, value FROM Settings"))
        wrong = sorted(k for k, value in _SETTINGS.items() if stored.get(k) != value)
        (durability,) = self._sql("PRAGMA synchronous").fetchone()
        if durability != _FULL:
            wrong.append("synchronous")
        if wrong:
            self._rows.close()
            message = (
                f"cache {str(self.directory)!r} does not keep its settings "
                f"({', '.join(wrong)}); name another cache.directory"
            )
            raise ConfigError(message)


def bytes_of(directory: Path) -> int:
    """Add up the database and the files that SQLite keeps beside it."""
    return sum(path.stat().st_size for path in directory.glob(f"{DATABASE}*"))


def foreign_settings(database: sqlite3.Connection) -> list[str]:
    """Name the settings that neither diskcache nor situate has written.

    Raises:
        sqlite3.Error: the database cannot be read.
    """
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if ("Settings",) not in tables.fetchall():
        return []
    keys = {key for (key,) in database.execute("SELECT key FROM Settings")}
    return sorted(map(str, keys - KNOWN_SETTINGS))


def _first(error: Exception) -> Exception:
    """Give the failure that others came of: a rollback has nothing to say."""
    while isinstance(cause := error.__context__, OSError | sqlite3.Error | CacheBroken):
        error = cause
    return error


class _Foreign(Exception):
    """A row that situate did not write."""


def _open(directory: Path) -> Any:
    """Open the database with a Disk that holds JSON text and nothing else."""
    import diskcache
    from diskcache.core import MODE_RAW

    class JsonRows(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
        """Keys are text, values JSON text in the row; pickles are refused."""

        def put(self, key: object) -> tuple[str, bool]:
            if not isinstance(key, str):
                message = f"cache keys are text, not {key!r}"
                raise TypeError(message)
            return key, True

        def get(self, key: object, raw: object) -> str:
            if not raw or not isinstance(key, str):
                raise _Foreign
            return key

        def store(
            self,
            value: JsonValue,
            read: object,  # noqa: ARG002 - diskcache's signature
            key: object = None,  # noqa: ARG002 - diskcache's signature
        ) -> tuple[int, int, None, str]:
            return 0, MODE_RAW, None, json.dumps(value, separators=(",", ":"))

        def fetch(
            self,
            mode: object,
            filename: object,
            value: object,
            read: object,  # noqa: ARG002 - diskcache's signature
        ) -> JsonValue:
            if mode != MODE_RAW or filename is not None or not isinstance(value, str):
                raise _Foreign
            try:
                parsed: JsonValue = json.loads(value)
            except (ValueError, RecursionError) as error:
                raise _Foreign from error
            return parsed

        def remove(self, file_path: object) -> None:
            """Leave it: no file belongs to this cache, whatever a row says."""

    return diskcache.Cache(
        str(directory), timeout=LOCK_TIMEOUT_SECONDS, disk=JsonRows, **_SETTINGS
    )
