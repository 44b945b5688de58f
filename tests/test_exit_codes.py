"""What the shell sees: exit codes, streams, and signals.

Of a real process where streams, signals or its end are the point; a code that a command
gives is the same inside this one, without the second that a process takes to start.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.check import check
from situate.cli import app
from situate.output import Output
from tests.support.chat import chatting
from tests.support.corpora import LEAVE, Corpus, asking, handbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from tests.support.chat import Chat

COMMAND = [sys.executable, "-m", "situate"]

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="signals are another matter there"
)


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model that answers every question."""
    with chatting() as server:
        yield server


def situate(
    *arguments: str | Path, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a shell would."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        check=False,
        env=os.environ | variables,
        timeout=60,
    )


def ended(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_done_is_0(tmp_path: Path) -> None:
    """Every document was read, nothing was skipped."""
    result = situate("run", handbook(tmp_path).config)

    assert (result.returncode, result.stdout) == (0, b"")


def test_nothing_published_is_1(tmp_path: Path) -> None:
    """A glob that matches nothing; by a real process, as the code above is."""
    corpus = handbook(tmp_path, corpus={"documents": ["none/*.md"]})

    result = situate("run", corpus.config)

    assert result.returncode == 1
    assert b"glob 'none/*.md' matches nothing" in result.stderr
    assert b"Traceback" not in result.stderr


def test_a_mistake_of_usage_or_config_is_2(tmp_path: Path) -> None:
    """Told in words, without a traceback."""
    corpus = handbook(tmp_path, chunking={"max_token": 5})

    config = ended("run", corpus.config)
    usage = ended("run", "--nonsense")

    assert (config.exit_code, usage.exit_code) == (2, 2)
    assert "nearest: chunking.max_tokens" in config.stderr
    assert "Traceback" not in config.stderr + usage.stderr


def test_a_wrong_line_of_a_manifest_is_2(tmp_path: Path) -> None:
    """It is named by file and line, and nothing is written."""
    corpus = handbook(tmp_path, corpus={"documents": "docs/manifest.jsonl"})
    manifest = corpus.document("manifest.jsonl", '{"path": "leave.md"}\n{"pth": 1}\n')

    result = ended("run", corpus.config)

    assert result.exit_code == 2
    assert f"{manifest}:2: 'pth' is no field" in result.stderr
    assert "Traceback" not in result.stderr
    assert not corpus.chunks.parent.exists()


def test_published_but_incomplete_is_3(tmp_path: Path) -> None:
    """Too many documents failed."""
    corpus = handbook(tmp_path)
    corpus.document("bad.md", b"%PDF-1.7 ...")

    result = ended("run", corpus.config)

    assert result.exit_code == 3
    assert corpus.chunks.exists()


def test_locked_is_4(tmp_path: Path) -> None:
    """Another run writes the same output."""
    corpus = handbook(tmp_path)

    with Output(corpus.chunks):
        result = ended("run", corpus.config)

    assert result.exit_code == 4
    assert "is being written by another run" in result.stderr


WHILE_IMPORTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from situate_command import main
main()
"""


@pytest.mark.parametrize("module", ["situate", "situate.cli", "typer", "situate.model"])
def test_who_interrupts_the_start_reads_one_line(module: str) -> None:
    """Imports take a while, and a traceback tells nobody anything."""
    ended = subprocess.run(
        [sys.executable, "-c", WHILE_IMPORTING, module],
        check=False,
        capture_output=True,
        timeout=60,
    )

    assert ended.returncode == 130
    assert ended.stderr == b"situate: interrupted\n"


def test_interrupted_is_130_and_publishes_nothing(tmp_path: Path, chat: Chat) -> None:
    """As after Ctrl-C in a shell; answers that came are kept."""
    asked = threading.Event()
    chat.before = lambda: (asked.set(), time.sleep(0.3))[1]
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    with subprocess.Popen(
        [*COMMAND, "run", str(corpus.config)], stderr=subprocess.PIPE
    ) as process:
        assert asked.wait(30)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)

    assert process.returncode == 130
    assert b"Traceback" not in told
    assert {path.name for path in corpus.chunks.parent.iterdir()} <= {
        ".handbook.lock",
        ".handbook.ledger.lock",
        "handbook.ledger.jsonl",
    }


@pytest.mark.parametrize(
    ("name", "code", "ignored"),
    [
        pytest.param("SIGTERM", 143, "", id="told to end"),
        pytest.param("SIGTERM", 143, "INT", id="told to end in the background"),
        pytest.param("SIGHUP", 129, "", id="hung up"),
    ],
)
def test_a_signal_to_end_leaves_no_draft(
    tmp_path: Path, chat: Chat, name: str, code: int, ignored: str
) -> None:
    """As after Ctrl-C, also where a shell has Ctrl-C ignored; the code names it."""
    asked = threading.Event()
    chat.before = lambda: (asked.set(), time.sleep(0.3))[1]
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    with shell(f"trap '' {ignored}; exec", "run", corpus.config) as process:
        assert asked.wait(30)
        process.send_signal(getattr(signal, name))
        _, told = process.communicate(timeout=30)

    assert process.returncode == code
    assert told.count(b"\n") <= 7, "no more than the estimate"
    assert {path.name for path in corpus.chunks.parent.iterdir()} <= {
        ".handbook.lock",
        ".handbook.ledger.lock",
        "handbook.ledger.jsonl",
    }


def test_a_run_under_nohup_outlives_its_terminal(tmp_path: Path, chat: Chat) -> None:
    """Who ignores a signal before we begin means it."""
    asked = threading.Event()
    chat.before = lambda: (asked.set(), time.sleep(0.3))[1]
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    with shell("trap '' HUP; exec", "run", corpus.config) as process:
        assert asked.wait(30)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=30)

    assert process.returncode == 0
    assert corpus.chunks.exists()


def shell(script: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start the command from a shell, which may set up its streams and signals."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        ["/bin/sh", "-c", script.replace("exec", 'exec "$@"'), "sh", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# ---------------------------------------------------------------- streams

FULL = pytest.mark.skipif(
    not os.path.exists("/dev/full"),  # noqa: PTH110 - a name, not a path
    reason="there is no full disk to be had",
)


@pytest.mark.parametrize(
    ("command", "stream"),
    [
        pytest.param("chunk docs/leave.md", ">&-", id="chunk, closed"),
        pytest.param("chunk docs/leave.md", ">/dev/full", id="chunk", marks=FULL),
        pytest.param("run handbook.toml --json", ">/dev/full", id="run", marks=FULL),
        pytest.param("plan handbook.toml", ">/dev/full", id="plan", marks=FULL),
        pytest.param("check out/handbook.jsonl --json", ">&-", id="check, closed"),
        pytest.param("--version", ">/dev/full", id="version", marks=FULL),
        pytest.param("--help", ">/dev/full", id="help", marks=FULL),
        pytest.param("--help", ">&-", id="help, closed"),
    ],
)
def test_data_that_cannot_be_written_is_one_line(
    tmp_path: Path, command: str, stream: str
) -> None:
    """And exit code 1: who reads the data would miss it."""
    handbook(tmp_path).run()

    with shell(f"cd {tmp_path}; exec {stream}", *command.split()) as process:
        _, told = process.communicate(timeout=60)

    errors = [line for line in told.splitlines() if b"file descriptor" in line.lower()]
    errors += [line for line in told.splitlines() if b"No space left" in line]
    assert process.returncode == 1
    assert len(errors) == 1
    assert errors[0].startswith(b"situate: ")
    assert b"Traceback" not in told
    assert b"Exception ignored" not in told


@pytest.mark.parametrize(
    "streams",
    [
        pytest.param("2>&-", id="no messages"),
        pytest.param("2>/dev/full", id="messages to a full disk"),
        pytest.param("<&- >&- 2>&-", id="no stream at all"),
    ],
)
def test_messages_that_cannot_be_written_decide_nothing(
    tmp_path: Path, streams: str
) -> None:
    """There is nobody to tell, and the chunks are good all the same."""
    corpus = handbook(tmp_path)
    corpus.document(
        "latin.md", "# Caf\u00e9\n\nText of a caf\u00e9.\n".encode("cp1252")
    )

    with shell(f"exec {streams}", "run", corpus.config) as process:
        process.communicate(timeout=60)

    assert process.returncode == 0
    assert check(corpus.chunks).findings == []


def test_a_terminal_that_goes_away_decides_nothing(tmp_path: Path, chat: Chat) -> None:
    """Its bar is gone with it, the run is not."""
    asked = threading.Event()
    chat.before = lambda: (asked.set(), time.sleep(0.3))[1]
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    ours, theirs = os.openpty()

    with subprocess.Popen(
        [*COMMAND, "run", str(corpus.config)], stdin=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        assert asked.wait(30)
        assert b"handbook" in os.read(ours, 1000)
        os.close(ours)
        process.wait(60)

    assert process.returncode == 0
    assert check(corpus.chunks).findings == []


# ---------------------------------------------------------------- what is no file


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("run PIPE", id="config"),
        pytest.param("check out/handbook.jsonl --source PIPE", id="source"),
        pytest.param("check PIPE", id="chunks"),
        pytest.param("check out/handbook.jsonl --blocks PIPE", id="blocks"),
        pytest.param(
            "show leave.md:leave --chunks out/handbook.jsonl --source PIPE",
            id="source of a passage",
        ),
        pytest.param("show leave.md:leave --chunks PIPE", id="chunks to show"),
        pytest.param("chunk PIPE", id="document"),
    ],
)
def test_what_is_no_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A pipe keeps its reader waiting, a device feeds it for ever."""
    handbook(tmp_path).run()
    os.mkfifo(tmp_path / "leave.md")
    arguments = command.replace("PIPE", "leave.md").split()
    monkeypatch.chdir(tmp_path)

    with patience(60):
        result = ended(*arguments)

    assert result.exit_code == 2
    assert "it is a folder, a device or a pipe; name a file" in result.stderr
    assert result.output.count("\n") == 1


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Wait no longer for what waits itself."""

    def give_up(*_: object) -> None:
        pytest.fail("it waits for ever")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_a_killed_run_is_finished_by_the_next(tmp_path: Path, chat: Chat) -> None:
    """No answer is paid for twice, and the output is that of a calm run."""
    calm = many(tmp_path / "calm", chat)
    killed = many(tmp_path / "killed", chat)
    assert calm.run().exit_code == 0
    distinct = len(chat.bodies)
    chat.bodies.clear()
    reached = threading.Event()

    def count() -> None:
        if len(chat.bodies) >= 10:
            reached.set()
        time.sleep(0.05)

    chat.before = count
    with subprocess.Popen(
        [*COMMAND, "run", str(killed.config)], stderr=subprocess.DEVNULL
    ) as process:
        assert reached.wait(30)
        process.kill()
    chat.before = lambda: None
    last = situate("run", killed.config)

    assert last.returncode == 0
    assert killed.chunks.read_bytes() == calm.chunks.read_bytes()
    assert distinct <= len(chat.bodies) <= distinct + 4
    assert check(killed.chunks).findings == []


def many(folder: Path, chat: Chat) -> Corpus:
    """Write a corpus that takes a while, four requests at a time."""
    corpus = handbook(folder, enrichment=asking(chat.address, concurrency=4))
    for number in range(12):
        rules = "\n".join(f"# Rule {number}.{n}\n\n{LEAVE[-150:]}" for n in (1, 2))
        corpus.document(f"n{number:02}.md", rules)
    return corpus


def test_a_reader_that_leaves_is_no_accident(tmp_path: Path) -> None:
    """`situate chunk | head` prints no traceback."""
    path = tmp_path / "long.md"
    path.write_text("# Long\n\n" + "One more sentence for the pipe. " * 20_000, "utf-8")

    with subprocess.Popen(
        [*COMMAND, "chunk", str(path), "--max-tokens", "64"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read()
        process.wait(30)

    assert told == b""
    assert process.returncode == 1


def test_stdout_is_utf_8_wherever_it_goes(tmp_path: Path) -> None:
    """Records are the same bytes under any locale."""
    path = tmp_path / "a.md"
    path.write_text("# Prüfung\n\nÄpfel und 🍎.\n", "utf-8")

    result = situate("chunk", path, PYTHONIOENCODING="ascii", LC_ALL="C")

    assert result.returncode == 0
    assert "Äpfel und 🍎." in result.stdout.decode("utf-8")
