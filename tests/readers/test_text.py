"""Plain text: paragraphs between blank lines, nothing guessed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from situate.readers import read
from tests.readers.trees import blocks


def test_paragraphs_keep_their_lines() -> None:
    """Blank lines part paragraphs; indentation inside them survives."""
    text = (
        "TITLE IN CAPITALS\n=====\n\n"
        "  1. indented\n     second line\n \t \n# no heading"
    )

    document = read(text.encode(), "notes.txt").document

    assert [(block.kind, block.text) for block in blocks(document)] == [
        ("paragraph", "TITLE IN CAPITALS\n====="),
        ("paragraph", "  1. indented\n     second line"),
        ("paragraph", "# no heading"),
    ]
    assert [section.section_id for section in document.root.children] == ["_top"]


def test_a_form_feed_ends_a_paragraph() -> None:
    """A page of a text file ends there."""
    document = read(b"one\ntwo\x0cthree\n\x0cfour", "notes.txt").document

    assert [block.text for block in blocks(document)] == ["one\ntwo", "three", "four"]


def test_front_matter_is_plain_text_here() -> None:
    """Only Markdown speaks about itself."""
    document = read(b"---\ntitle: x\n---\n", "notes.txt").document

    assert document.metadata.title is None
    assert [block.text for block in blocks(document)] == ["---\ntitle: x\n---"]


@settings(max_examples=100)
@given(st.text("ab \t\n\f", max_size=40))
def test_nothing_but_white_space_stands_between_paragraphs(text: str) -> None:
    """Spans slice the source to the text, in order, with nothing left over."""
    document = read(text.encode(), "notes.txt").document

    position = 0
    for block in blocks(document):
        assert block.span is not None
        start, end = block.span
        assert not text[position:start].strip()
        assert text[start:end] == block.text
        position = end
    assert not text[position:].strip()


def test_one_line_of_a_megabyte_is_one_paragraph() -> None:
    """Size is the chunker's concern."""
    text = "The pump of plant 7 ran for a day. " * 30_000

    (block,) = blocks(read(text.encode(), "notes.txt").document)

    assert block.text == text.rstrip()
