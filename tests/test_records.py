"""A record says everything about its chunk, and reading one checks it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.errors import RecordError
from situate.lines import Lines
from situate.model import (
    Block,
    Box,
    Chunk,
    Document,
    Enrichment,
    Metadata,
    PromptReference,
    Section,
    digest,
)
from situate.records import (
    blocks_record,
    from_line,
    from_record,
    read_chunks,
    to_line,
    to_record,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from situate.model import JsonValue

BARE = Chunk(
    chunk_id="leave.md:leave/days",
    doc_id="leave.md",
    doc_version="v1",
    parent_chunk_id=None,
    level="section",
    text="## Days\n\n25 days.",
    reading="## Days\n\n25 days.",
    breadcrumb_line="[handbook] Leave > Days",
    block_ids=("leave/days#0", "leave/days#1"),
    parts={},
    spans=((10, 17), (19, 27)),
    pages=(),
    corpus="handbook",
    metadata=Metadata(title="Leave", doc_type="handbook", custom={"owner": "Ü"}),
    breadcrumb=("Leave", "Days"),
    section_id="leave/days",
    section_ids=None,
    ordinal=1,
    token_count=6,
    embed=True,
    embed_form="text",
    forced_split=False,
    enrichment=Enrichment(),
)

ENRICHED = replace(
    BARE,
    enrichment=Enrichment(
        status="statement",
        statement="It is for staff.",
        model="m",
        prompt=PromptReference(name="findable-v1", hash="0" * 32),
        view="full",
    ),
)

OTHERS = {
    "bare": BARE,
    "enriched": ENRICHED,
    "no breadcrumb": replace(BARE, breadcrumb_line=""),
    "statement alone": replace(ENRICHED, breadcrumb_line=""),
    "statement that repeats the line": replace(
        ENRICHED, breadcrumb_line=ENRICHED.statement or ""
    ),
    "part": replace(BARE, parts={"leave/days#1": (0, 2)}, forced_split=True),
    "no span": replace(BARE, spans=(None, (19, 27))),
    "merged": replace(BARE, section_ids=("leave/days", "leave/nights"), pages=(1, 2)),
    "reading": replace(BARE, reading="Days\n25 days.", embed_form="reading"),
    "container": replace(BARE, level="document", embed=False),
    "fallback": replace(
        BARE, enrichment=Enrichment(status="fallback", reason="refusal", model="m")
    ),
}


def test_a_record_has_these_keys_in_this_order() -> None:
    """The contract that every consumer relies on."""
    record = to_record(BARE)

    assert list(record) == [
        "schema",
        "chunk_id",
        "doc_id",
        "doc_version",
        "parent_chunk_id",
        "level",
        "text",
        "context_prefix",
        "block_ids",
        "metadata",
        "embed_text",
        "lexical_text",
    ]
    assert record["schema"] == 1


def test_metadata_has_these_keys_in_this_order_always() -> None:
    """What is unknown is null, not missing."""
    metadata = to_record(BARE)["metadata"]

    assert isinstance(metadata, dict)
    assert list(metadata) == [
        "corpus",
        "title",
        "doc_type",
        "effective_from",
        "effective_to",
        "source",
        "language",
        "breadcrumb",
        "section_id",
        "section_ids",
        "ordinal",
        "token_count",
        "content_hash",
        "embed_hash",
        "lexical_hash",
        "metadata_hash",
        "spans",
        "pages",
        "parts",
        "embed",
        "embed_form",
        "forced_split",
        "enrichment",
        "custom",
    ]
    assert metadata["effective_from"] is None
    assert metadata["section_ids"] is None
    assert metadata["enrichment"] == {
        "status": "off",
        "statement": None,
        "reason": None,
        "model": None,
        "prompt": None,
        "view": None,
    }


def test_the_statement_stands_below_the_breadcrumb_line() -> None:
    """The prefix is for the dense index; the lexical text has no statement."""
    record = to_record(ENRICHED)

    assert record["text"] == "## Days\n\n25 days."
    assert record["context_prefix"] == "[handbook] Leave > Days\nIt is for staff."
    assert record["embed_text"] == (
        "[handbook] Leave > Days\nIt is for staff.\n\n## Days\n\n25 days."
    )
    assert record["lexical_text"] == "[handbook] Leave > Days\n\n## Days\n\n25 days."


def test_an_empty_prefix_leaves_the_text() -> None:
    """Nothing stands in front, not even a blank line."""
    record = to_record(OTHERS["no breadcrumb"])

    assert record["context_prefix"] == ""
    assert record["embed_text"] == record["lexical_text"] == record["text"]


def test_hashes_are_of_what_they_say() -> None:
    """An index compares them to know what to write again."""
    record: Any = to_record(ENRICHED)
    metadata = record["metadata"]

    assert metadata["content_hash"] == digest(record["text"])
    assert metadata["embed_hash"] == digest(record["embed_text"])
    assert metadata["lexical_hash"] == digest(record["lexical_text"])


@pytest.mark.parametrize(
    ("changed", "moved"),
    [
        pytest.param(
            replace(BARE, text="x", reading="x"),
            {"content_hash", "embed_hash", "lexical_hash"},
            id="text",
        ),
        pytest.param(ENRICHED, {"embed_hash", "metadata_hash"}, id="statement"),
        pytest.param(replace(BARE, ordinal=2), {"metadata_hash"}, id="ordinal"),
        pytest.param(replace(BARE, doc_version="v2"), set(), id="version"),
    ],
)
def test_a_hash_moves_only_with_what_it_covers(changed: Chunk, moved: set[str]) -> None:
    """A new version of a document alone asks for no new embedding."""
    before: Any = to_record(BARE)["metadata"]
    after: Any = to_record(changed)["metadata"]

    hashes = [key for key in before if key.endswith("_hash")]

    assert {key for key in hashes if before[key] != after[key]} == moved


@pytest.mark.parametrize("chunk", OTHERS.values(), ids=OTHERS)
def test_a_record_gives_its_chunk_back(chunk: Chunk) -> None:
    """Through a line of a file, nothing is lost."""
    line = to_line(to_record(chunk))

    assert from_record(from_line(line, "x:1"), "x:1") == chunk


@given(st.lists(st.sampled_from([*OTHERS.values(), replace(BARE, corpus="two")])))
def test_a_line_written_at_once_is_that_of_the_record(chunks: list[Chunk]) -> None:
    """Two ways to the same bytes, whatever was written before."""
    lines = Lines()

    for chunk in chunks:
        assert lines.line(chunk) == to_line(to_record(chunk))


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(_texts, below, max_size=3)
    ),
    max_leaves=6,
)


@given(
    text=_texts,
    reading=_texts,
    line=_texts,
    custom=st.dictionaries(_texts, _values, max_size=4),
    parts=st.dictionaries(_texts, st.tuples(st.integers(), st.integers()), max_size=3),
)
def test_any_text_is_quoted_as_the_record_is(
    text: str,
    reading: str,
    line: str,
    custom: dict[str, JsonValue],
    parts: dict[str, tuple[int, int]],
) -> None:
    """Quotes, line separators, keys in any order: a line holds them alike."""
    chunk = replace(
        ENRICHED,
        text=text,
        reading=reading,
        breadcrumb_line=line,
        breadcrumb=(line, text),
        metadata=Metadata(title=text, custom=custom),
        parts=parts,
    )

    assert Lines().line(chunk) == to_line(to_record(chunk))


def test_a_line_is_compact_utf_8() -> None:
    """Letters stand as they are; one line break ends it."""
    line = to_line(to_record(BARE))

    assert '"custom":{"owner":"Ü"}' in line.decode("utf-8")
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1


def test_what_is_no_json_is_refused_by_name() -> None:
    """A file with it could be read by nobody."""
    chunk = replace(BARE, metadata=Metadata(custom={"x": float("nan")}))

    with pytest.raises(RecordError, match=r"^'leave\.md:leave/days' cannot be written"):
        to_line(to_record(chunk))
    with pytest.raises(RecordError, match=r"^'leave\.md:leave/days' cannot be written"):
        Lines().line(chunk)


def _without_text(record: dict[str, Any]) -> None:
    del record["text"]


def _with_rest(record: dict[str, Any]) -> None:
    record["rest"] = 1


def _set(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(record: dict[str, Any]) -> None:
        *above, last = path.split(".")
        for key in above:
            record = record[key]
        record[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(_without_text, "text is missing", id="missing"),
        pytest.param(_with_rest, "'rest' is no field", id="unknown"),
        pytest.param(
            _set("schema", 2), "schema is 2; this situate reads 1", id="schema"
        ),
        pytest.param(
            _set("text", 1), "text: a text was expected, not a whole", id="type"
        ),
        pytest.param(
            _set("metadata.ordinal", True),
            "metadata: ordinal: a whole number was expected, not true or false",
            id="true is no number",
        ),
        pytest.param(
            _set("metadata.token_count", 6.0),
            "token_count: a whole number was expected, not a number",
            id="fraction",
        ),
        pytest.param(
            _set("level", "page"),
            "level is 'page'; allowed: document, section, block",
            id="level",
        ),
        pytest.param(
            _set("metadata.spans", [[1], None]),
            "spans: two numbers were expected",
            id="half a span",
        ),
        pytest.param(
            _set("metadata.spans", [None]),
            "spans are not as many as block_ids",
            id="a span too few",
        ),
        pytest.param(
            _set("metadata.enrichment.status", "done"),
            "status is 'done'; allowed: off",
            id="status",
        ),
        pytest.param(
            _set("metadata.enrichment.cost", 1), "'cost' is no field", id="nested"
        ),
        pytest.param(
            _set("embed_text", "x"), "embed_text does not agree", id="embed text"
        ),
        pytest.param(
            _set("lexical_text", "x"), "lexical_text does not agree", id="lexical text"
        ),
        pytest.param(
            _set("metadata.enrichment.statement", "x"),
            "context_prefix does not agree",
            id="statement without its prefix",
        ),
        pytest.param(
            _set("metadata.content_hash", "x"),
            "metadata.content_hash does not agree",
            id="hash",
        ),
        pytest.param(
            _set("metadata.title", "x"),
            "metadata.metadata_hash does not agree",
            id="title",
        ),
    ],
)
def test_a_wrong_record_is_refused_by_place_and_field(
    change: Callable[[dict[str, Any]], None], expected: str
) -> None:
    """The error names file, line and field."""
    record: dict[str, Any] = to_record(BARE)
    change(record)

    with pytest.raises(RecordError) as caught:
        from_record(record, "chunks.jsonl:3")

    assert str(caught.value).startswith("chunks.jsonl:3: ")
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\xff\n", id="bytes"),
        pytest.param(b"{\n", id="half"),
        pytest.param(b"\n", id="empty"),
        pytest.param(b"[]\n", id="list"),
        pytest.param(b'{"a": NaN}\n', id="no number"),
        pytest.param(b'{"a": 1, "a": 1}\n', id="a key twice"),
        pytest.param(b'{"b": [{"a": 1, "a": 2}]}\n', id="a key twice inside"),
        pytest.param(b"[" * 100_000, id="nested"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", id="endless number"),
    ],
)
def test_a_line_that_is_no_object_is_refused(tmp_path: Path, line: bytes) -> None:
    """Whatever stands in a file, one error says where."""
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(to_line(to_record(BARE)) + line)

    chunks = read_chunks(path)

    assert next(chunks) == BARE
    with pytest.raises(RecordError, match=r"chunks\.jsonl:2: "):
        next(chunks)


def test_a_byte_order_mark_is_no_part_of_a_line(tmp_path: Path) -> None:
    """Editors on Windows put one before the first."""
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + to_line(to_record(BARE)))

    assert list(read_chunks(path)) == [BARE]


def test_the_blocks_of_a_document_are_listed_in_reading_order() -> None:
    """Section by section, each with how many parts it has."""
    inner = Section(
        section_id="a/b",
        title="B",
        level=2,
        path=("A", "B"),
        blocks=(Block(block_id="a/b#0", kind="heading", text="## B", span=(5, 9)),),
    )
    outer = Section(
        section_id="a",
        title="A",
        level=1,
        path=("A",),
        blocks=(Block(block_id="a#0", kind="heading", text="# A"),),
        children=(inner,),
    )
    root = Section(section_id="_doc", title="", level=0, path=(), children=(outer,))
    document = Document(doc_id="d", version="v", metadata=Metadata(), root=root)

    record = blocks_record(document)

    assert json.loads(to_line(record)) == {
        "schema": 1,
        "doc_id": "d",
        "doc_version": "v",
        "blocks": [
            {
                "block_id": "a#0",
                "section_id": "a",
                "kind": "heading",
                "span": None,
                "parts": 1,
                "boxes": [],
            },
            {
                "block_id": "a/b#0",
                "section_id": "a/b",
                "kind": "heading",
                "span": [5, 9],
                "parts": 1,
                "boxes": [],
            },
        ],
    }


def test_blocks_are_listed_with_their_places_on_pages() -> None:
    """A page and four edges, so that a passage can be shown where it stands."""
    box = Box(page=2, left=72.0, top=1 / 3, right=300.5, bottom=90.126)
    block = Block(block_id="_top#0", kind="paragraph", text="A.", boxes=(box,))
    top = Section(section_id="_top", title="", level=1, path=(), blocks=(block,))
    root = Section(section_id="_doc", title="", level=0, path=(), children=(top,))
    document = Document(doc_id="d", version="v", metadata=Metadata(), root=root)

    record: Any = blocks_record(document)

    assert record["blocks"][0]["boxes"] == [[2, 72.0, 0.33, 300.5, 90.13]]
