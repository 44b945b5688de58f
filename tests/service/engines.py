"""Engines over corpora of agreements, with processes or without."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from situate.config import load
from situate.pipeline.handed import Handed
from situate.service.engine.engine import Engine
from situate.service.jobs.jobs import Jobs
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, asking

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from situate.corpus import Source
    from situate.pipeline.documents import Preparer
    from situate.pipeline.pool import Crew
    from situate.service.engine.engine import EngineSettings
    from situate.service.values import Cut, JobView

_T = TypeVar("_T")

SECTIONS = 4
PATIENCE_SECONDS = 20


class Here:
    """Stands for a pool of processes, which take a second to start: uses threads."""

    def __init__(self, crew: Crew, processes: int) -> None:
        self._preparers = {name: crew.preparer(name) for name in crew.configs}
        self._threads = ThreadPoolExecutor(processes)

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def kill(self) -> None:
        """Leave them to their end: threads cannot be killed."""

    def submit(
        self, work: Callable[[Preparer, Source], _T], corpus: str, source: Source
    ) -> Future[_T]:
        """Hand a document to a thread."""
        return self._threads.submit(work, self._preparers[corpus], source)

    def result(self, future: Future[_T], *_: object) -> _T:
        """Wait for a document."""
        return future.result()


def agreements(count: int, *, first: int = 0) -> list[Handed]:
    """Give documents, the same ones as `corpus_of` writes."""
    return [
        Handed(name=f"{n:03}.md", content=agreement(n, SECTIONS).encode())
        for n in range(first, first + count)
    ]


def corpus_of(
    folder: Path, documents: Sequence[Handed], *, name: str = "handbook", **keys: Any
) -> Corpus:
    """Write a corpus of documents; with `keys` of section `enrichment` it is asked."""
    folder.mkdir(exist_ok=True)
    corpus = Corpus(folder=folder, name=name)
    for document in documents:
        corpus.document(document.name, document.content)
    sections: dict[str, dict[str, object]] = {"cache": {"directory": "cache"}}
    if keys:
        sections["enrichment"] = asking(
            keys.pop("address"), **{"endpoint": "mock", "view": "full", **keys}
        )
    return corpus.configure(**sections)


@contextmanager
def engine_of(
    corpora: Sequence[Corpus], jobs: Jobs, settings: EngineSettings | None = None
) -> Iterator[Engine]:
    """Start an engine; it is given a second to stop when the block ends."""
    configs = load([corpus.config for corpus in corpora], environment={})
    engine = Engine(configs, jobs, settings)
    engine.start()
    try:
        yield engine
    finally:
        engine.stop(1)


@contextmanager
def served(
    *corpora: Corpus, settings: EngineSettings | None = None
) -> Iterator[tuple[Engine, Jobs]]:
    """Serve corpora out of the state directory beside the first."""
    with (
        closing(Jobs(corpora[0].folder / "state")) as jobs,
        engine_of(corpora, jobs, settings) as engine,
    ):
        yield engine, jobs


def within(work: Coroutine[Any, Any, _T]) -> _T:
    """Run work that must not take long."""

    async def patient() -> _T:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await work

    return asyncio.run(patient())


async def upload(
    engine: Engine, corpus: str, document: Handed, *, statements: bool = True
) -> Cut:
    """Hand over a document and wait for what comes of it."""
    with engine.place() as place:
        return await place.chunk(corpus, document, statements=statements)


def done(jobs: Jobs, view: JobView) -> JobView:
    """Wait for the end of a job and give it."""

    async def follow() -> None:
        async for _ in jobs.follow(view.job_id):
            pass

    within(follow())
    found = jobs.get(view.job_id, view.owner)
    assert found is not None
    assert found.is_over
    return found


def eventually(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    latest = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < latest, "it did not come to that"
        time.sleep(0.005)


def lines(jobs: Jobs, view: JobView) -> bytes:
    """Give all that came of a job."""
    return b"".join(jobs.result(view.job_id))
