"""What the Markdown reader hides, refuses, warns of and survives."""

from __future__ import annotations

import pytest

from situate.model import Code, Items, Quote, walk
from situate.readers import Read, read
from tests.readers.trees import blocks


def read_text(text: str) -> Read:
    """Read a document called doc.md."""
    return read(text.encode(), "doc.md")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t\n\u00a0\n",
        "<!-- nothing -->\n",
        "---\ntitle: T\n---\n",
        " " * 20 + "\0\0\n",
        "***",
    ],
    ids=["nothing", "blanks", "comment", "front matter", "control characters", "break"],
)
def test_a_document_without_text_has_no_blocks(text: str) -> None:
    """Empty documents are no error."""
    document = read_text(text).document

    assert blocks(document) == []
    assert document.root.children == ()


def test_spans_count_in_the_decoded_text() -> None:
    """Neither byte-order mark nor carriage returns nor wide letters shift a span."""
    data = "\ufeff# Zähler\r\n\r\n漢字 \0text\r\n- 🦊 a\r\n".encode()
    text = "# Zähler\n\n漢字 \0text\n- 🦊 a\n"

    found = blocks(read(data, "doc.md").document)

    assert [text[slice(*(block.span or ()))] for block in found] == [
        "# Zähler",
        "漢字 \0text",
        "- 🦊 a",
    ]
    assert found[1].text == "漢字 text"


def test_rows_and_items_have_spans_too() -> None:
    """A piece of a table or list can be shown in its source."""
    text = "> - one\n> - two\n\n| a |\n| - |\n| 1 |"

    quote, table = blocks(read_text(text).document)

    assert isinstance(quote.content, Quote)
    (bullets,) = quote.content.blocks
    assert isinstance(bullets.content, Items)
    spans = [item.span for item in bullets.content.items]
    assert [text[slice(*(span or ()))] for span in spans] == ["- one", "- two"]
    assert table.content is not None
    assert text[slice(*(table.content.rows[0].span or ()))] == "| 1 |"  # type: ignore[union-attr] # a table has rows


def test_blocks_inside_a_block_carry_its_id() -> None:
    """They are parts and never listed on their own."""
    (quote,) = blocks(read_text("> - one\n>\n>   more").document)

    assert isinstance(quote.content, Quote)
    assert [block.block_id for block in quote.content.blocks] == ["_top#0"]


def test_letters_beyond_ascii_are_no_markup() -> None:
    """The parser reads a copy in ASCII; the text comes from the source."""
    document = read_text("# Größe *über* `für` ?\n\n見出し\n\n　全角\n").document

    (section,) = document.root.children
    assert section.title == "Größe über für ?"
    assert [block.text for block in section.blocks[1:]] == [
        "見出し",
        "　全角",
    ]


def test_a_comment_that_never_ends_is_kept_with_a_warning() -> None:
    """Losing the rest of a document is worse than showing a comment."""
    result = read_text("Text.\n\n<!-- open\n\n# Rest\n")

    assert [block.text for block in blocks(result.document)] == [
        "Text.",
        "<!-- open\n\n# Rest",
    ]
    assert result.warnings == ("the comment opened in line 3 never ends; it was kept",)


def test_a_comment_left_open_hides_nothing_of_the_next_one() -> None:
    """Only a comment without another inside it may span a blank line in HTML."""
    text = "<div>\n<!-- open\n\nShown.\n\n<!-- closed -->\n"

    shown = [block.text for block in blocks(read_text(text).document)]

    assert "Shown." in shown


def test_a_heading_inside_a_comment_opens_no_section() -> None:
    """A blank line ends the HTML block, but not the comment."""
    text = "Shown.\n\n<div><!--\n\n# Hidden\n\n-->\n\nShown too.\n"

    document = read_text(text).document

    (section,) = document.root.children
    assert [block.text for block in section.blocks] == [
        "Shown.",
        "<div>",
        "Shown too.",
    ]


def test_indented_code_in_an_item_keeps_its_first_indentation() -> None:
    """Indentation survives on every line, relative to the item."""
    (bullets,) = blocks(read_text("1. run\n\n       first\n         second").document)

    assert isinstance(bullets.content, Items)
    code = bullets.content.items[0].blocks[1].content
    assert code == Code(lines=("    first", "      second"))


@pytest.mark.parametrize(
    "text",
    [
        "> " * 300_000 + "deep",
        ">" * 300_000 + " deep",
        "- " * 50_000 + "deep",
        "\n".join("  " * level + "- deep" for level in range(300)),
    ],
    ids=["quotations", "marks without blanks", "items", "indented items"],
)
def test_depth_neither_crashes_nor_loses_text(text: str) -> None:
    """Parts are named eight containers deep; below that the text is kept whole."""
    (block, *_) = blocks(read_text(text).document)

    assert "deep" in block.text
    assert nesting(block.content) <= 9


def nesting(content: object) -> int:
    """Count how deep parts are named."""
    depth = 0
    while isinstance(content, Quote | Items):
        depth += 1
        inside = (
            content.blocks if isinstance(content, Quote) else content.items[0].blocks
        )
        content = inside[-1].content if inside else None
    return depth


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 50_000,
        "<div>\n<!-- a\n\n" * 10_000 + "-->",
        "word <!-- x --> " * 10_000,
        "data:" * 50_000,
        '="data:a/b ' * 20_000,
        "a\n" + "-" * 100_000 + "|x",
        "$$\na\n\n" * 10_000,
        "# a {" + "a=b " * 20_000 + "}",
        "+++\n" + "a." * 30_000 + "b=1\n+++\n",
        "---\na: " + "[" * 30_000 + "\n---\n",
    ],
    ids=[
        "comments",
        "cut comments",
        "inline comments",
        "data",
        "quoted data",
        "dashes",
        "formulas",
        "attributes",
        "dotted TOML",
        "nested YAML",
    ],
)
def test_hostile_text_is_read_in_one_pass(text: str) -> None:
    """C11: were any of these quadratic, the suite would not end today."""
    assert read_text(text).document.doc_id == "doc.md"


def test_a_wide_ragged_table_makes_no_cells_up() -> None:
    """18 kB must not become nine million cells."""
    width = 3000
    row, rule = "|".join("x" * width), "|".join("-" * width)

    (table, *_) = blocks(read_text("\n".join([row, rule, *["x"] * width])).document)

    assert table.content is not None
    assert sum(len(line.cells) for line in table.content.rows) <= width  # type: ignore[union-attr] # a table has rows


def test_sections_follow_the_stack_of_headings() -> None:
    """A section's path holds the headings above it, blank ones left out."""
    document = read_text("# A\n\n##\n\n### C\n\ntext").document

    paths = [section.path for section, _ in walk(document.root)]

    assert paths == [(), ("A",), ("A",), ("A", "C")]
