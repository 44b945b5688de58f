"""Keeps a model busy while documents come out in order.

Documents are read ahead until enough chunks wait for their statements, and no
further: memory holds the largest document and a window of small ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.pipeline.documents import Failed, Ids, Prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from situate.corpus import Source
    from situate.enrichment.live import Session
    from situate.model import Chunk
    from situate.pipeline.documents import Preparer

_AHEAD = 4
"""Chunks waiting for each request that may be under way. With fewer, requests
run dry while a document is read; with more, memory grows and nothing else."""

_HELD = 16
"""As many times that may be finished and held back by a slow document above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A document on its way; a failed one has nothing to wait for."""

    document: Prepared | Failed
    statements: asyncio.Task[Sequence[Chunk]] | None

    @property
    def done(self) -> bool:
        return self.statements is None or self.statements.done()

    @property
    def size(self) -> int:
        return len(self.document.chunks) if isinstance(self.document, Prepared) else 1


async def enrich_in_order(
    sources: Sequence[Source],
    preparer: Preparer,
    session: Session,
    *,
    concurrency: int,
    write: Callable[[Prepared | Failed, Sequence[Chunk]], None],
) -> None:
    """Prepare documents, ask for statements, and write in the order of `sources`.

    Raises:
        SituateError: two documents name one id, or no request can succeed.
    """
    ids = Ids()
    window: deque[_Waiting] = deque()
    limit = _AHEAD * concurrency
    async with asyncio.TaskGroup() as group:
        for source in sources:
            # Elsewhere than in the loop, which has replies to take in.
            outcome = await asyncio.to_thread(preparer.outcome, source)
            ids.add(outcome)
            task = None
            if isinstance(outcome, Prepared):
                task = group.create_task(
                    session.enrich(outcome.document, outcome.chunks)
                )
            window.append(_Waiting(document=outcome, statements=task))
            await _make_room(window, limit, write)
        await _make_room(window, -1, write)


async def _make_room(
    window: deque[_Waiting],
    limit: int,
    write: Callable[[Prepared | Failed, Sequence[Chunk]], None],
) -> None:
    """Write what is done at the head; wait while too much is under way.

    The first unfinished document does not count, so that the next one is there
    to fill the gaps while its last requests end.
    """
    while window:
        while window and window[0].done:
            head = window.popleft()
            write(head.document, head.statements.result() if head.statements else ())
        unfinished = [waiting for waiting in window if not waiting.done]
        ahead = sum(waiting.size for waiting in unfinished[1:])
        held = sum(waiting.size for waiting in window if waiting.done)
        if not window or (ahead <= limit and held <= _HELD * limit):
            return
        await asyncio.wait(
            [waiting.statements for waiting in unfinished if waiting.statements],
            return_when=asyncio.FIRST_COMPLETED,
        )
