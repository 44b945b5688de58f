"""Jobs in a database: documents that wait, what came of them, and what happened.

Nothing of a job is in memory alone. A document's text is removed in the transaction
that keeps what came of it, a job's results when it is deleted or has expired.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, get_args

from situate.service.jobs import happenings, spending
from situate.service.jobs.arrivals import Arrival
from situate.service.jobs.database import Database
from situate.service.jobs.listening import ADDED, Listening
from situate.service.values import (
    Bounds,
    Failure,
    JobsBroken,
    JobsFigures,
    JobState,
    JobView,
    NotDone,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator
    from pathlib import Path

    from situate.pipeline.handed import Handed
    from situate.service.values import Event, ResultKind

_FAILURES = 100
"""Documents that failed which a view names."""

_LISTED = 100
"""Jobs of an owner that are listed."""

_REMOVED_AT_ONCE = 8
"""Documents of a job that are overwritten in one transaction, so that nobody waits
long for the next."""

_LOOKED_AT_ONCE = 100
"""Events that are read at a time."""


_REMOVALS = (
    "DELETE FROM contents WHERE job = ? AND ordinal < ?",
    "DELETE FROM results WHERE job = ? AND ordinal < ?",
    "DELETE FROM documents WHERE job = ? AND ordinal < ?",
)


def _now() -> datetime:
    return datetime.now(UTC)


class Jobs:
    """The jobs of one state directory; may be used by several threads."""

    def __init__(
        self,
        directory: Path,
        bounds: Bounds | None = None,
        *,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Open the directory, making it for its owner alone if it is missing.

        What a service that ended had under way waits again.

        Raises:
            ConfigError: it cannot be used, or was written by another version.
            Locked: another service works on it.
            JobsBroken: it cannot be written.
        """
        self.bounds = bounds or Bounds()
        self.now = now
        self.database = Database(directory)
        self.listening = Listening()
        self._arriving: set[str] = set()
        """Ids of jobs that come in, from before anybody else can see them."""
        try:
            with self.database.writing() as connection:
                connection.execute(
                    "UPDATE jobs SET state = 'queued' WHERE state = 'running'"
                )
            self.sweep()
        except JobsBroken:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the database and of the directory."""
        self.database.close()

    def add(self, owner: str, corpus: str, documents: Iterable[Handed]) -> JobView:
        """Take in a job, whole or not at all; it is on the disk when this returns.

        Documents are stored as they come, so that memory holds one of them and a
        megabyte. Whatever `documents` raises is raised, and nothing is left.

        Raises:
            QueueFull: there is no room for it.
            ReadError: a name is none, two documents have one name or id, or there
                are none.
            JobsBroken: the database cannot be written.
        """
        job_id = secrets.token_hex(16)
        arrival = Arrival(self.database, self.bounds, owner=owner, corpus=corpus)
        self._arriving.add(job_id)
        is_queued = False
        try:
            arrival.begin(job_id, self.now().timestamp())
            for handed in documents:
                arrival.put(handed)
            arrival.complete()
            with self.database.writing() as connection:
                arrival.queue(connection)
                (row,) = connection.execute(
                    "SELECT * FROM jobs WHERE number = ?", (arrival.number,)
                )
                view = self._view(connection, row)
            is_queued = True
        finally:
            self._arriving.discard(job_id)
            if not is_queued and arrival.number:
                # Where even this fails, it is done when the directory is swept.
                with suppress(JobsBroken):
                    self._remove(arrival.number)
                    self.database.tidy()
        self.listening.tell(ADDED)
        return view

    def get(self, job_id: str, owner: str) -> JobView | None:
        """Give a job as it stands; None where the owner has none of that id.

        Raises:
            JobsBroken: the database cannot be read. So do all below.
        """
        with self.database.reading() as connection:
            row = _known(connection, job_id)
            view = None if row is None else self._view(connection, row)
        if view is None or view.owner != owner:
            return None
        if view.expires is not None and view.expires <= self.now():
            return None
        return view

    def listed(self, owner: str) -> tuple[JobView, ...]:
        """Give the jobs of an owner, the newest first, at most a hundred."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM jobs WHERE owner = ? "
                "AND state IN ('queued', 'running', 'done', 'failed') "
                "AND (ended IS NULL OR ended > ?) ORDER BY number DESC LIMIT ?",
                (owner, self._oldest(), _LISTED),
            ).fetchall()
            return tuple(self._view(connection, row) for row in rows)

    def events(
        self, job_id: str, after: int, limit: int = _LOOKED_AT_ONCE
    ) -> tuple[Event, ...]:
        """Give what happened to a job after event number `after` (0: all)."""
        return self._happened(job_id, after, limit)[0]

    async def follow(self, job_id: str, after: int = 0) -> AsyncIterator[Event]:
        """Give what happens to a job, as it happens, after event number `after`.

        Ends when the job has ended or is removed. Waits without asking again and
        again; may be iterated in any loop.
        """
        with self.listening.to(job_id) as changed:
            while True:
                changed.clear()
                events, is_over = await asyncio.to_thread(
                    self._happened, job_id, after, _LOOKED_AT_ONCE
                )
                for event in events:
                    after = event.number
                    yield event
                if not events:
                    if is_over:
                        return
                    await changed.wait()

    def result(
        self, job_id: str, kind: ResultKind = "chunks", *, partial: bool = False
    ) -> Iterator[bytes]:
        """Give what came of a job's documents, in their order, one piece for each.

        Joined they are JSON lines, equal to what `situate run` writes. With `partial`
        what there is so far; documents that failed have no lines. Iterating raises
        `NotDone` where the job is removed meanwhile.

        Raises:
            NotDone: the job has not ended, and `partial` was not asked for; raised
                before anything is iterated.
        """
        with self.database.reading() as connection:
            row = _known(connection, job_id)
        if row is None:
            raise _removed(job_id)
        if row["state"] not in {"done", "failed"} and not partial:
            message = f"job {job_id} is {row['state']}; ask again when it is done"
            raise NotDone(message)
        return self._pieces(job_id, kind)

    def delete(self, job_id: str, owner: str) -> bool:
        """Remove every trace of a job, also of one at work; False if there is none."""
        with self.database.writing() as connection:
            row = _known(connection, job_id)
            if row is None or row["owner"] != owner:
                return False
            connection.execute(
                "UPDATE jobs SET state = 'removed' WHERE number = ?", (row["number"],)
            )
        self.listening.tell(job_id)
        self._remove(row["number"])
        self.database.tidy()
        return True

    def sweep(self) -> None:
        """Remove jobs whose time is over, and what is left of those that are gone."""
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'removed' WHERE ended <= ?", (self._oldest(),)
            )
            # In this transaction: one that has come in whole meanwhile is no leftover.
            arriving = connection.execute(
                "SELECT number, job_id FROM jobs WHERE state = 'arriving'"
            ).fetchall()
            connection.executemany(
                "UPDATE jobs SET state = 'removed' WHERE number = ?",
                [
                    (row["number"],)
                    for row in arriving
                    if row["job_id"] not in self._arriving
                ],
            )
            gone = connection.execute(
                "SELECT number, job_id FROM jobs WHERE state = 'removed'"
            ).fetchall()
        for row in gone:
            self.listening.tell(row["job_id"])
            self._remove(row["number"])
        if gone:
            self.database.tidy()

    def figures(self) -> JobsFigures:
        """Say what is kept."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT state, COUNT(*) FROM jobs GROUP BY state"
            ).fetchall()
            (stored,) = connection.execute(
                "SELECT COALESCE(SUM(bytes), 0) FROM jobs"
            ).fetchone()
        counts = {state: count for state, count in rows if state in get_args(JobState)}
        return JobsFigures(by_state=counts, stored_bytes=stored)

    def _oldest(self) -> float:
        """Say when a job ended whose time is over now."""
        return self.now().timestamp() - self.bounds.kept_seconds

    def _view(self, connection: sqlite3.Connection, row: sqlite3.Row) -> JobView:
        failures = connection.execute(
            "SELECT ordinal, name, reason FROM documents "
            "WHERE job = ? AND state = 'failed' ORDER BY ordinal LIMIT ?",
            (row["number"], _FAILURES),
        )
        ended = None if row["ended"] is None else _moment(row["ended"])
        kept = timedelta(seconds=self.bounds.kept_seconds)
        return JobView(
            job_id=row["job_id"],
            owner=row["owner"],
            corpus=row["corpus"],
            state=row["state"],
            documents=row["documents"],
            finished=row["finished"],
            failed=row["failed"],
            chunks=row["chunks"],
            outcomes=json.loads(row["outcomes"]),
            spent=spending.read(row["spent"]),
            failures=tuple(
                Failure(ordinal=ordinal, name=name, reason=reason)
                for ordinal, name, reason in failures
            ),
            reason=row["reason"],
            created=_moment(row["created"]),
            ended=ended,
            expires=None if ended is None else ended + kept,
        )

    def _happened(
        self, job_id: str, after: int, limit: int
    ) -> tuple[tuple[Event, ...], bool]:
        """Give events, and whether no more come after those there are."""
        with self.database.reading() as connection:
            row = _known(connection, job_id)
            if row is None:
                return (), True
            events = happenings.read(connection, row["number"], after, limit)
        return events, row["state"] in {"done", "failed"}

    def _pieces(self, job_id: str, kind: ResultKind) -> Iterator[bytes]:
        ordinal = -1
        while True:
            with self.database.reading() as connection:
                row = _known(connection, job_id)
                if row is None:
                    raise _removed(job_id)
                found = connection.execute(
                    "SELECT ordinal, CASE ? WHEN 'chunks' THEN chunks ELSE blocks END "
                    "FROM results WHERE job = ? AND ordinal > ? "
                    "ORDER BY ordinal LIMIT 1",
                    (kind, row["number"], ordinal),
                ).fetchone()
            if found is None:
                return
            ordinal, piece = found
            yield piece

    def _remove(self, number: int) -> None:
        """Overwrite a job that nobody sees any more, some documents at a time."""
        while True:
            with self.database.writing() as connection:
                (first,) = connection.execute(
                    "SELECT MIN(ordinal) FROM documents WHERE job = ?", (number,)
                ).fetchone()
                if first is None:
                    connection.execute("DELETE FROM events WHERE job = ?", (number,))
                    connection.execute("DELETE FROM jobs WHERE number = ?", (number,))
                    return
                some = (number, first + _REMOVED_AT_ONCE)
                for statement in _REMOVALS:
                    connection.execute(statement, some)


def _known(connection: sqlite3.Connection, job_id: str) -> sqlite3.Row | None:
    """Find a job; None where it still comes in, or is being removed."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM jobs WHERE job_id = ? "
        "AND state IN ('queued', 'running', 'done', 'failed')",
        (job_id,),
    ).fetchone()
    return row


def _removed(job_id: str) -> NotDone:
    return NotDone(f"job {job_id} is removed")


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
