"""The database that jobs lie in: one file, for its owner alone.

What is committed survives a loss of power, and what is removed is overwritten: the
database zeroes what it frees, and its log is emptied where a job has gone.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from situate.errors import ConfigError, Locked
from situate.files import take_lock
from situate.service.values import JobsBroken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "jobs.db"
_LOCK = "jobs.lock"

_VERSION = 1
"""Of the tables below; 0 is a file that holds none yet."""

_BUSY_SECONDS = 5.0
"""How long to wait for somebody else, a backup, who holds the database."""

_PAGES_AT_ONCE = 1000
"""Pages, of 4 KiB, that are given back before others may write again."""

_TABLES = """
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  corpus TEXT NOT NULL,
  state TEXT NOT NULL,
  documents INTEGER NOT NULL DEFAULT 0,
  finished INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0,
  outcomes TEXT NOT NULL DEFAULT '{}',
  spent TEXT NOT NULL,
  reason TEXT,
  events INTEGER NOT NULL DEFAULT 0,
  turn INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  created REAL NOT NULL,
  ended REAL
);
CREATE INDEX jobs_by_owner ON jobs (owner, state);
CREATE INDEX jobs_by_turn ON jobs (owner, turn);
CREATE INDEX jobs_by_state ON jobs (state);
CREATE TABLE documents (
  job INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  said TEXT,
  doc_id TEXT,
  state TEXT NOT NULL DEFAULT 'waiting',
  reason TEXT,
  PRIMARY KEY (job, ordinal)
) WITHOUT ROWID;
CREATE INDEX documents_by_state ON documents (job, state, ordinal);
CREATE TABLE contents (
  job INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (job, ordinal)
);
CREATE TABLE results (
  job INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  chunks BLOB NOT NULL,
  blocks BLOB NOT NULL,
  PRIMARY KEY (job, ordinal)
);
CREATE TABLE events (
  job INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
"""


class Database:
    """One connection that writes and one that reads, each used by one at a time."""

    def __init__(self, directory: Path) -> None:
        """Open the directory, making it for its owner alone if it is missing.

        Raises:
            ConfigError: it cannot be used, or was written by another version.
            Locked: another service works on it.
        """
        with ExitStack() as stack:
            try:
                _prepare(directory)
                lock = stack.enter_context((directory / _LOCK).open("rb"))
                take_lock(lock.fileno())
                path = directory / NAME
                self._writer = stack.enter_context(closing(_connected(path)))
                _make(self._writer, path)
                self._reader = stack.enter_context(closing(_connected(path)))
                self._reader.execute("PRAGMA query_only = ON")
            except BlockingIOError as error:
                message = (
                    f"state directory {str(directory)!r} is used by another serve; "
                    "give this one its own with --state"
                )
                raise Locked(message) from error
            except (OSError, sqlite3.Error) as error:
                message = f"state directory {str(directory)!r} cannot be used: {error}"
                raise ConfigError(message) from error
            self._opened = stack.pop_all()
        self._directory = directory
        # Transactions of two threads on one connection would be one.
        self._writing = threading.Lock()
        self._reading = threading.Lock()

    def close(self) -> None:
        """Let go of the files, and of the directory."""
        with self._writing, self._reading:
            self._opened.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Write everything inside or nothing; on the disk when the block ends.

        Raises:
            JobsBroken: the database cannot be written.
        """
        with self._writing, self._failures():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                # Some failures end a transaction, others leave it open.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read as if nobody wrote meanwhile.

        Raises:
            JobsBroken: the database cannot be read.
        """
        with self._reading, self._failures():
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            finally:
                if self._reader.in_transaction:
                    self._reader.execute("ROLLBACK")

    def tidy(self) -> None:
        """Give back the disk that was freed, and empty the log of what it held.

        Raises:
            JobsBroken: the database cannot be written.
        """
        is_left = True
        while is_left:
            with self._writing, self._failures():
                # Each step of it frees one page, and only a script takes them all.
                self._writer.executescript(
                    f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})"
                )
                (is_left,) = self._writer.execute("PRAGMA freelist_count").fetchone()
        # Nobody reads meanwhile: what a reader may still want stays in the log.
        with self._writing, self._reading, self._failures():
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            message = f"jobs in {str(self._directory)!r} cannot be kept: {error}"
            raise JobsBroken(message) from error


def _prepare(directory: Path) -> None:
    """Make the directory and the file, for nobody else to read.

    Raises:
        ConfigError: it holds something else.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / NAME
    if not path.exists() and any(other.name != _LOCK for other in directory.iterdir()):
        message = (
            f"state directory {str(directory)!r} holds other files and no jobs; name "
            "one of its own"
        )
        raise ConfigError(message)
    directory.chmod(0o700)
    for name in (_LOCK, NAME):
        path = directory / name
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _make(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, and know those of an old one.

    Raises:
        ConfigError: another version made them.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in {0, _VERSION}:
        message = (
            f"{str(path)!r} has version {version}; this situate reads {_VERSION}: name "
            "another state directory, and fetch what is in this one with its own"
        )
        raise ConfigError(message)
    if version == 0:
        # Before the log is: what it is written in cannot be changed in there.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    if version == 0:
        connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_VERSION}; COMMIT"
        )
