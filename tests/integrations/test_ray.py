"""Runs on Ray itself write what a run of one process does, whoever dies meanwhile.

Ten thousand documents are in `benchmarks/ray_scale.py`.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.agreements import agreement
from tests.support.chat import Answer, chatting
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import MockModel, Script, speaking
from tests.support.pages import ROOT, blocks, prose
from tests.test_crash import stored

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "ray.md"
SHOWN = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)
RAY = ("--engine", "ray", "--workers", "2")

_LONGEST_SECONDS = 300

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
"""127.0.0.1, as the kernel of a machine with the little end first writes it."""

DEADLY = """\
import importlib.machinery, os, sys

class Reader:
    def find_spec(self, name, path, target=None):
        if name != "situate.readers":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module

        def loaded(module):
            load(module)
            read = module.read

            def deadly(data, *given, **named):
                if b"DEADLY" in data:
                    os._exit(1)
                return read(data, *given, **named)

            module.read = deadly

        spec.loader.exec_module = loaded
        return spec

sys.meta_path.insert(0, Reader())
"""
"""What ends a process when it reads a document, as a parser in C may."""


def written(folder: Path, documents: int) -> Corpus:
    """Write agreements, one document that cannot be read, and a config."""
    folder.mkdir()
    corpus = Corpus(folder=folder)
    for number in range(documents):
        corpus.document(f"{number:05}.md", agreement(number, 3))
    corpus.document("broken.md", "\x00\x01" * 50)
    return corpus.configure(corpus={"max_failed_share": 0.5})


def ask(corpus: Corpus, model: MockModel, **keys: object) -> Corpus:
    """Have a model asked about it."""
    wanted = {"concurrency": 8, "max_usd": 100, "endpoint": "mock", **keys}
    return corpus.configure(
        corpus={"max_failed_share": 0.5},
        enrichment=asking(model.openai_url, model="gpt-5.4-mini", **wanted),
        cache={"directory": "cache"},
    )


def started(corpus: Corpus, *options: str, **environment: str) -> subprocess.Popen[str]:
    """Start a run in the corpus's folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "situate", "run", str(corpus.config), *options],
        cwd=corpus.folder,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


def ran(corpus: Corpus, *options: str, **environment: str) -> tuple[int, str]:
    """Run it to its end; give its exit code and what it said."""
    process = started(corpus, *options, **environment)
    try:
        _, said = process.communicate(timeout=_LONGEST_SECONDS)
    finally:
        process.kill()
        process.wait()
    return process.returncode, said


def published(corpus: Corpus) -> dict[str, bytes]:
    """Give what stands in the output folder; a ledger says when."""
    files = corpus.chunks.parent.glob("[!.]*")
    return {
        path.name: path.read_bytes() for path in files if ".ledger." not in path.name
    }


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Find the workers that were started below a process."""
    titles = below(process)
    return [number for number, title in titles.items() if "MapWorker" in title]


def below(process: subprocess.Popen[str]) -> dict[int, str]:
    """Find what was started by a process, and by that, with its title."""
    parents, titles = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            titles[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])

    def is_below(number: int) -> bool:
        while number in parents and number != process.pid:
            number = parents[number]
        return number == process.pid

    return {number: title for number, title in titles.items() if is_below(number)}


def heard_on(process: subprocess.Popen[str]) -> set[str]:
    """Give the addresses at which it, and what it started, can be reached, in hex."""
    sockets = set()
    for number in below(process):
        for descriptor in Path(f"/proc/{number}/fd").glob("*"):
            with suppress(OSError):
                sockets.add(str(descriptor.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(fields[1].partition(":")[0])
    return found


def processes_that_name(folder: Path) -> list[str]:
    """Find those that were started with a folder, as all of Ray's are."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(process.read_text())
    return [line for line in found if str(folder) in line]


@pytest.fixture
def model() -> Iterator[MockModel]:
    """Serve a model that takes its time."""
    with speaking(Script(latency_seconds=0.1)) as served:
        yield served


@pytest.mark.parametrize("asked", [False, True], ids=["nobody", "a model"])
def test_a_run_on_ray_publishes_what_a_run_does(
    tmp_path: Path, model: MockModel, asked: bool
) -> None:
    """Chunks, blocks and manifest to the byte, with what was spent and what failed."""
    alone, ray = (written(tmp_path / name, 80) for name in ("alone", "ray"))
    if asked:
        ask(alone, model)
        ask(ray, model)

    first, second = ran(alone), ran(ray, *RAY)

    assert (first[0], second[0]) == (0, 0)
    assert published(ray) == published(alone)
    assert "failed: broken.md" in second[1]
    assert ray.manifest["spent"]["requests"] == 80 * asked


def test_a_worker_that_is_killed_costs_nothing_twice(
    tmp_path: Path, model: MockModel
) -> None:
    """But what it had on the wire; the output is that of a run nobody killed.

    Nor can anybody reach its workers from elsewhere.
    """
    alone, ray = (written(tmp_path / name, 160) for name in ("alone", "ray"))
    ran(ask(alone, model))
    before = model.statistics

    process = started(ask(ray, model), *RAY)
    assert model.wait_for_calls(before.calls + 60, timeout_seconds=_LONGEST_SECONDS)
    addresses = heard_on(process)
    victim, *_ = workers_of(process)
    os.kill(victim, signal.SIGKILL)
    kept, at_kill = stored(ray), model.statistics
    process.communicate(timeout=_LONGEST_SECONDS)

    asked_again = model.statistics.requests - at_kill.requests
    repeated = model.statistics.requests - before.requests
    assert process.returncode == 0
    assert ray.chunks.read_bytes() == alone.chunks.read_bytes()
    assert len(kept) > 20
    assert not kept & asked_again.keys()
    assert max(repeated.values()) <= 2
    assert sum(repeated.values()) - len(repeated) <= 8
    assert addresses == LOOPBACK


def test_a_document_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    """Ray would begin it again for ever."""
    corpus = written(tmp_path / "corpus", 20)
    corpus.document("deadly.md", "# A\n\nDEADLY\n")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(DEADLY)
    path = f"{tmp_path / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"

    code, said = ran(corpus, *RAY, PYTHONPATH=path)

    assert code == 0
    assert "failed: deadly.md: the process that read it ended, twice" in said
    assert corpus.manifest["counts"]["documents"] == 22
    assert corpus.manifest["counts"]["failed"] == 2


def test_a_wrong_key_ends_a_run_with_one_line(tmp_path: Path) -> None:
    """And not with pages about the inside of Ray."""
    corpus = written(tmp_path / "corpus", 5)
    with chatting() as chat:
        chat.answer = lambda _: Answer(status=401, text='{"error": {}}')
        corpus.configure(enrichment=asking(chat.address))

        code, said = ran(corpus, *RAY)

    assert code == 1
    assert "nothing published: openai at" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert not corpus.chunks.exists()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_whoever_stops_a_run_finds_nothing_left(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """No output, and none of the processes and folders of Ray."""
    corpus = written(tmp_path / "corpus", 3000)
    scratch = tmp_path / "t"
    scratch.mkdir()
    process = started(corpus, *RAY, TMPDIR=str(scratch))
    part = corpus.chunks.with_name(".handbook.jsonl.part")
    ends = time.monotonic() + 120
    while not (part.exists() and part.stat().st_size) and time.monotonic() < ends:
        time.sleep(0.05)

    process.send_signal(number)
    process.communicate(timeout=_LONGEST_SECONDS)

    assert process.returncode == code
    assert not published(corpus)
    assert not list(scratch.glob("situate-*"))
    assert not processes_that_name(scratch)


def test_the_page_shows_a_pipeline_that_works(tmp_path: Path, model: MockModel) -> None:
    """Documents in; out come chunks with the columns, and lines, that a run writes."""
    import pyarrow.parquet as pq

    page = next(block for block in blocks(PAGE) if block.kind == "toml")
    text = page.text
    for shown, stands in (
        ('"anthropic"', f'"openai"\nbase_url = "{model.openai_url}"'),
        ('"claude-haiku-5-5"', '"gpt-5.4-mini"'),
    ):
        assert shown in text
        text = text.replace(shown, stands)
    (tmp_path / str(page.name)).write_text(text, "utf-8")
    corpus = Corpus(folder=tmp_path, name="policies")
    for number in range(5):
        path = tmp_path / "policies" / "it" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(agreement(number, 3))
    codes = [each for each in SHOWN.findall(prose(PAGE)) if "write_parquet" in each]
    code = "".join(map(textwrap.dedent, codes))

    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        check=True,
        timeout=_LONGEST_SECONDS,
    )

    code_of_run, _ = ran(corpus)
    chunks = pq.read_table(tmp_path / "chunks").column("chunk_id").to_pylist()
    rows = pq.read_table(tmp_path / "rows").to_pylist()
    assert code_of_run == 0
    assert sorted(chunks) == sorted(each["chunk_id"] for each in corpus.records)
    lines = [each["line"] for each in rows if each["status"] == "chunk"]
    assert sorted(lines) == sorted(corpus.chunks.read_bytes().splitlines(keepends=True))
    assert {each["doc_id"] for each in corpus.records} == {
        f"it/{number}.md" for number in range(5)
    }
    assert any(each["metadata"]["enrichment"]["statement"] for each in corpus.records)
