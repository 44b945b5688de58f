"""What bridges to frameworks share: documents in, flat metadata and kin out."""

from __future__ import annotations

import importlib
import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate import ConfigError, ReadError, RecordError, Rules, chunk, load_counter
from situate.integrations.cutting import Loaded, cut, preparer_of
from situate.integrations.passages import documents, flat, kin
from tests.support import strategies

if TYPE_CHECKING:
    from pathlib import Path

    from situate import Chunk, Document
    from situate.chunking import Granularity

SMALL = Rules(granularity="tree", max_tokens=64, min_tokens=0)
PAGE = "# Leave\n\n## Days\n\nThere are 25 days.\n\n## Notice\n\nTwo weeks.\n"


def cut_one(
    text: str, rules: Rules | None = None, **metadata: object
) -> tuple[Chunk, ...]:
    """Cut a document that is named `leave.md` unless its metadata says otherwise."""
    loaded = Loaded(
        text=text, metadata={"source": "leave.md", **metadata}, place="document 1"
    )
    (found,) = cut([loaded], preparer_of(rules or SMALL, None), named_by="source")
    return found


@pytest.mark.parametrize("framework", ["haystack", "langchain", "llamaindex"])
def test_a_missing_framework_is_named_with_its_remedy(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that can be pasted, instead of a module nobody has heard of."""
    for package in ("haystack", "langchain_core", "llama_index"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"situate.integrations.{framework}", raising=False)

    with pytest.raises(ConfigError, match=rf"pip install 'situate\[{framework}\]'"):
        importlib.import_module(f"situate.integrations.{framework}")


def test_documents_are_cut_as_a_corpus_is(tmp_path: Path) -> None:
    """A config gives its rules, its type and its name."""
    config = tmp_path / "hr.toml"
    config.write_text(
        '[corpus]\nname = "hr"\ndocuments = ["*.md"]\ndoc_type = "policy"\n'
        '[chunking]\nmax_tokens = 40\n[output]\npath = "hr.jsonl"\n',
        "utf-8",
    )
    loaded = Loaded(text=PAGE * 5, metadata={"source": "a.md"}, place="document 1")

    (found,) = cut([loaded], preparer_of(None, config), named_by="source")

    assert {one.corpus for one in found} == {"hr"}
    assert {one.metadata.doc_type for one in found} == {"policy"}
    assert max(one.token_count for one in found) <= 40


def test_rules_beside_a_config_are_refused() -> None:
    """Nobody could tell which of them holds."""
    with pytest.raises(ConfigError, match=r"'hr\.toml' has rules of its own"):
        preparer_of(Rules(), "hr.toml")


def test_what_metadata_says_reaches_every_chunk() -> None:
    """It counts as what a manifest says: permissions of the text give way."""
    found = cut_one(
        f"---\nacl_read: everybody\nteam: people\n---\n{PAGE}",
        acl_read="hr",
        team="finance",
        title="Days off",
    )

    (said,) = {
        (one.metadata.custom["acl_read"], one.metadata.custom["team"]) for one in found
    }
    assert said == ("hr", "people")
    assert {one.metadata.title for one in found} == {"Days off"}


@pytest.mark.parametrize(
    ("name", "doc_id"),
    [
        pytest.param("hr/leave.md", "hr/leave.md", id="relative"),
        pytest.param("/srv/hr/leave.md", "leave.md", id="absolute"),
        pytest.param(
            "https://e.com/a//b.md?v=1", "https://e.com/a//b.md?v=1", id="url"
        ),
        pytest.param("https://example.com", "https://example.com", id="host"),
    ],
)
def test_a_document_is_called_by_its_name(name: str, doc_id: str) -> None:
    """Ids are the same wherever the folder stands; the source is what was said."""
    found = cut_one(PAGE, source=name)

    assert {(one.doc_id, one.metadata.source) for one in found} == {(doc_id, name)}


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        pytest.param({"source": None}, r"^document 1: metadata\['source'\]", id="none"),
        pytest.param({"source": " "}, r"^document 1: metadata\['source'\]", id="blank"),
        pytest.param({"source": "a.pdf"}, r"^a\.pdf: .* a\.pdf\.txt or", id="pdf"),
        pytest.param({"source": "a.xyz"}, r"^a\.xyz: there is no reader", id="unknown"),
        pytest.param({"source": "a.json"}, r"^a\.json: ", id="no-docling"),
        pytest.param({"title": 3}, r"^leave\.md: title", id="title"),
        pytest.param({"source": "../a.md"}, "is no name of a document", id="above"),
    ],
)
def test_a_document_that_cannot_be_read_raises_with_its_name(
    metadata: dict[str, object], told: str
) -> None:
    """A framework has no place for a document that failed."""
    with pytest.raises(ReadError, match=told):
        cut_one(PAGE, **metadata)


def test_half_a_character_raises_with_the_name_of_its_document() -> None:
    """No file could hold it."""
    with pytest.raises(ReadError, match=r"^leave\.md: character 2 "):
        cut_one("a \ud800")


@pytest.mark.parametrize(
    ("other", "told"),
    [
        pytest.param({"source": "a.md"}, "not page by page", id="name"),
        pytest.param({"source": "b.md", "doc_id": "a.md"}, "which 'a.md' has", id="id"),
    ],
)
def test_documents_of_one_id_are_refused(other: dict[str, object], told: str) -> None:
    """The chunks of the one would replace those of the other."""
    both = [
        Loaded(text=PAGE, metadata=metadata, place="document")
        for metadata in ({"source": "a.md"}, other)
    ]

    with pytest.raises(ReadError, match=told):
        cut(both, preparer_of(SMALL, None), named_by="source")


def test_text_is_read_as_it_is_whatever_html_says_of_its_bytes() -> None:
    """Whoever loaded it has decoded it."""
    html = '<meta charset="windows-1252"><h1>Rückkehr</h1><p>Größe</p>'

    found = cut_one(html, source="a.html")

    assert "Größe" in found[-1].text
    assert found[-1].breadcrumb == ("Rückkehr",)


def test_what_a_reader_leaves_out_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """With the name of the document, where its user looks."""
    with caplog.at_level(logging.WARNING, "situate.integrations"):
        cut_one("---\neffective_from: someday\n---\n# Leave\n\nSome.\n")

    assert "leave.md: " in caplog.text
    assert "someday" in caplog.text


def test_flat_metadata_holds_what_every_store_takes() -> None:
    """Nothing nests, nothing is null or empty; lists of the author stay lists."""
    custom = {
        "acl_read": ["hr", "board"],
        "level": "secret",
        "owner": {"name": "HR"},
        "none": None,
        "empty": [],
        "mixed": [1, ["a"]],
    }
    first = cut_one(PAGE, **custom)[-1]

    found = flat(first)

    assert found["acl_read"] == ["hr", "board"]
    assert (found["level"], found["custom.level"]) == ("section", "secret")
    assert found["owner"] == '{"name": "HR"}'
    assert found["mixed"] == '[1, ["a"]]'
    assert not {"none", "empty", "statement", "effective_from"} & {*found}
    assert found["breadcrumb"] == "Leave > Notice"
    assert found["parent_chunk_id"] == first.parent_chunk_id


def test_lists_are_written_as_json_where_a_store_takes_none() -> None:
    """Each value is quoted: looking for `"hr"` finds no `"chris"`."""
    found = flat(cut_one(PAGE, acl_read=["hr", "board"], empty=[])[-1], "json")

    assert found["acl_read"] == '["hr", "board"]'
    assert "empty" not in found
    assert not any(isinstance(value, list) for value in found.values())


def long_page(sections: int) -> str:
    """Write a page that no container can hold whole."""
    return "# Leave\n\n" + "\n\n".join(
        f"## Part {number}\n\n### Days {number}\n\n{'Some words. ' * 15}\n\n"
        f"### Notice {number}\n\n{'Other words. ' * 15}"
        for number in range(sections)
    )


def test_an_outline_stands_in_for_nobody() -> None:
    """Merging into it would lose the words that were found."""
    found = cut_one(long_page(6), SMALL)
    around = kin(found)

    parents = {one.parent for one in around.values()} - {None}

    assert parents == {f"leave.md:leave/part-{number}" for number in range(6)}
    assert around["leave.md:leave/part-1"].parent is None
    assert around["leave.md:leave/part-1"].children == [
        "leave.md:leave/part-1/days-1",
        "leave.md:leave/part-1/notice-1",
    ]


def test_kin_are_for_the_same_people_and_days() -> None:
    """What is fetched by its id passes no filter."""
    found = cut_one(
        "# Pay\n\n## Open\n\nAll of it.\n\n## Bands {acl_read=hr}\n\nSixty.\n\n"
        "## Dates {effective_from=2026-01-01}\n\nJanuary.\n"
    )

    around = kin(found)

    bands = around["leave.md:pay/bands"]
    assert (bands.parent, bands.previous, bands.next) == (None, None, None)
    assert around["leave.md:pay/open"].next is None


def test_a_record_without_its_parent_is_refused() -> None:
    """Who would be fetched is not there."""
    *found, last = cut_one(PAGE)

    with pytest.raises(RecordError, match=r"its parent .* is missing"):
        kin([last])
    assert found


def test_records_are_parted_by_their_documents() -> None:
    """In the order of a chunks file."""
    first = cut_one(PAGE)
    second = tuple(replace(one, doc_id="b.md") for one in first)

    assert [*documents([*first, *second])] == [first, second]


@given(document=strategies.documents, granularity=st.sampled_from(["tree", "multi"]))
def test_no_word_is_lost_by_a_parent(
    document: Document, granularity: Granularity
) -> None:
    """Every line of a chunk stands in its parent; all relations have two ends."""
    rules = replace(SMALL, granularity=granularity)

    chunks = chunk(document, rules, load_counter("cl100k_base"))

    texts = {one.chunk_id: one.text for one in chunks}
    around = kin(chunks)
    assert {*around} == {*texts}
    for name, own in around.items():
        if own.parent is not None:
            assert name in around[own.parent].children
            assert own.depth == around[own.parent].depth + 1
            for line in texts[name].splitlines():
                assert line.strip() in texts[own.parent]
        if own.next is not None:
            assert around[own.next].previous == name
    assert sum(len(own.children) for own in around.values()) == sum(
        own.parent is not None for own in around.values()
    )
