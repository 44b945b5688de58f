"""What each route does: read a request, hand it on, write what comes of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from situate.pipeline.documents import Failed
from situate.pipeline.handed import source_of
from situate.service.values import JobsBroken, ResultKind
from situate.service.web import answers
from situate.service.web.events import streamed
from situate.service.web.problems import Refused
from situate.service.web.shapes import DOCUMENTS, JOB
from situate.service.web.uploads import document_in, documents_in, taken_in

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

    from situate.config import Config
    from situate.pipeline.handed import Handed
    from situate.service.engine.engine import Engine
    from situate.service.jobs.jobs import Jobs
    from situate.service.values import JobView
    from situate.service.web.caches import Caches
    from situate.service.web.limits import Limits
    from situate.service.web.metrics import Metrics

NDJSON = "application/x-ndjson"
JSON = "application/json"
EVENTS = "text/event-stream"
METRICS = "text/plain; version=0.0.4; charset=utf-8"

JobId = Annotated[str, Path(description="The id that POST /v1/jobs gave.")]

NO_JOB = "there is no such job; it may have been removed, or is of another key"

_GONE = 499
"""For metrics: nobody is there to read it."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Everything that routes hand requests on to."""

    configs: Mapping[str, Config]
    """By the name of the corpus."""
    engine: Engine
    jobs: Jobs
    caches: Caches
    limits: Limits
    metrics: Metrics
    ending: asyncio.Event
    """Set once the service takes no more requests."""

    async def chunk(self, request: Request) -> Response:
        """Cut one document, and ask for statements where its corpus wants them.

        The chunks are those that `situate run` writes of the document. They come as
        one JSON object, or as JSON lines alone where `Accept` names
        application/x-ndjson. A model that cannot be asked costs statements, never
        chunks: `spent.stopped` says why.
        """
        self._refuse_early()
        async with taken_in(request) as body:
            asked, handed = await asyncio.to_thread(
                document_in, body, self.limits.body_bytes
            )
        self._check(asked.corpus, [handed])
        with self.engine.place() as place:
            cutting = place.chunk(asked.corpus, handed, statements=asked.statements)
            cut = await _while_there(request, cutting)
        if cut is None:
            return Response(status_code=_GONE)
        if isinstance(cut.outcome, Failed):
            raise Refused(422, cut.outcome.reason)
        if NDJSON in request.headers.get("accept", ""):
            return Response(cut.outcome.chunks, media_type=NDJSON)
        content = answers.chunked(handed.name, cut.outcome, cut.spent)
        return Response(content, media_type=JSON)

    async def plan(self, request: Request) -> Response:
        """Say what asking about documents would send and cost; send nothing.

        One document, as for /v1/chunk, or several, as for /v1/jobs.
        """
        self._refuse_early()
        async with taken_in(request) as body:
            many = await asyncio.to_thread(documents_in, body, DOCUMENTS, self.limits)
            documents = await asyncio.to_thread(list, many)
        self._check(many.corpus, documents)
        with self.engine.place() as place:
            planning = place.plan(many.corpus, documents)
            forecast = await _while_there(request, planning)
        if forecast is None:
            return Response(status_code=_GONE)
        return Response(answers.priced(forecast), media_type=JSON)

    async def add_job(self, request: Request) -> Response:
        """Take in many documents, to be worked on in the background.

        Once this has answered they are on the disk, and survive whatever ends the
        service. As JSON a body has a bound that a form of files, which are taken up
        one by one, has not.
        """
        owner = request.state.owner
        async with taken_in(request) as body:
            many = await asyncio.to_thread(documents_in, body, JOB, self.limits)
            self._check(many.corpus, ())
            view = await asyncio.to_thread(self.jobs.add, owner, many.corpus, many)
        location = {"location": f"/v1/jobs/{view.job_id}"}
        return _json(answers.job(view), status=202, headers=location)

    async def list_jobs(self, request: Request) -> Response:
        """List the jobs of this key, the newest first."""
        views = await asyncio.to_thread(self.jobs.listed, request.state.owner)
        return _json({"jobs": [answers.job(view) for view in views]})

    async def job(self, request: Request, job_id: JobId) -> Response:
        """Say how a job stands."""
        return _json(answers.job(await self._job(request, job_id)))

    async def delete_job(self, request: Request, job_id: JobId) -> Response:
        """Remove every trace of a job; one at work is called off."""
        owner = request.state.owner
        if not await asyncio.to_thread(self.jobs.delete, job_id, owner):
            raise _no_job()
        return Response(status_code=204)

    async def job_events(
        self,
        request: Request,
        job_id: JobId,
        last_event_id: Annotated[
            int,
            Header(
                ge=0,
                le=1 << 53,
                description="The number of the last event that was seen; what came "
                "after it is sent first.",
            ),
        ] = 0,
    ) -> Response:
        """Tell what happens to a job, as server-sent events, until it is over.

        Events are `queued`, `running`, `document`, `done` and `failed`, numbered
        without a gap, so that a client that comes back with `Last-Event-ID` misses
        none; a comment comes every 15 seconds. 204 says that nothing more will come.
        """
        view = await self._job(request, job_id)
        seen = await asyncio.to_thread(self.jobs.events, job_id, last_event_id, 1)
        if view.is_over and not seen:
            return Response(status_code=204)
        following = self.jobs.follow(job_id, last_event_id)
        return StreamingResponse(streamed(following, self.ending), media_type=EVENTS)

    async def job_result(
        self,
        request: Request,
        job_id: JobId,
        kind: Annotated[
            ResultKind,
            Query(description="The chunks, or a line of blocks for each document."),
        ] = "chunks",
        *,
        partial: Annotated[
            bool, Query(description="Whether what there is so far will do.")
        ] = False,
    ) -> Response:
        """Give what came of a job, as JSON lines in the order of its documents.

        They are the lines that `situate run` writes. A document that failed has none;
        the job names it.
        """
        await self._job(request, job_id)
        pieces = await asyncio.to_thread(
            lambda: self.jobs.result(job_id, kind, partial=partial)
        )
        return StreamingResponse(pieces, media_type=NDJSON)

    async def corpora(self) -> Response:
        """List the corpora that are served, each with its sizes and its model."""
        listed = [
            answers.corpus(self.configs[view.name], view)
            for view in self.engine.corpora
        ]
        return _json({"corpora": listed})

    async def healthz(self) -> Response:
        """Say that the service runs; looks at nothing else."""
        return _json({"status": "ok"})

    async def readyz(self) -> Response:
        """Say whether the service can do its work.

        A model that could not be asked the last time is named, and does not make the
        service unready: chunks come without statements then.
        """
        checks, ready = await asyncio.to_thread(self._checks)
        values = {"ready": ready, "checks": checks}
        return _json(values, status=200 if ready else 503)

    async def prometheus(self) -> Response:
        """Give metrics in Prometheus' text format."""
        content = await asyncio.to_thread(self.metrics.text)
        return Response(content, media_type=METRICS)

    def _checks(self) -> tuple[dict[str, str], bool]:
        """Say of each thing that it is well, or what is wrong, and whether all is.

        Names models and no corpus: whoever asks has shown no key.
        """
        figures = self.engine.figures()
        broken = figures.trouble is not None or not _can_be_read(self.jobs)
        vital = {
            "service": "is about to end" if self.ending.is_set() else "ok",
            "engine": "ok" if self.engine.is_alive else "does not work",
            "jobs": "the database cannot be used" if broken else "ok",
            "cache": "ok" if self.caches.are_well() else "cannot be used",
        }
        models_of = {view.name: str(view.model) for view in self.engine.corpora}
        unasked = {
            models_of[name]
            for name, each in figures.corpora.items()
            if each.trouble is not None
        }
        named = ", ".join(sorted(unasked))
        models = f"{named} could not be asked the last time" if unasked else "ok"
        return {**vital, "models": models}, set(vital.values()) == {"ok"}

    def _refuse_early(self) -> None:
        """Read no body that there is no place for.

        The place is taken once the body is there: a slow client holds none.

        Raises:
            Busy: all places are taken.
        """
        with self.engine.place():
            return

    def _check(self, corpus: str, documents: Sequence[Handed]) -> None:
        """See to it that there is the corpus, and that names are some.

        Raises:
            Refused: there is no such corpus; names those there are.
            ReadError: a name is none, or what is said of a document is wrong.
        """
        if corpus not in self.configs:
            known = ", ".join(map(repr, self.configs))
            detail = f"there is no corpus {corpus!r}; there are {known}"
            raise Refused(404, detail)
        for handed in documents:
            source_of(handed)

    async def _job(self, request: Request, job_id: str) -> JobView:
        """Find a job of whoever asks.

        Raises:
            Refused: there is none; also where it is somebody else's.
        """
        owner = request.state.owner
        view = await asyncio.to_thread(self.jobs.get, job_id, owner)
        if view is None:
            raise _no_job()
        return view


async def _while_there(request: Request, work: Coroutine[None, None, _T]) -> _T | None:
    """Wait for work as long as somebody waits for it; None where nobody does."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _left(request: Request) -> None:
    """Return once the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _no_job() -> Refused:
    return Refused(404, NO_JOB)


def _json(
    value: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(
        answers.to_json(value), status, headers=dict(headers or {}), media_type=JSON
    )


def _can_be_read(jobs: Jobs) -> bool:
    try:
        jobs.figures()
    except JobsBroken:
        return False
    return True
