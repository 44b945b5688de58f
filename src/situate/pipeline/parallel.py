"""Reads, cuts and writes the documents of a corpus on all processors.

Worth its start only for a corpus of some size: a process takes a second to load what
it needs. Documents come out in the order they went in, and no more of them wait
than the processes need to stay busy.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

from situate.pipeline.pool import Crew, Pool
from situate.pipeline.written import write_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from situate.config import Config
    from situate.corpus import Source
    from situate.pipeline.documents import Failed, Preparer
    from situate.pipeline.written import Written

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
    processes = min(processors(), len(sources))
    if processes < 2 or _bytes(sources) < SMALLEST:
        for source in sources:
            yield write_one(preparer, source)
        return
    name = config.corpus.name
    crew = Crew(configs={name: config}, deleted={name: preparer.deleted})
    with Pool(crew, processes) as pool:
        waiting: deque[tuple[Source, Future[Written | Failed]]] = deque()
        for source in sources:
            waiting.append((source, pool.submit(write_one, name, source)))
            if len(waiting) > _AHEAD * processes:
                first, future = waiting.popleft()
                yield pool.result(future, write_one, name, first)
        for first, future in waiting:
            yield pool.result(future, write_one, name, first)


def processors() -> int:
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
