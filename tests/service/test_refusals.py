"""What a client hears where the service cannot, and what nobody hears."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import pytest

from situate.config import load
from situate.errors import CacheBroken, ConfigError, Locked, RecordError
from situate.service.engine.engine import Engine, EngineSettings, Place
from situate.service.jobs.jobs import Jobs
from situate.service.values import Bounds, EngineFigures, JobsBroken
from situate.service.web.app import Served, app_of
from situate.service.web.limits import Keys, Limits
from situate.service.web.serving import Log
from tests.support.service import corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from starlette.types import ASGIApp, Message

    from situate.errors import SituateError

DOCUMENT = {"corpus": "notes", "name": "a.md", "text": "# A\n"}
JOB = {"corpus": "notes", "documents": [{"name": "a.md", "text": "# A\n"}]}


class Idle:
    """A service whose engine never starts: what is taken in stays where it is."""

    def __init__(self, folder: Path, *, uploads: int, jobs: int) -> None:
        config = corpora(folder, asking={"enabled": False})
        configs = load(sorted(config.glob("*.toml")), environment={})
        self.jobs = Jobs(folder / "state", Bounds(open_jobs=jobs))
        settings = EngineSettings(uploads=uploads, waiting=0)
        self.engine = Engine(configs, self.jobs, settings)
        served = Served(
            configs=configs,
            engine=self.engine,
            jobs=self.jobs,
            keys=Keys({}),
            limits=Limits(),
        )
        self.app: ASGIApp = app_of(served, asyncio.Event())

    def ask(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send one request to it."""

        async def sent() -> httpx.Response:
            app: Any = self.app
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                return await client.request(method, path, json=body)

        return asyncio.run(sent())


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[Idle]:
    """Make one with a place for one upload and one job."""
    idle = Idle(tmp_path, uploads=1, jobs=1)
    yield idle
    idle.jobs.close()


def come_again(answer: httpx.Response) -> tuple[int, int]:
    """Give the status and when to come again, which is said twice."""
    seconds = int(answer.headers["retry-after"])
    assert answer.json()["retry_after_seconds"] == seconds
    return answer.status_code, seconds


def test_an_upload_that_no_place_is_left_for_comes_again(tmp_path: Path) -> None:
    """429 before its body is read."""
    full = Idle(tmp_path, uploads=0, jobs=1)

    answer = full.ask("POST", "/v1/chunk", DOCUMENT)
    full.jobs.close()

    assert come_again(answer)[0] == 429


def test_a_job_that_the_queue_has_no_place_for_comes_again(idle: Idle) -> None:
    """429, and nothing of it is kept."""
    first = idle.ask("POST", "/v1/jobs", JOB)

    second = idle.ask("POST", "/v1/jobs", JOB)

    assert first.status_code == 202
    assert come_again(second)[0] == 429
    assert len(idle.ask("GET", "/v1/jobs").json()["jobs"]) == 1


def test_the_result_of_a_job_that_is_not_done_is_not_there(idle: Idle) -> None:
    """409, but for whoever takes what there is so far."""
    where = idle.ask("POST", "/v1/jobs", JOB).headers["location"]

    early = idle.ask("GET", f"{where}/result")
    partial = idle.ask("GET", f"{where}/result?partial=true")

    assert (early.status_code, early.json()["title"]) == (409, "Conflict")
    assert (partial.status_code, partial.content) == (200, b"")


def test_a_database_that_fails_is_no_fault_of_the_client(
    idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with when to come again, in no words of the system."""

    def broken(*_: object) -> NoReturn:
        message = "/secret/place/jobs.db: disk I/O error"
        raise JobsBroken(message)

    monkeypatch.setattr(idle.jobs, "add", broken)

    answer = idle.ask("POST", "/v1/jobs", JOB)

    assert come_again(answer) == (503, 5)
    assert "secret" not in answer.text


def test_a_service_that_cannot_work_is_not_ready(
    idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each thing is named; what exactly is wrong, its log says."""
    figures = EngineFigures(
        uploads_at_work=0,
        uploads_waiting=0,
        jobs_at_work=0,
        corpora={},
        trouble="/secret/place: no space left",
    )
    monkeypatch.setattr(idle.engine, "figures", lambda: figures)

    answer = idle.ask("GET", "/readyz")

    checks = answer.json()["checks"]
    assert (answer.status_code, answer.json()["ready"]) == (503, False)
    assert checks["jobs"] == "the database cannot be used"
    assert checks["engine"] == "does not work"
    assert checks["cache"] == "ok"
    assert "secret" not in answer.text


def test_metrics_say_that_the_database_of_jobs_is_of_no_use(
    idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known all the same is told; an alarm needs a figure to go by."""
    figures = EngineFigures(
        uploads_at_work=3, uploads_waiting=0, jobs_at_work=0, corpora={}
    )

    def broken() -> NoReturn:
        message = "/secret/place/jobs.db: disk I/O error"
        raise JobsBroken(message)

    monkeypatch.setattr(idle.engine, "figures", lambda: figures)
    well = idle.ask("GET", "/metrics").text
    monkeypatch.setattr(idle.jobs, "figures", broken)
    broken_since = idle.ask("GET", "/metrics")
    stuck = replace(figures, trouble="/secret/place: no space left")
    monkeypatch.undo()
    monkeypatch.setattr(idle.engine, "figures", lambda: stuck)
    unwritable = idle.ask("GET", "/metrics").text

    assert "situate_jobs_trouble 0.0" in well
    assert 'situate_jobs{state="queued"} 0.0' in well
    assert broken_since.status_code == 200
    assert "situate_jobs_trouble 1.0" in broken_since.text
    assert "situate_uploads_at_work 3.0" in broken_since.text
    assert "situate_jobs{" not in broken_since.text
    assert "situate_jobs_stored_bytes" not in broken_since.text
    assert "situate_jobs_trouble 1.0" in unwritable
    assert "secret" not in broken_since.text + unwritable


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (CacheBroken("cache 'redis://inside:6379/0' failed: timed out"), 503),
        (ConfigError("cache '/inside/cache' cannot be opened: full"), 500),
        (Locked("inside/handbook.jsonl is being written"), 500),
        (RecordError("inside/state.jsonl, line 1: no record"), 500),
    ],
    ids=["cache", "config", "lock", "record"],
)
def test_what_is_ours_to_mend_is_no_fault_of_the_request(
    idle: Idle,
    error: SituateError,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The client hears whose fault it is, and the log hears which."""

    def failing() -> NoReturn:
        raise error

    monkeypatch.setattr(idle.engine, "place", failing)

    answer = idle.ask("POST", "/v1/plan", DOCUMENT)

    assert answer.status_code == status
    assert "inside" not in answer.text
    assert type(error).__name__ in caplog.text + answer.text
    assert ("inside" in caplog.messages[0]) is not isinstance(error, RecordError)


def test_a_failure_of_ours_is_told_in_no_words_of_a_document(
    idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 names the kind of error; its message may quote what it was about."""

    def failing() -> NoReturn:
        message = "words of a document"
        raise ValueError(message)

    monkeypatch.setattr(idle.engine, "place", failing)

    answer = idle.ask("POST", "/v1/chunk", DOCUMENT)

    assert answer.status_code == 500
    assert answer.json()["detail"] == "the service failed: ValueError"


def test_the_log_says_where_and_not_what() -> None:
    """The kind of an error and the lines of the code; its message is left out."""
    said: list[str] = []

    try:
        int("words of a document")
    except ValueError:
        given = ("first\n%s", ("more words",), sys.exc_info())
        record = logging.LogRecord("uvicorn.error", logging.ERROR, "", 1, *given)
    Log(said.append).emit(record)

    (told,) = said
    first, kind, frame, *_ = told.splitlines()
    assert (first, kind) == ("first", "  ValueError")
    assert "test_refusals.py" in frame
    assert "more words" not in told
    assert "invalid literal" not in told


def test_whoever_goes_is_waited_for_no_longer(
    idle: Idle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that disconnects takes its place in the queue with it."""
    called_off = []

    async def waiting(*_: object, **__: object) -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            called_off.append(True)
            raise

    monkeypatch.setattr(Place, "chunk", waiting)
    body = json.dumps(DOCUMENT).encode()
    coming = [
        {"type": "http.request", "body": body, "more_body": False},
        {"type": "http.disconnect"},
    ]

    asyncio.run(upload(idle, lambda: coming.pop(0)))

    assert called_off == [True]
    with idle.engine.place():
        """The place is free again."""


def test_a_body_that_comes_slowly_holds_no_place(idle: Idle) -> None:
    """Others are cut meanwhile; only a body that is there waits for its turn."""

    def come() -> Message:
        with idle.engine.place():
            """There is one, and this upload has not got it."""
        return {"type": "http.request", "body": b"{", "more_body": False}

    assert asyncio.run(upload(idle, come)) == 400


async def upload(idle: Idle, come: Callable[[], Message]) -> int | None:
    """Upload what comes; give the status of what goes back."""
    sent: list[Message] = []

    async def receive() -> Message:
        return come()

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chunk",
        "headers": [
            (b"content-type", b"application/json"),
            (b"transfer-encoding", b"chunked"),
        ],
        "query_string": b"",
    }
    await idle.app(scope, receive, send)
    return sent[0]["status"] if sent else None
