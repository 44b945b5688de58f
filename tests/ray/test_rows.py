"""Documents become rows of one table, whatever they are, and come back from it."""

from __future__ import annotations

import itertools
import json
import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate import parquet
from situate.config import load
from situate.corpus import Source
from situate.errors import ConfigError, Locked, SituateError
from situate.pipeline.documents import Failed, Preparer
from situate.pipeline.handed import Handed, source_of
from situate.pipeline.written import write_one
from situate.ray import chunk_batch, records, schema
from situate.ray.documents import SOURCE
from situate.ray.rows import Rows, outcomes
from situate.records import to_line
from tests.support.corpora import LEAVE, TRAVEL, Corpus

if TYPE_CHECKING:
    from pathlib import Path

    from situate.config import Config

GOOD = {"name": ["leave.md", "travel.md"], "content": [LEAVE.encode(), TRAVEL.encode()]}


def configured(folder: Path, **corpus: object) -> Config:
    """Give the config of a corpus in a folder."""
    made = Corpus(folder=folder).configure(corpus=corpus)
    (config,) = load([made.config], environment={})
    return config


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A config that asks for nothing."""
    return configured(tmp_path_factory.mktemp("corpus"))


def lines(table: pa.Table, status: str) -> bytes:
    """Give the lines of the rows with a status, joined as in a file."""
    return b"".join(row["line"] for row in table.to_pylist() if row["status"] == status)


def refused(config: Config, **row: object) -> str:
    """Cut a row beside a good document; give why it became none."""
    names = {"name", "content", *row}
    good = {"name": "leave.md", "content": LEAVE.encode()}
    batch: dict[str, list[Any]] = {
        name: [row.get(name), good.get(name)] for name in names
    }

    first, *rest = chunk_batch(batch, config=config).to_pylist()

    assert first["status"] == "error"
    assert [each["status"] for each in rest] == [
        *["chunk"] * (len(rest) - 1),
        "document",
    ]
    return str(first["error"])


@pytest.mark.parametrize("by", ["content", "path", "table"])
def test_rows_carry_the_lines_that_a_run_writes(tmp_path: Path, by: str) -> None:
    """Byte for byte: chunks and blocks, of bytes in a table or files that it names."""
    corpus = Corpus(folder=tmp_path).configure()
    paths = [
        str(corpus.document(name, text))
        for name, text in (("leave.md", LEAVE), ("travel.md", TRAVEL))
    ]
    corpus.run()
    (config,) = load([corpus.config], environment={})
    batch = {
        "content": GOOD,
        "path": {"path": paths},
        "table": pa.table(GOOD),
    }[by]

    table = chunk_batch(batch, config=config)

    blocks = corpus.chunks.with_name("handbook.blocks.jsonl")
    assert lines(table, "chunk") == corpus.chunks.read_bytes()
    assert lines(table, "document") == blocks.read_bytes()
    assert table.schema == schema()


def test_a_chunk_row_says_what_is_to_be_embedded(config: Config) -> None:
    """A pipeline that embeds need not read JSON."""
    rows = chunk_batch(GOOD, config=config).to_pylist()

    chunks = [row for row in rows if row["status"] == "chunk"]
    records = [json.loads(row["line"]) for row in chunks]
    assert [(r["chunk_id"], r["embed_text"]) for r in records] == [
        (row["chunk_id"], row["embed_text"]) for row in chunks
    ]
    assert [r["metadata"]["embed"] for r in records] == [r["embed"] for r in chunks]


def test_rows_become_the_table_of_a_parquet_file(config: Config) -> None:
    """With the one schema for chunks, and the same bytes when they are read back."""
    rows = chunk_batch(GOOD, config=config)

    table = records(rows)

    assert table.schema == parquet.schema()
    read = parquet.records(table.to_batches())
    assert b"".join(map(to_line, read)) == lines(rows, "chunk")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param({"name": "a.md"}, "a.md: content is no bytes", id="nothing"),
        pytest.param(
            {"name": "a.md", "content": b"\x00\x01\x02" * 50}, "a.md", id="binary"
        ),
        pytest.param({"name": "a.xyz", "content": b"Text."}, "a.xyz", id="no reader"),
        pytest.param({"content": b"Text."}, "neither name, path nor", id="no name"),
        pytest.param(
            {"name": "../a.md", "content": b"Text."}, "no name of", id="a way out"
        ),
        pytest.param({"name": 7, "content": b"Text."}, "7: name is 7", id="a number"),
        pytest.param(
            {"name": "\ud800.md", "content": b"Text."}, "no name of", id="surrogate"
        ),
        pytest.param(
            {"name": "a.md", "content": b"Text.", "metadata": "{"},
            "'a.md': metadata is no JSON",
            id="no JSON",
        ),
        pytest.param(
            {"name": "a.md", "content": b"Text.", "metadata": '{"title": 7}'},
            "a.md: title",
            id="no title",
        ),
        pytest.param(
            {"name": "gone.md", "path": "/nowhere/gone.md"},
            "gone.md: cannot be read",
            id="no file",
        ),
    ],
)
def test_a_bad_document_is_a_row_with_its_reason(
    config: Config, row: dict[str, object], expected: str
) -> None:
    """It costs no other document of its batch anything."""
    assert expected in refused(config, **row)


def test_a_table_says_of_a_document_what_a_manifest_would(config: Config) -> None:
    """S1: an id, and what it does not say itself; a null of a struct says nothing."""
    said = [{"title": None, "owner": "HR"}, {"title": "Journeys", "owner": None}]
    batch = pa.table({**GOOD, "doc_id": [None, "POL-7"], "metadata": said})

    rows = chunk_batch(batch, config=config).to_pylist()

    chunks = [json.loads(row["line"]) for row in rows if row["status"] == "chunk"]
    first, last = chunks[0]["metadata"], chunks[-1]["metadata"]
    assert [chunks[0]["doc_id"], chunks[-1]["doc_id"]] == ["leave.md", "POL-7"]
    assert (first["title"], first["custom"]) == ("Leave policy", {"owner": "HR"})
    assert (last["title"], last["custom"]) == ("Journeys", {})


def test_what_pandas_has_in_the_place_of_nothing_says_nothing(config: Config) -> None:
    """A column that some documents have is no error for the others."""
    nothing = float("nan")
    batch = {**GOOD, "version": [nothing, "7"], "metadata": [nothing, nothing]}

    rows = chunk_batch(batch, config=config).to_pylist()

    assert [r["doc_id"] for r in rows if r["status"] == "document"] == GOOD["name"]


def test_what_a_manifest_deletes_is_told_from_failures(
    config: Config, tmp_path: Path
) -> None:
    """It is left out, and nothing is wrong."""
    path = Corpus(folder=tmp_path).document("leave.md", LEAVE)
    found = Source(path=path, doc_id="leave.md")

    table = chunk_batch(
        {SOURCE: [found]}, config=config, deleted={"leave.md": "manifest.jsonl:1"}
    )

    (failed,) = outcomes([table], iter([found]))
    assert isinstance(failed, Failed)
    assert failed.is_deleted


def test_two_documents_of_one_id_are_an_error(config: Config) -> None:
    """Neither of them is the bad one."""
    batch = {**GOOD, "doc_id": ["POL-7", "POL-7"]}

    with pytest.raises(SituateError, match="POL-7"):
        chunk_batch(batch, config=config)


def test_a_table_without_documents_is_an_error(config: Config) -> None:
    """No row of it is the bad one."""
    with pytest.raises(ConfigError, match="columns name holds no documents"):
        chunk_batch({"name": ["a.md"], "text": ["Text."]}, config=config)


def test_a_defect_is_no_row(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not situate's own error would hide documents that are good."""

    def defective(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Preparer, "prepare", defective)

    with pytest.raises(ZeroDivisionError):
        chunk_batch(GOOD, config=config)


def test_no_rows_are_a_table_all_the_same(config: Config) -> None:
    """An engine may try a step on nothing to learn its schema."""
    table = chunk_batch({"name": [], "content": []}, config=config)

    assert (table.num_rows, table.schema) == (0, schema())


def test_the_step_can_be_sent_to_another_process(config: Config) -> None:
    """With its config, as all engines do."""
    step = partial(chunk_batch, config=config)

    sent = pickle.loads(pickle.dumps(step))  # noqa: S301 - written a line above

    assert sent(GOOD).equals(step(GOOD))


@given(cuts=st.lists(st.integers(0, 20), max_size=4))
def test_documents_come_back_from_tables_wherever_those_part(
    config: Config, cuts: list[int]
) -> None:
    """What is read back is what was written, down to what is counted."""
    preparer = Preparer.of(config)
    names = {"leave.md": LEAVE, "broken.md": "\x00\x01" * 50, "travel.md": TRAVEL}
    found = [_handed(name, text) for name, text in {**names, "empty.md": ""}.items()]
    written = [write_one(preparer, source) for source in found]
    rows = Rows()
    for source, outcome in zip(found, written, strict=True):
        failed = isinstance(outcome, Failed)
        rows.add(outcome, () if failed else preparer.prepare(source).chunks)
    table = rows.table()
    ends = [0, *sorted(cuts), table.num_rows]
    parts = [
        table.slice(start, max(0, end - start))
        for start, end in itertools.pairwise(ends)
    ]

    assert list(outcomes(parts, iter(found))) == written


def _handed(name: str, text: str) -> Source:
    return source_of(Handed(name=name, content=text.encode()))


@pytest.mark.parametrize("kind", [ConfigError, Locked, SituateError])
def test_what_stops_a_run_is_raised_where_it_was_started(
    kind: type[SituateError],
) -> None:
    """With the exit code that it would have had there."""
    rows = Rows()
    rows.stop(kind("config.toml: wrong"))

    with pytest.raises(SituateError, match=r"config\.toml: wrong") as raised:
        list(outcomes([rows.table()], iter([])))

    assert type(raised.value) is kind
