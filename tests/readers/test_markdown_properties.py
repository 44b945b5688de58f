"""What holds for the tree of any Markdown document."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from situate.model import Items, Quote, Table, walk
from situate.readers import read
from tests.readers.strategies import LINES, documents
from tests.readers.trees import blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.model import Block

MARKER = re.compile(r"\s*(?:[-+*]|[0-9]{1,9}[.)])")
ANY_TEXT = st.text(
    st.characters() | st.sampled_from("#>-*`|[]<!$\\:\n\n\n\t \0\x1b\r\ufeff"),
    max_size=80,
)


def letters(*texts: str) -> str:
    """Give what stays of texts whatever becomes of marks and white space."""
    return "".join(c for c in "".join(texts) if c.isalnum())


@settings(max_examples=200)
@given(documents())
def test_no_letter_is_lost_and_none_moves(text: str) -> None:
    """C2 begins here: the blocks hold the document's words, in order."""
    document = read(text.encode(), "doc.md").document

    assert letters(*(block.text for block in blocks(document))) == letters(text)


@settings(max_examples=200)
@given(documents())
def test_a_span_slices_the_source_to_the_text(text: str) -> None:
    """Where nothing is hidden, a top-level block is its slice, less quote marks."""
    document = read(text.encode(), "doc.md").document

    for block in blocks(document):
        assert block.span is not None
        slice_ = text[slice(*block.span)]
        if block.kind == "quote":
            assert letters(slice_) == letters(block.text)
        else:
            assert slice_ == block.text


@settings(max_examples=200)
@given(documents())
def test_parts_hold_what_their_block_holds(text: str) -> None:
    """Cutting a block into its parts loses nothing, at any depth."""
    document = read(text.encode(), "doc.md").document

    for block in blocks(document):
        assert_whole(block)


@settings(max_examples=100)
@given(documents(tuple({*LINES, "# Heading", "## Heading", "# Ähre", "# 7"})))
def test_ids_are_unique_and_equal_on_every_reading(text: str) -> None:
    """The same bytes give the same tree; no two blocks share an id."""
    first = read(text.encode(), "doc.md")
    second = read(text.encode(), "doc.md")

    ids = [block.block_id for block in blocks(first.document)]
    sections = [section.section_id for section, _ in walk(first.document.root)]
    assert first == second
    assert len(set(ids)) == len(ids)
    assert len(set(sections)) == len(sections)


@settings(max_examples=200)
@given(ANY_TEXT)
def test_no_field_holds_a_control_character(text: str) -> None:
    """Whatever stands in the source, control characters reach no output."""
    data = text.encode("utf-8", "ignore") + b"\n\nA paragraph of ordinary words." * 20

    document = read(data, "doc.md").document

    for value in strings(document):
        assert "\ufeff" not in value
        assert all(
            unicodedata.category(character) not in {"Cc", "Cs"}
            for character in value
            if character not in "\n\t"
        )


def assert_whole(block: Block) -> None:
    """Fail unless the parts of a block hold all of its letters."""
    match block.content:
        case Items(items=items):
            assert letters(*(item.text for item in items)) == letters(block.text)
            for item in items:
                if item.blocks:
                    inside = letters(MARKER.sub("", item.text, count=1))
                    assert letters(*(below.text for below in item.blocks)) == inside
                for below in item.blocks:
                    assert_whole(below)
        case Quote(blocks=quoted):
            assert letters(*(below.text for below in quoted)) == letters(block.text)
            for below in quoted:
                assert_whole(below)
        case Table(header=header, rows=rows):
            shown = [row.text for row in header + rows]
            assert letters(*shown) == letters(block.text)
            for row in header + rows:
                assert letters(*(cell.text for cell in row.cells)) == letters(row.text)
        case _:
            pass


def strings(value: object) -> Iterator[str]:
    """Yield every text in a tree of values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from strings(key)
            yield from strings(below)
    elif isinstance(value, tuple | list):
        for below in value:
            yield from strings(below)
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))
