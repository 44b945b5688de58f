"""Grounds: one text on which gold and every arm's chunks are laid."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate import Rules, chunk, load_counter, read
from situate.compare.grounds import Ground, clip, lay, size, union

if TYPE_CHECKING:
    from situate.model import Document

COUNTER = load_counter("cl100k_base")

LEAVE = """\
# Leave

Thirty days are granted in each calendar year.

| Years | Days |
|---|---|
| 1 | 25 |
| 5 | 30 |
"""

HTML = (
    b"<h1>Leave</h1><p>Thirty days are granted.</p>"
    b"<table><tr><th>Years</th><th>Days</th></tr>"
    + b"".join(b"<tr><td>%d</td><td>twenty five days</td></tr>" % n for n in range(40))
    + b"</table>"
)


def document_of(data: bytes, name: str) -> Document:
    """Read a document."""
    return read(data, name).document


def test_markdown_chunks_stand_where_their_blocks_stand_in_the_source() -> None:
    """Where a format counts characters, places are those of the source."""
    document = document_of(LEAVE.encode(), "leave.md")
    ground = lay(document, LEAVE)

    chunks = chunk(document, Rules(), COUNTER)

    (spans,) = [ground.place(one) for one in chunks]
    assert "".join(LEAVE[start:end] for start, end in spans).startswith("# Leave")
    assert size(spans) == len(LEAVE.replace("\n\n", "").rstrip())


def test_chunks_of_formats_without_characters_stand_in_their_blocks() -> None:
    """Blocks are laid one below the other, a table's pieces found among its rows."""
    document = document_of(HTML, "leave.html")
    ground = lay(document, None)

    pieces = chunk(document, Rules(max_tokens=64, min_tokens=0), COUNTER)
    placed = [ground.place(piece) for piece in pieces]

    assert len(pieces) > 2
    assert all(placed)
    texts = ["".join(ground.text[slice(*span)] for span in spans) for spans in placed]
    assert "Thirty days" in texts[0]
    assert "| 39 |" in texts[-1]


@pytest.mark.parametrize(
    "quoted",
    [
        "Thirty days are granted",
        "  thirty days,\nare GRANTED  ",
        "Thirty",
    ],
    ids=["letter for letter", "other breaks, case and marks", "one word"],
)
def test_evidence_is_found_by_its_words(quoted: str) -> None:
    """A quotation may differ in line breaks, case and punctuation."""
    ground = Ground("leave", LEAVE, {})

    found = ground.evidence(quoted)

    assert found is not None
    assert LEAVE[slice(*found)].startswith("Thirty")


@pytest.mark.parametrize("quoted", ["Forty days are granted", "days thirty", "", " \n"])
def test_evidence_with_other_words_is_not_found(quoted: str) -> None:
    """Words that are not there in that order are no evidence."""
    assert Ground("leave", LEAVE, {}).evidence(quoted) is None


def test_reworded_chunks_are_placed_by_runs_of_four_words() -> None:
    """A chunk from elsewhere may say something of its own around what it holds."""
    text = "Every employee may rest. Thirty days are granted in each year of service."
    ground = Ground("leave", text, {})

    found = ground.search("Context: HR.\nthirty days are granted in each YEAR, really")

    assert [text[slice(*span)] for span in found] == [
        "Thirty days are granted in each year"
    ]


def test_a_passage_said_twice_is_placed_after_the_chunk_before() -> None:
    """Chunks come in reading order, so equal ones stand one behind the other."""
    text = "See the annex of this policy. Fees. See the annex of this policy."
    ground = Ground("leave", text, {})

    first = ground.search("See the annex of this policy.")
    second = ground.search("See the annex of this policy.", after=first[0][1])

    assert first != second


SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60)).map(
        lambda pair: (min(pair), max(pair))
    ),
    max_size=12,
)


@given(SPANS)
def test_a_union_covers_the_same_characters_once(
    spans: list[tuple[int, int]],
) -> None:
    """What spans cover together is in their union, in order and without overlap."""
    joined = union(spans)

    covered = {place for start, end in spans for place in range(start, end)}
    assert {place for start, end in joined for place in range(start, end)} == covered
    assert size(joined) == len(covered)
    assert all(one[1] < other[0] for one, other in pairwise(joined))


@given(SPANS, st.integers(0, 60), st.integers(0, 60))
def test_clipped_spans_are_what_lies_inside(
    spans: list[tuple[int, int]], one: int, other: int
) -> None:
    """Clipping is cutting by a window."""
    start, end = min(one, other), max(one, other)

    clipped = clip(spans, start, end)

    inside = {p for a, b in spans for p in range(a, b) if start <= p < end}
    assert {p for a, b in clipped for p in range(a, b)} == inside
