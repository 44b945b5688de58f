"""Works on uploads and jobs: a thread with a loop of its own, where all asking is done.

Callers stand in other threads and loops. What they hand over waits in places that are
counted, or in the database of jobs; nothing else grows.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from situate.errors import AuthenticationFailed, SituateError
from situate.pipeline.pool import Crew, Pool
from situate.service.engine.at_once import FULL, STOPPING, Uploads, busy
from situate.service.engine.books import Books
from situate.service.engine.schedule import Schedule
from situate.service.engine.served import serve
from situate.service.engine.turns import Workplace
from situate.service.jobs.worklist import Worklist
from situate.service.values import EngineFigures

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from situate.config import Config
    from situate.pipeline.handed import Handed
    from situate.pipeline.watching import Forecast
    from situate.service.jobs.jobs import Jobs
    from situate.service.values import CorpusView, Cut

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How much is done at once."""

    uploads: int = 8
    """Uploads at work."""
    waiting: int = 32
    """Uploads that wait for others; beyond, `Busy`."""
    jobs: int = 2
    """Jobs at work."""
    processes: int = 2
    """Processes that read and cut."""
    document_seconds: float = 300.0
    """A document may take so long to be read and cut; then it has failed."""
    process_bytes: int = 4 * 1024**3
    """So much memory a process that reads and cuts may ask for."""
    turn_seconds: float = 10.0
    """After which a job at work lets jobs of other owners come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """An engine at work."""

    loop: asyncio.AbstractEventLoop
    pool: Pool
    uploads: Uploads
    schedule: Schedule
    stopped: asyncio.Future[float]
    """With how much grace, in seconds."""


class Engine:
    """Serves corpora; may be used from any thread and any loop."""

    def __init__(
        self,
        configs: Sequence[Config],
        jobs: Jobs,
        settings: EngineSettings | None = None,
    ) -> None:
        """Find out, before any work, whether the corpora can be served.

        Raises:
            ConfigError: a config cannot be used; `enrichment.max_usd_month` is
                missing for a model that costs money.
        """
        self._settings = settings or EngineSettings()
        self._served = serve(configs)
        self._jobs = jobs
        self._books = Books(self._served)
        # A process that ends without a word to it is one that is killed.
        self._thread = threading.Thread(
            target=self._run, name="situate engine", daemon=True
        )
        self._running: Future[_Running] = Future()
        self._is_stopping = False
        self._taken = 0
        # Keeps two callers from taking the last place, and others from handing
        # anything to a loop that ends.
        self._door = threading.Lock()

    def start(self) -> None:
        """Begin to work, on jobs too that a service before this one left open.

        Raises:
            SituateError: it cannot; why stands in the log.
        """
        for name, served in self._served.items():
            if served.provider is not None:
                try:
                    served.provider.check()
                except AuthenticationFailed as error:
                    self._books.trouble(name, f"authentication: {error}")
        self._thread.start()
        self._running.result()

    def stop(self, grace_seconds: float) -> None:
        """End: begin nothing new, and finish what is under way within the time.

        What is not finished then is called off. Of jobs it waits for the next start,
        and of what was answered about it nothing is asked again. Blocks until then.
        One that was never started has ended.
        """
        if not self._thread.is_alive():
            return
        running = self._running.result()
        with self._door:
            is_first, self._is_stopping = not self._is_stopping, True
        if is_first:
            running.loop.call_soon_threadsafe(running.stopped.set_result, grace_seconds)
        self._thread.join()

    @contextmanager
    def place(self) -> Iterator[Place]:
        """Take a place for an upload, before its body is read.

        Raises:
            Busy: all are taken, or the engine is stopping.
        """
        with self._door:
            if self._is_stopping:
                raise busy(STOPPING)
            if self._taken >= self._settings.uploads + self._settings.waiting:
                raise busy(FULL)
            self._taken += 1
        try:
            yield Place(self)
        finally:
            with self._door:
                self._taken -= 1

    async def in_loop(
        self, work: Callable[[Uploads], Coroutine[None, None, _Result]]
    ) -> _Result:
        """Have something done where all asking is; to call this off calls that off.

        Raises:
            Busy: the engine is stopping. And whatever `work` raises.
        """
        running = self._running.result()
        with self._door:
            if self._is_stopping:
                raise busy(STOPPING)
            future = asyncio.run_coroutine_threadsafe(
                work(running.uploads), running.loop
            )
        return await asyncio.wrap_future(future)

    @property
    def corpora(self) -> tuple[CorpusView, ...]:
        """What is served, by name."""
        return tuple(self._served[name].view for name in sorted(self._served))

    @property
    def is_alive(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive() and not self._is_stopping

    def figures(self) -> EngineFigures:
        """Say what it is at and what it has done."""
        running = self._running.result()
        return EngineFigures(
            uploads_at_work=running.uploads.at_work,
            uploads_waiting=running.uploads.waiting,
            jobs_at_work=running.schedule.at_work,
            corpora=self._books.figures(),
            trouble=running.schedule.trouble,
        )

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        finally:
            if not self._running.done():
                message = "the engine of the service cannot start"
                self._running.set_exception(SituateError(message))

    async def _work(self) -> None:
        settings, served = self._settings, self._served
        loop = asyncio.get_running_loop()
        # Each waits for a process that cuts, or for the database.
        threads = settings.uploads + settings.jobs + 2
        loop.set_default_executor(ThreadPoolExecutor(threads))
        crew = Crew(
            configs={name: each.job.config for name, each in served.items()},
            deleted={name: each.job.preparer.deleted for name, each in served.items()},
            most_seconds=settings.document_seconds,
            most_bytes=settings.process_bytes,
        )
        with Pool(crew, settings.processes) as pool:
            place = Workplace(
                served=served,
                worklist=Worklist(self._jobs),
                pool=pool,
                books=self._books,
            )
            running = _Running(
                loop=loop,
                pool=pool,
                uploads=Uploads(served, pool, self._books, most=settings.uploads),
                schedule=Schedule(
                    place,
                    self._jobs,
                    most=settings.jobs,
                    turn_seconds=settings.turn_seconds,
                ),
                stopped=loop.create_future(),
            )
            self._running.set_result(running)
            await self._until_stopped(running)

    async def _until_stopped(self, running: _Running) -> None:
        working = asyncio.create_task(running.schedule.work())
        # A schedule ends by itself only when something is wrong with it.
        ends: list[asyncio.Future[Any]] = [working, running.stopped]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        with self._door:
            self._is_stopping = True
        grace = running.stopped.result() if running.stopped.done() else 0.0
        await asyncio.gather(running.uploads.end(grace), running.schedule.end(grace))
        # What is being cut for nobody any more is not waited for.
        running.pool.kill()
        for served in self._served.values():
            if served.provider is not None:
                await served.provider.provider.close()
        await asyncio.wait([working])
        if not working.cancelled():
            working.result()


class Place:
    """A place for one upload."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def chunk(self, corpus: str, handed: Handed, *, statements: bool) -> Cut:
        """Cut a document, and ask about it where the corpus and the caller want it.

        A caller that is called off while it waits takes nothing; once at work the
        upload is finished, so that what it paid for is kept.

        Raises:
            Busy: the engine is stopping, or the corpus's ledger is being rewritten.
            ConfigError: the corpus is not served.
            ReadError: the document has no name, or what is said of it is wrong.
        """
        return await self._engine.in_loop(
            lambda uploads: uploads.chunk(corpus, handed, statements=statements)
        )

    async def plan(self, corpus: str, handed: Sequence[Handed]) -> Forecast:
        """Say what asking about documents would cost; send nothing.

        Raises:
            SituateError: two documents name one id; and as `chunk` does.
        """
        return await self._engine.in_loop(lambda uploads: uploads.plan(corpus, handed))
