"""A run elsewhere publishes what a run here does, and says what it cannot do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from situate.cli import app
from situate.config import load
from situate.errors import SituateError
from situate.manifest import NOTHING_SPENT
from situate.pipeline.run import run
from situate.ray import chunk_batch
from situate.ray.documents import SOURCE
from situate.ray.rows import outcomes
from tests.support.corpora import Corpus, Heard, handbook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

    from situate.corpus import Source
    from situate.manifest import Spent
    from situate.pipeline.documents import Failed
    from situate.pipeline.jobs import Job
    from situate.pipeline.written import Written


class Here:
    """An engine that takes one document after the other through its rows."""

    def check(self, jobs: Sequence[Job]) -> None:
        """Lack nothing."""

    def work(
        self,
        job: Job,
        sources: Sequence[Source],
        publish: Callable[[Written | Failed], None],
    ) -> Spent:
        """Cut, here."""
        for source in sources:
            batch = {SOURCE: [source]}
            table = chunk_batch(batch, config=job.config, deleted=job.preparer.deleted)
            for outcome in outcomes([table], iter([source])):
                publish(outcome)
        return NOTHING_SPENT


def published(corpus: Corpus) -> dict[str, bytes]:
    """Give what stands in the output folder."""
    files = corpus.chunks.parent.glob("[!.]*")
    return {path.name: path.read_bytes() for path in files}


def test_a_run_elsewhere_publishes_the_same_files(tmp_path: Path) -> None:
    """The manifest included, with what failed."""
    here, elsewhere = (handbook(tmp_path / name) for name in ("here", "elsewhere"))
    for corpus in (here, elsewhere):
        corpus.document("broken.md", "\x00\x01" * 50)
        corpus.configure(corpus={"max_failed_share": 0.5})
    here.run()

    heard = Heard()
    (result,) = run(load([elsewhere.config], environment={}), heard, Here())

    assert result.exit_code == 0
    assert published(elsewhere) == published(here)
    assert heard.advanced == 3
    assert [note for note in heard.notes if "broken.md" in note]


def test_two_documents_of_one_id_are_found_wherever_they_were_read(
    tmp_path: Path,
) -> None:
    """Nothing is published, as in a run here."""
    corpus = handbook(tmp_path)
    for name in ("a.md", "b.md"):
        corpus.document(name, "---\ndoc_id: same\n---\n# A\n\nText.\n")

    (result,) = run(load([corpus.config], environment={}), Heard(), Here())

    assert (result.exit_code, published(corpus)) == (1, {})
    assert "same" in str(result.reason)


def told(*arguments: str) -> tuple[int, str]:
    """Give how a command ends, and what it says."""
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


def test_a_missing_package_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line and exit code 2, before any work."""
    corpus = handbook(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"):
        monkeypatch.setenv(name, "0")

    code, said = told("run", str(corpus.config), "--engine", "ray")

    assert code == 2
    assert said.startswith("situate: engine ray: ")
    assert said.endswith("pip install 'situate[ray]'\n")
    assert not corpus.chunks.parent.exists()


def test_workers_without_an_engine_are_a_mistake(tmp_path: Path) -> None:
    """A run takes all processors without being told."""
    code, said = told("run", str(handbook(tmp_path).config), "--workers", "2")

    assert (code, said.count("\n")) == (2, 1)
    assert "--workers is for --engine ray" in said


def test_an_engine_that_raises_publishes_nothing(tmp_path: Path) -> None:
    """Whole or not at all."""

    class Broken(Here):
        def work(self, *_: object) -> Spent:
            message = "engine ray: a worker cannot be started"
            raise SituateError(message)

    corpus = handbook(tmp_path)

    (result,) = run(load([corpus.config], environment={}), Heard(), Broken())

    assert (result.exit_code, published(corpus)) == (1, {})
