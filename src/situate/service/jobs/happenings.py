"""What happened to a job, numbered, in the transaction in which it did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from situate.service.values import Event

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from situate.model import JsonValue
    from situate.service.values import EventKind


def note(
    connection: sqlite3.Connection,
    job: int,
    kind: EventKind,
    data: Mapping[str, JsonValue] | None = None,
) -> None:
    """Write an event down; without `data`, the counts of the job stand in it."""
    connection.execute("UPDATE jobs SET events = events + 1 WHERE number = ?", (job,))
    row = connection.execute(
        "SELECT events, documents, finished, failed, chunks, reason "
        "FROM jobs WHERE number = ?",
        (job,),
    ).fetchone()
    if data is None:
        data = {key: row[key] for key in ("documents", "finished", "failed", "chunks")}
        if kind == "failed":
            data["reason"] = row["reason"]
    connection.execute(
        "INSERT INTO events (job, number, kind, data) VALUES (?, ?, ?, ?)",
        (job, row["events"], kind, json.dumps(data)),
    )


def read(
    connection: sqlite3.Connection, job: int, after: int, limit: int
) -> tuple[Event, ...]:
    """Give the events after a number, at most so many."""
    rows = connection.execute(
        "SELECT number, kind, data FROM events WHERE job = ? AND number > ? "
        "ORDER BY number LIMIT ?",
        (job, after, limit),
    )
    return tuple(
        Event(number=row["number"], kind=row["kind"], data=json.loads(row["data"]))
        for row in rows
    )
