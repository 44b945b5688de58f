"""Foreign formats are written as Markdown in one hand."""

from __future__ import annotations

import pytest

from situate.model import Block, Cell, Items, Table
from situate.readers.compose import Entry, bullets, code, heading_text, table


def rows(*lines: str) -> list[list[Cell]]:
    """Write rows of cells between pipes; `text^2` spans rows, `text>2` columns."""
    found = []
    for line in lines:
        cells = []
        for said in line.split("|"):
            text, _, down = said.partition("^")
            text, _, across = text.partition(">")
            cells.append(
                Cell(
                    text=text.strip(),
                    colspan=int(across or 1),
                    rowspan=int(down or 1),
                )
            )
        found.append(cells)
    return found


def shown(*lines: str, header_rows: int = 1, caption: str | None = None) -> str:
    """Write a table and give its text."""
    return table("a#1", rows(*lines), header_rows=header_rows, caption=caption).text


def test_a_label_that_spans_rows_is_written_in_every_row() -> None:
    """C4: a row makes sense without the one above it."""
    assert shown("Post | Name", "One^2 | Ada", "Bob") == (
        "| Post | Name |\n| --- | --- |\n| One | Ada |\n| One | Bob |"
    )


def test_a_cell_that_spans_columns_is_written_once() -> None:
    """C4: repeated, it would count as two values."""
    assert shown("a | b | c", "x>2 | y") == (
        "| a | b | c |\n| --- | --- | --- |\n| x |  | y |"
    )


def test_header_rows_are_joined_column_by_column() -> None:
    """C4: `Winter / Diesel`; a name that spans both rows is said once."""
    block = table(
        "a#1",
        rows("Car^2 | Winter>2 | Summer", "Diesel | Petrol | All", "A | 1 | 2 | 3"),
        header_rows=2,
    )

    assert isinstance(block.content, Table)
    assert block.text.split("\n")[0] == (
        "| Car | Winter / Diesel | Winter / Petrol | Summer / All |"
    )
    assert block.content.labels == (
        ("Car", "Winter", "Winter", "Summer"),
        ("Car", "Diesel", "Petrol", "All"),
    )


def test_a_title_across_the_header_is_a_caption() -> None:
    """It names the table, not its first column."""
    text = shown("Plan of hall two>2", "Post | Name", "1 | Ada", header_rows=2)

    assert text == "Plan of hall two\n\n| Post | Name |\n| --- | --- |\n| 1 | Ada |"


def test_a_table_without_a_header_still_parses_as_one() -> None:
    """Markdown wants a header, so it is an empty one."""
    assert shown("1 | 2", header_rows=0) == "|  |  |\n| --- | --- |\n| 1 | 2 |"


def test_pipes_and_line_breaks_break_no_row() -> None:
    """A cell stays a cell."""
    cells = [[Cell(text="a|b\nc")], [Cell(text=r"d\|e")]]

    assert table("a#1", cells, header_rows=1).text == (
        "| a\\|b c |\n| --- |\n| d\\|e |"
    )


@pytest.mark.parametrize("span", [10_000, 100_000])
def test_spans_beyond_reason_make_no_giant(span: int) -> None:
    """A few bytes of markup must not become megabytes of labels."""
    wide = [Cell(text="x" * 150, colspan=span, rowspan=span) for _ in range(50)]

    block = table("a#1", [wide, *[[Cell(text="y")]] * 2_000], header_rows=0)

    assert len(block.text) < 2_000_000


def test_items_are_indented_below_their_marker() -> None:
    """What belongs to an item is part of it for every reader of Markdown."""
    inner = bullets(
        "a#1",
        [Entry(marker="-", blocks=(Block(block_id="", kind="paragraph", text="x"),))],
    )
    outer = bullets(
        "a#1",
        [
            Entry(
                marker="10.",
                blocks=(Block(block_id="", kind="paragraph", text="one\ntwo"), inner),
            )
        ],
    )

    assert outer.text == "10. one\n    two\n    - x"
    assert isinstance(outer.content, Items)
    assert outer.content.items[0].blocks[1].text == "- x"


def test_a_fence_is_longer_than_any_inside() -> None:
    """Code that shows a fence stays one block."""
    assert code("a#1", "````\nx", language="md").text == "`````md\n````\nx\n`````"


@pytest.mark.parametrize(
    ("level", "marks"), [(0, "#"), (1, "#"), (6, "######"), (9, "######")]
)
def test_headings_have_one_to_six_marks(level: int, marks: str) -> None:
    """Markdown has no more."""
    assert heading_text(level, "Fees") == f"{marks} Fees"
