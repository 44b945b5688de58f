"""Jobs in a database: documents that wait, what came of them, and what happened.

Nothing of a job is in memory alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.service.values import Bounds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from pathlib import Path

    from situate.pipeline.handed import Handed
    from situate.service.values import Event, JobsFigures, JobView, ResultKind


class Jobs:
    """The jobs of one state directory; may be used by several threads."""

    def __init__(self, directory: Path, bounds: Bounds | None = None) -> None:
        """Open the directory, making it for its owner alone if it is missing.

        Raises:
            ConfigError: it cannot be used, or was written by another version.
            Locked: another service works on it.
        """

    def close(self) -> None:
        """Let go of the database and of the directory."""

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
        raise NotImplementedError

    def get(self, job_id: str, owner: str) -> JobView | None:
        """Give a job as it stands; None where the owner has none of that id.

        Raises:
            JobsBroken: the database cannot be read. So do all below.
        """
        raise NotImplementedError

    def listed(self, owner: str) -> tuple[JobView, ...]:
        """Give the jobs of an owner, the newest first."""
        raise NotImplementedError

    def events(self, job_id: str, after: int, limit: int = 100) -> tuple[Event, ...]:
        """Give what happened to a job after event number `after` (0: all)."""
        raise NotImplementedError

    def follow(self, job_id: str, after: int = 0) -> AsyncIterator[Event]:
        """Give what happens to a job, as it happens, after event number `after`.

        Ends when the job has ended or is removed. Waits without asking again and
        again; may be iterated in any loop.
        """
        raise NotImplementedError

    def result(
        self, job_id: str, kind: ResultKind = "chunks", *, partial: bool = False
    ) -> Iterator[bytes]:
        """Give what came of a job's documents, in their order, one piece for each.

        Joined they are JSON lines, equal to what `situate run` writes. With `partial`
        what there is so far; documents that failed have no lines.

        Raises:
            NotDone: the job has not ended, and `partial` was not asked for. Raised
                at once, before anything is iterated.
        """
        raise NotImplementedError

    def delete(self, job_id: str, owner: str) -> bool:
        """Remove every trace of a job, also of one at work; False if there is none."""
        raise NotImplementedError

    def figures(self) -> JobsFigures:
        """Say what is kept."""
        raise NotImplementedError
