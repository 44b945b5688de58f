"""What is seen of a service whose cache is on a server that is away."""

from __future__ import annotations

import json
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.service.engines import Here
from tests.support.chat import chatting
from tests.support.corpora import TRAVEL, Corpus, asking
from tests.support.service import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("redis")

pytestmark = pytest.mark.xdist_group("service")


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("situate.service.engine.engine.Pool", Here)


@contextmanager
def keeping_at(port: int, folder: Path) -> Iterator[str]:
    """Serve a corpus whose answers are kept at a port."""
    with chatting() as chat:
        Corpus(folder=folder, name="handbook").configure(
            corpus={"documents": ["docs/*.md"]},
            cache={"backend": "redis", "url": f"redis://127.0.0.1:{port}/0"},
            enrichment=asking(chat.address),
        )
        with served(folder, folder / "state", environment={}) as address:
            yield address


@contextmanager
def silent() -> Iterator[int]:
    """Accept connections and say nothing; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def free() -> int:
    """Give a port nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def test_a_client_hears_why_there_are_no_sentences_and_not_where_they_would_be(
    free: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The word of the reason and its meaning; where the cache is, the log says."""
    body = {"corpus": "handbook", "name": "travel.md", "text": TRAVEL}
    said = {"name": "travel.md", "text": TRAVEL}

    with keeping_at(free, tmp_path) as address:
        chunked = httpx.post(f"{address}/v1/chunk", json=body)
        job = {"corpus": "handbook", "documents": [said]}
        where = httpx.post(f"{address}/v1/jobs", json=job).headers["location"]
        while (seen := httpx.get(address + where)).json()["state"] != "done":
            time.sleep(0.02)
        planned = httpx.post(f"{address}/v1/plan", json=body)

    stopped = "cache: the cache cannot be read or written"
    assert chunked.json()["spent"]["stopped"] == stopped
    assert seen.json()["spent"]["stopped"] == stopped
    assert planned.status_code == 200
    assert str(free) not in chunked.text + seen.text + planned.text
    assert f"asking stopped: cache: cache 'redis://127.0.0.1:{free}/0'" in caplog.text


def test_a_service_whose_cache_is_away_is_not_ready(free: int, tmp_path: Path) -> None:
    """Whoever balances the load sends requests to another."""
    with keeping_at(free, tmp_path) as address:
        ready = httpx.get(f"{address}/readyz")

    assert ready.status_code == 503
    assert ready.json()["checks"]["cache"] == "cannot be used"
    assert str(free) not in ready.text


def test_a_cache_that_says_nothing_keeps_nobody_waiting(tmp_path: Path) -> None:
    """The first who asks waits for a second, others not at all; nor does the end."""
    with silent() as port:
        started = time.perf_counter()
        with keeping_at(port, tmp_path) as address:
            answers = [httpx.get(f"{address}/readyz") for _ in range(20)]
        seconds = time.perf_counter() - started

    checks = [json.loads(each.content)["checks"]["cache"] for each in answers]
    assert checks == ["cannot be used"] * 20
    assert seconds < 4
