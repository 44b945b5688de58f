"""Describes the routes for people and machines: what goes in, what comes out.

The OpenAPI document is complete: every body, answer and refusal with an example.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from situate.service.web import shapes
from situate.service.web.problems import documented
from situate.service.web.routes import EVENTS, JSON, METRICS, NDJSON, NO_JOB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.routing import BaseRoute

    from situate.service.web.routes import Service

_Answers = dict[int | str, dict[str, Any]]

_ABOUT: Final = (
    "Documents in, chunks out, the same that the command line writes. Nothing that a "
    "request names is opened: no path, no address. Every refusal has one shape, "
    "`application/problem+json`."
)

_MODELS: Final = (
    *(shapes.DocumentFields, shapes.JobFields, shapes.FormFields),
    *(shapes.Chunked, shapes.Priced, shapes.JobStatus, shapes.JobList),
    *(shapes.CorpusList, shapes.Health, shapes.Readiness, shapes.Problem),
)

_OF_ALL: Final = (401, 405, 429, 500, 503)
_OF_HEALTH: Final = (405, 500)
_OF_BODIES: Final = (400, 404, 408, 413, 415, 422)

_OF_A_PLAN: Final = {422: "statements: without them there is nothing to plan"}

_OF_JOBS: Final = {
    "/v1/jobs": "documents.1.text: Field required",
    "/v1/jobs/{job_id}": "path.job_id: Input should be a valid string",
    "/v1/jobs/{job_id}/events": "header.last-event-id: Input should be a valid integer",
    "/v1/jobs/{job_id}/result": "query.kind: Input should be 'chunks' or 'blocks'",
}
"""What a 422 may say, by the path."""

_TEXT: Final = "# Meals\nReceipts are needed above EUR 15 a day.\n"
_ONE: Final = {"corpus": "handbook", "name": "policies/meals.md", "text": _TEXT}
_SEVERAL: Final = {
    "corpus": "handbook",
    "documents": [
        {"name": "policies/meals.md", "text": _TEXT},
        {"name": "policies/trains.md", "text": "# Trains\n\nBook the second class.\n"},
    ],
}
_SPENT: Final = {
    "requests": 0,
    "cache_hits": 0,
    "usage": {
        "uncached_input": 0,
        "cache_write": 0,
        "cache_read": 0,
        "output": 0,
        "thinking": 0,
    },
    "cost_usd": None,
    "stopped": None,
}
_RECORD: Final = {
    "schema": 1,
    "chunk_id": "policies/meals.md:meals",
    "doc_id": "policies/meals.md",
    "doc_version": "0f1b6a0d9c2e4b7f",
    "parent_chunk_id": None,
    "level": "section",
    "text": _TEXT.strip(),
    "context_prefix": "[handbook] Meals",
    "block_ids": ["meals#0", "meals#1"],
    "metadata": {"corpus": "handbook", "ordinal": 0, "token_count": 13},
    "embed_text": f"[handbook] Meals\n\n{_TEXT.strip()}",
    "lexical_text": f"[handbook] Meals\n\n{_TEXT.strip()}",
}
_CHUNKED: Final = {
    "document": {
        "name": "policies/meals.md",
        "doc_id": "policies/meals.md",
        "version": "0f1b6a0d9c2e4b7f",
        "chunks": 1,
        "outcomes": {"off": 1},
    },
    "chunks": [_RECORD],
    "spent": _SPENT,
    "warnings": [],
}
_PRICED: Final = {
    "corpus": "manuals",
    "documents": 1,
    "failed": [],
    "chunks": 1,
    "provider": None,
    "model": None,
    "estimate": None,
    "options": [],
    "objection": None,
    "withheld": [],
}
_JOB: Final = {
    "job_id": "5f0c0f3e6c1b4f0b9d1f9a1c2e3d4b5a",
    "corpus": "handbook",
    "state": "running",
    "documents": 2,
    "finished": 1,
    "failed": 0,
    "chunks": 1,
    "outcomes": {"off": 1},
    "spent": _SPENT,
    "failures": [],
    "reason": None,
    "created": "2026-11-30T08:00:00+00:00",
    "ended": None,
    "expires": None,
}
_CORPORA: Final = {
    "corpora": [
        {
            "name": "manuals",
            "doc_type": "manual",
            "max_tokens": 256,
            "min_tokens": 32,
            "granularity": "tree",
            "tokenizer": "cl100k_base",
            "statements": False,
            "provider": None,
            "model": None,
            "prompt": None,
            "max_usd": None,
            "max_usd_month": None,
        }
    ]
}
_READY: Final = {
    "ready": True,
    "checks": {
        "service": "ok",
        "engine": "ok",
        "jobs": "ok",
        "cache": "ok",
        "models": "ok",
    },
}
_EVENTS: Final = {
    "schema": {
        "type": "object",
        "description": "An event; `data` is JSON.",
        "properties": {
            "id": {"type": "string"},
            "event": {"type": "string"},
            "data": {"type": "string"},
            "retry": {"type": "integer"},
        },
    },
    "example": 'id: 3\nevent: document\ndata: {"ordinal": 0, "name": '
    '"policies/meals.md", "doc_id": "policies/meals.md", "status": "done", '
    '"chunks": 1, "reason": null}\n\n',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    endpoint: Callable[..., Any]
    summary: str
    status: int
    responses: _Answers
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What generated clients call it."""
        return self.endpoint.__name__

    @property
    def description(self) -> str:
        """What it does, in the words of the function that does it."""
        return " ".join((self.endpoint.__doc__ or "").split())


def operations(service: Service, *, needs_key: bool) -> list[Operation]:
    """Give every operation with all it may answer."""
    described = [
        *_of_documents(service),
        *_of_jobs(service),
        *_of_the_service(service),
    ]
    if needs_key:
        return described
    for each in described:
        each.responses.pop(401, None)
        each.extra.pop("security", None)
    return described


def _of_documents(service: Service) -> list[Operation]:
    line = _line(_RECORD)
    chunked = {JSON: _model("Chunked", _CHUNKED), NDJSON: _text(line)}
    both = {
        "oneOf": [_reference("DocumentFields"), _reference("JobFields")],
    }
    return [
        Operation(
            method="POST",
            path="/v1/chunk",
            endpoint=service.chunk,
            summary="Chunk a document",
            status=200,
            responses={
                200: {"description": "Its chunks.", "content": chunked},
                **documented(*_OF_ALL, *_OF_BODIES),
            },
            extra=_takes(_reference("DocumentFields"), _ONE, many=False),
        ),
        Operation(
            method="POST",
            path="/v1/plan",
            endpoint=service.plan,
            summary="Price documents",
            status=200,
            responses={
                200: {
                    "description": "What it would cost.",
                    "content": {JSON: _model("Priced", _PRICED)},
                },
                **documented(*_OF_ALL, *_OF_BODIES, shown=_OF_A_PLAN),
            },
            extra=_takes(both, _ONE, many=True),
        ),
    ]


def _of_jobs(service: Service) -> list[Operation]:
    jobs, one = "/v1/jobs", "/v1/jobs/{job_id}"
    job = {JSON: _model("JobStatus", _JOB)}
    listed = {JSON: _model("JobList", {"jobs": [_JOB]})}
    location = {
        "Location": {
            "description": "Where the job is.",
            "schema": {"type": "string"},
        }
    }
    lines, events = {NDJSON: _text(_line(_RECORD))}, {EVENTS: _EVENTS}
    taken = {"description": "It is on the disk.", "content": job, "headers": location}
    rows: list[tuple[str, str, Callable[..., Any], str, int, _Answers]] = [
        ("POST", jobs, service.add_job, "Add a job", 202, {202: taken}),
        ("GET", jobs, service.list_jobs, "List jobs", 200, {200: _gives(listed)}),
        ("GET", one, service.job, "See a job", 200, {200: _gives(job)}),
        (
            *("DELETE", one, service.delete_job, "Remove a job", 204),
            {204: {"description": "It is gone."}},
        ),
        (
            *("GET", f"{one}/events", service.job_events, "Follow a job", 200),
            {200: _gives(events), 204: {"description": "No more will come."}},
        ),
        (
            *("GET", f"{one}/result", service.job_result, "Fetch a result", 200),
            {200: _gives(lines), **documented(409)},
        ),
    ]
    found = []
    for method, path, endpoint, summary, status, answers in rows:
        refusals = {*_OF_ALL, 404, 422} if path != jobs else {*_OF_ALL}
        shown = {422: _OF_JOBS[path]}
        if method == "POST":
            refusals |= {*_OF_BODIES}
        else:
            shown[404] = NO_JOB
        extra: dict[str, Any] = {"security": [{"key": []}]}
        if method == "POST":
            extra = _takes(_reference("JobFields"), _SEVERAL, many=True)
        found.append(
            Operation(
                method=method,
                path=path,
                endpoint=endpoint,
                summary=summary,
                status=status,
                responses={**answers, **documented(*refusals, shown=shown)},
                extra=extra,
            )
        )
    return found


def _of_the_service(service: Service) -> list[Operation]:
    health = _gives({JSON: _model("Health", {"status": "ok"})})
    corpora = _gives({JSON: _model("CorpusList", _CORPORA)})
    metrics = _gives({METRICS.partition(";")[0]: _text("situate_jobs_at_work 1.0\n")})
    is_ready = _gives({JSON: _model("Readiness", _READY)})
    unready = is_ready | {"description": "It cannot, or is about to end."}
    ready: _Answers = {200: is_ready, 503: unready}
    rows: list[tuple[str, Callable[..., Any], str, _Answers, tuple[int, ...]]] = [
        ("/v1/corpora", service.corpora, "List corpora", {200: corpora}, _OF_ALL),
        ("/healthz", service.healthz, "Is it alive?", {200: health}, _OF_HEALTH),
        ("/readyz", service.readyz, "Is it ready?", ready, _OF_HEALTH),
        ("/metrics", service.prometheus, "Metrics", {200: metrics}, _OF_ALL),
    ]
    return [
        Operation(
            method="GET",
            path=path,
            endpoint=endpoint,
            summary=summary,
            status=200,
            responses={**documented(*refusals), **answers},
            extra={"security": [{"key": []}]} if 401 in refusals else {},
        )
        for path, endpoint, summary, answers, refusals in rows
    ]


def described(routes: Sequence[BaseRoute], *, needs_key: bool) -> dict[str, Any]:
    """Give the OpenAPI document of the routes that have operations."""
    document = get_openapi(
        title="situate",
        version=version("situate"),
        summary="Structure-first chunks with their context.",
        description=_ABOUT,
        routes=routes,
    )
    _, schemas = models_json_schema(
        [(model, "validation") for model in _MODELS], ref_template=shapes.REF
    )
    components: dict[str, Any] = {"schemas": schemas["$defs"]}
    if needs_key:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["components"] = components
    return document


def _takes(schema: Mapping[str, Any], example: object, *, many: bool) -> dict[str, Any]:
    """Describe a body, as JSON and as a form."""
    form = shapes.form_schema(many=many)
    return {
        "security": [{"key": []}],
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": schema, "example": example},
                "multipart/form-data": {"schema": form},
            },
        },
    }


def _gives(content: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": "As it is now.", "content": content}


def _model(name: str, example: object) -> dict[str, Any]:
    return {"schema": _reference(name), "example": example}


def _text(example: str) -> dict[str, Any]:
    return {"schema": {"type": "string"}, "example": example}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": shapes.REF.format(model=name)}


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record) + "\n"
