"""Read tables: merged cells, header rows, and what is only laid out as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from situate.readers.decoding import clean
from situate.readers.docx.names import attribute, child, flag, name, number, value
from situate.readers.docx.story import Paragraph, Table, TableCell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.etree import _Element

    from situate.readers.docx.story import Story
    from situate.readers.docx.styles import Styles

_MOST_COLUMNS: Final = 100
"""Widest span of a cell; Word stops at 63 columns."""

_MOST_PLACES: Final = 200_000
"""Rows times columns above which spans are dropped where they made most of them."""

_MOST_HEADER_ROWS: Final = 10
"""More rows marked as header mean a table that is marked as a whole."""

_MOST_PARAGRAPHS: Final = 5
"""Paragraphs in a cell of data, on average; pages laid out in tables have more."""

_LONGEST_NAMES: Final = 1_000
"""Elements of a row of names; one of more holds text or tables."""

_NAME_AND_VALUE: Final = 2
"""Columns of a table that may say one thing a row."""

_MOST_VALUES: Final = 12
"""Rows of such a table; a longer one is cut, and its pieces want a header."""

_FIRST_ROW: Final = 0x0020
_FIRST_COLUMN: Final = 0x0080


@dataclass(slots=True)
class _Cell:
    """A cell that may grow by what is merged into it."""

    column: int
    colspan: int
    rowspan: int = 1
    story: list[Paragraph | Table] = field(default_factory=list)

    def close(self) -> TableCell:
        return TableCell(
            story=tuple(self.story), colspan=self.colspan, rowspan=self.rowspan
        )


@dataclass(slots=True)
class _Row:
    is_header: bool
    width: int
    """Columns so far."""
    is_bold: bool = False
    cells: list[_Cell] = field(default_factory=list)


class Grid:
    """Collects one table's rows and cells while they are read."""

    def __init__(self, element: _Element, styles: Styles) -> None:
        self._properties = child(element, "w:tblPr")
        self._styles = styles
        self._rows: list[_Row] = []
        self._above: dict[int, _Cell] = {}
        self._merging: dict[int, _Cell] = {}
        self._filled = _Cell(0, 1)

    def row(self, element: _Element) -> None:
        """Begin a row."""
        properties = child(element, "w:trPr")
        self._above, self._merging = self._merging, {}
        before = min(number(value(properties, "w:gridBefore")) or 0, _MOST_COLUMNS)
        row = _Row(flag(properties, "w:tblHeader"), max(before, 0))
        # More rows than these are never asked.
        row.is_bold = len(self._rows) < _MOST_HEADER_ROWS and _is_bold(element)
        if before > 0:
            row.cells.append(_Cell(0, before))
        self._rows.append(row)

    def cell(self, element: _Element) -> None:
        """Begin a cell, or go on with the one it is merged into."""
        properties = child(element, "w:tcPr")
        span = min(max(number(value(properties, "w:gridSpan")) or 1, 1), _MOST_COLUMNS)
        row = self._rows[-1]
        column = row.width
        row.width += span
        if _merges(properties, "w:hMerge") == "continue" and row.cells:
            self._filled = row.cells[-1]
            self._filled.colspan = min(self._filled.colspan + span, _MOST_COLUMNS)
            return
        merges = _merges(properties, "w:vMerge")
        above = self._above.get(column) if merges == "continue" else None
        if above is not None:
            above.rowspan += 1
            self._filled = self._merging[column] = above
            return
        self._filled = _Cell(column, span)
        row.cells.append(self._filled)
        if merges is not None:
            self._merging[column] = self._filled

    def fill(self, story: Story) -> None:
        """End a cell."""
        self._filled.story += story

    def close(self, *, boxed: bool) -> Sequence[Paragraph | Table]:
        """Give the table; where it only lays out a page, what stands in it."""
        rows = [row for row in self._rows if row.cells]
        cells = [cell for row in rows for cell in row.cells if cell.story]
        if not cells:
            return ()
        if _is_layout(rows, cells):
            return [thing for cell in cells for thing in cell.story]
        _drop_wide_spans(rows)
        header_rows = self._header_rows(rows)
        _end_at(rows, header_rows)
        caption = " ".join(clean(value(self._properties, "w:tblCaption") or "").split())
        table = Table(
            rows=tuple(tuple(cell.close() for cell in row.cells) for row in rows),
            header_rows=header_rows,
            caption=caption or None,
            boxed=boxed,
        )
        return (table,)

    def _header_rows(self, rows: list[_Row]) -> int:
        """Count the header rows: those marked, else by convention the first.

        Rows of one cell above them are titles of the table and count with them. A
        short table of two columns is as often names with their values, so there the
        first row has to look like a header.
        """
        if len(rows) < 2:
            return 0
        width = max(row.width for row in rows)
        titles = 0
        while titles < len(rows) - 2 and _is_title(rows[titles], width):
            titles += 1
        marked = titles if rows[titles].is_header else 0
        while marked < len(rows) and rows[marked].is_header:
            marked += 1
        if 0 < marked < len(rows) and marked <= _MOST_HEADER_ROWS:
            return marked
        if self._names_rows_only():
            return titles
        if (
            width == _NAME_AND_VALUE
            and len(rows) <= _MOST_VALUES
            and not self._stands_out(rows[titles])
        ):
            return titles
        first = rows[titles].cells
        depth = max(cell.rowspan for cell in first)
        if depth > 1 and any(cell.colspan > 1 for cell in first):
            # Groups of columns above their names, beside labels that span both.
            return titles + depth if titles + depth < len(rows) else titles + 1
        return titles + 1

    def _stands_out(self, row: _Row) -> bool:
        """Tell whether the author had a first row look like a header."""
        style = value(self._properties, "w:tblStyle")
        first_row, _ = self._look()
        if row.is_header or row.is_bold:
            return True
        return first_row and self._styles.first_row_differs(style)

    def _names_rows_only(self) -> bool:
        """Tell whether the author has the first column stand out, not the first row."""
        return self._look() == (False, True)

    def _look(self) -> tuple[bool, bool]:
        """Tell whether the first row and the first column are to stand out."""
        look = child(self._properties, "w:tblLook")
        try:
            bits = int(attribute(look, "w:val") or "0", 16)
        except ValueError:
            bits = 0
        row = attribute(look, "w:firstRow") or str(int(bool(bits & _FIRST_ROW)))
        column = attribute(look, "w:firstColumn")
        column = column or str(int(bool(bits & _FIRST_COLUMN)))
        return row in {"1", "true", "on"}, column in {"1", "true", "on"}


def _is_bold(row: _Element) -> bool:
    """Tell whether all that a row says is bold."""
    elements = list(islice(row.iter(), _LONGEST_NAMES + 1))
    if len(elements) > _LONGEST_NAMES:
        return False
    runs = [
        run
        for run in elements
        if isinstance(run.tag, str)
        and name(run) == "w:r"
        and child(run, "w:t") is not None
    ]
    return bool(runs) and all(flag(run, "w:rPr", "w:b") for run in runs)


def _merges(properties: _Element | None, called: str) -> str | None:
    """Give `restart` or `continue`; None for a cell that is not merged."""
    found = child(properties, called)
    return None if found is None else attribute(found, "w:val") or "continue"


def _is_title(row: _Row, width: int) -> bool:
    return len(row.cells) == 1 and row.cells[0].colspan >= width > 1


def _is_layout(rows: list[_Row], cells: list[_Cell]) -> bool:
    """Tell a page laid out in cells from a table of data."""
    if len(cells) == 1:
        return True
    if any(row.is_header for row in rows):
        return False
    if len(rows) == 1 and any(len(cell.story) > 1 for cell in cells):
        return True
    if any(_has_section(cell.story) for cell in cells):
        return True
    return sum(len(cell.story) for cell in cells) > _MOST_PARAGRAPHS * len(cells)


def _has_section(story: list[Paragraph | Table]) -> bool:
    """Tell whether a cell holds a heading with something below it."""
    return any(
        isinstance(thing, Paragraph) and thing.level is not None for thing in story[:-1]
    )


def _drop_wide_spans(rows: list[_Row]) -> None:
    """Let cells span no columns where spans would blow a table up."""
    places = len(rows) * max(row.width for row in rows)
    if places > _MOST_PLACES and places > 4 * sum(len(row.cells) for row in rows):
        for row in rows:
            for cell in row.cells:
                cell.colspan = 1


def _end_at(rows: list[_Row], header_rows: int) -> None:
    """End the cells of the header with it; a label that goes on begins again."""
    for place, row in enumerate(rows[:header_rows]):
        for cell in row.cells:
            left = cell.rowspan - (header_rows - place)
            if left > 0:
                cell.rowspan -= left
                below = rows[header_rows]
                again = _Cell(cell.column, cell.colspan, left, cell.story)
                below.cells.append(again)
                below.cells.sort(key=lambda found: found.column)
