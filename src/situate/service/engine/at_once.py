"""Uploads, as many at a time as are wanted, in the engine's loop."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from situate.errors import ConfigError, Locked, ReadError
from situate.manifest import NOTHING_SPENT
from situate.pipeline.documents import Failed
from situate.pipeline.handed import source_of
from situate.pipeline.written import written
from situate.service.engine.causes import cause
from situate.service.engine.cutting import Elsewhere
from situate.service.engine.served import Silent
from situate.service.values import Busy, Cut

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from situate.corpus import Source
    from situate.model import Chunk
    from situate.pipeline.documents import Prepared
    from situate.pipeline.handed import Handed
    from situate.pipeline.pool import Pool
    from situate.pipeline.watching import Forecast
    from situate.pipeline.written import Written
    from situate.service.engine.books import Books
    from situate.service.engine.served import Served

_Result = TypeVar("_Result")

_Key: TypeAlias = "tuple[str, bool, str] | None"
"""What is one upload's work and may be another's; None where it is nobody else's."""

_RETRY_SECONDS = 5
"""After which there may be room: an upload takes seconds."""


STOPPING = "is stopping"
FULL = "is at work on as many uploads as it takes"
_REWRITING = "cannot note what it asks while the ledger is being rewritten"


def busy(why: str) -> Busy:
    """Say why nothing is taken now."""
    message = f"the service {why}; ask again in {_RETRY_SECONDS} seconds"
    return Busy(message, retry_after_seconds=_RETRY_SECONDS)


def _identity(handed: Handed) -> str:
    """Hash a document and all that is said of it."""
    said = [handed.name, handed.doc_id, handed.version, dict(handed.metadata)]
    hashed = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    hashed.update(handed.content)
    return hashed.hexdigest()


class Uploads:
    """Documents that somebody waits for."""

    def __init__(
        self, served: Mapping[str, Served], pool: Pool, books: Books, *, most: int
    ) -> None:
        """Work on at most so many at a time; the others wait, first come first."""
        self._served = served
        self._pool = pool
        self._books = books
        self._free = asyncio.Semaphore(most)
        self._waiting: set[asyncio.Task[object]] = set()
        self._at_work: set[asyncio.Task[object]] = set()
        self._equal: dict[_Key, asyncio.Task[Any]] = {}
        """What is worked on, by what it is."""
        self._is_stopping = False

    @property
    def at_work(self) -> int:
        """How many are worked on."""
        return len(self._at_work)

    @property
    def waiting(self) -> int:
        """How many wait for others."""
        return len(self._waiting)

    async def chunk(self, corpus: str, handed: Handed, *, statements: bool) -> Cut:
        """Cut a document, and ask about it where the corpus and the caller want it.

        Raises:
            Busy: there is no time for it any more, or the ledger is being rewritten.
            ConfigError: the corpus is not served.
            ReadError: the document has no name, or what is said of it is wrong.
        """
        served = self._of(corpus)
        source = source_of(handed)
        asks = statements and served.provider is not None

        def work() -> Coroutine[None, None, Cut]:
            if asks:
                return self._asked(corpus, served, source)
            return self._unasked(corpus, source)

        # A client that lost its patience asks again while its first is at work.
        return await self._in_turn(work, (corpus, asks, _identity(handed)))

    async def plan(self, corpus: str, handed: Sequence[Handed]) -> Forecast:
        """Say what asking about documents would cost; send nothing.

        Raises:
            SituateError: two documents name one id; and as `chunk` does.
        """
        served = self._of(corpus)
        sources = [source_of(each) for each in handed]
        names = [source.doc_id for source in sources]
        if doubled := next((name for name in names if names.count(name) > 1), None):
            message = f"{doubled}: another document has that name"
            raise ReadError(message)
        return await self._in_turn(lambda: self._planned(corpus, served, sources))

    async def end(self, grace_seconds: float) -> None:
        """Send those away who wait, finish the others within the time."""
        self._is_stopping = True
        for task in self._waiting:
            task.cancel()
        for seconds in (grace_seconds, None):
            if self._at_work:
                await asyncio.wait(self._at_work, timeout=seconds)
            for task in self._at_work:
                task.cancel()

    def _of(self, corpus: str) -> Served:
        if corpus not in self._served:
            message = f"corpus {corpus!r} is not served"
            raise ConfigError(message)
        return self._served[corpus]

    async def _in_turn(
        self, work: Callable[[], Coroutine[None, None, _Result]], key: _Key = None
    ) -> _Result:
        """Do work when others are done with theirs; where equal work is done, wait.

        Who is called off before that has begun nothing. Afterwards it is finished all
        the same, so that what it pays for is kept for when it is asked for again.
        """
        task: asyncio.Task[_Result] | None = self._equal.get(key)
        if task is None:
            await self._wait()
            task = self._equal.get(key)
            if task is None:
                task = asyncio.create_task(work())
                self._begin(task, key)
            else:
                self._free.release()
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise busy(STOPPING) from None
            raise
        except BaseExceptionGroup as group:
            raise cause(group) from group
        except Locked as error:
            raise busy(_REWRITING) from error

    async def _wait(self) -> None:
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - coroutines run in tasks
        self._waiting.add(this)
        try:
            await self._free.acquire()
        except asyncio.CancelledError:
            if self._is_stopping:
                raise busy(STOPPING) from None
            raise
        finally:
            self._waiting.discard(this)

    def _begin(self, task: asyncio.Task[Any], key: _Key) -> None:
        self._at_work.add(task)
        if key is not None:
            self._equal[key] = task

        def done(task: asyncio.Task[Any]) -> None:
            self._at_work.discard(task)
            if key is not None:
                del self._equal[key]
            self._free.release()
            if not task.cancelled():
                # Where nobody waits any more, nobody is to be told either.
                task.exception()

        task.add_done_callback(done)

    async def _unasked(self, corpus: str, source: Source) -> Cut:
        elsewhere = Elsewhere(pool=self._pool, corpus=corpus)
        outcome = await asyncio.to_thread(elsewhere.written, source)
        self._books.document(corpus, outcome)
        return Cut(outcome=outcome, spent=NOTHING_SPENT)

    async def _asked(self, corpus: str, served: Served, source: Source) -> Cut:
        outcomes: list[Written | Failed] = []

        def write(outcome: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
            if isinstance(outcome, Failed):
                outcomes.append(outcome)
            else:
                outcomes.append(written(outcome, chunks))

        elsewhere = Elsewhere(pool=self._pool, corpus=corpus)
        session = self._books.opened()
        async with served.stage.standing(served.throttle) as standing:
            try:
                await standing.work([source], write, elsewhere)
            finally:
                spent = standing.spent
                self._books.spend(corpus, session, spent, ends=True)
        (outcome,) = outcomes
        self._books.document(corpus, outcome)
        return Cut(outcome=outcome, spent=spent)

    async def _planned(
        self, corpus: str, served: Served, sources: Sequence[Source]
    ) -> Forecast:
        elsewhere = Elsewhere(pool=self._pool, corpus=corpus)
        at_hand: dict[Path, Prepared | Failed] = {}
        for source in sources:
            at_hand[source.path] = await asyncio.to_thread(elsewhere.outcome, source)
        preparer = replace(served.job.preparer, at_hand=at_hand)
        job = replace(served.job, preparer=preparer)
        return await asyncio.to_thread(job.forecast, sources, Silent())
