"""`diff` says what became of every chunk between two outputs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate import Rules, chunk, load_counter, read, to_line, to_record
from situate.diff import Entry, diff
from situate.errors import RecordError
from situate.model import Enrichment, PromptReference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from situate.diff import Difference
    from situate.model import Chunk

LEAVE = """\
# Leave

Everybody who works here has leave, wherever that may be and at any time of the day.

## Days

There are many days in a year, and nobody loses one of them because it is not taken.

### Abroad

Whoever is abroad has as many days as everybody else, and the days of the road too.

## Money

No money is paid for days that were not taken, whatever the reason for that may be.
"""

STATEMENT = Enrichment(
    status="statement",
    statement="It is for staff.",
    model="m",
    prompt=PromptReference(name="findable-v1", hash="0" * 32),
    view="full",
)


def cut(text: str = LEAVE, name: str = "leave.md") -> list[Chunk]:
    """Cut a document into a chunk for each section, with its parents."""
    rules = Rules(max_tokens=64, min_tokens=1, granularity="tree")
    document = read(text.encode(), name).document
    return list(chunk(document, rules, load_counter("cl100k_base")))


def written(path: Path, chunks: Iterable[Chunk]) -> Path:
    """Write a chunks file."""
    path.write_bytes(b"".join(to_line(to_record(chunk)) for chunk in chunks))
    return path


def compared(folder: Path, old: Iterable[Chunk], new: Iterable[Chunk]) -> Difference:
    """Compare two lists of chunks as files."""
    return diff(written(folder / "old.jsonl", old), written(folder / "new.jsonl", new))


def told(found: Difference) -> list[str]:
    """Give all that is not unchanged: sign, old and new id, what is not the same."""
    signs = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
    return [
        " ".join((signs[entry.kind], *_ids(entry), *entry.changes))
        for entry in found
        if entry.kind != "unchanged"
    ]


def _ids(entry: Entry) -> list[str]:
    ids = dict.fromkeys((entry.was or entry.chunk_id, entry.chunk_id))
    return [name.removeprefix("leave.md:") for name in ids]


def edited(place: int, **fields: object) -> Callable[[list[Chunk]], list[Chunk]]:
    """Give one chunk other values."""

    def edit(chunks: list[Chunk]) -> list[Chunk]:
        chunks[place] = replace(chunks[place], **fields)  # type: ignore[arg-type]  # each test names its own
        return chunks

    return edit


def test_a_file_beside_itself_is_unchanged(tmp_path: Path) -> None:
    """Every chunk is named, and none differs."""
    chunks = cut()

    found = compared(tmp_path, chunks, chunks)

    assert told(found) == []
    assert found.counts()["unchanged"] == len(chunks) == 5


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "has leave,",
            "has no leave,",
            ["~ _doc text", "~ leave text"],
            id="a text is another, in its section and in what sums it up",
        ),
        pytest.param(
            "## Days",
            "## Rules\n\nThese are the rules that hold here.\n\n## Days",
            ["~ _doc text", "+ leave/rules"],
            id="what was put above others changes none of them",
        ),
        pytest.param(
            "## Days",
            "## Free days",
            [
                "~ _doc text",
                "> leave/days leave/free-days text breadcrumb",
                "> leave/days/abroad leave/free-days/abroad breadcrumb",
            ],
            id="a heading has another name",
        ),
        pytest.param(
            LEAVE[LEAVE.index("## Money") :],
            "",
            ["- leave/money", "~ _doc text"],
            id="a section is gone",
        ),
    ],
)
def test_an_edit_touches_what_it_touches(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    """Chunks that follow an edit are the same, whatever their place in the source."""
    found = compared(tmp_path, cut(), cut(LEAVE.replace(old, new)))

    assert told(found) == expected


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(edited(4, reading="Money."), ["reading"], id="reading"),
        pytest.param(
            edited(4, breadcrumb_line="[policy] Leave"), ["breadcrumb"], id="line"
        ),
        pytest.param(edited(4, breadcrumb=("Leave",)), ["breadcrumb"], id="headings"),
        pytest.param(edited(4, enrichment=STATEMENT), ["statement"], id="statement"),
        pytest.param(edited(4, corpus="handbook"), ["metadata"], id="corpus"),
        pytest.param(edited(4, pages=(3,)), ["metadata"], id="pages"),
        pytest.param(edited(4, level="block"), ["metadata"], id="level"),
        pytest.param(edited(4, token_count=1), ["metadata"], id="another tokenizer"),
        pytest.param(edited(4, parent_chunk_id=None), ["parent"], id="parent"),
        pytest.param(
            edited(4, text="Money.", reading="Money.", token_count=2),
            ["text"],
            id="a text and what follows from it",
        ),
        pytest.param(edited(4, ordinal=9, spans=((0, 1), None)), None, id="place"),
        pytest.param(edited(4, doc_version="v9"), None, id="version"),
    ],
)
def test_what_is_not_the_same_is_named(
    tmp_path: Path, edit: Callable[[list[Chunk]], list[Chunk]], expected: list[str]
) -> None:
    """In one word each; what follows from edits elsewhere is no change."""
    found = compared(tmp_path, cut(), edit(cut()))

    lines = [f"~ leave/money {' '.join(expected)}"] if expected else []
    assert told(found) == lines


def test_the_chunk_that_moved_is_named_not_those_it_passed(tmp_path: Path) -> None:
    """Most chunks keep their order; what breaks it is what was moved."""
    chunks = cut()

    found = compared(tmp_path, chunks, [*chunks[:1], *chunks[2:], chunks[1]])

    assert told(found) == ["> leave place"]
    assert found.counts()["unchanged"] == 4


def test_what_moved_and_changed_is_changed(tmp_path: Path) -> None:
    """No chunk stands in two lists."""
    chunks = cut()
    last = replace(chunks[1], text="Leave.", reading="Leave.")

    found = compared(tmp_path, chunks, [*chunks[:1], *chunks[2:], last])

    assert told(found) == ["~ leave text place"]


def test_a_document_under_another_name_goes_on(tmp_path: Path) -> None:
    """Its chunks are paired by their texts; only its path is not the same."""
    found = compared(tmp_path, cut(), cut(name="rest.md"))

    assert {(e.kind, e.was, e.chunk_id, e.changes) for e in found} == {
        ("moved", f"leave.md:{name}", f"rest.md:{name}", ("metadata",))
        for name in ("_doc", "leave", "leave/days", "leave/days/abroad", "leave/money")
    }


def test_equal_texts_are_paired_in_their_own_document_first(tmp_path: Path) -> None:
    """And there in their order; what is left is new."""
    here, there = cut("Same.", "here.md")[-1], cut("Same.", "there.md")[-1]
    old = [here, there]
    new = [
        replace(there, chunk_id="there.md:a"),
        replace(here, chunk_id="here.md:a"),
        replace(here, chunk_id="here.md:b"),
    ]

    found = compared(tmp_path, old, new)

    assert [(e.kind, e.was) for e in found] == [
        ("moved", there.chunk_id),
        ("moved", here.chunk_id),
        ("added", None),
    ]


def test_two_sections_of_one_text_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """Below other headings a text has to be the only one of its kind."""
    old = "# A\n\nSee above.\n\n# B\n\nSee above.\n"

    found = compared(tmp_path, cut(old), cut(old.replace("# ", "# New ")))

    assert [line for line in told(found) if "_doc" not in line] == [
        "- a",
        "- b",
        "+ new-a",
        "+ new-b",
    ]


def test_counts_are_told_by_document(tmp_path: Path) -> None:
    """A document that is gone has its own, under its old name."""
    old = [*cut(), *cut("Gone.", "gone.md")]

    found = compared(tmp_path, old, cut(LEAVE.replace("road too", "road")))

    assert list(found.documents) == ["leave.md", "gone.md"]
    assert found.counts("leave.md") == {
        "added": 0,
        "removed": 0,
        "changed": 1,
        "moved": 0,
        "unchanged": 4,
    }
    assert found.counts("gone.md")["removed"] == 2
    assert found.counts()["removed"] == 2


def test_empty_files_can_be_compared(tmp_path: Path) -> None:
    """Empty documents give no chunks."""
    found = compared(tmp_path, [], cut("One sentence.")[-1:])

    assert found.counts()["added"] == 1
    assert compared(tmp_path, [], []).counts()["added"] == 0


@given(st.permutations(range(5)), st.permutations(range(5)), st.integers(0, 5))
def test_every_chunk_stands_in_one_list(
    tmp_path_factory: pytest.TempPathFactory, old: list[int], new: list[int], kept: int
) -> None:
    """Whatever was cut away and moved: the lists are all chunks of both files."""
    chunks = cut()
    before = [chunks[n] for n in old[:kept]]
    after = [chunks[n] for n in new]

    found = compared(tmp_path_factory.mktemp("diff"), before, after)

    stands = [entry.chunk_id for entry in found if entry.kind != "removed"]
    stood = [entry.was for entry in found if entry.was is not None]
    assert stands == [chunk.chunk_id for chunk in after]
    assert sorted(stood) == sorted(chunk.chunk_id for chunk in before)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param(lambda r: r | {"more": 1}, "'more' is no field", id="a field"),
        pytest.param(lambda r: r | {"text": 1}, "text: a text was", id="a type"),
        pytest.param(lambda r: r | {"text": "x"}, "does not agree", id="a text"),
    ],
)
def test_a_line_that_is_no_chunk_is_an_error(
    tmp_path: Path, change: Callable[[dict[str, object]], object], complaint: str
) -> None:
    """The message names file and line."""
    path = written(tmp_path / "old.jsonl", cut())
    *lines, last = path.read_text("utf-8").splitlines()
    broken = [*lines, json.dumps(change(json.loads(last)))]
    other = tmp_path / "new.jsonl"
    other.write_text("\n".join(broken), "utf-8")

    with pytest.raises(RecordError, match=rf"new\.jsonl:5: .*{complaint}"):
        diff(path, other)


def test_an_id_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    """Nobody could say which of the two became what; both lines are named."""
    chunks = cut()

    with pytest.raises(RecordError, match=r"new\.jsonl:6: .*'leave\.md:leave'.*line 2"):
        compared(tmp_path, chunks, [*chunks, chunks[1]])
