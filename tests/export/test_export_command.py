"""`situate export` as one types it: what it writes, refuses and says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from situate.cli import app
from situate.model import Metadata
from situate.output import held
from situate.pipeline.exported import LIST
from tests.support.exports import a_record, chunks_file, exported, vectors_file

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

    from situate.model import JsonValue


def situate(*arguments: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A chunks file with a chunk and a container."""
    records = [a_record(), a_record(chunk_id="leave.md:_doc", embed=False)]
    return chunks_file(tmp_path / "chunks.jsonl", records)


def export(source: Path, *more: str | Path) -> Result:
    """Export to OpenSearch, or what `more` says, into `out` beside the source."""
    given = (
        *("--to", "opensearch", "--index", "handbook"),
        *("--out", source.parent / "out"),
    )
    return situate("export", source, *given, *more)


def test_an_export_is_a_folder_of_files_to_send(source: Path) -> None:
    """Names of requests go to stdout, for a loop to send them."""
    done = export(source, "--dimensions", "3")

    out = source.parent / "out"
    assert done.exit_code == 0
    assert done.stdout == f"{out / 'bulk-00001.ndjson'}\n"
    assert "2 to index, 0 to update, 0 to delete, in 1 file in" in done.stderr
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.*")) == [
        ".situate-export.json",
        "bulk-00001.ndjson",
        "index-template.json",
        "queries/acl.json",
        "queries/as-of.json",
        "queries/hybrid-pipeline.json",
        "queries/hybrid.json",
    ]
    assert json.loads((out / "index-template.json").read_text("utf-8"))[
        "index_patterns"
    ] == ["handbook"]


def test_the_same_export_is_the_same_bytes(source: Path) -> None:
    """It takes the place of the one before, whose other files are gone."""
    out = source.parent / "out"
    export(source)
    first = {path.name: path.read_bytes() for path in out.rglob("*.*")}
    exported(source, out, store="elasticsearch", most_bytes=1)
    assert (out / "bulk-00002.ndjson").exists()

    export(source)

    assert {path.name: path.read_bytes() for path in out.rglob("*.*")} == first


def test_vectors_are_found_by_the_hash_of_their_text(source: Path) -> None:
    """A container has none, though it has the same text."""
    vectors = vectors_file(source.parent / "vectors.jsonl", [a_record()])

    done = export(source, "--dimensions", "3", "--vectors", vectors)

    lines = (source.parent / "out" / "bulk-00001.ndjson").read_bytes().splitlines()
    found = [json.loads(line).get("vector") for line in lines[1::2]]
    assert done.exit_code == 0
    assert found == [[1.0, *found[0][1:]], None]


def test_a_text_without_a_vector_is_written_and_told(source: Path) -> None:
    """It is found by words; whoever sends it may not know."""
    other = a_record(text="Other.", reading="Other.")
    vectors = vectors_file(source.parent / "vectors.jsonl", [other])

    done = export(source, "--dimensions", "3", "--vectors", vectors)

    assert done.exit_code == 3
    assert "records to be embedded that have no vector: 1" in done.stderr
    assert (source.parent / "out" / "bulk-00001.ndjson").exists()


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ("[1.0, 2.0]", "vector has 2 numbers, not the 3 of --dimensions"),
        ('[1.0, "2", 3.0]', "vector holds what is no number"),
        ("[1.0, true, 3.0]", "vector holds what is no number"),
        ("[1.0, 1e999, 3.0]", "vector holds what is no number"),
        ("[1.0, -1e39, 3.0]", "vector holds a number beyond those of 32 bits"),
        ("[0, 0.0, -0.0]", "vector is all zeros, which has no direction"),
        ('"0"', "vector: a list was expected, not a text"),
    ],
)
def test_what_is_no_vector_of_the_size_is_refused(
    source: Path, vector: str, reason: str
) -> None:
    """By file and line, and nothing is written."""
    vectors = source.parent / "vectors.jsonl"
    vectors.write_text(f'{{"embed_hash": "0", "vector": {vector}}}\n', "utf-8")

    done = export(source, "--dimensions", "3", "--vectors", vectors)

    assert done.exit_code == 2
    assert done.stderr == f"situate: {vectors}:1: {reason}\n"
    assert not (source.parent / "out").exists()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--to", "solr"), "--to: 'solr' is not one of elasticsearch, opensearch"),
        (("--index", "Handbook"), "'Handbook' cannot be the name of an index: it has "),
        (("--index", "_all"), "'_all' cannot be the name of an index: it must not sta"),
        (("--index", "a b"), "'a b' cannot be the name of an index: it must not hold "),
        (("--index", "x" * 256), "it has to have 1 to 255 bytes"),
        (("--dimensions", "16001"), "--dimensions: 16,001 goes beyond 1 to 16,000"),
        (("--vectors", "v.jsonl"), "--vectors needs --dimensions"),
    ],
    ids=lambda value: value[1][:9] if isinstance(value, tuple) else "",
)
def test_what_no_index_can_be_is_refused(
    source: Path, more: tuple[str, ...], reason: str
) -> None:
    """Before anything is written, in one line."""
    done = export(source, *more)

    assert done.exit_code == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (source.parent / "out").exists()


@pytest.mark.parametrize(
    "name", ["queries/mine.json", "bulk-00009.ndjson", "notes.md", "queries/old/"]
)
def test_an_export_with_other_things_in_it_is_left_alone(
    source: Path, name: str
) -> None:
    """Whatever they are called and wherever they lie: they may be anybody's."""
    export(source)
    out = source.parent / "out"
    mine = out / name
    if name.endswith("/"):
        mine.mkdir()
    else:
        mine.write_text("mine", "utf-8")
    before = {path: path.is_dir() or path.read_bytes() for path in out.rglob("*")}

    done = export(source)

    assert done.exit_code == 2
    assert f"holds {name.rstrip('/')!r}, which no export has written" in done.stderr
    assert {
        path: path.is_dir() or path.read_bytes() for path in out.rglob("*")
    } == before


@pytest.mark.parametrize(
    "said", [None, b"", b"[]", b'{"schema": 2, "files": ["queries/acl.json"]}']
)
def test_names_alone_make_no_export(source: Path, said: bytes | None) -> None:
    """A folder of somebody's own is not replaced for what its files are called."""
    mine = source.parent / "out" / "queries" / "acl.json"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    if said is not None:
        (source.parent / "out" / LIST).write_bytes(said)

    done = export(source)

    assert done.exit_code == 2
    assert mine.read_text("utf-8") == "mine"


def test_a_list_leads_to_no_file_elsewhere(source: Path) -> None:
    """Only what stands in the folder is removed, and no link is followed."""
    export(source)
    out, elsewhere = source.parent / "out", source.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "acl.json").write_text("mine", "utf-8")
    told = json.loads((out / LIST).read_text("utf-8"))
    told["files"] += ["../elsewhere/acl.json", str(elsewhere / "acl.json"), "linked"]
    (out / LIST).write_text(json.dumps(told), "utf-8")
    (out / "linked").symlink_to(elsewhere)

    done = export(source)

    assert done.exit_code == 0
    assert (elsewhere / "acl.json").read_text("utf-8") == "mine"
    assert not (out / "linked").is_symlink()


def test_an_empty_folder_is_filled(source: Path) -> None:
    """Nobody loses anything by it."""
    (source.parent / "out").mkdir()

    assert export(source).exit_code == 0


def test_a_folder_with_other_things_is_left_alone(source: Path) -> None:
    """It may be anybody's: of its files nothing is replaced."""
    done = export(source, "--out", source.parent)

    assert done.exit_code == 2
    assert "holds 'chunks.jsonl', which no export has written" in done.stderr
    assert source.exists()


def test_a_file_that_is_no_chunks_file_is_refused_by_line(source: Path) -> None:
    """What was written before stays."""
    export(source)
    before = (source.parent / "out" / "bulk-00001.ndjson").read_bytes()
    with source.open("ab") as file:
        file.write(b'{"schema": 1}\n')

    done = export(source)

    assert done.exit_code == 2
    assert f"{source}:3: " in done.stderr
    assert (source.parent / "out" / "bulk-00001.ndjson").read_bytes() == before


def test_a_table_is_refused_with_the_file_beside_it(source: Path) -> None:
    """Its bytes are no line of JSON, which helps nobody."""
    done = export(source.with_suffix(".parquet"))

    assert done.exit_code == 2
    assert "chunks.parquet: is a table; give the .jsonl beside it" in done.stderr


def test_half_a_delta_is_refused(tmp_path: Path) -> None:
    """A delta is three files; one that is missing is not taken for empty."""
    delta = tmp_path / "0123456789abcdef"
    delta.mkdir()
    chunks_file(delta / "upserts.jsonl", [a_record()])

    done = export(delta)

    assert done.exit_code == 2
    assert "metadata_updates.jsonl: cannot be read" in done.stderr


LONG: dict[str, JsonValue] = {"of": [{"note": "x" * 33_000}], "said": "short"}


def custom_in(source: Path) -> list[dict[str, JsonValue]]:
    """Give the custom keys of all documents of an export."""
    lines = (source.parent / "out" / "bulk-00001.ndjson").read_bytes().splitlines()
    return [json.loads(line)["metadata"]["custom"] for line in lines[1::2]]


def test_a_value_that_opensearch_cannot_hold_is_left_out_by_name(
    tmp_path: Path,
) -> None:
    """One long value keeps nothing else from the store."""
    records = [
        a_record(metadata=Metadata(custom={"notes": LONG, "owner": "hr"})),
        a_record(chunk_id="leave.md:b", metadata=Metadata(custom={"notes": LONG})),
        a_record(chunk_id="leave.md:c", metadata=Metadata(custom={"owner": "it"})),
    ]
    source = chunks_file(tmp_path / "chunks.jsonl", records)

    done = export(source)

    assert done.exit_code == 3
    assert custom_in(source) == [{"owner": "hr"}, {}, {"owner": "it"}]
    assert (
        "left out: metadata.custom.notes of 'leave.md:days', whose 33,020 bytes "
        "are too many for the store; the same of 1 more record"
    ) in done.stderr


def test_elasticsearch_stores_a_long_value_without_indexing_it(tmp_path: Path) -> None:
    """Nothing has to be left out."""
    record = a_record(metadata=Metadata(custom={"notes": LONG}))
    source = chunks_file(tmp_path / "chunks.jsonl", [record])

    done = export(source, "--to", "elasticsearch")

    assert done.exit_code == 0
    assert custom_in(source) == [{"notes": LONG}]


@pytest.mark.parametrize("key", ["acl_groups", "classification"])
def test_no_permission_is_left_out(tmp_path: Path, key: str) -> None:
    """Without it the record might be shown to anybody: nothing is written."""
    record = a_record(metadata=Metadata(custom={key: "x" * 33_000}))
    source = chunks_file(tmp_path / "chunks.jsonl", [record])

    done = export(source)

    assert done.exit_code == 2
    assert f"'leave.md:days': metadata.custom.{key} has 33,0" in done.stderr
    assert "says who may see it" in done.stderr
    assert not (tmp_path / "out").exists()


def test_two_exports_do_not_write_one_folder(source: Path) -> None:
    """The second is told to wait."""
    with held(source.parent / "out"):
        done = export(source)

    assert done.exit_code == 4


def test_json_says_what_was_written(source: Path) -> None:
    """For whoever sends it."""
    said = json.loads(export(source, "--json").stdout)

    assert said == {
        "folder": str(source.parent / "out"),
        "parts": ["bulk-00001.ndjson"],
        "changes": {"upsert": 2, "metadata_update": 0, "delete": 0},
        "without_vector": 0,
        "left_out": [],
    }
