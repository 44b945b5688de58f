"""Keeps a model busy while documents come out in order.

Documents are read ahead until enough requests wait for their turn, and no further:
memory holds the largest document and a window of small ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from situate.enrichment.live import Session
from situate.pipeline.documents import Failed, Ids, Prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence

    from situate.corpus import Source
    from situate.enrichment.asking import Held
    from situate.enrichment.cache import Cache
    from situate.enrichment.ledger import Ledger
    from situate.enrichment.live import Summary
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.throttle import Throttle
    from situate.model import Chunk, Enrichment
    from situate.pipeline.jobs import Job
    from situate.validity import Keep

    Write = Callable[[Prepared | Failed, Sequence[Chunk]], None]

_Result = TypeVar("_Result")

_AHEAD = 4
"""Requests waiting for each that may be under way. With fewer, they run dry while a
document is read; with more, memory grows and nothing else."""

_CHUNKS_AHEAD = 64
"""Chunks waiting for each request that may be under way: one request may ask about as
many, and memory goes by chunks."""

_HELD = 4
"""As many times that may be finished and held back by a slow document above."""


class Preparing(Protocol):
    """Reads and cuts documents, here or in another process."""

    @property
    def keep(self) -> Keep:
        """Say whether documents may be wordings of one."""

    def outcome(self, source: Source) -> Prepared | Failed:
        """Read and cut one document; a bad one is a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A document on its way; a failed one has nothing to wait for."""

    document: Prepared | Failed
    statements: asyncio.Task[Sequence[Chunk]] | None
    requests: int = 0
    """That it keeps under way; one while they wait for each other."""

    @property
    def done(self) -> bool:
        return self.statements is None or self.statements.done()

    @property
    def chunks(self) -> int:
        return len(self.document.chunks) if isinstance(self.document, Prepared) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """A document with its requests, and with what was said about it before."""

    document: Prepared
    plan: DocumentPlan
    former: Mapping[str, Enrichment]


def nothing_before(_: Prepared) -> Mapping[str, Enrichment]:
    """Give no statements of before."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where answers are kept and requests are noted."""

    cache: Cache
    ledger: Ledger
    held: Held | None
    """What waits for a batch."""
    former: Callable[[Prepared], Mapping[str, Enrichment]] = nothing_before
    """Statements of before that are still about the same, by the ids of chunks."""
    publishes_anyway: bool = False
    """A wrong key or model is no reason not to publish."""


def ask(
    job: Job,
    sources: Sequence[Source],
    kept: Kept,
    write: Write,
) -> Summary:
    """Ask for the statements of a job's documents; `write` gets them in order.

    Raises:
        ConfigError: enrichment is off.
        SituateError: two documents name one id, or no request can succeed.
    """

    async def work() -> Summary:
        async with session_of(job, kept) as session:
            await enrich_in_order(
                sources,
                job.preparer,
                session,
                concurrency=job.asked().settings.concurrency,
                write=write,
                former=kept.former,
            )
        return session.summary

    return waited_for(work())


def waited_for(work: Coroutine[None, None, _Result]) -> _Result:
    """Run work of several tasks to its end; what stops it is raised by itself."""
    try:
        return asyncio.run(work)
    except BaseExceptionGroup as group:
        # Several say the same of one cause.
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from group


def session_of(job: Job, kept: Kept, throttle: Throttle | None = None) -> Session:
    """Make what asks for the statements of a job's documents.

    Sessions that share a `throttle`, in one loop, keep its pace together.

    Raises:
        ConfigError: enrichment is off, or limits on spending do not fit the model.
    """
    asking = job.asked()
    return Session(
        settings=asking.settings,
        prompt=asking.prompt,
        provider=asking.provider,
        cache=kept.cache,
        ledger=kept.ledger,
        counter=job.preparer.counter,
        facts=asking.facts,
        held=kept.held,
        publishes_anyway=kept.publishes_anyway,
        throttle=throttle,
    )


async def enrich_in_order(  # noqa: PLR0913 - each is owned by somebody else
    sources: Iterable[Source],
    preparer: Preparing,
    session: Session,
    *,
    concurrency: int,
    write: Write,
    former: Callable[[Prepared], Mapping[str, Enrichment]] = nothing_before,
) -> None:
    """Prepare documents, ask for statements, and write in the order of `sources`.

    No more of `sources` is taken than is worked on.

    Raises:
        SituateError: two documents name one id, or no request can succeed.
    """
    ids = Ids(preparer.keep)
    window: deque[_Waiting] = deque()

    def planned(source: Source) -> _Planned | Failed:
        outcome = preparer.outcome(source)
        if isinstance(outcome, Failed):
            return outcome
        plan = session.plan(outcome.document, outcome.chunks)
        return _Planned(document=outcome, plan=plan, former=former(outcome))

    async with asyncio.TaskGroup() as group:
        for source in sources:
            # Elsewhere than in the loop, which has replies to take in.
            found = await asyncio.to_thread(planned, source)
            if isinstance(found, Failed):
                window.append(_Waiting(document=found, statements=None))
            else:
                document = found.document
                ids.add(document)
                work = session.enrich(
                    document.document, document.chunks, found.plan, found.former
                )
                window.append(
                    _Waiting(
                        document=document,
                        statements=group.create_task(work),
                        requests=_under_way(found.plan),
                    )
                )
            await _make_room(window, concurrency, write)
        await _make_room(window, 0, write)


def _under_way(plan: DocumentPlan) -> int:
    """Say how many requests of a document may be under way from the start."""
    return sum(
        1
        if any(request.parameters.cached for request in part.requests)
        else len(part.requests)
        for part in plan.parts
    )


async def _make_room(
    window: deque[_Waiting],
    concurrency: int,
    write: Write,
) -> None:
    """Write what is done at the head; wait while too much is under way.

    The first unfinished document does not count, so that the next one is there
    to fill the gaps while its last requests end. Without concurrency everything is
    waited for.
    """
    while window:
        while window and window[0].done:
            head = window.popleft()
            write(head.document, head.statements.result() if head.statements else ())
        unfinished = [waiting for waiting in window if not waiting.done]
        ahead = unfinished[1:]
        most = _CHUNKS_AHEAD * concurrency
        has_room = (
            sum(waiting.requests for waiting in ahead) <= _AHEAD * concurrency
            and sum(waiting.chunks for waiting in ahead) <= most
            and sum(each.chunks for each in window if each.done) <= _HELD * most
        )
        if not window or (has_room and concurrency):
            return
        await asyncio.wait(
            [waiting.statements for waiting in unfinished if waiting.statements],
            return_when=asyncio.FIRST_COMPLETED,
        )
