"""What the service says of jobs and uploads, and how it says that it cannot now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from situate.errors import SituateError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from decimal import Decimal

    from situate.manifest import Spent
    from situate.model import EnrichmentStatus, JsonValue
    from situate.pipeline.documents import Failed
    from situate.pipeline.written import Written

JobState = Literal["queued", "running", "done", "failed"]
"""`failed` says that the job as a whole met a mistake of situate's. A document that
fails is a value in a job that is done."""

EventKind = Literal["queued", "running", "document", "done", "failed"]

ResultKind = Literal["chunks", "blocks"]


class TryLater(SituateError):
    """There is no room now; nothing was taken in.

    `retry_after_seconds` says when it is worth asking again.
    """

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class QueueFull(TryLater):
    """So many jobs or bytes are kept that no more are taken."""


class Busy(TryLater):
    """So many uploads are at work and wait that no more are taken."""


class JobsBroken(SituateError):
    """The database of jobs cannot be read or written; nothing half is in it."""


class NotDone(SituateError):
    """The result of a job is asked for before there is all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is kept; beyond it jobs are refused (`QueueFull`)."""

    open_jobs: int = 100
    """Jobs that are queued or running, of all owners."""
    open_jobs_each: int = 20
    """The same, of one owner."""
    stored_bytes: int = 4 * 1024**3
    """Documents that wait and results that are kept, of all owners. What comes of
    documents that were taken in is kept, also beyond it."""
    stored_bytes_each: int = 1024**3
    """The same, of one owner."""
    kept_seconds: int = 24 * 60 * 60
    """How long a job is kept after it has ended; then all of it is removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A document that failed, by its place in the job."""

    ordinal: int
    """From 0."""
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A job as it stands."""

    job_id: str
    """Nobody guesses it: 128 random bits as hex digits."""
    owner: str
    corpus: str
    state: JobState
    documents: int
    finished: int
    """Of them, failed ones included."""
    failed: int
    chunks: int
    """Records so far, parents included."""
    outcomes: Mapping[str, int]
    """Chunks by what became of the wish for a statement: the status, or status and
    reason as in `fallback:language`."""
    spent: Spent
    """By this job, over all restarts; `stopped` is of the last time it was worked on.
    """
    failures: tuple[Failure, ...]
    """The first hundred; events name all."""
    reason: str | None
    """Why it failed as a whole."""
    created: datetime
    """In UTC, as all times."""
    ended: datetime | None
    expires: datetime | None
    """When a job that has ended is removed; None while it has not."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in {"done", "failed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a job."""

    number: int
    """Counts up from 1 within the job, without a gap."""
    kind: EventKind
    data: Mapping[str, JsonValue]
    """For a `document`: `ordinal`, `name`, `doc_id`, `status` (`done`, `failed`),
    `chunks`, `reason`. For all others the counts of the job: `documents`, `finished`,
    `failed`, `chunks`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What became of one upload."""

    outcome: Written | Failed
    """`Written.chunks` are its lines as `situate run` writes them."""
    spent: Spent
    """`stopped` says why statements are missing, where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusView:
    """A corpus as it is served."""

    name: str
    provider: str | None
    """None where nobody is asked."""
    model: str | None
    max_usd: Decimal | None
    """For each job and each upload."""
    max_usd_month: Decimal | None
    """For all of them together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFigures:
    """What was done for a corpus since the engine started; counts only grow."""

    documents: int
    failed: int
    outcomes: Mapping[tuple[EnrichmentStatus, str | None], int]
    """Chunks by what became of the wish for a statement, and why."""
    spent: Spent
    trouble: str | None
    """Why nobody could be asked the last time: a wrong key, an outage, a cache that
    cannot be written. None once an answer came again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFigures:
    """What an engine is at, and what it has done since it started."""

    uploads_at_work: int
    uploads_waiting: int
    jobs_at_work: int
    corpora: Mapping[str, CorpusFigures]
    trouble: str | None = None
    """Why jobs are not worked on: the database of jobs cannot be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsFigures:
    """What is kept of jobs."""

    by_state: Mapping[JobState, int] = field(default_factory=dict)
    stored_bytes: int = 0
