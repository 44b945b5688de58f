"""Keeps raw replies, so that no answer is ever paid for twice.

Values are JSON text in the rows of an SQLite database that diskcache looks
after. Two of diskcache's habits are not wanted here. It pickles what is not
plain and unpickles what a row says is pickled, also in its `JSONDisk`, so that
whoever can write the directory can run code (CVE-2025-69872, no fixed release
as of 5.6.3); and it evicts. The Disk below knows neither pickles nor files.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from situate.enrichment.plan import PlannedRequest
    from situate.model import JsonValue

SCHEMA = 1
"""Version of the stored values; others are taken for missing."""

_DATABASE = "cache.db"
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

_KNOWN_SETTINGS = frozenset(_SETTINGS) | {
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

_LOCK_TIMEOUT_SECONDS = 10


class Cache:
    """Raw replies by request, and which of them belong to which chunk."""

    def __init__(self, directory: Path) -> None:
        """Open the directory, making it for its owner alone if it is missing.

        Raises:
            ConfigError: it cannot be used; nothing has been asked yet.
        """
        self.directory = directory
        self.warnings: tuple[str, ...] = ()
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._close_to_others()
            self._refuse_foreign_settings()
            # Absolute: diskcache expands a leading `~`.
            self._store = _open(directory.absolute())
            self._verify()
        except (OSError, sqlite3.Error) as error:
            message = f"cache {str(directory)!r} cannot be opened: {error}"
            raise ConfigError(message) from error

    def reply(self, key: str) -> str | None:
        """Give the raw reply to a request, None when there is none.

        Raises:
            CacheBroken: the database cannot be read.
        """
        value = self._get(f"reply:{key}")
        raw = value.get("raw") if value else None
        return raw if isinstance(raw, str) else None

    def answers(self, chunk_key: str) -> tuple[str, ...]:
        """Give the keys of a chunk's replies: the answer, then the repair.

        Raises:
            CacheBroken: the database cannot be read.
        """
        value = self._get(f"chunk:{chunk_key}")
        keys = value.get("replies") if value else None
        if not isinstance(keys, list):
            return ()
        return tuple(key for key in keys if isinstance(key, str))

    def holds(self, request: PlannedRequest) -> bool:
        """Say whether the answer to a planned request is here.

        Raises:
            CacheBroken: the database cannot be read.
        """
        return bool(self.answers(request.chunk_key)) or (
            self.reply(request.reply_key) is not None
        )

    def store_reply(self, key: str, raw: str) -> None:
        """Keep a raw reply; it is on the disk when this returns.

        Raises:
            CacheBroken: the database cannot be written.
        """
        self._set(f"reply:{key}", {"schema": SCHEMA, "raw": raw})

    def store_answers(self, chunk_key: str, keys: Sequence[str]) -> None:
        """Note which replies belong to a chunk.

        Raises:
            CacheBroken: the database cannot be written.
        """
        self._set(f"chunk:{chunk_key}", {"schema": SCHEMA, "replies": list(keys)})

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _get(self, key: str) -> dict[str, JsonValue] | None:
        try:
            with self._broken_when_it_fails():
                value = self._store.get(key)
        except _Foreign:
            # Not written by us: worth no more than a missing row, and the
            # answer that is asked for instead takes its place.
            return None
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            return None
        return value

    def _set(self, key: str, value: JsonValue) -> None:
        with self._broken_when_it_fails():
            self._store.set(key, value)

    @contextmanager
    def _broken_when_it_fails(self) -> Iterator[None]:
        from diskcache import Timeout

        try:
            yield
        except Timeout as error:
            message = (
                f"cache {str(self.directory)!r} cannot be written: it is read-only, "
                f"or another process held it for {_LOCK_TIMEOUT_SECONDS} s"
            )
            raise CacheBroken(message) from error
        except (OSError, sqlite3.Error) as error:
            message = f"cache {str(self.directory)!r} failed: {error}"
            raise CacheBroken(message) from error

    def _close_to_others(self) -> None:
        """Take access from group and others: replies tell of documents."""
        mode = self.directory.stat().st_mode & 0o777
        if not mode & 0o077:
            return
        # A directory that serves something else, too, is not ours to close.
        is_ours = all(p.name.startswith(_DATABASE) for p in self.directory.iterdir())
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
        path = self.directory / _DATABASE
        if not path.exists():
            return
        with closing(sqlite3.connect(path, timeout=_LOCK_TIMEOUT_SECONDS)) as database:
            tables = database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
            if ("Settings",) not in tables:
                return
            keys = {key for (key,) in database.execute("SELECT key FROM Settings")}
        if unknown := sorted(map(str, keys - _KNOWN_SETTINGS)):
            message = (
                f"cache {str(self.directory)!r} has settings this version does not "
                f"know ({', '.join(unknown)}); name another cache.directory"
            )
            raise ConfigError(message)

    def _verify(self) -> None:
        """Check that what was asked for is what holds."""
        path = self.directory / _DATABASE
        with closing(sqlite3.connect(path, timeout=_LOCK_TIMEOUT_SECONDS)) as database:
            stored = dict(database.execute("SELECT key, value FROM Settings"))
        wrong = sorted(k for k, value in _SETTINGS.items() if stored.get(k) != value)
        (durability,) = self._store._sql("PRAGMA synchronous").fetchone()  # noqa: SLF001 - diskcache shows its connection no other way
        if durability != _FULL:
            wrong.append("synchronous")
        if wrong:
            self._store.close()
            message = (
                f"cache {str(self.directory)!r} does not keep its settings "
                f"({', '.join(wrong)}); name another cache.directory"
            )
            raise ConfigError(message)


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
        str(directory), timeout=_LOCK_TIMEOUT_SECONDS, disk=JsonRows, **_SETTINGS
    )
