"""A crash at any moment repeats or completes a sync, and never halves it (S3, S4).

First at every single step by which something on the disk changes, then by killing the
real command. Three kills fit into the suite; `pytest tests/index --kills 100` is the
campaign.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from situate.pipeline.living.indexing import acknowledge
from tests.support.corpora import LEAVE, Corpus
from tests.support.stores import Store, built, config_of, delivered, synced

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 6
FREE = {"output": {"max_delete_share": 1}, "chunking": {"min_tokens": 0}}

_LONGEST_SECONDS = 60


class KilledError(BaseException):
    """What nobody catches."""


@dataclass(slots=True)
class Disk:
    """Counts the steps by which a disk changes; from one of them on nothing does."""

    last: int | None = None
    steps: int = 0

    def step(self) -> None:
        """Go on, if there is anybody."""
        if self.last is not None and self.steps >= self.last:
            raise KilledError
        self.steps += 1

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Stand in front of everything that changes it."""
        for holder, names in (
            (Path, ("replace", "unlink", "mkdir")),
            (os, ("fsync",)),
            (shutil, ("rmtree",)),
        ):
            for name in names:
                patch.setattr(holder, name, self._stepping(getattr(holder, name)))

    def _stepping(self, act: Callable[..., object]) -> Callable[..., object]:
        def stepping(*given: object, **named: object) -> object:
            self.step()
            return act(*given, **named)

        return stepping


def corpus_of(folder: Path) -> Corpus:
    """Write a corpus of a few documents."""
    corpus = Corpus(folder=folder)
    for number in range(4):
        corpus.document(f"{number}.md", LEAVE.replace("Leave", f"Leave {number}"))
    return corpus.configure(**FREE)


def edit(corpus: Corpus) -> None:
    """Change a document, remove one, write one."""
    corpus.document("0.md", LEAVE.replace("twelve", "ten"))
    (corpus.folder / "docs" / "1.md").unlink()
    corpus.document("new.md", LEAVE)


def found(corpus: Corpus, known: set[str]) -> list[Path]:
    """Give the deltas that somebody may take in who looks into the folder."""
    folder = config_of(corpus).output.deltas
    return [
        path
        for path in sorted(folder.glob("[0-9a-f]*"))
        if path.name not in known and (path / "manifest.json").exists()
    ]


def nightly(corpus: Corpus, store: Store) -> None:
    """Sync, take in, acknowledge."""
    sent = synced(corpus)
    if sent.run is not None and sent.folder is not None:
        store.take_in(sent.folder)
        acknowledge(config_of(corpus), sent.run)


def test_a_crash_at_any_step_leaves_what_the_next_night_puts_right(
    tmp_path: Path,
) -> None:
    """Whether the store took in what it found, and what was edited since."""
    start = corpus_of(tmp_path / "start")
    filled = Store()
    delivered(start, filled)
    steps = len(filled.records)
    last, ended = 0, False
    while not ended:
        corpus = Corpus(folder=tmp_path / str(last))
        shutil.copytree(start.folder, corpus.folder)
        known = {path.name for path in found(corpus, set())}
        store = Store(records=dict(filled.records))
        edit(corpus)
        with pytest.MonkeyPatch.context() as patch:
            Disk(last=last).watch(patch)
            try:
                nightly(corpus, store)
                ended = True
            except KilledError:
                pass
        if last % 2:
            for path in found(corpus, known):
                store.take_in(path)
        if last % 3 == 0:
            corpus.document("new.md", LEAVE.replace("writing", "person"))

        delivered(corpus, store)

        assert store.records == built(corpus), f"killed at step {last}"
        assert not [*corpus.folder.rglob("*.part")]
        shutil.rmtree(corpus.folder)
        last += 1
    assert last > steps


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often to kill, as the command line says."""
    return int(request.config.getoption("--kills"))


def command(corpus: Corpus, *arguments: str) -> subprocess.Popen[str]:
    """Start a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "situate", *arguments],
        cwd=corpus.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def finished(process: subprocess.Popen[str], seconds: float) -> str | None:
    """Give what it wrote, or kill it as the kernel would; None where it was killed."""
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=_LONGEST_SECONDS)
        return None
    assert process.returncode == 0
    return said.strip()


def test_killed_commands_never_leave_a_store_with_the_wrong_index(
    tmp_path: Path, kills: int
) -> None:
    """Whatever was under way: the next sync that ends puts it right."""
    chance = random.Random(SEED)  # noqa: S311 - draws moments, not secrets
    corpus = Corpus(folder=tmp_path)
    for number in range(40):
        corpus.document(f"{number:02}.md", LEAVE.replace("Leave", f"Leave {number}"))
    corpus.configure(**FREE)
    store = Store()
    began = time.monotonic()
    run = finished(command(corpus, "sync", corpus.config.name), _LONGEST_SECONDS)
    seconds = time.monotonic() - began
    assert run

    for turn in range(kills):
        name = f"{chance.randrange(40):02}.md"
        corpus.document(name, LEAVE.replace("twelve", str(turn)))
        known = {path.name for path in config_of(corpus).output.deltas.iterdir()}
        moment = seconds * (0.2 + chance.random())
        run = finished(command(corpus, "sync", corpus.config.name), moment)
        if run is None:
            for path in found(corpus, known)[: chance.randrange(2)]:
                store.take_in(path)
            continue
        store.take_in(config_of(corpus).output.deltas / run)
        acking = command(corpus, "ack", run, "--config", corpus.config.name)
        finished(acking, seconds * chance.random())
    nightly(corpus, store)

    assert store.records == built(corpus)
    assert not [*corpus.folder.rglob("*.part")]
