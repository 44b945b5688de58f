"""`inspect`: what a person sees of a chunking, as values, before any HTML."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from situate.chunking import Rules, chunk
from situate.inspect.flow import OUTSIDE, flow
from situate.inspect.inspected import Facts, Inspected, Inspection, Warned, roles
from situate.inspect.outline import Row, rows
from situate.inspect.view import view
from situate.model import Enrichment, walk
from situate.readers import read
from situate.tokens import load_counter

if TYPE_CHECKING:
    from situate.inspect.flow import Segment

GUIDE = """\
---
title: Guide
---
# Guide 😀

Anybody may travel. Ask first.

<!-- not for readers -->

Tell your team where you are.

## Fares

| From | To | EUR |
| --- | --- | --- |
| Cork | Galway | 31 |
| Galway | Sligo | 17 |
| Sligo | Derry | 12 |
| Derry | Belfast | 14 |

## Rules

### Dogs

Dogs travel free.

### Cats

Cats do not.
"""


def inspected(source: str = GUIDE, **settings: Any) -> Inspected:
    """Cut a document, small unless told otherwise, with all there is to know of it."""
    document = read(source.encode(), "guide.md").document
    rules = Rules(**({"max_tokens": 48, "min_tokens": 0} | settings))
    return Inspected(
        doc_id="guide.md",
        chunks=chunk(document, rules, load_counter("cl100k_base")),
        document=document,
        blocks={
            block.block_id: Facts(
                kind=block.kind, parts=block.part_count, span=block.span
            )
            for section, _ in walk(document.root)
            for block in section.blocks
        },
        text=source,
    )


def segments(one: Inspected) -> tuple[Segment, ...]:
    """Give the source as the page shows it."""
    return flow(one, one.text or "", roles(one.chunks))


def told(one: Inspected, **known: Any) -> Any:
    """Give the view of one document."""
    return view(Inspection(name="guide.md", documents=(one,), **known))


# ---------------------------------------------------------------- the source


@pytest.mark.parametrize("granularity", ["leaves", "tree", "multi"])
def test_the_whole_source_is_shown_in_its_order(granularity: str) -> None:
    """Nothing of it is left out but white space between chunks."""
    one = inspected(granularity=granularity)

    said = "".join(text for each in segments(one) for text, _ in each.pieces)

    assert "".join(said.split()) == "".join(GUIDE.split())


def test_what_is_in_no_chunk_is_marked() -> None:
    """Front matter and comments stand in the source and in no text."""
    one = inspected()

    outside = [
        text.strip()
        for each in segments(one)
        for text, owner in each.pieces
        if owner == OUTSIDE
    ]

    assert outside == ["---\ntitle: Guide\n---", "<!-- not for readers -->"]


def test_every_leaf_stands_where_it_was_cut() -> None:
    """Also behind a character that is two units long in a browser."""
    one = inspected(min_tokens=0)

    shown = {
        each.chunk: each.pieces[0][0]
        for each in segments(one)
        if each.chunk is not None
    }

    dogs = next(n for n, each in enumerate(one.chunks) if "Dogs" in each.text)
    assert shown[dogs].endswith("### Dogs\n\nDogs travel free.")


def test_a_table_shows_its_header_with_the_first_piece() -> None:
    """It is repeated in every piece and so in the span of none."""
    one = inspected(max_tokens=40)

    pieces = [
        each.pieces[0][0]
        for each in segments(one)
        if each.pieces and "|" in each.pieces[0][0]
    ]

    assert len(pieces) > 1
    assert "| From | To | EUR |" in pieces[0]
    assert "From" not in "".join(pieces[1:])


def test_parents_come_before_what_they_hold() -> None:
    """As in the records."""
    one = inspected(granularity="tree")

    shown = [each.chunk for each in segments(one) if each.chunk is not None]

    assert list(dict.fromkeys(shown)) == list(range(len(one.chunks)))


def test_paragraph_chunks_are_marked_inside_their_leaf() -> None:
    """Their boundaries are drawn, their text is not shown twice."""
    one = inspected(granularity="multi", max_tokens=256)

    owners = {
        owner: text
        for each in segments(one)
        for text, owner in each.pieces
        if owner not in {None, OUTSIDE}
    }

    paragraphs = [n for n, role in enumerate(roles(one.chunks)) if role == "paragraph"]
    assert paragraphs
    assert sorted(owners) == paragraphs
    for index in paragraphs:
        assert one.chunks[index].text.split() == owners[index].split()


def test_a_leaf_without_a_place_follows_the_leaf_before_it() -> None:
    """Readers give no offset rather than a wrong one."""
    one = inspected()
    lost = replace(one.chunks[1], spans=(None,) * len(one.chunks[1].spans))
    one = replace(one, chunks=(one.chunks[0], lost, *one.chunks[2:]))

    shown = [
        (each.chunk, bool(each.pieces))
        for each in segments(one)
        if each.chunk is not None
    ]

    assert shown[:3] == [(0, True), (1, False), (2, True)]


def test_a_chunk_in_two_places_is_shown_in_both() -> None:
    """A footnote may stand with its reference and far away in the source."""
    text = "one\n\ntwo\n\nthree"
    one = inspected(text, min_tokens=0)
    first = replace(
        one.chunks[0], block_ids=("_top#0", "_top#2"), spans=((0, 3), (10, 15))
    )
    second = replace(
        one.chunks[0], chunk_id="guide.md:b", block_ids=("_top#1",), spans=((5, 8),)
    )
    one = replace(one, chunks=(first, second))

    assert [(each.chunk, each.pieces) for each in segments(one)] == [
        (0, [("one", None)]),
        (1, [("two", None)]),
        (0, [("three", None)]),
    ]


# ---------------------------------------------------------------- the tree


def depths(found: tuple[Row, ...]) -> list[tuple[int, str | None]]:
    """Give the rows as a person sees them."""
    return [(row.depth, row.title) for row in found]


def test_the_outline_is_the_documents_tree() -> None:
    """Sections by depth, parts of a section below it."""
    one = inspected(max_tokens=40)

    assert depths(rows(one, roles(one.chunks))) == [
        (0, "Guide"),
        (1, "Guide 😀"),
        (2, "Fares"),
        (3, None),
        (2, "Rules"),
        (3, "Dogs"),
        (3, "Cats"),
    ]


def test_a_section_without_a_chunk_names_the_one_it_is_in() -> None:
    """Its heading went to the section below, or it is part of a run."""
    one = inspected()

    found = {row.title: row for row in rows(one, roles(one.chunks))}

    assert found["Rules"].elsewhere
    assert found["Rules"].chunk == found["Dogs"].chunk
    assert not found["Dogs"].elsewhere


@pytest.mark.parametrize("min_tokens", [0, 32], ids=["apart", "in a run"])
def test_without_the_document_the_chunks_tell_the_tree(min_tokens: int) -> None:
    """Their headings and breadcrumbs do, and the ids of their blocks."""
    one = inspected(min_tokens=min_tokens)
    alone = replace(one, document=None, blocks=None)

    assert depths(rows(alone, roles(alone.chunks))) == depths(
        rows(one, roles(one.chunks))
    )


def test_a_heading_nobody_tells_is_called_by_the_end_of_its_id() -> None:
    """An id is certain, a guess is not."""
    one = replace(inspected(), document=None)
    silent = tuple(replace(each, text="x", breadcrumb=()) for each in one.chunks)
    one = replace(one, chunks=silent)

    titles = [row.title for row in rows(one, roles(one.chunks))]

    assert titles[1:3] == ["guide", "fares"]


def test_paragraphs_hang_below_their_leaf() -> None:
    """One row for each, without a title."""
    one = inspected(granularity="multi", max_tokens=256)

    found = rows(one, roles(one.chunks))

    paragraphs = [row for row in found if row.chunk is not None and row.title is None]
    assert {one.chunks[row.chunk or 0].level for row in paragraphs} == {"block"}


# ---------------------------------------------------------------- roles and numbers


@pytest.mark.parametrize("embed", ["leaf", "paragraph"])
def test_leaves_are_told_from_what_repeats_them(embed: str) -> None:
    """Whichever is embedded: parents and paragraphs say the same again."""
    one = inspected(granularity="multi", max_tokens=256, embed=embed)

    found = zip(one.chunks, roles(one.chunks), strict=True)
    leaves = [each.chunk_id for each, role in found if role == "leaf"]

    cover = inspected(max_tokens=256).chunks
    assert leaves == [each.chunk_id for each in cover]


def test_a_section_called_p1_is_no_paragraph() -> None:
    """Its id has one colon less."""
    one = inspected("# P1\n\nText.\n")

    assert one.chunks[0].chunk_id == "guide.md:p1"
    assert roles(one.chunks) == ("leaf",)


def test_a_leaf_of_exactly_the_limit_is_not_above_it() -> None:
    """The last bar of the histogram is for broken rules alone."""
    one = inspected()
    full = tuple(replace(each, token_count=48) for each in one.chunks)

    bars = told(replace(one, chunks=full), max_tokens=48)["summary"]["histogram"]

    assert bars == [0] * 9 + [len(full), 0]


def test_without_a_limit_the_largest_leaf_stands_for_it() -> None:
    """A chunks file alone does not say what it was cut to."""
    found = told(inspected())

    assert found["max_tokens"] is None
    assert sum(found["summary"]["histogram"][:10]) == found["summary"]["roles"]["leaf"]


def test_statements_are_counted_by_status_and_reason() -> None:
    """Parents have none: nobody is asked for them."""
    one = inspected(granularity="tree")
    leaves = roles(one.chunks).count("leaf")
    asked = replace(
        one.chunks[-1], enrichment=Enrichment(status="fallback", reason="not_grounded")
    )
    one = replace(one, chunks=(*one.chunks[:-1], asked))

    statuses = told(one)["summary"]["statuses"]

    assert statuses == {"fallback": {"not_grounded": 1}, "off": {"": leaves - 1}}


# ---------------------------------------------------------------- the view


def test_a_chunk_is_told_with_its_lineage() -> None:
    """Block id, kind, span, parts held, parts in all."""
    one = inspected(max_tokens=40)

    chunks = told(one)["documents"][0]["chunks"]

    blocks = [block for each in chunks for block in each["blocks"]]
    tables = [block for block in blocks if block[1] == "table"]
    first, *_, last = [block[3] for block in tables]
    assert (first[0], last[1]) == (0, 4)
    assert {block[4] for block in tables} == {4}


def test_parents_are_told_by_place_and_orphans_by_name() -> None:
    """A link to nowhere would hide that a parent is missing."""
    one = inspected(granularity="tree")
    orphaned = replace(one.chunks[-1], parent_chunk_id="guide.md:gone")
    one = replace(one, chunks=(*one.chunks[:-1], orphaned))

    chunks = told(one)["documents"][0]["chunks"]

    assert chunks[1]["parent"] == 0
    assert chunks[-1]["parent"] == "guide.md:gone"


def test_warnings_are_told_with_their_document() -> None:
    """Some are about all of them."""
    warned = (Warned(doc_id="guide.md", message="a"), Warned(doc_id=None, message="b"))

    found = told(inspected(), warnings=warned)["warnings"]

    assert found == [
        {"doc_id": "guide.md", "message": "a"},
        {"doc_id": None, "message": "b"},
    ]


@pytest.mark.parametrize(
    "text", ["", "---\ntitle: Empty\n---\n"], ids=["nothing", "title"]
)
def test_a_document_without_text_is_shown_as_such(text: str) -> None:
    """No chunk is no error."""
    one = replace(inspected(text), text=None)

    found = told(one)

    assert found["documents"][0]["chunks"] == []
    assert found["summary"]["most"] == 0
