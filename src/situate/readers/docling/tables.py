"""Lay out the cells of a table, each once, row by row.

Cells come with their offsets into the grid. Rows and columns in which no cell
begins say nothing and are not kept, so a sheet that claims a million rows costs
what its cells cost.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from situate.model import Cell
from situate.readers.docling.values import mapping, sequence, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from situate.model import JsonValue

# A cap for grids that are nearly empty (ecosystem note, 1); fuller ones may be as
# large as they are.
_MOST_HOLES = 200_000
_HOLES_PER_CELL = 20

# compose.table widens no cell beyond this.
_WIDEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The rows of a table, ready to be written."""

    rows: tuple[tuple[Cell, ...], ...]
    header_rows: int
    overlapping: int
    """Cells that lay on others."""
    sparse: bool
    """Whether columns could not be kept apart."""

    @property
    def is_blank(self) -> bool:
        """Whether no cell says anything."""
        return not any(cell.text for row in self.rows for cell in row)


class _Placed(NamedTuple):
    """A cell with its place among the rows and columns that are kept."""

    text: str
    row: int
    column: int
    rowspan: int
    colspan: int
    is_header: bool
    is_column_header: bool


def lay_out(
    data: Mapping[str, JsonValue], say: Callable[[Mapping[str, JsonValue]], str]
) -> Grid:
    """Give the grid of a table; `say` gives the text of a cell."""
    placed = _compressed([_place(*found, say) for found in cells(data)])
    by_row: dict[int, list[_Placed]] = {}
    for cell in placed:
        by_row.setdefault(cell.row, []).append(cell)
    rows = [sorted(by_row[row], key=_column) for row in sorted(by_row)]
    width = max((cell.column + 1 for cell in placed), default=0)
    holes = len(rows) * width - len(placed)
    sparse = holes > max(_MOST_HOLES, _HOLES_PER_CELL * len(placed))
    header_rows = _header_rows(rows)
    if sparse:
        packed = [tuple(Cell(text=cell.text) for cell in row) for row in rows]
        return Grid(
            rows=tuple(packed), header_rows=header_rows, overlapping=0, sparse=True
        )
    layout = _Layout(width)
    filled = [layout.row(row) for row in rows[:header_rows]]
    layout.covered.clear()
    filled += [layout.row(row) for row in rows[header_rows:]]
    return Grid(
        rows=tuple(filled),
        header_rows=header_rows,
        overlapping=layout.overlapping,
        sparse=False,
    )


def cells(
    data: Mapping[str, JsonValue],
) -> Iterator[tuple[Mapping[str, JsonValue], int, int]]:
    """Yield each cell of a table with the row and column it stands at.

    `grid` repeats a cell wherever it reaches; it is read where the list of cells
    is missing.
    """
    listed = sequence(data.get("table_cells"))
    if listed:
        for number, each in enumerate(listed):
            yield mapping(each), number, 0
        return
    seen: set[tuple[int, int]] = set()
    for row, line in enumerate(sequence(data.get("grid"))):
        for column, each in enumerate(sequence(line)):
            cell = mapping(each)
            start = _start(cell, row, column)
            if start not in seen:
                seen.add(start)
                yield cell, row, column


def _start(cell: Mapping[str, JsonValue], row: int, column: int) -> tuple[int, int]:
    first = whole(cell.get("start_row_offset_idx"))
    begin = whole(cell.get("start_col_offset_idx"))
    return (row if first is None else first, column if begin is None else begin)


def _place(
    cell: Mapping[str, JsonValue],
    row: int,
    column: int,
    say: Callable[[Mapping[str, JsonValue]], str],
) -> _Placed:
    row, column = _start(cell, row, column)
    end = whole(cell.get("end_row_offset_idx"))
    stop = whole(cell.get("end_col_offset_idx"))
    rowspan = whole(cell.get("row_span")) if end is None else end - row
    colspan = whole(cell.get("col_span")) if stop is None else stop - column
    is_column_header = cell.get("column_header") is True
    return _Placed(
        say(cell),
        row,
        column,
        max(1, rowspan or 1),
        max(1, colspan or 1),
        is_column_header or cell.get("row_header") is True,
        is_column_header,
    )


def _compressed(placed: Sequence[_Placed]) -> list[_Placed]:
    """Number rows and columns anew, those alone in which a cell begins."""
    rows = _Ranks(cell.row for cell in placed)
    columns = _Ranks(cell.column for cell in placed)
    return [
        cell._replace(
            row=rows.rank(cell.row),
            column=columns.rank(cell.column),
            rowspan=rows.rank(cell.row + cell.rowspan) - rows.rank(cell.row),
            colspan=columns.rank(cell.column + cell.colspan)
            - columns.rank(cell.column),
        )
        for cell in placed
    ]


class _Ranks:
    """The place of each offset among those in use."""

    def __init__(self, offsets: Iterator[int]) -> None:
        self._used = sorted(set(offsets))

    def rank(self, offset: int) -> int:
        return bisect_left(self._used, offset)


def _header_rows(rows: Sequence[Sequence[_Placed]]) -> int:
    """Count the leading rows that name columns; the last row is always a body."""
    count = 0
    for row in rows[:-1]:
        said = [cell for cell in row if cell.text] or row
        if not any(cell.is_column_header for cell in said):
            break
        if not all(cell.is_header for cell in said):
            break
        count += 1
    return count


def _column(cell: _Placed) -> int:
    return cell.column


class _Layout:
    """Fills rows one below the other, so that every cell stands in its column."""

    def __init__(self, width: int) -> None:
        self._width = width
        self.covered: dict[int, int] = {}
        """Columns that a cell from above reaches into, and for how many rows."""
        self.overlapping = 0

    def row(self, placed: Sequence[_Placed]) -> tuple[Cell, ...]:
        """Give one row: its cells, and blanks where nothing stands."""
        taken = set(self.covered)
        row: list[Cell] = []
        reached = 0
        below: dict[int, int] = {}
        for cell in placed:
            if cell.column < reached or cell.column in taken:
                self.overlapping += bool(cell.text)
                self._join(row, cell.text)
                continue
            row += self._blanks(reached, cell.column, taken)
            end = cell.column + 1
            while (
                end < min(cell.column + cell.colspan, self._width) and end not in taken
            ):
                end += 1
            span = end - cell.column
            row.append(
                Cell(text=cell.text, colspan=min(span, _WIDEST), rowspan=cell.rowspan)
            )
            row += [Cell(text="", rowspan=cell.rowspan)] * (span - _WIDEST)
            if cell.rowspan > 1:
                below.update(dict.fromkeys(range(cell.column, end), cell.rowspan - 1))
            reached = end
        row += self._blanks(reached, self._width, taken)
        self.covered = {
            column: left - 1 for column, left in self.covered.items() if left > 1
        }
        self.covered |= below
        return tuple(row)

    def _blanks(self, start: int, end: int, taken: set[int]) -> list[Cell]:
        return [Cell(text="") for column in range(start, end) if column not in taken]

    def _join(self, row: list[Cell], text: str) -> None:
        if not text:
            return
        if row:
            last = row[-1]
            row[-1] = Cell(
                text=f"{last.text} {text}".strip(),
                colspan=last.colspan,
                rowspan=last.rowspan,
            )
        else:
            row.append(Cell(text=text))
