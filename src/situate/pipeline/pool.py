"""Processes that read and cut documents, and are replaced when one ends them.

Only a parser written in C can end a process: the document that does so twice is the
one that fails. Processes are spawned: a script that comes to use this runs it below
`if __name__ == "__main__"`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import TYPE_CHECKING, Any, TypeVar

from situate.pipeline.documents import Failed, Preparer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from situate.config import Config
    from situate.corpus import Source

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """The corpora that processes work for; sent to each as it starts."""

    configs: Mapping[str, Config]
    """By the name of the corpus."""
    deleted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Ids that manifests delete, and where, by the name of the corpus."""
    most_seconds: float | None = None
    """A document that takes longer ends its process, whatever it is at."""
    most_bytes: int | None = None
    """So much memory a process may ask for; one that gets none ends."""

    def preparer(self, corpus: str) -> Preparer:
        """Make what reads and cuts the documents of a corpus.

        Raises:
            ConfigError: the tokenizer cannot be loaded.
        """
        preparer = Preparer.of(self.configs[corpus])
        return replace(preparer, deleted=self.deleted.get(corpus, {}))


class _Context(SpawnContext):
    """Starts processes and remembers them."""

    def __init__(self) -> None:
        self._started: list[SpawnProcess] = []

    def Process(self, *given: Any, **named: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802 - the name that executors call; a class in the standard library
        """Make a process that has not been started yet."""
        process = SpawnProcess(*given, **named)
        self._started.append(process)
        return process

    def kill(self) -> None:
        """End all of them at once."""
        for process in self._started:
            if process.pid is not None:
                process.kill()


class Pool:
    """Processes at work; may be used by several threads."""

    def __init__(
        self, crew: Crew, processes: int, *, documents_each: int | None = None
    ) -> None:
        """Start so many processes, each replaced after so many documents."""
        # Nothing of this process, its threads and locks, is to be copied.
        self._context = _Context()
        self._crew = crew
        self._processes = processes
        self._documents_each = documents_each
        self._executor = self._started(processes)
        self._alone: ProcessPoolExecutor | None = None
        """For documents that were in the hands of a process that died."""
        # Keeps a broken executor from being replaced by two threads.
        self._replacing = threading.Lock()
        # Keeps documents that are tried once more from each other.
        self._retrying = threading.Lock()
        self._is_over = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            # Nobody waits for what they are at, and least of all twice.
            self.kill()
        for executor in (self._executor, self._alone):
            if executor is not None:
                executor.shutdown(cancel_futures=True)

    def kill(self) -> None:
        """End what is at work at once: nobody waits for it any more."""
        self._is_over = True
        self._context.kill()

    def submit(
        self, work: Callable[[Preparer, Source], _T], corpus: str, source: Source
    ) -> Future[_T]:
        """Hand a document to a process.

        Raises:
            CancelledError: the pool was killed.
        """
        with self._replacing:
            if self._is_over:
                raise CancelledError
            try:
                return self._executor.submit(_work, work, corpus, source)
            except BrokenProcessPool:
                self._executor.shutdown(cancel_futures=True)
                self._executor = self._started(self._processes)
                return self._executor.submit(_work, work, corpus, source)

    def result(
        self,
        future: Future[_T],
        work: Callable[[Preparer, Source], _T],
        corpus: str,
        source: Source,
    ) -> _T | Failed:
        """Wait for a document; one of a broken pool is tried once more, alone.

        Raises:
            CancelledError: the pool was killed meanwhile.
        """
        try:
            return future.result()
        except BrokenProcessPool:
            if self._is_over:
                raise CancelledError from None
        # One at a time, so that the one that ends a process is known; nobody who
        # hands a document over waits for it.
        with self._retrying:
            if self._alone is None:
                self._alone = self._started(1)
            try:
                return self._alone.submit(_work, work, corpus, source).result()
            except BrokenProcessPool:
                self._alone = None
        reason = (
            f"{source.doc_id}: the process that read it ended, twice; it is "
            "damaged, or too large for the memory or the time there is"
        )
        return Failed(source=source, reason=reason)

    def _started(self, processes: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            processes,
            mp_context=self._context,
            initializer=_start,
            initargs=(self._crew,),
            max_tasks_per_child=self._documents_each,
        )


_crew: Crew | None = None
"""Whom a process of the pool works for, told once when it starts."""

_preparers: dict[str, Preparer] = {}
"""What it reads and cuts with, by corpus, each made when it is first needed."""


def _start(crew: Crew) -> None:
    global _crew  # noqa: PLW0603 - a pool's processes have no other place for it
    # Whoever interrupts a run ends it in the process that writes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()
    if crew.most_bytes is not None and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (crew.most_bytes, crew.most_bytes))
    _crew = crew


def _follow() -> None:
    """End with the process that started this one, however it ends."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work(work: Callable[[Preparer, Source], _T], corpus: str, source: Source) -> _T:
    assert _crew is not None  # noqa: S101 - `_start` has run
    preparer = _preparers.get(corpus)
    if preparer is None:
        preparer = _preparers[corpus] = _crew.preparer(corpus)
    try:
        _ring(_crew.most_seconds or 0)
        return work(preparer, source)
    except MemoryError:
        # What little is left would not do for the next document.
        os._exit(1)
    finally:
        _ring(0)


def _ring(seconds: float) -> None:
    """Let the system end this process after a time, also inside a parser; 0: never."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)
