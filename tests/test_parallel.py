"""A large corpus is cut by several processes, and nobody can tell."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from situate.check import check
from situate.config import load
from situate.corpus import Source
from situate.pipeline import parallel
from situate.pipeline.documents import Failed
from situate.pipeline.pool import Crew, Pool
from tests.support.corpora import Corpus, Heard

if TYPE_CHECKING:
    from collections.abc import Callable

    from situate.pipeline.documents import Preparer


def corpus(folder: Path, documents: int = 40) -> Corpus:
    """Write a corpus of documents, one of which cannot be read."""
    folder.mkdir(exist_ok=True)
    made = Corpus(folder=folder)
    for number in range(documents):
        text = f"# Part {number}\n\nText of {number}.\n\n## Below\n\nMore of it.\n"
        made.document(f"{number:02}.md", text)
    made.document("broken.md", "\x00\x01\x02\x03" * 50)
    return made.configure(corpus={"max_failed_share": 0.1})


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make any corpus large enough for several processes."""
    monkeypatch.setattr(parallel, "SMALLEST", 0)
    monkeypatch.setattr(parallel, "processors", lambda: 2)


def test_processes_write_what_one_would(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """C10: the same bytes on any machine, with the same failures."""
    alone, shared = corpus(tmp_path / "alone"), corpus(tmp_path / "shared")
    one = alone.run()
    request.getfixturevalue("several")

    two = shared.run()

    assert shared.chunks.read_bytes() == alone.chunks.read_bytes()
    assert two.counts == one.counts
    assert two.counts is not None
    assert (two.counts.documents, two.counts.failed) == (41, 1)
    assert check(shared.chunks).findings == []


class Killing(Heard):
    """Kills the processes at work once a few documents are done."""

    def advance(self) -> None:
        """Count a document, and strike at the third."""
        super().advance()
        if self.advanced == 3:
            for process in multiprocessing.active_children():
                assert process.pid is not None
                os.kill(process.pid, signal.SIGKILL)


@pytest.mark.usefixtures("several")
def test_a_process_that_dies_costs_no_document(tmp_path: Path) -> None:
    """What was in its hands is done again by another."""
    made = corpus(tmp_path)

    result = made.run(watcher=Killing())

    assert result.counts is not None
    assert (result.counts.documents, result.counts.failed) == (41, 1)
    assert check(made.chunks).findings == []


def test_no_process_outlives_the_run_that_started_it(tmp_path: Path) -> None:
    """A run that is killed leaves nobody behind."""
    made = corpus(tmp_path, documents=400)
    program = (
        "import sys, pathlib\n"
        "from situate.config import load\n"
        "from situate.pipeline import parallel\n"
        "from situate.pipeline.run import run\n"
        "from tests.support.corpora import Heard\n"
        "class Slow(Heard):\n"
        "    def advance(self):\n"
        "        import multiprocessing as m, time\n"
        "        print(*(p.pid for p in m.active_children()), flush=True)\n"
        "        time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    parallel.SMALLEST = 0\n"
        "    parallel.processors = lambda: 2\n"
        "    run(load([pathlib.Path(sys.argv[1])], environment={}), Slow())\n"
    )
    script = tmp_path / "script.py"
    script.write_text(program, "utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, script, made.config],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]

        process.kill()

    assert pids
    deadline = time.monotonic() + 20
    while any(map(_is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_is_running, pids))


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2]
    except OSError:
        return False
    return not state.lstrip().startswith("Z")


def test_an_interrupted_run_ends_at_once_and_stays_ended(tmp_path: Path) -> None:
    """Whoever presses twice does not wait for documents, nor for ever."""
    made = Corpus(folder=tmp_path)
    for number in range(3):
        made.document(f"{number}.md", "word " * 800_000)
    made.configure()
    program = (
        "import sys\n"
        "from situate.cli import main\n"
        "from situate.pipeline import parallel\n"
        "if __name__ == '__main__':\n"
        "    parallel.SMALLEST = 0\n"
        "    parallel.processors = lambda: 2\n"
        "    sys.argv = ['situate', 'run', sys.argv[1]]\n"
        "    main()\n"
    )
    script = tmp_path / "script.py"
    script.write_text(program, "utf-8")
    with subprocess.Popen(
        [sys.executable, script, made.config], stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(2.5)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)

        code = process.wait(timeout=20)

    assert code in {130, -signal.SIGINT}
    assert not made.chunks.exists()


def _endless(_: Preparer, source: Source) -> str:
    """Take for ever over one document, and no time over others."""
    while source.doc_id == "endless.md":
        time.sleep(0.01)
    return source.doc_id


def _greedy(_: Preparer, source: Source) -> str:
    """Ask for more memory than there is over one document."""
    if source.doc_id == "greedy.md":
        return str(len(bytearray(8 * 1024**3)))
    return source.doc_id


@pytest.mark.parametrize(
    ("work", "bad"), [(_endless, "endless.md"), (_greedy, "greedy.md")]
)
def test_a_document_beyond_all_bounds_fails_alone(
    tmp_path: Path, work: Callable[[Preparer, Source], str], bad: str
) -> None:
    """Its process ends, and those that were at work beside it are done again."""
    (config,) = load([corpus(tmp_path, 1).config], environment={})
    crew = Crew(configs={"handbook": config}, most_seconds=1.0, most_bytes=4 * 1024**3)
    sources = [
        Source(path=Path(name), doc_id=name, content=b"x")
        for name in (bad, "a.md", "b.md")
    ]
    with Pool(crew, 2) as pool:
        sent = [(each, pool.submit(work, "handbook", each)) for each in sources]

        first, *others = [
            pool.result(future, work, "handbook", each) for each, future in sent
        ]

    assert isinstance(first, Failed)
    assert "the time there is" in first.reason
    assert others == ["a.md", "b.md"]


def test_a_pool_that_is_killed_lets_nobody_wait(tmp_path: Path) -> None:
    """And tries nothing again."""
    (config,) = load([corpus(tmp_path, 1).config], environment={})
    source = Source(path=Path("endless.md"), doc_id="endless.md", content=b"x")
    with Pool(Crew(configs={"handbook": config}), 1) as pool:
        future = pool.submit(_endless, "handbook", source)
        pool.submit(_endless, "handbook", replace(source, doc_id="a.md"))
        while not future.running():
            time.sleep(0.01)

        threading.Timer(0.2, pool.kill).start()

        with pytest.raises(CancelledError):
            pool.result(future, _endless, "handbook", source)
