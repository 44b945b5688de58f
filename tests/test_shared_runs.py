"""Two processes on one corpus, as two machines: one server holds what both paid for."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.addresses import read_server
from situate.errors import ConfigError
from situate.organisation import VARIABLE
from situate.pipeline import upkeep
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import Script, speaking
from tests.support.redis import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.mock_model import MockModel
    from tests.support.redis import RedisServer

CONCURRENCY = 4
DOCUMENTS = 12

SLOW = Script(latency_seconds=0.1)
"""Slow enough for both to be at work at once, and for a kill to find requests out."""

LEASE_SECONDS = 2.0
"""A third of what it is, so that a test waits less; a busy machine may halt a process
for longer than a second."""

_LONGEST_SECONDS = 60

_PROGRAM = (
    "import sys, time\n"
    "import openai, redis\n"
    "from situate.cli import main\n"
    "from situate.enrichment.cache.shared import claims\n"
    f"claims.LEASE_SECONDS = {LEASE_SECONDS}\n"
    # Who is ready waits for the other, so that both are at work at once.
    "with redis.Redis(port=int(sys.argv.pop(1))) as client:\n"
    "    client.incr('ready')\n"
    "    while int(client.get('ready')) < 2:\n"
    "        time.sleep(0.005)\n"
    "main()\n"
)


def machine(
    folder: Path, model: MockModel, server: RedisServer, **keys: object
) -> Corpus:
    """Write what one machine has: the documents, a config and a folder of its own."""
    folder.mkdir()
    corpus = Corpus(folder=folder)
    for number in range(DOCUMENTS):
        corpus.document(f"{number:03}.md", agreement(number, 6))
    limits = {"model": "gpt-5.4-mini", "max_usd": 100, "concurrency": CONCURRENCY}
    corpus.configure(
        enrichment=asking(model.openai_url, endpoint="mock", **limits, **keys),
        cache={"backend": "redis", "url": server.url, "directory": "cache"},
    )
    return corpus


@contextmanager
def running(
    server: RedisServer, *corpora: Corpus
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a command for each at the same time; all are gone when the block ends."""
    port = str(server.port)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, port, "run", str(corpus.config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for corpus in corpora
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def stored(server: RedisServer) -> set[str]:
    """Give the requests whose replies are on the server, read without situate."""
    with server.client() as client:
        values = [
            client.hget(key, "value") for key in client.scan_iter("situate:reply:*")
        ]
    replies = [json.loads(json.loads(str(value))["raw"]) for value in values]
    return {reply["id"].removeprefix("chatcmpl-") for reply in replies}


def spent(server: RedisServer) -> Decimal:
    """Give what is spent this month."""
    return sum(
        upkeep.statistics(read_server(server.url)).spent_usd.values(), Decimal(0)
    )


def test_two_processes_send_each_request_once(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Who comes second waits for the first one's reply, and both write the same."""
    with speaking(SLOW) as model:
        one = machine(tmp_path / "one", model, redis_server)
        two = machine(tmp_path / "two", model, redis_server)
        with running(redis_server, one, two) as processes:
            codes = [process.wait(_LONGEST_SECONDS) for process in processes]
        seen = model.statistics

    assert codes == [0, 0]
    assert seen.calls == len(seen.requests) == DOCUMENTS
    assert one.chunks.read_bytes() == two.chunks.read_bytes()
    shares = [corpus.manifest["spent"]["requests"] for corpus in (one, two)]
    assert sum(shares) == DOCUMENTS


def test_the_month_holds_across_both(tmp_path: Path, redis_server: RedisServer) -> None:
    """Both stop before the request that would cross it, and say why."""
    most = Decimal("0.015")
    with speaking(SLOW) as model:
        keys = {"max_usd_month": float(most)}
        one = machine(tmp_path / "one", model, redis_server, **keys)
        two = machine(tmp_path / "two", model, redis_server, **keys)
        # In one process, which shows the same and starts once.
        with ThreadPoolExecutor() as pool:
            results = [*pool.map(Corpus.run, (one, two))]
        seen = model.statistics

    costs = [Decimal(each.manifest["spent"]["cost_usd"]) for each in (one, two)]
    assert [result.exit_code for result in results] == [3, 3]
    assert "max_usd_month" in one.manifest["spent"]["stopped"]
    assert 0 < seen.calls == len(seen.requests) < DOCUMENTS
    assert spent(redis_server) == sum(costs) <= most


def test_one_is_killed_and_the_other_finishes(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """What it had stored is not asked again; what it had claimed lapses (E3)."""
    with speaking(SLOW) as model:
        one = machine(tmp_path / "one", model, redis_server)
        two = machine(tmp_path / "two", model, redis_server)
        with running(redis_server, one, two) as (killed, other):
            assert model.wait_for_calls(
                DOCUMENTS // 2, timeout_seconds=_LONGEST_SECONDS
            )
            killed.kill()
            killed.wait()
            kept, before = stored(redis_server), model.statistics.requests
            code = other.wait(_LONGEST_SECONDS)
        seen = model.statistics

    again = {body for body, times in seen.requests.items() if times > 1}
    assert code == 0
    assert set(before) - kept, "the kill found no request on the wire"
    assert not again & kept
    assert len(again) <= CONCURRENCY
    assert len(seen.requests) == DOCUMENTS
    assert all(each["metadata"]["enrichment"]["statement"] for each in two.records)


def test_a_server_that_cannot_be_asked_costs_statements_alone(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Chunks are published, nothing is asked, and the run says why (E10)."""
    nowhere = replace(redis_server, port=1)
    with speaking() as model:
        corpus = machine(tmp_path / "one", model, nowhere)
        result = corpus.run()

    assert result.exit_code == 3
    assert model.statistics.calls == 0
    assert corpus.manifest["spent"]["stopped"].startswith(
        "cache: cache 'redis://127.0.0.1:1/0' cannot be opened: "
    )
    assert {status(each) for each in corpus.records} == {("skipped", "cache")}


def test_a_missing_client_is_named_before_any_work(
    tmp_path: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "redis", None)
    with speaking() as model:
        corpus = machine(tmp_path / "one", model, redis_server)

        with pytest.raises(ConfigError, match=r"pip install 'situate\[redis\]'"):
            corpus.run()


def test_a_server_lost_midway_stops_the_asking_and_keeps_what_came(
    tmp_path: Path,
) -> None:
    """Answers in hand are published; the rest has its chunks and the reason."""
    with (
        serving(tmp_path) as server,
        speaking(SLOW) as model,
        ThreadPoolExecutor() as pool,
    ):
        corpus = machine(tmp_path / "one", model, server)
        running = pool.submit(corpus.run)
        assert model.wait_for_calls(DOCUMENTS // 2, timeout_seconds=_LONGEST_SECONDS)
        server.stop()
        result = running.result(_LONGEST_SECONDS)

    assert result.exit_code == 3
    assert corpus.manifest["spent"]["stopped"].startswith("cache: ")
    assert {status(each) for each in corpus.records} == {
        ("statement", None),
        ("skipped", "cache"),
    }


def status(record: dict[str, Any]) -> tuple[str, str | None]:
    """Give what became of the statement of a chunk, and why."""
    enrichment = record["metadata"]["enrichment"]
    return enrichment["status"], enrichment["reason"]


@pytest.mark.parametrize(
    ("listed", "is_allowed"),
    [
        ("redis://127.0.0.1:{port}", True),
        ("redis://127.0.0.1:{port}/0", True),
        ("redis://127.0.0.1:{port}/1", False),
        ("rediss://127.0.0.1:{port}", False),
        ("http://127.0.0.1:{port}", False),
    ],
)
def test_replies_go_to_no_server_that_the_organisation_does_not_list(
    tmp_path: Path,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    listed: str,
    is_allowed: bool,
) -> None:
    """They tell of documents, whoever keeps them (S9)."""
    rules = tmp_path / "organisation.toml"
    monkeypatch.setenv(VARIABLE, str(rules))
    with speaking() as model:
        cache = listed.format(port=redis_server.port)
        urls = json.dumps([model.openai_url, cache])
        rules.write_text(f"[egress]\nbase_urls = {urls}\n", "utf-8")
        corpus = machine(tmp_path / "one", model, redis_server)

        if is_allowed:
            assert corpus.run().exit_code == 0
        else:
            with pytest.raises(ConfigError, match=r"cache\.url .* is refused"):
                corpus.run()

    with redis_server.client() as client:
        assert bool(client.dbsize()) is is_allowed
