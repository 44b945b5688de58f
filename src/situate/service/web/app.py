"""The service as an ASGI app: routes, the gate before them, and their description."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from situate.errors import CacheBroken, ConfigError, Locked, ReadError, SituateError
from situate.service.values import JobsBroken, NotDone, TryLater
from situate.service.web.answers import to_json
from situate.service.web.caches import Caches
from situate.service.web.describing import described, operations
from situate.service.web.gate import Gate, refused
from situate.service.web.limits import Rates, Shares
from situate.service.web.metrics import Metrics, State
from situate.service.web.problems import Refused
from situate.service.web.reference import page
from situate.service.web.routes import Service

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Sequence

    from starlette.types import ASGIApp

    from situate.config import Config
    from situate.enrichment.cache import Place
    from situate.service.engine.engine import Engine
    from situate.service.jobs.jobs import Jobs
    from situate.service.web.limits import Keys, Limits

_log = logging.getLogger(__name__)

_BROKEN_SECONDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What there is to serve, and to whom."""

    configs: Sequence[Config]
    engine: Engine
    jobs: Jobs
    keys: Keys
    limits: Limits


def app_of(served: Served, ending: asyncio.Event) -> ASGIApp:
    """Make the app; once `ending` is set it takes no more requests.

    The engine has started before, and is stopped afterwards, by whoever made it.
    """
    metrics, shares = Metrics(), Shares(served.limits)
    metrics.registry.register(State(served.engine, served.jobs, shares))
    service = Service(
        configs={config.corpus.name: config for config in served.configs},
        engine=served.engine,
        jobs=served.jobs,
        caches=Caches(_places(served.configs)),
        limits=served.limits,
        metrics=metrics,
        ending=ending,
    )
    return Gate(
        app=_routed(service, needs_key=bool(served.keys)),
        keys=served.keys,
        limits=served.limits,
        rates=Rates(served.limits.requests_per_minute),
        shares=shares,
        metrics=metrics,
        ending=ending,
    )


def _places(configs: Sequence[Config]) -> Iterator[Place]:
    """Give the places where corpora that ask keep what they are answered."""
    for config in configs:
        if config.enrichment.enabled and config.enrichment.provider != "replay":
            yield config.cache.place


def _routed(service: Service, *, needs_key: bool) -> FastAPI:
    """Put every route where it belongs, and the documents about them."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    for each in operations(service, needs_key=needs_key):
        app.add_api_route(
            each.path,
            each.endpoint,
            methods=[each.method],
            operation_id=each.name,
            summary=each.summary,
            description=each.description,
            response_model=None,
            status_code=each.status,
            response_class=Response,
            responses=each.responses,
            openapi_extra=each.extra,
        )
    document = described(app.routes, needs_key=needs_key)
    reference = page(document)
    whole = Response(to_json(document), media_type="application/json")

    async def openapi() -> Response:
        return whole

    async def docs() -> Response:
        return Response(reference, media_type="text/html")

    app.add_api_route("/openapi.json", openapi)
    app.add_api_route("/docs", docs)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    return app


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, SituateError)  # noqa: S101 - registered for these alone
    match error:
        case Refused():
            return refused(error)
        case TryLater():
            wait = error.retry_after_seconds
            return refused(Refused(429, str(error), retry_after_seconds=wait))
        case JobsBroken():
            detail = "the database of jobs cannot be used now; nothing was changed"
            wait = _BROKEN_SECONDS
            return refused(Refused(503, detail, retry_after_seconds=wait))
        case NotDone():
            return refused(Refused(409, str(error)))
        case ReadError():
            return refused(Refused(422, str(error)))
        case _:
            return refused(_ours(error))


def _ours(error: SituateError) -> Refused:
    """Say that a mistake is not the client's, to whom its words are no help.

    They go to the log where they name a place or a key of a config; others may quote
    what they are about.
    """
    kind = type(error).__name__
    names_a_place = isinstance(error, ConfigError | CacheBroken | Locked)
    said = f"{kind}: {error}" if names_a_place else kind
    _log.error("a request failed: %s", said, exc_info=error)
    if isinstance(error, CacheBroken):
        detail = "the cache cannot be used now; the log of the service says why"
        return Refused(503, detail, retry_after_seconds=_BROKEN_SECONDS)
    return Refused(500, f"the service failed: {kind}")


async def _of_routing(request: Request, error: Exception) -> Response:
    """Answer what no route does, with the methods that the path has."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    path = request.scope["path"]
    if error.status_code != 405:
        detail = f"there is no {path!r}; /docs says what there is, to machines "
        detail += "/openapi.json"
        return refused(Refused(404, detail))
    methods = sorted(
        method
        for route in request.app.routes
        if route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods
    )
    detail = f"{path!r} has {' and '.join(methods)} alone"
    return refused(Refused(405, detail, headers={"allow": ", ".join(methods)}))


async def _of_values(_: Request, error: Exception) -> Response:
    """Answer a parameter that is not what it can be."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    problems = [
        (".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()
    ]
    where, message = problems[0]
    return refused(Refused(422, f"{where}: {message}", problems=problems))


async def _of_nobody(_: Request, error: Exception) -> Response:
    """End a request whose client went before its body was there."""
    return refused(Refused(400, f"the body was not sent: {type(error).__name__}"))


async def _of_failure(_: Request, error: Exception) -> Response:
    """Say that it is our fault; the log says where, in no words of a document."""
    return refused(Refused(500, f"the service failed: {type(error).__name__}"))


_HANDLERS: Final = {
    SituateError: _refusal,
    HTTPException: _of_routing,
    RequestValidationError: _of_values,
    ClientDisconnect: _of_nobody,
    Exception: _of_failure,
}
