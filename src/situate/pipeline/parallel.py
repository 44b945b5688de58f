"""Reads, cuts and writes the documents of a corpus on all processors.

Worth its start only for a corpus of some size: a process takes a second to load what
it needs. Documents come out in the order they went in, and no more of them wait
than the processes need to stay busy. A document that ends its process, which only a
parser written in C can do, is the one that fails.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import TYPE_CHECKING, Any

from situate.pipeline.documents import Failed, Prepared, Preparer
from situate.pipeline.written import Written, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from situate.config import Config
    from situate.corpus import Source

SMALLEST = 16 * 1024 * 1024
"""Bytes of a corpus from which several processes are faster than one."""

_AHEAD = 4
"""Documents on their way for each process."""


def write_all(
    sources: Sequence[Source], preparer: Preparer, config: Config
) -> Iterator[Written | Failed]:
    """Read, cut and write documents; a bad one is a value.

    Processes are spawned: a script that calls this runs it below
    `if __name__ == "__main__"`.
    """
    processes = min(_processors(), len(sources))
    if processes < 2 or _bytes(sources) < SMALLEST:
        for source in sources:
            yield _write(preparer, source)
        return
    with _Pool(config, preparer.deleted, processes) as pool:
        waiting: deque[tuple[Source, Future[Written | Failed]]] = deque()
        for source in sources:
            waiting.append((source, pool.submit(source)))
            if len(waiting) > _AHEAD * processes:
                yield pool.result(*waiting.popleft())
        while waiting:
            yield pool.result(*waiting.popleft())


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


@dataclass(slots=True)
class _Pool:
    """Processes that are replaced when a document ends one."""

    config: Config
    deleted: Mapping[str, str]
    processes: int
    context: _Context = field(init=False)
    executor: ProcessPoolExecutor = field(init=False)
    alone: ProcessPoolExecutor | None = None
    """For documents that were in the hands of a process that died."""

    def __post_init__(self) -> None:
        # Nothing of this process, its threads and locks, is to be copied.
        self.context = _Context()
        self.executor = self._started(self.processes)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:
            # Nobody waits for what they are at, and least of all twice.
            self.context.kill()
        for executor in (self.executor, self.alone):
            if executor is not None:
                executor.shutdown(cancel_futures=True)

    def submit(self, source: Source) -> Future[Written | Failed]:
        """Hand a document to a process."""
        try:
            return self.executor.submit(_work, source)
        except BrokenProcessPool:
            self.executor.shutdown(cancel_futures=True)
            self.executor = self._started(self.processes)
            return self.executor.submit(_work, source)

    def result(
        self, source: Source, future: Future[Written | Failed]
    ) -> Written | Failed:
        """Wait for a document; one of a broken pool is tried once more, alone."""
        try:
            return future.result()
        except BrokenProcessPool:
            pass
        if self.alone is None:
            self.alone = self._started(1)
        try:
            return self.alone.submit(_work, source).result()
        except BrokenProcessPool:
            self.alone = None
            reason = (
                f"{source.doc_id}: the process that read it ended, twice; it is "
                "damaged, or too large for the memory there is"
            )
            return Failed(source=source, reason=reason)

    def _started(self, processes: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            processes,
            mp_context=self.context,
            initializer=_start,
            initargs=(self.config, self.deleted),
        )


_preparer: Preparer | None = None
"""What a process of the pool reads and cuts with, made once when it starts."""


def _start(config: Config, deleted: Mapping[str, str]) -> None:
    global _preparer  # noqa: PLW0603 - a pool's processes have no other place for it
    # Whoever interrupts a run ends it in the process that writes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, daemon=True).start()
    _preparer = replace(Preparer.of(config), deleted=deleted)


def _follow() -> None:
    """End with the process that started this one, however it ends."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work(source: Source) -> Written | Failed:
    assert _preparer is not None  # noqa: S101 - `_start` has run
    return _write(_preparer, source)


def _write(preparer: Preparer, source: Source) -> Written | Failed:
    outcome = preparer.outcome(source)
    if isinstance(outcome, Prepared):
        return written(outcome, outcome.chunks)
    return outcome


def _processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _bytes(sources: Sequence[Source]) -> int:
    total = 0
    for source in sources:
        try:
            total += source.path.stat().st_size
        except OSError:
            continue  # Reading it will say why.
    return total
