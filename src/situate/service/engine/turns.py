"""One turn of a job: some of its documents, or all of them, and what they cost."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.manifest import NOTHING_SPENT
from situate.pipeline.documents import Failed, Preparer
from situate.pipeline.written import write_one, written
from situate.service.engine.cutting import Documents
from situate.service.jobs.spending import committed, together
from situate.service.values import JobsBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from situate.manifest import Spent
    from situate.model import Chunk
    from situate.pipeline.documents import Prepared
    from situate.pipeline.pool import Pool
    from situate.pipeline.stage import Standing
    from situate.pipeline.written import Written
    from situate.service.engine.books import Books
    from situate.service.engine.served import Served
    from situate.service.jobs.worklist import Claimed, Worklist

_NOTED_SECONDS = 0.2
"""How often it is noted what a job has spent, beside every document that is done. A
service that is killed forgets at most what was answered since, and what was on the
wire; what all spend in a month is noted before it is spent."""

_WRITTEN_SECONDS = 0.2
_WRITTEN_BYTES = 1024 * 1024
"""Of documents that nobody is asked about and that are kept together: a disk takes
longer to say that something is there than they take to be cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """What turns of jobs are worked with."""

    served: Mapping[str, Served]
    worklist: Worklist
    pool: Pool
    books: Books


class Turn:
    """A job at work."""

    def __init__(self, claimed: Claimed, place: Workplace) -> None:
        self._claimed = claimed
        self._served = place.served[claimed.corpus]
        self._worklist = place.worklist
        self._pool = place.pool
        self._books = place.books
        self._broken: JobsBroken | None = None
        self._is_gone = False

    async def work(self, *, is_over: Callable[[], bool]) -> None:
        """Work until all documents are done, or no more are to be begun.

        Raises:
            JobsBroken: what came of documents cannot be kept; they will be done again,
                and what was answered about them is not paid for again.
            Locked: the ledger of the corpus is being rewritten.
        """

        def ends() -> bool:
            return self._is_gone or self._broken is not None or is_over()

        if self._served.provider is None:
            await self._cut(ends)
        else:
            await self._ask(ends)
        if self._broken is not None:
            raise self._broken

    async def _cut(self, is_over: Callable[[], bool]) -> None:
        """Work where nobody is asked."""
        documents = Documents(
            self._claimed, self._worklist, self._pool, work=write_one, is_over=is_over
        )
        ready: list[Written | Failed] = []
        waiting_bytes, since = 0, time.monotonic()
        for source in documents:
            outcome = await asyncio.to_thread(documents.outcome, source)
            ready.append(outcome)
            if not isinstance(outcome, Failed):
                waiting_bytes += len(outcome.chunks) + len(outcome.blocks)
            waited = time.monotonic() - since
            if waited > _WRITTEN_SECONDS or waiting_bytes > _WRITTEN_BYTES:
                self._keep(documents, ready, NOTHING_SPENT)
                ready.clear()
                waiting_bytes, since = 0, time.monotonic()
        if ready:
            self._keep(documents, ready, NOTHING_SPENT)
        self._broken = self._broken or documents.broken

    async def _ask(self, is_over: Callable[[], bool]) -> None:
        """Work where statements are asked for."""
        documents = Documents(
            self._claimed,
            self._worklist,
            self._pool,
            work=Preparer.outcome,
            is_over=is_over,
        )
        session = self._books.opened()
        before = self._claimed.spent
        async with self._served.stage.standing(
            self._served.throttle, committed(before)
        ) as standing:

            def write(outcome: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
                whole: Written | Failed
                if isinstance(outcome, Failed):
                    whole = outcome
                else:
                    whole = written(outcome, chunks)
                self._keep(documents, [whole], standing.spent)

            work = asyncio.create_task(standing.work(documents, write, documents))
            try:
                await self._until(work, standing, session)
            finally:
                # Called off from outside, or by a job that is there no more.
                work.cancel()
                await asyncio.wait([work])
                self._note(standing.spent, session, ends=True)
        self._broken = self._broken or documents.broken
        if not work.cancelled():
            work.result()

    async def _until(
        self, work: asyncio.Task[None], standing: Standing, session: int
    ) -> None:
        """Note what is spent until the work is done, or nobody wants it any more."""
        while not work.done():
            await asyncio.wait([work], timeout=_NOTED_SECONDS)
            self._note(standing.spent, session, ends=False)
            if self._is_gone:
                return

    def _note(self, spent: Spent, session: int, *, ends: bool) -> None:
        """Write down what was spent, where that is there still and can be."""
        corpus, number = self._claimed.corpus, self._claimed.number
        self._books.spend(corpus, session, spent, ends=ends)
        try:
            total = together(self._claimed.spent, spent)
            self._is_gone = not self._worklist.spend(number, total)
        except JobsBroken as error:
            self._broken = self._broken or error

    def _keep(
        self,
        documents: Documents[Prepared] | Documents[Written],
        outcomes: Sequence[Written | Failed],
        spent: Spent,
    ) -> None:
        """Keep what came of documents; what cannot be kept ends the turn.

        Those under way are finished all the same: their answers are kept elsewhere.
        """
        done = [(documents.ordinals.popleft(), outcome) for outcome in outcomes]
        if self._broken is not None or self._is_gone:
            return
        try:
            self._is_gone = not self._worklist.finish(
                self._claimed.number, done, together(self._claimed.spent, spent)
            )
        except JobsBroken as error:
            self._broken = error
            return
        for outcome in outcomes:
            self._books.document(self._claimed.corpus, outcome)
