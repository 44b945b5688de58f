"""A service that is killed loses no finished document and asks for nothing twice.

A real process is killed for real, or told to end, at moments drawn from a seed. The
suite has time for one kill; `pytest tests/service/test_killed.py --kills 100` is the
campaign.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from situate.service.jobs.jobs import Jobs
from tests.service.engines import (
    SECTIONS,
    Here,
    agreements,
    corpus_of,
    done,
    engine_of,
    lines,
)
from tests.support.mock_model import Script, speaking
from tests.test_crash import stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.service.values import JobView
    from tests.support.corpora import Corpus

SEED = 43
CONCURRENCY = 4
DOCUMENTS = 24
SLOW = Script(latency_seconds=0.05)
"""Slow enough for a kill to find requests on the wire."""

_PROGRAM = Path(__file__).with_name("process.py")
_LONGEST_SECONDS = 30
_CAMPAIGN_SECONDS = 1800


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often to end it: a third of what the command line says, a start is long."""
    return max(1, int(request.config.getoption("--kills")) // 3)


@contextmanager
def serving(corpus: Corpus) -> Iterator[subprocess.Popen[bytes]]:
    """Start the service; it is gone when the block ends."""
    with (corpus.folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, _PROGRAM, corpus.config, corpus.folder / "state"],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def kept(corpus: Corpus, view: JobView) -> tuple[JobView, bytes]:
    """Give the job as the next service will find it, and what came of it so far."""
    with closing(Jobs(corpus.folder / "state")) as jobs:
        found = jobs.get(view.job_id, view.owner)
        assert found is not None
        return found, b"".join(jobs.result(view.job_id, partial=True))


def test_jobs_survive_whatever_ends_the_service(
    tmp_path: Path, kills: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: a kill costs at most what was on the wire, a request to end costs nothing."""
    chance = random.Random(SEED)  # noqa: S311 - draws moments, not secrets
    documents = agreements(DOCUMENTS)
    requests = DOCUMENTS * SECTIONS
    progress = sorted(0.2 + 0.4 * chance.random() for _ in range(kills))
    lost, result = 0, b""
    with speaking(SLOW, lifetime_seconds=_CAMPAIGN_SECONDS) as model:
        corpus = corpus_of(
            tmp_path,
            documents,
            address=model.openai_url,
            concurrency=CONCURRENCY,
            model="gpt-5.4-mini",
            max_usd=100,
            max_usd_month=100,
        )
        with closing(Jobs(tmp_path / "state")) as jobs:
            view = jobs.add("ann", "handbook", documents)

        for share, ends in zip(progress, cycle(("kill", "term")), strict=False):
            before, known = model.statistics.requests, stored(corpus)
            awaited = max(before.total() + 1, int(share * requests) + lost)
            with serving(corpus) as process:
                assert model.wait_for_calls(awaited, timeout_seconds=_LONGEST_SECONDS)
                time.sleep(chance.random() * SLOW.latency_seconds)
                process.send_signal(
                    signal.SIGKILL if ends == "kill" else signal.SIGTERM
                )
                code = process.wait(_LONGEST_SECONDS)
            sent = model.statistics.requests - before
            unheard = set(sent) - stored(corpus)
            lost += len(unheard)
            found, so_far = kept(corpus, view)

            assert not known & set(sent)
            assert sent.total() == len(sent)
            assert len(unheard) <= (CONCURRENCY if ends == "kill" else 0)
            assert code == (-signal.SIGKILL if ends == "kill" else 0)
            assert found.state == "queued"
            assert so_far.startswith(result)
            result = so_far

        monkeypatch.setattr("situate.service.engine.engine.Pool", Here)
        with closing(Jobs(tmp_path / "state")) as jobs, engine_of([corpus], jobs):
            view = done(jobs, view)
            whole = lines(jobs, view)
        seen = model.statistics
        assert corpus.run().exit_code == 0

    assert result
    assert whole.startswith(result)
    assert whole == corpus.chunks.read_bytes()
    assert model.statistics.calls == seen.calls == requests + lost
    assert (view.state, view.failed, view.finished) == ("done", 0, DOCUMENTS)
    assert view.outcomes == {"statement": requests}
