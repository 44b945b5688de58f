"""Look a page over once, before it is read.

What a table, a footer or a menu is depends on what stands inside or around it.
One walk answers for all of them, however they are nested.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.readers.html.elements import BLOCKS, HEADINGS, UNSEEN, names, value

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# A footer or header inside these is that of a part, not of the page; the first
# five are those of HTML-AAM, the others hold quoted or listed content.
_PARTS = names(
    """
    article aside main nav section blockquote dd details dialog fieldset figure li td
    th
    """
)

_DATA_ROLES = frozenset({"table", "grid", "treegrid"})
_ROLES = _DATA_ROLES | {"presentation", "none"}

# What a page squeezes into one cell of a layout is longer than what a table says
# in one: of 3,022 tables of data in 395 real pages one had a cell above this, and it
# had names (2026-11).
_PAGE_CHARACTERS = 2_000
_PAGE_BLOCKS = 12


@dataclass(slots=True)
class Table:
    """What speaks for and against a table being one of data."""

    role: str
    bordered: bool
    above: Table | None
    rows: int = 0
    columns: int = 0
    """Cells of the longest row."""
    cells: int = 0
    inner_cells: int = 0
    """Cells of the tables directly inside."""
    names: bool = False
    """It has header cells, a head, a foot or a caption."""
    headings: int = 0
    most_blocks: int = 0
    most_characters: int = 0
    row_cells: int = 0
    blocks: int = 0
    characters: int = 0

    @property
    def is_data(self) -> bool:
        """Tell data from layout.

        Rules in the spirit of what browsers tell screen readers: names are a
        sign of data, one row or column, a page's worth in a cell, headings and
        tables inside are signs of layout.
        """
        if self.role:
            return self.role in _DATA_ROLES
        full = (
            self.most_characters > _PAGE_CHARACTERS or self.most_blocks > _PAGE_BLOCKS
        )
        if self.columns < 2:
            return self.names and self.rows > 1 and not self.holds_parts and not full
        if self.inner_cells:
            return self.names and self.inner_cells < self.cells
        if self.names:
            return not (full and self.headings)
        return self.rows > 1 and not self.headings and (self.bordered or not full)

    @property
    def holds_parts(self) -> bool:
        """Tell whether its cells hold what has a structure of its own."""
        return bool(self.headings or self.inner_cells) or self.most_blocks > 1


@dataclass(slots=True)
class Survey:
    """What the walk found, by the nodes' ids in memory."""

    tables: dict[int, Table] = field(default_factory=dict)
    parts: set[int] = field(default_factory=set)
    """Footers that belong to a part of the page."""
    around_main: set[int] = field(default_factory=set)
    """What has the main content inside, so it is no menu, however it is called."""


def survey(root: LexborNode) -> Survey:
    """Walk the whole page once."""
    found = Survey()
    # The next sibling, the table around it, and whether a part of the page is.
    stack: list[tuple[LexborNode | None, Table | None, bool]] = []
    stack.append((root.first_child, None, False))
    while stack:
        node, table, inside = stack.pop()
        if node is None:
            continue
        stack.append((node.next, table, inside))
        tag = node.tag
        if node.is_text_node:
            _count_text(table, node)
        elif tag is not None and node.is_element_node and tag not in UNSEEN:
            if tag == "main":
                _mark_around(node, found.around_main)
            elif tag == "footer" and inside:
                found.parts.add(node.mem_id)
            table = _in_table(found, table, node, tag)
            stack.append((node.first_child, table, inside or tag in _PARTS))
    for table in found.tables.values():
        _close_cell(table)
        table.columns = max(table.columns, table.row_cells)
    return found


def _in_table(
    found: Survey, table: Table | None, node: LexborNode, tag: str
) -> Table | None:
    """Give the table that an element's children are in."""
    if tag == "table":
        table = found.tables[node.mem_id] = _opened(node, table)
    elif table is not None:
        _count(table, tag)
    return table


def _opened(node: LexborNode, above: Table | None) -> Table:
    attributes = node.attributes
    role = value(attributes, "role")
    return Table(
        role=role if role in _ROLES else "",
        bordered=value(attributes, "border") not in {"", "0"},
        above=above,
    )


def _count_text(table: Table | None, node: LexborNode) -> None:
    text = node.text_content
    if table is not None and text is not None and not text.isspace():
        table.characters += len(text)


def _count(table: Table, tag: str) -> None:
    """Take down an element of a table, which is not inside one of its tables."""
    if tag in {"td", "th"}:
        _close_cell(table)
        table.cells += 1
        table.row_cells += 1
        table.names = table.names or tag == "th"
        if table.above is not None:
            table.above.inner_cells += 1
    elif tag == "tr":
        table.columns = max(table.columns, table.row_cells)
        table.row_cells = 0
        table.rows += 1
    elif tag in {"thead", "tfoot", "caption"}:
        table.names = True
    elif tag in HEADINGS:
        table.headings += 1
    elif tag in BLOCKS and tag not in {"tbody", "div"}:
        table.blocks += 1


def _close_cell(table: Table) -> None:
    table.most_blocks = max(table.most_blocks, table.blocks)
    table.most_characters = max(table.most_characters, table.characters)
    table.blocks = table.characters = 0


def _mark_around(node: LexborNode, marked: set[int]) -> None:
    above = node.parent
    while above is not None and above.mem_id not in marked:
        marked.add(above.mem_id)
        above = above.parent
