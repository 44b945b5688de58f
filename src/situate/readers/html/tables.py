"""Collect the rows of a table of data and find its header."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from situate.model import Block, Cell
from situate.readers import compose
from situate.readers.html.lists import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.readers.html.elements import Attributes

Group: TypeAlias = Literal["head", "body", "foot"]

_GROUPS: dict[str, Group] = {"thead": "head", "tbody": "body", "tfoot": "foot"}

# As far as the HTML standard lets a cell reach over columns.
_WIDEST = 1_000

# Spans may fill this many places of the grid beyond a few for each cell; only
# tables made to blow up do more.
_FREE_PLACES = 100_000
_PLACES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """A cell as it was read."""

    text: str
    colspan: int
    rowspan: int
    """0 for all rows of its group that follow."""
    is_header: bool
    is_bold: bool


@dataclass(slots=True)
class _Rows:
    """The rows of one group, which no span leaves."""

    group: Group
    rows: list[list[TableCell]] = field(default_factory=list)


class TableRows:
    """Takes the cells of one table in the order of its source."""

    def __init__(self) -> None:
        self._groups: list[_Rows] = []
        self.caption = ""
        self.spans_ignored = False

    def open_group(self, tag: str) -> None:
        """Begin a head, body or foot; only the first head stands on top."""
        group = _GROUPS[tag]
        if group == "head" and any(rows.group == "head" for rows in self._groups):
            group = "body"
        self._groups.append(_Rows(group))

    def open_row(self) -> None:
        """Begin a row."""
        if not self._groups:
            self._groups.append(_Rows("body"))
        self._groups[-1].rows.append([])

    def add(
        self, text: str, attributes: Attributes, *, is_header: bool, is_bold: bool
    ) -> None:
        """Add a cell to the row that is open."""
        rowspan = number(attributes, "rowspan")
        cell = TableCell(
            text=text,
            colspan=max(1, number(attributes, "colspan") or 1),
            rowspan=1 if rowspan is None else max(0, rowspan),
            is_header=is_header,
            is_bold=is_bold,
        )
        self._groups[-1].rows[-1].append(cell)

    def block(self, block_id: str) -> Block | None:
        """Write the table; None when no cell says anything."""
        order: tuple[Group, ...] = ("head", "body", "foot")
        groups = [
            rows for group in order for rows in self._groups if rows.group == group
        ]
        rows = [row for group in groups for row in group.rows]
        if not any(cell.text for row in rows for cell in row):
            return None
        head = sum(len(group.rows) for group in groups if group.group == "head")
        caption, first, header_rows = _header(rows, head)
        cells = [row for group in groups for row in _cells(group.rows)]
        places = sum(cell.colspan * cell.rowspan for row in cells for cell in row)
        if places > _PLACES * sum(map(len, cells)) + _FREE_PLACES:
            self.spans_ignored = True
            cells = [[Cell(text=cell.text) for cell in row] for row in cells]
        captions = [said for said in (self.caption, caption) if said]
        return compose.table(
            block_id,
            cells[first:],
            header_rows=header_rows,
            caption=" ".join(captions) or None,
        )


def _cells(rows: Sequence[Sequence[TableCell]]) -> list[list[Cell]]:
    """Give the rows of a group, spans cut off at its end."""
    written = []
    for index, row in enumerate(rows):
        left = len(rows) - index
        written.append(
            [
                Cell(
                    text=cell.text,
                    colspan=min(cell.colspan, _WIDEST),
                    rowspan=min(cell.rowspan, left) or left,
                )
                for cell in row
            ]
        )
    return written


def _header(rows: Sequence[Sequence[TableCell]], head: int) -> tuple[str, int, int]:
    """Give a title found above the header, where the rest begins, header rows.

    The header is the head; else the first rows of header cells alone; else a
    first row all in bold above one that is not. One cell above it that spans
    the whole table is its title.
    """
    header = head or _leading(rows)
    if header == len(rows) and header > 1:
        header = 1
    if header == 0 and len(rows) > 1 and _is_bold(rows[0]) and not _is_bold(rows[1]):
        header = 1
    if header > 1 and len(rows[0]) == 1 and rows[0][0].colspan > 1:
        return rows[0][0].text, 1, header - 1
    return "", 0, header


def _leading(rows: Sequence[Sequence[TableCell]]) -> int:
    """Count the first rows of header cells alone.

    A cell that reaches below them is the label of the rows beside it.
    """
    count = 0
    while count < len(rows) and _names(rows[count]):
        count += 1
    for index in range(count):
        if index and any(cell.rowspan > count - index for cell in rows[index]):
            return index
    return count


def _names(row: Sequence[TableCell]) -> bool:
    return bool(row) and all(cell.is_header for cell in row)


def _is_bold(row: Sequence[TableCell]) -> bool:
    said = [cell for cell in row if cell.text]
    return bool(said) and all(cell.is_bold or cell.is_header for cell in said)
