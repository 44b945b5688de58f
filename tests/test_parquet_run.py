"""A run with `output.parquet` publishes its chunks as a table beside the lines."""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from situate import parquet
from situate.config import load
from situate.errors import ConfigError, RecordError
from situate.output import Draft
from situate.pipeline.living.forgetting import forget
from situate.records import to_line
from tests.support.corpora import Corpus, handbook
from tests.support.planted import PLANTED, naming, planted, removed
from tests.support.stores import config_of

if TYPE_CHECKING:
    from pathlib import Path

ON = {"parquet": True}


def table_of(corpus: Corpus) -> Path:
    """Give where the table stands."""
    return corpus.chunks.with_suffix(".parquet")


def lines_of(corpus: Corpus) -> bytes:
    """Give the table as lines."""
    return b"".join(map(to_line, parquet.read(table_of(corpus))))


def contents(corpus: Corpus) -> dict[str, bytes]:
    """Give all that stands in the folder of the output, locks aside."""
    return {
        path.name: path.read_bytes()
        for path in corpus.chunks.parent.iterdir()
        if path.suffix != ".lock"
    }


# ------------------------------------------------------------------------ run


@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
def test_the_table_holds_the_lines(tmp_path: Path, granularity: str) -> None:
    """All of them, in their order, to the byte."""
    corpus = handbook(tmp_path, output=ON, chunking={"granularity": granularity})

    corpus.run()

    assert lines_of(corpus) == corpus.chunks.read_bytes()


def test_the_manifest_names_the_table(tmp_path: Path) -> None:
    """As it does the other files."""
    corpus = handbook(tmp_path, output=ON)

    corpus.run()

    content = table_of(corpus).read_bytes()
    assert corpus.manifest["files"][2] == {
        "name": "handbook.parquet",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def test_a_second_run_writes_the_same_table(tmp_path: Path) -> None:
    """So does one in another folder: nothing of the machine is in it."""
    first = handbook(tmp_path / "first", output=ON)
    second = handbook(tmp_path / "second", output=ON)

    first.run()
    once = contents(first)
    first.run()
    second.run()

    assert once == contents(first) == contents(second)


def test_a_table_changes_nothing_else(tmp_path: Path) -> None:
    """Neither lines nor what the config is known by."""
    plain, tabled = handbook(tmp_path / "a"), handbook(tmp_path / "b", output=ON)

    plain.run()
    tabled.run()

    one, other = contents(plain), contents(tabled)
    assert set(other) - set(one) == {"handbook.parquet"}
    for name in ("handbook.jsonl", "handbook.blocks.jsonl"):
        assert one[name] == other[name]
    assert plain.manifest["config"] == tabled.manifest["config"]


def test_the_table_is_no_document_of_the_next_run(tmp_path: Path) -> None:
    """A glob may be wide enough to hold the output."""
    corpus = handbook(tmp_path, output=ON)
    corpus.configure(
        output={"path": "docs/out/handbook.jsonl", **ON},
        corpus={"documents": ["docs/**/*"]},
    )

    corpus.run()
    again = corpus.run()

    assert again.counts is not None
    assert (again.exit_code, again.counts.documents) == (0, 2)


def test_a_corpus_without_chunks_has_a_table_without_rows(tmp_path: Path) -> None:
    """Whoever reads all tables of a folder meets the columns all the same."""
    corpus = handbook(tmp_path, output=ON)
    for path in (tmp_path / "docs").rglob("*.md"):
        path.write_text("\n", "utf-8")

    corpus.run()

    assert pq.read_table(table_of(corpus)).schema.equals(parquet.schema())
    assert lines_of(corpus) == b""


# ------------------------------------------------------------------- whole or not


class Disk:
    """Counts what is written of tables, and has room for no more than so much."""

    def __init__(self, room: int) -> None:
        self.writes = 0
        self._room = room

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Stand in front of it."""
        write = Draft.write

        def watched(draft: Draft, data: bytes) -> None:
            if draft.digest.name.endswith(".parquet"):
                self.writes += 1
                if self.writes > self._room:
                    raise OSError(28, "No space left on device")
            write(draft, data)

        patch.setattr(Draft, "write", watched)


def test_a_disk_that_fills_up_leaves_what_was_there(tmp_path: Path) -> None:
    """At any write of the table, neither lines nor table are replaced."""
    corpus = handbook(tmp_path, output=ON)
    disk = Disk(10_000)
    with pytest.MonkeyPatch.context() as patch:
        disk.watch(patch)
        corpus.run()
    before = contents(corpus)
    corpus.document("leave.md", "# Leave\n\nThere is none.\n")

    places = {0, 1, 2, *range(3, disk.writes, 16), disk.writes - 2, disk.writes - 1}
    for room in sorted(places):
        with pytest.MonkeyPatch.context() as patch:
            Disk(room).watch(patch)
            result = corpus.run()

        assert result.exit_code == 1
        assert "cannot be written: No space left on device" in str(result.reason)
        assert contents(corpus) == before


def test_where_no_document_can_be_read_the_last_table_stays(tmp_path: Path) -> None:
    """As the chunks of the last good run do."""
    corpus = handbook(tmp_path, output=ON)
    corpus.run()
    before = contents(corpus)
    for path in (tmp_path / "docs").rglob("*.md"):
        path.write_bytes(b"%PDF-1.7 ...")

    result = corpus.run()

    assert result.exit_code == 1
    assert contents(corpus) == before


def test_a_folder_in_the_place_of_the_table_is_left_alone(tmp_path: Path) -> None:
    """Other tools write folders of such names; nothing is published."""
    corpus = handbook(tmp_path, output=ON)
    table_of(corpus).mkdir(parents=True)

    result = corpus.run()

    assert result.exit_code == 2
    assert "handbook.parquet' cannot be written: it is a folder" in str(result.reason)
    assert not corpus.chunks.exists()


def test_without_pyarrow_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names file, key and extra; where no table is wanted there is none."""
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    wanted, plain = handbook(tmp_path / "a", output=ON), handbook(tmp_path / "b")

    with pytest.raises(ConfigError) as caught:
        wanted.run()

    assert str(caught.value) == (
        f"{wanted.config}: output.parquet needs pyarrow; pip install 'situate[parquet]'"
    )
    assert not wanted.chunks.parent.exists()
    assert plain.run().exit_code == 0


def test_two_corpora_do_not_share_a_table(tmp_path: Path) -> None:
    """One would be the other's by the time both are done."""
    one = handbook(tmp_path, output=ON)
    other = Corpus(folder=tmp_path, name="other")
    other.configure(output={"path": "out/handbook.jsonl", **ON})

    with pytest.raises(ConfigError, match="give each corpus its own"):
        load([one.config, other.config], environment={})


# ---------------------------------------------------------------------- forget


def test_what_is_forgotten_is_in_no_row(tmp_path: Path) -> None:
    """What stays is what a run without the document writes, to the byte."""
    corpus = planted(tmp_path, output=ON)
    corpus.run()
    removed(corpus)
    before = naming(tmp_path)

    receipt = forget(config_of(corpus), PLANTED)

    forgotten = table_of(corpus).read_bytes()
    rows = {each.artefact: each.count for each in receipt.removed}
    assert "out/handbook.parquet" in before
    assert naming(tmp_path) == set()
    assert rows["parquet"] == rows["chunks"] > 0
    assert corpus.manifest["files"][2]["sha256"] == (
        hashlib.sha256(forgotten).hexdigest()
    )
    corpus.run()
    assert table_of(corpus).read_bytes() == forgotten


def test_a_table_that_nobody_wants_any_more_is_forgotten_from_as_well(
    tmp_path: Path,
) -> None:
    """Switched off, a run leaves it as it is, with documents that are gone."""
    corpus = planted(tmp_path, output=ON)
    corpus.run()
    removed(corpus)
    corpus.configure(output={})
    corpus.run()
    before = naming(tmp_path)

    receipt = forget(config_of(corpus), PLANTED)

    assert before == {"out/handbook.parquet"}
    assert [each.artefact for each in receipt.removed] == ["parquet"]
    assert naming(tmp_path) == set()


def test_a_table_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    """What stands beside the output under its name may be the user's own."""
    corpus = planted(tmp_path)
    corpus.run()
    removed(corpus)
    pq.write_table(pa.table({"text": ["mine"]}), table_of(corpus))
    before = table_of(corpus).read_bytes()

    forget(config_of(corpus), PLANTED)

    assert table_of(corpus).read_bytes() == before
    assert [each["name"] for each in corpus.manifest["files"]] == [
        "handbook.jsonl",
        "handbook.blocks.jsonl",
    ]


def test_without_pyarrow_nothing_is_forgotten_beside_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt that kept silent about it would be false."""
    corpus = planted(tmp_path, output=ON)
    corpus.run()
    removed(corpus)
    before = contents(corpus)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(ConfigError, match=r"handbook\.parquet needs pyarrow; pip"):
        forget(config_of(corpus), PLANTED)

    assert contents(corpus) == before


def test_a_table_that_is_broken_is_named(tmp_path: Path) -> None:
    """Nobody can say what of the document is in it."""
    corpus = planted(tmp_path, output=ON)
    corpus.run()
    removed(corpus)
    table_of(corpus).write_bytes(b"PAR1")

    with pytest.raises(RecordError, match=r"handbook\.parquet: cannot be read as"):
        forget(config_of(corpus), PLANTED)
