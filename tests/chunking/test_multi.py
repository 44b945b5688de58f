"""Leaves written block by block, so that a sentence finds its section (C9)."""

from __future__ import annotations

import pytest
from hypothesis import given

from situate.chunking import Embedded, Rules, chunk
from situate.model import Chunk, Document, is_paragraph, leaf_ids
from situate.readers import read
from situate.tokens import load_counter
from tests.support.strategies import documents

COUNTER = load_counter("cl100k_base")

SOURCE = """\
# Leave

Everybody has leave.

## Days

There are 25 days a year, counted from the first working day of the calendar year.

- half days count
- holidays do not

## Sickness

Call before ten o'clock, and bring a certificate from the third day of sickness on.
"""


def multi(source: str, embed: Embedded = "leaf") -> tuple[Chunk, ...]:
    """Cut a Markdown document at every granularity."""
    document = read(source.encode(), "leave.md").document
    rules = Rules(granularity="multi", embed=embed, min_tokens=8)
    return chunk(document, rules, COUNTER)


def test_every_block_of_a_leaf_is_a_record_below_it() -> None:
    """Headings go with the block they head, numbers run through the section."""
    below = [each for each in multi(SOURCE) if is_paragraph(each.chunk_id)]

    assert [(each.chunk_id, each.parent_chunk_id, each.level) for each in below] == [
        ("leave.md:leave/days:p0", "leave.md:leave/days", "block"),
        ("leave.md:leave/days:p1", "leave.md:leave/days", "block"),
    ]
    assert below[0].text.startswith("## Days\n\nThere are 25 days")
    assert below[1].text == "- half days count\n- holidays do not"


def test_a_leaf_of_one_block_is_its_own_paragraph() -> None:
    """Nothing is indexed twice."""
    assert not any("sickness:p" in each.chunk_id for each in multi(SOURCE))


@pytest.mark.parametrize(
    ("embed", "expected"),
    [
        (
            "leaf",
            {"leave.md:leave", "leave.md:leave/days", "leave.md:leave/sickness"},
        ),
        (
            "paragraph",
            {
                "leave.md:leave",
                "leave.md:leave/days:p0",
                "leave.md:leave/days:p1",
                "leave.md:leave/sickness",
            },
        ),
    ],
)
def test_one_level_is_embedded(embed: Embedded, expected: set[str]) -> None:
    """Whichever it is, it covers the document."""
    chunks = multi(SOURCE, embed)

    assert {each.chunk_id for each in chunks if each.embed} == expected


def test_leaves_are_the_same_whichever_level_is_embedded() -> None:
    """A model is asked about leaves, not about what is embedded."""
    leaves = leaf_ids(multi(SOURCE, "leaf"))

    assert leaf_ids(multi(SOURCE, "paragraph")) == leaves
    assert leaves == {
        "leave.md:leave",
        "leave.md:leave/days",
        "leave.md:leave/sickness",
    }


@given(documents)
def test_paragraphs_hold_what_their_leaf_holds(document: Document) -> None:
    """Block by block, in order, and no other record changes."""
    rules = Rules(max_tokens=100, granularity="multi")
    tree = chunk(document, Rules(max_tokens=100, granularity="tree"), COUNTER)

    chunks = chunk(document, rules, COUNTER)

    others = [each for each in chunks if not is_paragraph(each.chunk_id)]
    assert [each.chunk_id for each in others] == [each.chunk_id for each in tree]
    assert [each.text for each in others] == [each.text for each in tree]
    for leaf in others:
        own = [each for each in chunks if each.parent_chunk_id == leaf.chunk_id]
        below = [each for each in own if is_paragraph(each.chunk_id)]
        if below:
            held = [block_id for each in below for block_id in each.block_ids]
            assert held == list(leaf.block_ids)
            assert "\n\n".join(each.text for each in below) == leaf.text


def test_a_heading_that_looks_like_a_number_of_a_block_is_a_section() -> None:
    """Ids are told apart by where they stand, not by their end."""
    chunks = multi("# P0\n\nOne two three four five.\n\n# P1\n\nSix seven eight.\n")

    ids = {each.chunk_id for each in chunks}
    assert ids == {"leave.md:_doc", "leave.md:p0", "leave.md:p1"}
    assert not any(map(is_paragraph, ids))
    assert leaf_ids(chunks) == {"leave.md:p0", "leave.md:p1"}
