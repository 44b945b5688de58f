"""Write blocks for formats that are not Markdown.

Readers say what they found; how that looks as Markdown is decided here, once.
Text is written as it stands: nothing in it is escaped but the pipes of cells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.model import Block, Cell, Code, Item, Items, Quote, Row, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.model import Box

_TICKS = re.compile("`{3,}")
_PIPE = re.compile(r"(?<!\\)\|")
_SPACES = re.compile(r"\s+")

# A label that spans rows is short; text that does is written once. The whole of
# a table grows by repeats to no more than a few times its own size.
_LONGEST_LABEL = 200
_REPEATS = 4
_FREE_REPEATS = 10_000

_CELL = 3
"""Characters of an empty cell: its blanks and its border."""

_MOST_COLUMNS = 100
"""Widest span of one cell; wider ones are how sheets are bombed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An item of a list before it is written: its marker and its blocks."""

    marker: str
    """`-`, `1.`, `(a)`: what stands before the text, without a space."""
    blocks: tuple[Block, ...]


def heading_text(level: int, title: str) -> str:
    """Write a heading; below the sixth level Markdown has no more."""
    return f"{'#' * max(1, min(level, 6))} {title}"


def bullets(
    block_id: str,
    entries: Sequence[Entry],
    *,
    boxes: tuple[Box, ...] = (),
) -> Block:
    """Write a list; what stands below an item's first line is indented to it."""
    items = tuple(_item(entry) for entry in entries)
    return Block(
        block_id=block_id,
        kind="list",
        text="\n".join(item.text for item in items),
        content=Items(items=items),
        boxes=boxes,
    )


def quote(block_id: str, blocks: Sequence[Block]) -> Block:
    """Write a quotation; its text carries no quote marks."""
    return Block(
        block_id=block_id,
        kind="quote",
        text="\n\n".join(block.text for block in blocks),
        content=Quote(blocks=tuple(blocks)),
        boxes=tuple(box for block in blocks for box in block.boxes),
    )


def code(
    block_id: str,
    text: str,
    *,
    language: str = "",
    boxes: tuple[Box, ...] = (),
) -> Block:
    """Write code between fences that are longer than any inside it."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    opening = fence + language
    lines = tuple(text.split("\n"))
    return Block(
        block_id=block_id,
        kind="code",
        text="\n".join((opening, *lines, fence)),
        content=Code(lines=lines, opening=opening, closing=fence),
        boxes=boxes,
    )


def table(
    block_id: str,
    rows: Sequence[Sequence[Cell]],
    *,
    header_rows: int,
    caption: str | None = None,
    boxes: tuple[Box, ...] = (),
) -> Block:
    """Write a table whose cells may span rows and columns (C4).

    `rows` hold each cell once, where it begins, as the formats do. A label that
    spans rows is written in every row, a cell that spans columns once; header
    rows are joined column by column. The caption stands above the header.
    """
    rows, header_rows, caption = _titled(rows, header_rows, caption)
    own = sum(len(cell.text) for row in rows for cell in row)
    budget = _REPEATS * own + _FREE_REPEATS
    head = _grid(rows[:header_rows], budget=budget, spread=True)
    body = _grid(rows[header_rows:], budget=budget, spread=False)
    width = max((len(row) for row in (*head, *body)), default=0)
    names = tuple(Cell(text=name) for name in _joined(head, width))
    header = Row(text=_line(names), cells=names)
    delimiter = "|" + " --- |" * width
    shown = tuple(Row(text=_line(cells), cells=cells) for cells in body)
    caption = _SPACES.sub(" ", caption).strip() if caption else None
    lines = [header.text, delimiter, *(row.text for row in shown)]
    return Block(
        block_id=block_id,
        kind="table",
        text="\n".join([caption, "", *lines] if caption else lines),
        content=Table(
            header=(header,),
            rows=shown,
            delimiter=delimiter,
            caption=caption,
            labels=tuple(
                tuple(cell.text for cell in row) for row in head if len(head) > 1
            ),
        ),
        boxes=boxes,
    )


def _titled(
    rows: Sequence[Sequence[Cell]], header_rows: int, caption: str | None
) -> tuple[Sequence[Sequence[Cell]], int, str | None]:
    """Take a title that spans the whole width above the header for a caption.

    Joined into the header it would be the name of the first column.
    """
    while header_rows > 1 and len(rows[0]) == 1:
        width = max(sum(_span(cell) for cell in row) for row in rows)
        title = rows[0][0]
        if width == 1 or _span(title) < width:
            break
        caption = " ".join(each for each in (caption, title.text) if each)
        rows, header_rows = rows[1:], header_rows - 1
    return rows, header_rows, caption


def _item(entry: Entry) -> Item:
    marker = entry.marker + " "
    indent = " " * len(marker)
    text = ""
    for block in entry.blocks:
        if text:
            text += "\n" if block.kind == "list" else "\n\n"
        text += block.text
    first, *others = text.split("\n")
    shown = [marker + first if first else entry.marker]
    shown += [indent + line if line else "" for line in others]
    plain = len(entry.blocks) == 1 and entry.blocks[0].kind == "paragraph"
    return Item(text="\n".join(shown), blocks=() if plain else entry.blocks)


def _grid(
    rows: Sequence[Sequence[Cell]], *, budget: int, spread: bool
) -> list[tuple[Cell, ...]]:
    """Give every row its cells column by column.

    With `spread` a cell that spans columns stands in each of them, unless it
    spans the whole width; so header rows can be joined.
    """
    width = max((sum(_span(cell) for cell in row) for row in rows), default=0)
    above: dict[int, tuple[Cell, int]] = {}
    grid: list[tuple[Cell, ...]] = []
    for row in rows:
        cells: list[Cell] = []
        waiting = list(row)[::-1]
        while waiting or len(cells) in above:
            held = above.pop(len(cells), None)
            if held is not None:
                cell, left = held
                budget -= len(cell.text) + _CELL
                if left > 1 and budget > 0:
                    above[len(cells)] = (cell, left - 1)
                short = len(cell.text) <= _LONGEST_LABEL and budget > 0
                cells.append(cell if short or not cell.text else Cell(text=""))
                continue
            cell = _tidy(waiting.pop())
            span = _span(cell)
            at = len(cells)
            cells.append(cell)
            blank = cell if spread and span < width else Cell(text="")
            # A label that reaches down from above ends the span.
            while len(cells) < at + span and len(cells) not in above and budget > 0:
                cells.append(blank)
                budget -= len(blank.text) + _CELL
            if cell.rowspan > 1:
                for column in range(at, len(cells)):
                    above[column] = (cells[column], cell.rowspan - 1)
        if row:
            grid.append(tuple(cells))
    return grid


def _span(cell: Cell) -> int:
    return min(max(1, cell.colspan), _MOST_COLUMNS)


def _tidy(cell: Cell) -> Cell:
    text = _PIPE.sub(r"\\|", _SPACES.sub(" ", cell.text).strip())
    return Cell(text=text, colspan=_span(cell), rowspan=cell.rowspan)


def _joined(head: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """Join header rows column by column; one that spans rows is said once."""
    names: list[list[Cell]] = [[] for _ in range(width)]
    for row in head:
        for column, cell in enumerate(row):
            if cell.text and not any(cell is above for above in names[column]):
                names[column].append(cell)
    return [" / ".join(cell.text for cell in cells) for cells in names]


def _line(cells: Sequence[Cell]) -> str:
    return "|" + "".join(f" {cell.text} |" for cell in cells)
