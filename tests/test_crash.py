"""A run that is killed costs no answer twice and leaves no half file behind.

The real command is killed for real, at moments drawn from a seed. Three kills
fit into the suite; `pytest tests/test_crash.py --kills 100` is the campaign. They
are shared out over the views: many chunks in a request, and one with a prefix that
the vendor keeps.
"""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.agreements import agreement
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import Script, Statistics, speaking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.mock_model import MockModel

pytestmark = pytest.mark.xdist_group("undisturbed runs")

SEED = 41
CONCURRENCY = 6
SECTIONS = 6

VIEWS = {"marked": 40, "full": 8}
"""Documents for each view: enough for a run of a second."""

SLOW = Script(latency_seconds=0.1)
"""Slow enough for a kill to find requests on the wire, and fast enough to test."""

_LONGEST_SECONDS = 30
_CAMPAIGN_SECONDS = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """What comes of a run that nobody kills."""

    view: str
    seen: Statistics
    corpus: Corpus

    @property
    def requests(self) -> int:
        """How many it takes."""
        return self.seen.calls


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often to kill, as the command line says."""
    return int(request.config.getoption("--kills"))


def write_corpus(folder: Path, *, documents: int) -> Corpus:
    """Write documents that need as many statements as there are sections."""
    corpus = Corpus(folder=folder)
    for number in range(documents):
        corpus.document(f"{number:03}.md", agreement(number, SECTIONS))
    return corpus


def ask(corpus: Corpus, model: MockModel, view: str) -> None:
    """Configure the corpus to be enriched by a server."""
    keys = {
        "model": "gpt-5.4-mini",
        "view": view,
        "concurrency": CONCURRENCY,
        "max_usd": 100,
        # A name for the server: its port, which differs, decides nothing.
        "endpoint": "mock",
    }
    corpus.configure(
        enrichment=asking(model.openai_url, **keys), cache={"directory": "cache"}
    )


@contextmanager
def running(corpus: Corpus) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command; it is gone when the block ends."""
    said = corpus.folder / "said.txt"
    with said.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "situate", "run", str(corpus.config)],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def finish(corpus: Corpus) -> None:
    """Run to the end, in this process, and insist on success."""
    assert corpus.run().exit_code == 0


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill it as the kernel would, which gives it no chance to tidy up."""
    process.send_signal(signal.SIGKILL)
    process.wait(_LONGEST_SECONDS)


def published(corpus: Corpus) -> dict[str, bytes]:
    """Give the files other programs would pick up, by name."""
    found = {
        path.name: path.read_bytes()
        for path in corpus.chunks.parent.glob("*.json*")
        if not path.name.startswith(".")
    }
    # It grows from run to run and says when.
    found.pop(f"{corpus.name}.ledger.jsonl", None)
    return found


def stored(corpus: Corpus) -> set[str]:
    """Give the requests whose replies are in the cache, read without situate."""
    path = corpus.folder / "cache" / "cache.db"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'")
        if tables.fetchone() is None:
            return set()
        rows = database.execute("SELECT value FROM Cache WHERE key LIKE 'reply:%'")
        replies = [json.loads(json.loads(value)["raw"]) for (value,) in rows]
    return {reply["id"].removeprefix("chatcmpl-") for reply in replies}


@pytest.fixture(scope="module", params=VIEWS)
def undisturbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Undisturbed:
    """A run from beginning to end."""
    view = str(request.param)
    folder = tmp_path_factory.mktemp(f"undisturbed-{view}")
    corpus = write_corpus(folder, documents=VIEWS[view])
    with speaking() as model:
        ask(corpus, model, view)
        finish(corpus)
        seen = model.statistics
    statements = sum(bool(record_statement(each)) for each in corpus.records)
    assert seen.calls == len(seen.requests)
    assert statements == VIEWS[view] * SECTIONS
    return Undisturbed(view=view, seen=seen, corpus=corpus)


def record_statement(record: dict[str, Any]) -> str | None:
    """Give the statement of a chunk as it was published."""
    statement: str | None = record["metadata"]["enrichment"]["statement"]
    return statement


def test_a_killed_run_pays_again_only_for_what_was_on_the_wire(
    tmp_path: Path, undisturbed: Undisturbed, kills: int
) -> None:
    """Replies are stored before use, so that a crash loses only open ones (E3)."""
    view, requests = undisturbed.view, undisturbed.requests
    corpus = write_corpus(tmp_path, documents=VIEWS[view])
    chance = random.Random(f"{SEED} {view}")  # noqa: S311 - draws moments, not secrets
    share_of_kills = kills // 2 if view == "full" else kills - kills // 2
    progress = sorted(chance.random() for _ in range(share_of_kills))
    on_the_wire = 0

    with speaking(SLOW, lifetime_seconds=_CAMPAIGN_SECONDS) as model:
        ask(corpus, model, view)
        for share in progress:
            before, kept = model.statistics.requests, stored(corpus)
            awaited = before.total() + int(share * requests) - len(kept)
            with running(corpus) as process:
                if awaited > before.total():
                    assert model.wait_for_calls(
                        awaited, timeout_seconds=_LONGEST_SECONDS
                    )
                time.sleep(chance.random() * SLOW.latency_seconds)
                kill(process)
            sent = model.statistics.requests - before
            lost = set(sent) - stored(corpus)
            on_the_wire += len(lost)
            assert len(lost) <= CONCURRENCY
            assert not kept & set(sent)
            assert sent.total() == len(sent)
            assert_whole(corpus, undisturbed.corpus)
        finish(corpus)
        seen = model.statistics

    assert set(seen.requests) == set(undisturbed.seen.requests)
    assert on_the_wire > 0, "no kill found a request on the wire"
    assert seen.calls <= requests + on_the_wire
    assert seen.most_in_flight <= CONCURRENCY
    assert_same_output(corpus, undisturbed.corpus)
    assert left_over(corpus) == []


def test_a_kill_leaves_old_files_or_new_ones_and_nothing_between(
    tmp_path: Path, kills: int
) -> None:
    """Whatever the moment, every published file is whole (DESIGN 9)."""
    corpus = write_corpus(tmp_path, documents=30).configure()
    chance = random.Random(SEED)  # noqa: S311 - draws moments, not secrets
    finish(corpus)
    old = published(corpus)
    corpus.document("000.md", agreement(1000, SECTIONS))
    with running(corpus) as process:
        wait_until_it_writes(corpus, since=time.time())
        began = time.monotonic()
        assert process.wait(_LONGEST_SECONDS) == 0
        seconds = time.monotonic() - began
    new = published(corpus)
    assert all(old[name] != new[name] for name in new)

    for _ in range(kills):
        for name, content in old.items():
            (corpus.chunks.parent / name).write_bytes(content)
        with running(corpus) as process:
            wait_until_it_writes(corpus, since=time.time())
            time.sleep(chance.random() * seconds)
            kill(process)
        for name, content in published(corpus).items():
            assert content in {old[name], new[name]}, f"{name} is half written"
    finish(corpus)

    assert published(corpus) == new
    assert left_over(corpus) == []


def wait_until_it_writes(corpus: Corpus, *, since: float) -> None:
    """Wait until the command has changed something beside the output."""
    latest = time.monotonic() + _LONGEST_SECONDS
    while not any(changed > since for changed in changes(corpus)):
        assert time.monotonic() < latest, "the run did not begin to write"
        time.sleep(0.002)


def changes(corpus: Corpus) -> Iterator[float]:
    """Give when each file of the output folder was changed, while it changes."""
    for path in corpus.chunks.parent.iterdir():
        with suppress(FileNotFoundError):
            yield path.stat().st_mtime


def left_over(corpus: Corpus) -> list[Path]:
    """Give the drafts a killed run leaves behind for the next one."""
    return list(corpus.chunks.parent.glob(".*.part"))


def assert_whole(corpus: Corpus, other: Corpus) -> None:
    """Insist that what is published, if anything, is all there."""
    whole = published(other)
    for name, content in published(corpus).items():
        if name.endswith(".manifest.json"):
            json.loads(content)
        else:
            assert content == whole[name], f"{name} is half written"


def assert_same_output(corpus: Corpus, other: Corpus) -> None:
    """Compare what two runs published, but for what each of them spent."""
    ours, theirs = published(corpus), published(other)
    name = f"{corpus.name}.manifest.json"
    manifest, reference = (json.loads(files.pop(name)) for files in (ours, theirs))
    assert ours == theirs
    assert manifest | {"spent": None} == reference | {"spent": None}
