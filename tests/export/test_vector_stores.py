"""What the vector stores are told: everything, in shapes that each accepts."""

from __future__ import annotations

import json
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from situate.cli import app
from situate.errors import RecordError
from situate.export import STORES as VENDORS
from situate.export.flat import COLUMNS, flat
from situate.export.pgvector import PgVector
from situate.export.store import Target
from situate.model import Metadata
from tests.support.exports import (
    a_record,
    all_kinds,
    chunks_file,
    delta_of,
    exported,
    vectors_file,
)
from tests.support.indexes import indexes
from tests.support.memory_disk import memory_disk
from tests.support.vector_stores import STORES, array, pgvector

if TYPE_CHECKING:
    from situate.records import Record
    from tests.support.vector_stores import Rows

EACH = pytest.mark.parametrize("name", STORES)


def told(name: str, source: Path, folder: Path, **asked: Any) -> list[Path]:
    """Export; give the files of changes."""
    found, _ = exported(source, folder, store=name, **asked)
    return [folder / part for part in found.parts]


def filled(name: str, records: list[Record], folder: Path) -> Rows:
    """Give a store that was told of all records at once."""
    rows: Rows = {}
    source = chunks_file(folder / "chunks.jsonl", records)
    vectors = vectors_file(folder / "vectors.jsonl", records)
    for part in told(name, source, folder / "whole", vectors=vectors):
        STORES[name](rows, part)
    return rows


def row_of(name: str, record: Record, folder: Path) -> dict[str, Any]:
    """Give what a store holds of the only record it was told of."""
    (row,) = filled(name, [record], folder).values()
    return row


@EACH
@given(before=indexes, after=indexes, order=st.randoms(use_true_random=False))
def test_a_delta_leads_to_what_a_full_table_holds(
    name: str, before: dict[str, Record], after: dict[str, Record], order: Any
) -> None:
    """Nothing of what was stays, in whatever order and however often it is told."""
    with (
        tempfile.TemporaryDirectory() as place,
        memory_disk(Path(place)) as folder,
    ):
        every = [*before.values(), *after.values()]
        rows = filled(name, list(before.values()), folder)
        parts = told(
            name,
            delta_of(folder / "delta", before, after),
            folder / "changes",
            vectors=vectors_file(folder / "vectors.jsonl", every),
            most_bytes=1,
        )

        twice = [*parts, *parts]
        order.shuffle(twice)
        for part in twice:
            STORES[name](rows, part)

        assert rows == filled(name, list(after.values()), folder)


@EACH
def test_nothing_of_a_record_is_lost(name: str, tmp_path: Path) -> None:
    """Of chunks, containers and paragraphs, with dates and custom keys of any kind."""
    records = {str(each["chunk_id"]): each for each in all_kinds()}

    rows = filled(name, list(records.values()), tmp_path)

    assert len(rows) == len(records)
    for row in rows.values():
        record = records[row["record_id"]]
        metadata = row["metadata"]
        if isinstance(metadata, str):
            metadata = json.loads(metadata)
        texts = {**row, "text": row.get("text", row.get("documents"))}
        assert metadata == record["metadata"]
        for key in ("text", "context_prefix", "embed_text", "lexical_text", "level"):
            assert texts[key] == record[key]


VECTOR = {"qdrant": "dense", "lancedb": "vector", "chroma": "embeddings"}


@EACH
def test_a_container_has_no_vector_that_could_be_found(
    name: str, tmp_path: Path
) -> None:
    """It is there by its id, to be handed over."""
    found = row_of(name, a_record(), tmp_path)
    container = row_of(name, a_record(embed=False), tmp_path)
    key = VECTOR.get(name, "embedding")

    assert found[key]
    if name == "chroma":
        assert (container[key], container["searched"]) == ([0.0] * 3, False)
        assert found["searched"] is True
    else:
        assert container.get(key) is None


@EACH
@pytest.mark.parametrize("given", [False, True], ids=["kept", "given anew"])
def test_an_update_keeps_texts_and_vector(
    name: str, *, given: bool, tmp_path: Path
) -> None:
    """The file of vectors need not have what is there already."""
    before = {"a": a_record()}
    after = {"a": a_record(metadata=Metadata(custom={"owner": "hr"}))}
    rows = filled(name, list(before.values()), tmp_path)
    (was,) = (dict(row) for row in rows.values())
    other = a_record(text="Other.", reading="Other.")
    known = [after["a"]] if given else [other]

    for part in told(
        name,
        delta_of(tmp_path / "delta", before, after),
        tmp_path / "changes",
        vectors=vectors_file(tmp_path / "known.jsonl", known),
    ):
        STORES[name](rows, part)

    (row,) = rows.values()
    changed = {key for key in row if row[key] != was.get(key)}
    assert "metadata" in changed
    assert changed <= {"metadata", "custom"}
    assert row.keys() >= was.keys()


@pytest.mark.parametrize(
    ("name", "key", "as_said"),
    [
        ("qdrant", "group_id", lambda key: str(uuid.uuid5(uuid.NAMESPACE_URL, key))),
        ("lancedb", "group_id", str),
        ("chroma", "group_id", str),
        ("pgvector", "group_id", str),
    ],
)
def test_a_group_is_the_id_of_the_parent(
    name: str, key: str, as_said: Any, tmp_path: Path
) -> None:
    """What is found leads to what is handed over."""
    parent = a_record(chunk_id="leave.md:_doc", embed=False)
    child = a_record(parent_chunk_id="leave.md:_doc")

    rows = filled(name, [parent, child], tmp_path)

    assert {row[key] for row in rows.values()} == {as_said("leave.md:_doc")}
    assert as_said("leave.md:_doc") in rows


@pytest.mark.parametrize(
    ("name", "open_end", "day"),
    [
        ("qdrant", (10101, 99991231), 20250131),
        ("chroma", (10101, 99991231), 20250131),
        ("pgvector", ("0001-01-01", "9999-12-31"), "2025-01-31"),
        ("lancedb", ("0001-01-01", "9999-12-31"), "2025-01-31"),
    ],
)
def test_days_are_what_a_store_compares(
    name: str, open_end: tuple[Any, Any], day: Any, tmp_path: Path
) -> None:
    """An open end is a day never reached, and what is never in force has none."""

    def days(**metadata: Any) -> list[Any]:
        row = row_of(name, a_record(metadata=Metadata(**metadata)), tmp_path)
        found = [row.get(key) for key in ("valid_from", "valid_to")]
        return [str(each) if name == "lancedb" and each else each for each in found]

    assert days() == [*open_end]
    assert days(effective_from="2025-01-31") == [day, open_end[1]]
    assert days(effective_to="2025-01-31") == [open_end[0], day]
    never = {"effective_from": "2025-02-01", "effective_to": "2025-01-31"}
    assert days(**never) == [None, None]


@EACH
def test_permissions_are_columns_of_their_own(name: str, tmp_path: Path) -> None:
    """As in a search server, whatever becomes of nested keys."""
    custom = {"acl_groups": ["hr", 7], "classification": "secret", "owner": {"a": 1}}

    row = row_of(name, a_record(metadata=Metadata(custom=custom)), tmp_path)

    read = array if name == "pgvector" else list
    assert read(row["acl"]) == ["acl_groups=hr", "acl_groups=7"]
    assert read(row["classification"]) == ["secret"]


def test_custom_keys_are_terms_where_a_store_has_no_nested_ones() -> None:
    """But for permissions, which have columns, and objects, which `metadata` holds."""
    custom = {
        "acl_groups": ["hr"],
        "classification": "secret",
        "owner": "hr",
        "tags": ["a", "b", "a"],
        "draft": False,
        "of": {"a": 1},
        "none": None,
    }

    row = flat(a_record(metadata=Metadata(custom=custom)))

    assert row["custom"] == ["owner=hr", "tags=a", "tags=b", "draft=false"]


def test_a_row_has_every_column_or_lacks_the_texts() -> None:
    """A store that merges keeps what a row does not say."""
    record = a_record()
    without = {key: record[key] for key in record if not key.endswith("text")}
    del without["context_prefix"]

    assert [*flat(record)] == [*COLUMNS]
    assert COLUMNS.keys() - flat(without).keys() == {
        *("text", "context_prefix", "embed_text", "lexical_text")
    }


def test_chroma_cloud_takes_as_many_keys_as_there_are(tmp_path: Path) -> None:
    """Its quota is 32 keys of up to 36 bytes."""
    part = told(
        "chroma",
        chunks_file(tmp_path / "chunks.jsonl", [a_record()]),
        tmp_path / "out",
        vectors=vectors_file(tmp_path / "vectors.jsonl", [a_record()]),
    )[0]

    (metadata,) = json.loads(part.read_bytes())["upsert"]["metadatas"]

    assert len(metadata) <= 32
    assert max(map(len, metadata)) <= 36


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@pytest.mark.parametrize("text", ["it's", "\\", "\\'", "a'; DROP TABLE x; --", "$$"])
def test_sql_says_every_text_as_it_is(text: str, more: str) -> None:
    """In a column, in a list and in an object, whatever the session's settings."""
    said = text + more
    store = PgVector(Target(index="t", dimensions=None))
    custom: dict[str, Any] = {"acl_read": [said, ""], "owner": said}
    record = a_record(text=said, metadata=Metadata(custom=custom))
    rows: Rows = {}

    with tempfile.TemporaryDirectory() as place:
        part = Path(place) / "part.sql"
        change = store.put(record, None)
        part.write_bytes(store.part(change.part, [change.line]))
        pgvector(rows, part)

    (row,) = rows.values()
    assert row["text"] == said
    assert array(row["acl"]) == [f"acl_read={said}", "acl_read="]
    assert json.loads(row["metadata"])["custom"] == custom


@pytest.mark.parametrize(
    "changes",
    [{"text": "a\0"}, {"metadata": Metadata(custom={"a": {"\0": 1}})}],
    ids=["in a text", "in an object"],
)
def test_postgresql_is_told_of_no_nul(changes: dict[str, Any]) -> None:
    """It would refuse the whole file."""
    store = PgVector(Target(index="t", dimensions=None))

    with pytest.raises(RecordError, match=r"'leave\.md:days' holds a NUL"):
        store.put(a_record(**changes), None)


def test_a_permission_that_no_index_takes_is_refused(tmp_path: Path) -> None:
    """PostgreSQL would refuse the whole file, and without it anybody might see it."""
    groups: dict[str, Any] = {"acl_groups": ["hr", "x" * 2_600]}
    record = a_record(metadata=Metadata(custom=groups))
    source = chunks_file(tmp_path / "chunks.jsonl", [record])

    with pytest.raises(RecordError, match=r"custom\.acl_groups has 2,611 bytes"):
        told("pgvector", source, tmp_path / "out")


def test_a_text_about_nul_is_none() -> None:
    """Only what JSON would read as one is refused."""
    store = PgVector(Target(index="t", dimensions=None))
    custom: dict[str, Any] = {"a": "\\u0000"}

    change = store.put(a_record(text="\\u0000", metadata=Metadata(custom=custom)), None)

    assert b"u0000" in change.line


@EACH
def test_a_text_without_a_place_in_utf8_is_refused_by_name(
    name: str, tmp_path: Path
) -> None:
    """JSON can say half a character; no store can keep it."""
    half = "\\ud800"
    record = json.dumps(a_record(text="HALF")).replace("HALF", half)
    source = tmp_path / "chunks.jsonl"
    source.write_text(record + "\n", "utf-8")
    vectors = vectors_file(tmp_path / "vectors.jsonl", [a_record()])

    with pytest.raises(RecordError, match=r"'leave\.md:days' cannot be written as "):
        told(name, source, tmp_path / "out", vectors=vectors)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["lancedb", "chroma"])
def test_a_count_beyond_64_bits_is_refused_by_name(name: str, tmp_path: Path) -> None:
    """A column cannot hold it."""
    source = chunks_file(tmp_path / "chunks.jsonl", [a_record(ordinal=2**63)])
    vectors = vectors_file(tmp_path / "vectors.jsonl", [a_record()])

    with pytest.raises(RecordError, match=r"'leave\.md:days': ordinal is 92"):
        told(name, source, tmp_path / "out", vectors=vectors)


@EACH
def test_parts_are_no_larger_than_asked(name: str, tmp_path: Path) -> None:
    """But for a change that alone is; no change is lost between two."""
    records = [a_record(chunk_id=f"leave.md:{number}") for number in range(200)]
    source = chunks_file(tmp_path / "chunks.jsonl", records)
    vectors = vectors_file(tmp_path / "vectors.jsonl", records)

    parts = told(name, source, tmp_path / "out", vectors=vectors, most_bytes=120_000)

    rows: Rows = {}
    for part in parts:
        STORES[name](rows, part)
    assert len(rows) == 200
    assert len(parts) > 1
    assert max(part.stat().st_size for part in parts) < 122_000
    assert len({part.name for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("qdrant", ["", "a/b", "a:b", "..", "x" * 256, "a\nb"], ["Hand book", "ü"]),
        ("lancedb", ["", "a b", "ü", "-a", "x" * 201], ["Hand.book-2", "_a"]),
        ("chroma", ["ab", "-abc", "a..b", "1.2.3.4", "a b"], ["Hand.book-2", "abc"]),
        ("pgvector", ["", "Hand", "a-b", 'a"b', "1a", "x" * 49], ["hand_book", "_a1"]),
    ],
)
def test_each_store_checks_names_by_its_own_rules(
    name: str, wrong: list[str], right: list[str]
) -> None:
    """What its engine refuses would fail when all is written."""

    def refused(index: str) -> bool:
        target = Target(index=index, dimensions=None)
        return VENDORS[name](target).refusal() is not None

    assert [index for index in wrong if not refused(index)] == []
    assert [index for index in right if refused(index)] == []


@pytest.mark.parametrize(
    ("name", "holder"),
    [
        ("qdrant", "collection"),
        ("lancedb", "table"),
        ("chroma", "collection"),
        ("pgvector", "table"),
    ],
)
def test_a_name_that_is_refused_is_told_in_one_line(
    name: str, holder: str, tmp_path: Path
) -> None:
    """With what it would be the name of; nothing is written."""
    source = chunks_file(tmp_path / "chunks.jsonl", [a_record()])

    given = ["--to", name, "--index", "a/b", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["export", str(source), *given])

    start = f"situate: --index: 'a/b' cannot be the name of a {holder}: it "
    assert done.exit_code == 2
    assert done.stderr.startswith(start)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_chroma_is_told_of_nothing_without_vectors(tmp_path: Path) -> None:
    """It would embed what it shows by an embedder of its own."""
    source = chunks_file(tmp_path / "chunks.jsonl", [a_record()])

    given = ["--to", "chroma", "--index", "abc", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["export", str(source), *given])

    assert done.exit_code == 2
    assert "--dimensions and --vectors are needed" in done.stderr


@pytest.mark.parametrize(
    ("dimensions", "index"),
    [
        (3, "hnsw (embedding vector_cosine_ops)"),
        (2_000, "hnsw (embedding vector_cosine_ops)"),
        (2_001, "hnsw ((embedding::halfvec(2001)) halfvec_cosine_ops)"),
        (4_001, None),
        (None, None),
    ],
)
def test_a_table_has_the_index_that_its_vectors_can_have(
    dimensions: int | None, index: str | None
) -> None:
    """An index of more numbers is refused by pgvector, and the table with it."""
    store = PgVector(Target(index="t", dimensions=dimensions))

    sql = store.files()["schema.sql"].decode()

    assert (f"vector({dimensions})" in sql) is (dimensions is not None)
    assert ("hnsw" in sql) is (index is not None)
    assert index is None or index in sql
