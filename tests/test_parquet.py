"""Records as Parquet: typed columns, nothing lost, no more in memory than a group."""

from __future__ import annotations

import io
import sys
import tracemalloc
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate import parquet
from situate.errors import ConfigError, RecordError
from situate.model import (
    Chunk,
    Enrichment,
    EnrichmentStatus,
    Level,
    Metadata,
    PromptReference,
)
from situate.records import from_line, to_line, to_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from situate.records import Record

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_maybe = st.none() | _texts
_days = st.none() | st.dates().map(date.isoformat)
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(_texts, below, max_size=3)
    ),
    max_leaves=6,
)
_several = st.lists(_texts, max_size=3).map(tuple)

_enrichments = st.builds(
    Enrichment,
    status=st.sampled_from(["off", "statement", "skipped", "fallback"]),
    statement=_maybe,
    reason=_maybe,
    model=_maybe,
    prompt=st.none() | st.builds(PromptReference, name=_texts, hash=_texts),
    view=_maybe,
)
_metadata = st.builds(
    Metadata,
    title=_maybe,
    doc_type=_maybe,
    effective_from=_days,
    effective_to=_days,
    source=_maybe,
    language=_maybe,
    custom=st.dictionaries(_texts, _values, max_size=3),
)
chunks = st.builds(
    Chunk,
    chunk_id=_texts,
    doc_id=_texts,
    doc_version=_texts,
    parent_chunk_id=_maybe,
    level=st.sampled_from(["document", "section", "block"]),
    text=_texts,
    reading=_texts,
    breadcrumb_line=_texts,
    block_ids=_several,
    parts=st.dictionaries(_texts, st.tuples(st.integers(), st.integers()), max_size=2),
    spans=st.lists(st.none() | st.tuples(st.integers(), st.integers())).map(tuple),
    pages=st.lists(st.integers(1, 10_000), max_size=2).map(tuple),
    corpus=_maybe,
    metadata=_metadata,
    breadcrumb=_several,
    section_id=_texts,
    section_ids=st.none() | _several,
    ordinal=st.integers(0, 10**6),
    token_count=st.integers(0, 10**6),
    embed=st.booleans(),
    embed_form=st.sampled_from(["text", "reading"]),
    forced_split=st.booleans(),
    enrichment=_enrichments,
)

BARE = Chunk(
    chunk_id="leave.md:leave/days",
    doc_id="leave.md",
    doc_version="v1",
    parent_chunk_id=None,
    level="section",
    text="## Days\n\n25 days.",
    reading="Days\n25 days.",
    breadcrumb_line="",
    block_ids=("leave/days#0",),
    parts={},
    spans=(None,),
    pages=(),
    corpus=None,
    metadata=Metadata(),
    breadcrumb=(),
    section_id="leave/days",
    section_ids=None,
    ordinal=1,
    token_count=6,
    embed=True,
    embed_form="reading",
    forced_split=False,
    enrichment=Enrichment(),
)


def file_of(records: Iterable[Record]) -> bytes:
    """Give the bytes of a file of records."""
    sink = io.BytesIO()
    with parquet.Writer(sink) as writer:
        for record in records:
            writer.write(record)
        writer.end()
    return sink.getvalue()


def many(count: int, text: str = "x") -> Iterable[Record]:
    """Yield records that differ in their ids alone."""
    for number in range(count):
        yield to_record(replace(BARE, chunk_id=f"leave.md:{number}", text=text))


def group_sizes(file: bytes) -> list[int]:
    """Give the rows of each row group."""
    found = pq.ParquetFile(io.BytesIO(file)).metadata
    return [found.row_group(at).num_rows for at in range(found.num_row_groups)]


@given(st.lists(chunks, max_size=5))
def test_a_record_comes_back_as_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Chunk]
) -> None:
    """Through a file, whatever stands in it."""
    lines = [to_line(to_record(chunk)) for chunk in drawn]
    path = tmp_path_factory.mktemp("table") / "a.parquet"

    path.write_bytes(file_of(from_line(line, "x:1") for line in lines))

    assert [to_line(record) for record in parquet.read(path)] == lines


@given(st.lists(chunks, min_size=1, max_size=5))
def test_a_column_holds_what_stands_in_the_record(drawn: list[Chunk]) -> None:
    """Dates as days, lists as lists, the rest as it is."""
    wanted: list[dict[str, Any]] = [dict(to_record(chunk)) for chunk in drawn]

    (batch,) = parquet.batches(wanted)

    for record, row in zip(wanted, batch.to_pylist(), strict=True):
        metadata = record["metadata"]
        for key in set(row) - {"metadata", "effective_from", "effective_to"}:
            outer, _, inner = key.partition("_")
            if key in record:
                assert row[key] == record[key]
            elif outer == "enrichment":
                assert row[key] == metadata["enrichment"][inner]
            else:
                assert row[key] == metadata[key]
        for key in ("effective_from", "effective_to"):
            assert (row[key] and row[key].isoformat()) == metadata[key]


@given(st.lists(chunks, max_size=5))
def test_the_same_records_give_the_same_bytes(drawn: list[Chunk]) -> None:
    """Neither a clock nor a draw is in the file."""
    records = [to_record(chunk) for chunk in drawn]

    assert file_of(records) == file_of(records)


def test_the_schema_is_what_it_is_said_to_be() -> None:
    """The contract that every reader relies on."""
    texts = pa.list_(pa.string())

    assert {field.name: field.type for field in parquet.schema()} == {
        "schema": pa.int32(),
        "chunk_id": pa.string(),
        "doc_id": pa.string(),
        "doc_version": pa.string(),
        "parent_chunk_id": pa.string(),
        "level": pa.dictionary(pa.int8(), pa.string()),
        "text": pa.string(),
        "context_prefix": pa.string(),
        "embed_text": pa.string(),
        "lexical_text": pa.string(),
        "block_ids": texts,
        "corpus": pa.string(),
        "title": pa.string(),
        "doc_type": pa.string(),
        "effective_from": pa.date32(),
        "effective_to": pa.date32(),
        "source": pa.string(),
        "language": pa.string(),
        "breadcrumb": texts,
        "section_id": pa.string(),
        "ordinal": pa.int32(),
        "token_count": pa.int32(),
        "content_hash": pa.string(),
        "embed_hash": pa.string(),
        "lexical_hash": pa.string(),
        "metadata_hash": pa.string(),
        "pages": pa.list_(pa.int32()),
        "embed": pa.bool_(),
        "enrichment_status": pa.string(),
        "enrichment_statement": pa.string(),
        "enrichment_reason": pa.string(),
        "metadata": pa.string(),
    }


@pytest.mark.parametrize("count", [0, 1], ids=["no record", "nulls alone"])
def test_a_column_without_values_keeps_its_type(count: int) -> None:
    """A type that is guessed from values breaks a folder of files apart."""
    read = pq.read_table(io.BytesIO(file_of(many(count))))

    assert read.schema.equals(parquet.schema())
    assert read.num_rows == count
    assert read["title"].null_count == count


def test_every_level_has_its_place_in_one_dictionary() -> None:
    """Batches that differ in theirs could not be joined as they are."""
    (batch,) = parquet.batches([to_record(BARE)])

    levels = batch.column("level").dictionary.to_pylist()

    assert levels == list(Level.__args__)


@pytest.mark.parametrize("status", EnrichmentStatus.__args__)
def test_a_row_says_what_became_of_its_statement(status: EnrichmentStatus) -> None:
    """Without taking the metadata apart."""
    chunk = replace(BARE, enrichment=Enrichment(status=status, reason="because"))

    (batch,) = parquet.batches([to_record(chunk)])

    assert batch.column("enrichment_status").to_pylist() == [status]
    assert batch.column("enrichment_reason").to_pylist() == ["because"]


def test_a_group_has_a_bounded_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file as in batches."""
    monkeypatch.setattr(parquet, "GROUP_ROWS", 4)

    rows = [batch.num_rows for batch in parquet.batches(many(10))]

    assert rows == [4, 4, 2]
    assert group_sizes(file_of(many(10))) == rows


def test_a_group_ends_with_the_row_that_fills_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However few those are: texts may be long."""
    monkeypatch.setattr(parquet, "GROUP_CHARACTERS", 10_000)

    assert group_sizes(file_of(many(3, "x" * 10_000))) == [1, 1, 1]
    assert group_sizes(file_of(many(3, "x" * 6_000))) == [2, 1]


def test_memory_is_that_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the records take no more of it, in Python and in Arrow."""
    monkeypatch.setattr(parquet, "GROUP_ROWS", 50)

    class Nowhere:
        """Counts what pyarrow holds whenever it writes."""

        most = 0

        def write(self, _: bytes, /) -> None:
            self.most = max(self.most, pa.total_allocated_bytes())

    def highest(count: int) -> tuple[int, int]:
        sink = Nowhere()
        tracemalloc.start()
        with parquet.Writer(sink) as writer:
            for record in many(count, "word " * 400):
                writer.write(record)
            writer.end()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most, sink.most

    highest(100)
    python, arrow = highest(200)
    more_python, more_arrow = highest(800)

    # A row of a group that waits would be 2 kB; what is said of a group in the end
    # is some 3 kB.
    assert more_python < python + 600 * 400
    assert more_arrow < arrow + 600 * 400


def test_a_sink_that_refuses_is_heard() -> None:
    """As the error it raised; and nothing more is written to it."""
    calls = []

    class Full:
        def write(self, data: bytes) -> None:
            calls.append(data)
            if len(calls) > 1:
                raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        fill(Full())

    assert len(calls) == 2


def fill(sink: parquet.Sink, *, is_broken_off: bool = False) -> None:
    """Write a record, and what belongs after it unless something comes between."""
    with parquet.Writer(sink) as writer:
        writer.write(to_record(BARE))
        if is_broken_off:
            raise RuntimeError
        writer.end()


def test_a_block_that_breaks_off_leaves_no_file_that_could_be_read() -> None:
    """Half of the records would pass for all."""
    sink = io.BytesIO()

    with pytest.raises(RuntimeError):
        fill(sink, is_broken_off=True)

    assert sink.getvalue() == b"PAR1"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({"text": None}, "text is null", id="null"),
        pytest.param({"metadata": {}}, r"metadata\.corpus is missing", id="missing"),
        pytest.param({"level": "page"}, "level is 'page'", id="level"),
    ],
)
def test_what_has_no_place_is_refused_by_name(
    change: dict[str, object], expected: str
) -> None:
    """The record and the key."""
    record: Any = to_record(BARE) | change

    with pytest.raises(RecordError, match=f"^'leave.md:leave/days': {expected}$"):
        list(parquet.batches([record]))


def test_what_is_no_day_is_refused_by_name() -> None:
    """A column of dates has no room for anything else."""
    record = to_record(replace(BARE, metadata=Metadata(effective_from="soon")))

    with pytest.raises(RecordError, match=r"metadata\.effective_from is 'soon'$"):
        list(parquet.batches([record]))


def test_what_is_of_another_type_is_refused_by_column() -> None:
    """Nothing is converted."""
    record: Any = to_record(BARE) | {"text": 1}

    with pytest.raises(RecordError, match=r"^column 'text' of a table: "):
        list(parquet.batches([record]))


def test_a_file_of_somebody_else_is_told_apart(tmp_path: Path) -> None:
    """And read by nobody here."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x"]}), path)

    ours = parquet.is_ours(path)

    assert not ours
    with pytest.raises(RecordError, match=r"a\.parquet: is not of situate; Parquet"):
        list(parquet.read(path))


def test_what_is_no_parquet_is_refused_by_name(tmp_path: Path) -> None:
    """Whatever asks for it."""
    path = tmp_path / "a.parquet"
    path.write_bytes(b"half a file")

    with pytest.raises(RecordError, match=r"a\.parquet: cannot be read as Parquet: "):
        parquet.is_ours(path)
    with pytest.raises(RecordError, match=r"a\.parquet: cannot be read as Parquet: "):
        list(parquet.read(path))


def test_a_schema_of_another_version_is_refused(tmp_path: Path) -> None:
    """What has changed in it nobody here can know."""
    path = tmp_path / "a.parquet"
    schema = parquet.schema().with_metadata({"situate.schema": "2"})
    pq.write_table(schema.empty_table(), path)

    with pytest.raises(RecordError, match="schema is '2'; this situate reads 1"):
        list(parquet.read(path))


def test_where_pyarrow_is_missing_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the command that installs it."""
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    with pytest.raises(ConfigError, match=r"^x needs pyarrow; pip install 'situate\["):
        parquet.require("x")
