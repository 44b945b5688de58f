"""`check` finds what a hand changed, also where it computed every hash anew."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from situate.check import check
from situate.errors import RecordError
from situate.model import digest
from situate.records import HASHES, to_line
from tests.support.corpora import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from situate.check import Report

    Record = dict[str, Any]
    Change = Callable[[list[Record]], object]

POLICY = """\
---
title: Leave policy
doc_type: policy
effective_from: 2026-01-01
---
# Leave

Everybody who works here has leave, wherever that may be and at any time of the day.

## Days

There are these days in every year, and none of them is lost at its end:

| Years | Days |
| --- | --- |
| 1 | 25 |
| 10 | 30 |

### Abroad

Whoever is abroad has as many days as everybody else, and the days of the road.

## Exceptions

EXCEPTIONS
""".replace(
    "EXCEPTIONS", "The above days are not for those who are away for long. " * 20
)

DAYS = "policy.md:leave/days"
STATEMENT = {
    "status": "statement",
    "statement": "It is for staff.",
    "reason": None,
    "model": "m",
    "prompt": {"name": "findable-v1", "hash": "0" * 32},
    "view": "full",
}


@pytest.fixture(scope="module", params=["leaves", "tree"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Corpus:
    """Run once over a document with a long section and a section below another."""
    return written(tmp_path_factory.mktemp("made"), request.param)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Run once with parents."""
    return written(tmp_path_factory.mktemp("tree"), "tree")


def written(folder: Path, granularity: str) -> Corpus:
    """Run over the policy."""
    corpus = Corpus(folder=folder)
    corpus.document("policy.md", POLICY)
    sizes = {"max_tokens": 64, "min_tokens": 8, "granularity": granularity}
    corpus.configure(chunking=sizes)
    assert corpus.run().exit_code == 0
    return corpus


def hashed(record: Record) -> Record:
    """Compute a record's hashes anew, as a forger would."""
    metadata = record["metadata"]
    for name, key in zip(HASHES, ("text", "embed_text", "lexical_text"), strict=False):
        metadata[name] = digest(record[key])
    rest = {key: value for key, value in metadata.items() if key not in HASHES}
    metadata["metadata_hash"] = digest(
        json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )
    return record


def nothing(_: list[Record]) -> None:
    """Change nothing."""


def forged(
    made: Corpus,
    folder: Path,
    change: Change = nothing,
    *,
    blocks: Change = nothing,
    source: Path | None = None,
) -> Report:
    """Check a copy in which something was changed, hashes and manifest with it."""
    records = made.records
    beside = made.chunks.with_name("handbook.blocks.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in beside.splitlines()]
    change(records)
    blocks(lines[0]["blocks"])
    path = folder / "handbook.jsonl"
    path.write_bytes(b"".join(to_line(hashed(record)) for record in records))
    (folder / "handbook.blocks.jsonl").write_bytes(b"".join(map(to_line, lines)))
    manifest = json.dumps(made.manifest | {"files": []})
    (folder / "handbook.manifest.json").write_text(manifest, "utf-8")
    return check(path, source=source)


def in_chunk(chunk_id: str, /, **fields: object) -> Change:
    """Give one chunk other values; `metadata__title` is the title in its metadata."""

    def change(records: list[Record]) -> None:
        (record,) = (record for record in records if record["chunk_id"] == chunk_id)
        for name, value in fields.items():
            *above, last = name.split("__")
            place = record
            for key in above:
                place = place[key]
            place[last] = value

    return change


def in_block(block_id: str, /, **fields: object) -> Change:
    """Give one block of the blocks file other values."""

    def change(blocks: list[Record]) -> None:
        (block,) = (block for block in blocks if block["block_id"] == block_id)
        block |= fields

    return change


def with_text(old: str, new: str) -> Change:
    """Change the words of every leaf that holds them, and what is derived of them."""

    def change(records: list[Record]) -> None:
        for record in records:
            if record["metadata"]["embed"]:
                for key in ("text", "embed_text", "lexical_text"):
                    prefix, gap, text = record[key].rpartition(old)
                    record[key] = prefix + (new if gap else "") + text

    return change


def with_statement(statement: str) -> Change:
    """Give a chunk a statement, and its prefix with it."""

    def change(records: list[Record]) -> None:
        (record,) = (record for record in records if record["chunk_id"] == DAYS)
        above = record["context_prefix"]
        prefix = f"{above}\n{statement}"
        reading = record["embed_text"].removeprefix(f"{above}\n\n")
        record["metadata"]["enrichment"] = STATEMENT | {"statement": statement}
        record["context_prefix"] = prefix
        record["embed_text"] = f"{prefix}\n\n{reading}"

    return change


def reordered(*above: str) -> Change:
    """Turn around the keys of one object in the first record."""

    def change(records: list[Record]) -> None:
        place = records[0]
        for key in above:
            place = place[key]
        for key in reversed(list(place)):
            place[key] = place.pop(key)

    return change


def test_a_careful_copy_breaks_no_rule(made: Corpus, tmp_path: Path) -> None:
    """What the other tests change is sound."""
    source = made.folder / "docs" / "policy.md"

    report = forged(made, tmp_path, source=source)
    stated = forged(made, tmp_path, with_statement("It is for staff."))

    assert (report.findings, report.not_checked) == ([], [])
    assert stated.findings == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param(in_chunk(DAYS, level="block"), "C9-level", id="whole as part"),
        pytest.param(
            in_chunk("policy.md:leave/exceptions:0", level="section"),
            "C9-level",
            id="part as whole",
        ),
        pytest.param(
            in_chunk("policy.md:leave/exceptions:1", chunk_id="policy.md:leave:01"),
            "identity",
            id="a number with a zero in front",
        ),
        pytest.param(
            in_chunk(DAYS, chunk_id=f"{DAYS}:0", level="block"),
            "identity",
            id="the only part of a section",
        ),
        pytest.param(
            in_chunk(
                DAYS,
                chunk_id="policy.md:leave/nowhere",
                metadata__section_id="leave/nowhere",
            ),
            "C2-lineage",
            id="a section that is not there",
        ),
        pytest.param(
            in_chunk(
                DAYS,
                chunk_id="policy.md:leave/days/abroad~2",
                metadata__section_id="leave/days/abroad~2",
            ),
            "C2-lineage",
            id="another section",
        ),
        pytest.param(
            in_chunk(DAYS, metadata__spans=[[0, 8], [9, 80], [81, 140]]),
            "span",
            id="shifted places",
        ),
        pytest.param(
            in_chunk(DAYS, metadata__spans=[None, None, None]), "span", id="no places"
        ),
        pytest.param(
            in_chunk(DAYS, metadata__embed_form="text"), "derivation", id="form"
        ),
        pytest.param(
            in_chunk(DAYS, metadata__effective_from="1 May"), "C12-metadata", id="date"
        ),
        pytest.param(
            in_chunk(DAYS, metadata__effective_to="20260101"),
            "C12-metadata",
            id="a date without hyphens",
        ),
        pytest.param(
            in_chunk(DAYS, metadata__title="Other"), "C12-metadata", id="title"
        ),
        pytest.param(
            in_chunk(DAYS, metadata__corpus="other"), "C12-metadata", id="corpus"
        ),
        pytest.param(
            in_chunk("policy.md:leave/exceptions:1", metadata__language="de"),
            "C12-metadata",
            id="metadata of a section",
        ),
        pytest.param(
            in_chunk("policy.md:leave/exceptions:1", metadata__breadcrumb=["Leave"]),
            "C7-breadcrumb",
            id="headings of a section",
        ),
        pytest.param(
            in_chunk("policy.md:leave/days/abroad", metadata__breadcrumb=["A", "B"]),
            "C7-breadcrumb",
            id="headings of the section around",
        ),
        pytest.param(
            in_chunk("policy.md:leave/days/abroad", metadata__doc_type="rule"),
            "derivation",
            id="type that the breadcrumb line does not tell",
        ),
        pytest.param(
            with_statement("It is for staff.\nAnd for others."),
            "E8-statement",
            id="a statement of two lines",
        ),
        pytest.param(
            in_chunk(
                DAYS,
                metadata__enrichment=STATEMENT
                | {"status": "fallback", "statement": None, "reason": "bored"},
            ),
            "E10-status",
            id="a reason nobody knows",
        ),
        pytest.param(
            in_chunk(DAYS, metadata__enrichment__reason="budget"),
            "E10-status",
            id="a reason for nothing",
        ),
        pytest.param(
            in_chunk(DAYS, metadata__enrichment__view="full"),
            "E10-status",
            id="a view nobody had",
        ),
        pytest.param(reordered(), "record", id="keys"),
        pytest.param(reordered("metadata"), "record", id="keys of metadata"),
        pytest.param(
            reordered("metadata", "enrichment"), "record", id="keys of enrichment"
        ),
    ],
)
def test_a_forged_record_is_found(
    made: Corpus, tmp_path: Path, change: Change, rule: str
) -> None:
    """Every field is bound to another one, to its neighbours or to the blocks."""
    report = forged(made, tmp_path, change)

    assert rule in report.broken


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param(
            in_chunk("policy.md:leave/days/abroad", parent_chunk_id="policy.md:leave"),
            "C9-parent",
            id="a grandparent",
        ),
        pytest.param(
            in_chunk(
                "policy.md:leave/exceptions:1",
                parent_chunk_id="policy.md:leave/days",
            ),
            "C9-parent",
            id="a neighbour",
        ),
        pytest.param(
            in_chunk("policy.md:leave/exceptions", block_ids=[], metadata__spans=[]),
            "C2-lineage",
            id="a container without blocks",
        ),
    ],
)
def test_a_forged_tree_is_found(
    tree: Corpus, tmp_path: Path, change: Change, rule: str
) -> None:
    """Where a record hangs follows from its section."""
    report = forged(tree, tmp_path, change)

    assert rule in report.broken


def test_a_container_that_was_left_out_is_missed(tree: Corpus, tmp_path: Path) -> None:
    """Its children were hung higher, all were numbered anew."""

    def leave_out(records: list[Record]) -> None:
        gone = "policy.md:leave/exceptions"
        records[:] = [record for record in records if record["chunk_id"] != gone]
        for ordinal, record in enumerate(records):
            record["metadata"]["ordinal"] = ordinal
            if record["parent_chunk_id"] == gone:
                record["parent_chunk_id"] = "policy.md:leave"

    report = forged(tree, tmp_path, leave_out)

    assert set(report.broken) == {"C9-container"}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(in_block("leave/days#0", section_id="leave"), id="section"),
        pytest.param(in_block("leave/days#1", block_id="leave/days#7"), id="number"),
        pytest.param(in_block("leave/days#0", kind="paragraph"), id="no heading"),
        pytest.param(in_block("leave/days#1", kind="heading"), id="a second heading"),
        pytest.param(in_block("leave/days#1", kind="poem"), id="kind"),
        pytest.param(in_block("leave/days#1", parts=3), id="parts of a paragraph"),
        pytest.param(in_block("leave/days#2", parts=0), id="no part"),
        pytest.param(lambda blocks: blocks.insert(0, blocks.pop()), id="order"),
        pytest.param(lambda blocks: blocks.pop(0), id="the section around"),
    ],
)
def test_a_forged_list_of_blocks_is_found(
    made: Corpus, tmp_path: Path, change: Change
) -> None:
    """No reader would have listed them like that."""
    report = forged(made, tmp_path, blocks=change)

    assert "blocks" in report.broken


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(in_block("leave/days#1", kind="html"), id="kind"),
        pytest.param(in_block("leave/days#2", parts=3), id="parts"),
        pytest.param(in_block("leave/days#2", span=None), id="place"),
    ],
)
def test_the_source_tells_what_its_blocks_are(
    made: Corpus, tmp_path: Path, change: Change
) -> None:
    """What could have been listed, and was not, is found beside the source."""
    source = made.folder / "docs" / "policy.md"

    report = forged(made, tmp_path, blocks=change, source=source)

    assert report.broken["blocks"] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("as many days", "as few days", id="paragraph"),
        pytest.param("### Abroad", "### Aboard", id="heading"),
        pytest.param("| 10 | 30 |", "| 10 | 90 |", id="table"),
        pytest.param("away for long", "away for good", id="a part of a paragraph"),
        pytest.param("and the days of the road.", "and more. Or so.", id="its end"),
        pytest.param(
            "of the road.", "of the road.\n\nAnd more.", id="a paragraph more"
        ),
    ],
)
def test_the_source_tells_what_a_text_says(
    made: Corpus, tmp_path: Path, old: str, new: str
) -> None:
    """No word of the author is another one."""
    source = made.folder / "docs" / "policy.md"

    report = forged(made, tmp_path, with_text(old, new), source=source)

    assert "C2-cover" in report.broken


def test_a_source_of_another_version_is_named(made: Corpus, tmp_path: Path) -> None:
    """Its words are not those the chunks were cut from."""
    source = tmp_path / "policy.md"
    source.write_text(POLICY.replace("as many days", "as few days"), "utf-8")

    report = forged(made, tmp_path, source=source)

    assert [finding.message for finding in report.findings] == [
        "was cut from another version of its source"
    ]


@pytest.mark.parametrize(
    "name", ["handbook.jsonl", "handbook.blocks.jsonl", "handbook.manifest.json"]
)
def test_a_key_that_stands_twice_is_found(
    made: Corpus, tmp_path: Path, name: str
) -> None:
    """Readers differ in which of them they take."""
    forged(made, tmp_path)
    path = tmp_path / name
    whole = path.read_text("utf-8")
    path.write_text(whole.replace('"schema"', '"schema": 1, "schema"', 1), "utf-8")

    try:
        found = [
            finding.message for finding in check(tmp_path / "handbook.jsonl").findings
        ]
    except RecordError as error:
        found = [str(error)]

    assert any("'schema' stands twice in one object" in message for message in found)


def test_a_number_beyond_reason_is_no_accident(made: Corpus, tmp_path: Path) -> None:
    """Python refuses to turn so many digits into a number."""
    endless = "policy.md:leave/days:" + "9" * 5000

    report = forged(made, tmp_path, in_chunk(DAYS, chunk_id=endless))

    assert "identity" in report.broken
