"""Jobs as those see them who work on them: what is next, and what came of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from situate.pipeline.handed import Handed
from situate.pipeline.written import Written
from situate.service.jobs import happenings, spending

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping, Sequence

    from situate.manifest import Spent
    from situate.model import JsonValue
    from situate.pipeline.documents import Failed
    from situate.service.jobs.jobs import Jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A job that is worked on."""

    number: int
    job_id: str
    owner: str
    corpus: str
    spent: Spent
    """Before."""
    ids: Mapping[str, str]
    """Names of the documents that are done, by the ids they went by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A document of a job that is not done."""

    ordinal: int
    handed: Handed


class Worklist:
    """What there is to do; may be used by several threads.

    Every method raises `JobsBroken` where the database cannot be read or written;
    then nothing of what it was to write is there.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._database = jobs.database

    def claim(self, corpora: Collection[str]) -> Claimed | None:
        """Take the next job of these corpora; None where none waits.

        Those of others wait until they are served again. Owners take turns: whoever
        has the fewest jobs at work comes first, then who has waited longest since a
        job of theirs was taken, then the oldest job.
        """
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT * FROM jobs AS job WHERE state = 'queued' "
                "AND corpus IN (SELECT value FROM json_each(?)) ORDER BY "
                "(SELECT COUNT(*) FROM jobs WHERE owner = job.owner "
                "AND state = 'running'), "
                "(SELECT MAX(turn) FROM jobs WHERE owner = job.owner), "
                "turn, number LIMIT 1",
                (json.dumps(sorted(corpora)),),
            ).fetchone()
            if row is None:
                return None
            number = row["number"]
            connection.execute(
                "UPDATE jobs SET state = 'running', "
                "turn = (SELECT MAX(turn) FROM jobs) + 1 WHERE number = ?",
                (number,),
            )
            if not row["turn"]:
                happenings.note(connection, number, "running")
            ids = connection.execute(
                "SELECT doc_id, name FROM documents WHERE job = ? AND state = 'done'",
                (number,),
            ).fetchall()
        self._jobs.listening.tell(row["job_id"])
        return Claimed(
            number=number,
            job_id=row["job_id"],
            owner=row["owner"],
            corpus=row["corpus"],
            spent=spending.read(row["spent"]),
            ids=dict(map(tuple, ids)),
        )

    def others_wait(self, owner: str, corpora: Collection[str]) -> bool:
        """Say whether somebody else has a job of these corpora that waits."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT 1 FROM jobs WHERE state = 'queued' AND owner <> ? "
                "AND corpus IN (SELECT value FROM json_each(?)) LIMIT 1",
                (owner, json.dumps(sorted(corpora))),
            ).fetchone()
        return found is not None

    def unserved(self, corpora: Collection[str]) -> tuple[str, ...]:
        """Name the other corpora that jobs wait for."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT corpus FROM jobs WHERE state = 'queued' "
                "AND corpus NOT IN (SELECT value FROM json_each(?)) ORDER BY corpus",
                (json.dumps(sorted(corpora)),),
            )
            return tuple(corpus for (corpus,) in rows)

    def next_document(self, number: int, after: int) -> Waiting | None:
        """Give the first document after an ordinal that is not done; -1: of all."""
        with self._database.reading() as connection:
            if not _is_running(connection, number):
                return None
            row = connection.execute(
                "SELECT ordinal, name, said FROM documents WHERE job = ? "
                "AND state = 'waiting' AND ordinal > ? ORDER BY ordinal LIMIT 1",
                (number, after),
            ).fetchone()
            if row is None:
                return None
            (content,) = connection.execute(
                "SELECT content FROM contents WHERE job = ? AND ordinal = ?",
                (number, row["ordinal"]),
            ).fetchone()
        handed = Handed(name=row["name"], content=content, **json.loads(row["said"]))
        return Waiting(ordinal=row["ordinal"], handed=handed)

    def finish(
        self,
        number: int,
        outcomes: Sequence[tuple[int, Written | Failed]],
        spent: Spent,
    ) -> bool:
        """Keep what came of documents, by their ordinals, and what the job spent.

        Their texts go. All of it is one transaction, in which the job ends where
        these are the last. False where the job is there no more.
        """
        with self._database.writing() as connection:
            if not _is_running(connection, number):
                return False
            for ordinal, outcome in outcomes:
                _keep(connection, number, ordinal, outcome)
            connection.execute(
                "UPDATE jobs SET spent = ? WHERE number = ?",
                (spending.stored(spent), number),
            )
            row = connection.execute(
                "SELECT job_id, finished, documents FROM jobs WHERE number = ?",
                (number,),
            ).fetchone()
            if row["finished"] == row["documents"]:
                self._end(connection, number, "done")
        self._jobs.listening.tell(row["job_id"])
        return True

    def spend(self, number: int, spent: Spent) -> bool:
        """Note what a job has spent so far; False where it is there no more."""
        text = spending.stored(spent)
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT spent FROM jobs WHERE number = ? AND state <> 'removed'",
                (number,),
            ).fetchone()
        if row is None or row["spent"] == text:
            return row is not None
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET spent = ? WHERE number = ?", (text, number)
            )
        return True

    def put_back(self, number: int) -> None:
        """Let a job wait again for the rest of it to be done."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE jobs SET state = 'queued' "
                "WHERE number = ? AND state = 'running'",
                (number,),
            )

    def fail(self, number: int, reason: str) -> None:
        """End a job that cannot be worked on."""
        with self._database.writing() as connection:
            if not _is_running(connection, number):
                return
            connection.execute(
                "UPDATE jobs SET reason = ? WHERE number = ?", (_text(reason), number)
            )
            (job_id,) = connection.execute(
                "SELECT job_id FROM jobs WHERE number = ?", (number,)
            ).fetchone()
            # Nobody will read the documents that are left.
            connection.execute(
                "UPDATE jobs SET bytes = bytes - (SELECT COALESCE(SUM(LENGTH(content) "
                "+ LENGTH(said)), 0) FROM documents JOIN contents USING (job, ordinal) "
                "WHERE job = jobs.number) WHERE number = ?",
                (number,),
            )
            connection.execute("DELETE FROM contents WHERE job = ?", (number,))
            connection.execute(
                "UPDATE documents SET said = NULL WHERE job = ?", (number,)
            )
            self._end(connection, number, "failed")
        self._jobs.listening.tell(job_id)

    def _end(
        self,
        connection: sqlite3.Connection,
        number: int,
        state: Literal["done", "failed"],
    ) -> None:
        connection.execute(
            "UPDATE jobs SET state = ?, ended = ? WHERE number = ?",
            (state, self._jobs.now().timestamp(), number),
        )
        happenings.note(connection, number, state)


def _is_running(connection: sqlite3.Connection, number: int) -> bool:
    found = connection.execute(
        "SELECT 1 FROM jobs WHERE number = ? AND state = 'running'", (number,)
    )
    return found.fetchone() is not None


def _keep(
    connection: sqlite3.Connection,
    number: int,
    ordinal: int,
    outcome: Written | Failed,
) -> None:
    """Put what came of a document in the place of its text."""
    kept = _Kept.of(outcome)
    place = (number, ordinal)
    (name, freed) = connection.execute(
        "SELECT name, LENGTH(content) + LENGTH(said) FROM documents "
        "JOIN contents USING (job, ordinal) WHERE job = ? AND ordinal = ?",
        place,
    ).fetchone()
    connection.execute("DELETE FROM contents WHERE job = ? AND ordinal = ?", place)
    connection.execute(
        "UPDATE documents SET state = ?, doc_id = ?, reason = ?, said = NULL "
        "WHERE job = ? AND ordinal = ?",
        (kept.state, kept.doc_id, kept.reason, *place),
    )
    if isinstance(outcome, Written):
        connection.execute(
            "INSERT INTO results (job, ordinal, chunks, blocks) VALUES (?, ?, ?, ?)",
            (*place, outcome.chunks, outcome.blocks),
        )
    (before,) = connection.execute(
        "SELECT outcomes FROM jobs WHERE number = ?", (number,)
    ).fetchone()
    outcomes = Counter(json.loads(before)) + kept.outcomes
    connection.execute(
        "UPDATE jobs SET finished = finished + 1, failed = failed + ?, "
        "chunks = chunks + ?, outcomes = ?, bytes = bytes + ? WHERE number = ?",
        (
            *(int(kept.state == "failed"), kept.chunks, json.dumps(outcomes)),
            *(kept.bytes - freed, number),
        ),
    )
    data: dict[str, JsonValue] = {
        "ordinal": ordinal,
        "name": name,
        "doc_id": kept.doc_id,
        "status": kept.state,
        "chunks": kept.chunks,
        "reason": kept.reason,
    }
    happenings.note(connection, number, "document", data)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What is kept of a document, beside its lines."""

    state: Literal["done", "failed"]
    doc_id: str | None = None
    reason: str | None = None
    chunks: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, outcome: Written | Failed) -> _Kept:
        if not isinstance(outcome, Written):
            return cls(state="failed", reason=_text(outcome.reason))
        outcomes: Counter[str] = Counter()
        for (status, reason), count in outcome.outcomes.items():
            outcomes[status if reason is None else f"{status}:{reason}"] += count
        return cls(
            state="done",
            doc_id=outcome.doc_id,
            chunks=sum(outcome.levels.values()),
            bytes=len(outcome.chunks) + len(outcome.blocks),
            outcomes=outcomes,
        )


def _text(reason: str) -> str:
    """Give a sentence as a database can hold it, whatever name stands in it."""
    return reason.encode("utf-8", "backslashreplace").decode()
