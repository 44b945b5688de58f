"""A job while its documents come in: nobody sees it before it is whole."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from situate.errors import ReadError
from situate.manifest import NOTHING_SPENT
from situate.pipeline.handed import source_of
from situate.service.jobs import happenings, spending
from situate.service.values import QueueFull

if TYPE_CHECKING:
    import sqlite3

    from situate.pipeline.handed import Handed
    from situate.service.jobs.database import Database
    from situate.service.values import Bounds

_AT_ONCE_BYTES = 1024 * 1024
"""Of documents that are written together: a disk takes longer to say that something
is there than to write it."""

_ROW_BYTES = 512
"""That a document is taken for beside its text: what is known of it, and events."""

_RETRY_SECONDS = 30
"""After which a full queue may have room: a job of some documents is done by then. A
folder that is full may have some once a job expires, and not sooner than this."""


class Arrival:
    """Takes the documents of one job, a megabyte at a time."""

    def __init__(
        self, database: Database, bounds: Bounds, *, owner: str, corpus: str
    ) -> None:
        self._database = database
        self._bounds = bounds
        self._owner = owner
        self._corpus = corpus
        self._waiting: list[tuple[str, str, bytes]] = []
        self._bytes = 0
        self._documents = 0
        self._labels: set[str] = set()
        self._created = 0.0
        self.number = 0

    def begin(self, job_id: str, created: float) -> None:
        """Take a place among the jobs.

        Raises:
            QueueFull: there is none.
            JobsBroken: the database cannot be written. So does all below.
        """
        self._created = created
        with self._database.writing() as connection:
            self._refuse_jobs(connection)
            self._refuse_bytes(connection, 1)
            cursor = connection.execute(
                "INSERT INTO jobs (job_id, owner, corpus, state, spent, created) "
                "VALUES (?, ?, ?, 'arriving', ?, ?)",
                (
                    *(job_id, self._owner, self._corpus),
                    *(spending.stored(NOTHING_SPENT), created),
                ),
            )
        assert cursor.lastrowid is not None  # noqa: S101 - a row was inserted
        self.number = cursor.lastrowid

    def put(self, handed: Handed) -> None:
        """Take one document.

        Raises:
            ReadError: its name is none, what is said of it is wrong, or another has
                its name or id.
            QueueFull: there is no room for it.
        """
        source = source_of(handed)
        labels = {source.doc_id, source.named}
        if taken := sorted(labels & self._labels):
            message = f"{source.doc_id}: another document of the job is {taken[0]!r}"
            raise ReadError(message)
        self._labels |= labels
        said = json.dumps(
            {
                "doc_id": handed.doc_id,
                "version": handed.version,
                "metadata": dict(handed.metadata),
            }
        )
        self._waiting.append((handed.name, said, handed.content))
        self._bytes += len(handed.content) + len(said) + _ROW_BYTES
        if self._bytes >= _AT_ONCE_BYTES:
            self._write()

    def queue(self, connection: sqlite3.Connection) -> None:
        """Let the job be worked on, in a transaction; nothing may be left to write."""
        connection.execute(
            "UPDATE jobs SET state = 'queued', documents = ? WHERE number = ?",
            (self._documents, self.number),
        )
        happenings.note(connection, self.number, "queued")

    def complete(self) -> None:
        """Write what is left to write.

        Raises:
            ReadError: there are no documents.
            QueueFull: there is no room for them.
        """
        self._write()
        if not self._documents:
            message = "a job needs at least one document"
            raise ReadError(message)

    def _write(self) -> None:
        with self._database.writing() as connection:
            self._refuse_bytes(connection, self._bytes)
            for ordinal, (name, said, content) in enumerate(
                self._waiting, self._documents
            ):
                connection.execute(
                    "INSERT INTO documents (job, ordinal, name, said) "
                    "VALUES (?, ?, ?, ?)",
                    (self.number, ordinal, name, said),
                )
                connection.execute(
                    "INSERT INTO contents (job, ordinal, content) VALUES (?, ?, ?)",
                    (self.number, ordinal, content),
                )
            connection.execute(
                "UPDATE jobs SET bytes = bytes + ? WHERE number = ?",
                (self._bytes, self.number),
            )
        self._documents += len(self._waiting)
        self._waiting.clear()
        self._bytes = 0

    def _refuse_jobs(self, connection: sqlite3.Connection) -> None:
        (everybody, own) = connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(owner = ?), 0) FROM jobs "
            "WHERE state IN ('arriving', 'queued', 'running')",
            (self._owner,),
        ).fetchone()
        if own >= self._bounds.open_jobs_each or everybody >= self._bounds.open_jobs:
            whose = "of yours " if own >= self._bounds.open_jobs_each else ""
            message = f"{own if whose else everybody} jobs {whose}are open; wait"
            raise QueueFull(message, retry_after_seconds=_RETRY_SECONDS)

    def _refuse_bytes(self, connection: sqlite3.Connection, more: int) -> None:
        (everybody, own) = connection.execute(
            "SELECT COALESCE(SUM(bytes), 0), "
            "COALESCE(SUM(CASE WHEN owner = ? THEN bytes END), 0) FROM jobs",
            (self._owner,),
        ).fetchone()
        is_own = own + more > self._bounds.stored_bytes_each
        if is_own or everybody + more > self._bounds.stored_bytes:
            message = (
                "documents and results that are kept leave no room for this job; "
                "fetch results and delete their jobs, or wait until they expire"
            )
            wait = self._until_one_expires(connection, own=is_own)
            raise QueueFull(message, retry_after_seconds=wait)

    def _until_one_expires(self, connection: sqlite3.Connection, *, own: bool) -> int:
        """Say in how many seconds the first job that is over goes by itself.

        Of those that are not over none goes before one that ended now would.
        """
        (ended,) = connection.execute(
            "SELECT COALESCE(MIN(ended), ?) FROM jobs WHERE NOT ? OR owner = ?",
            (self._created, own, self._owner),
        ).fetchone()
        left: float = ended + self._bounds.kept_seconds - self._created
        return max(_RETRY_SECONDS, math.ceil(left))
