"""Documents read from fixture files, written so that a person can review them.

A case is a name, a line with a dot, the document, a dot, the tree it gives and a
dot. `SITUATE_REGENERATE=1` rewrites the trees; review that diff like code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.model import Code, Items, Quote, Table, walk
from situate.readers import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.model import Block, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One document with the tree it must give."""

    name: str
    source: str
    expected: str

    def tree(self) -> str:
        """Read the case's document and write its tree."""
        return show(read(self.source.encode(), "doc.md").document)


def load(path: Path) -> Iterator[Case]:
    """Read the cases of a fixture file."""
    name, *rest = path.read_text(encoding="utf-8").split("\n.\n")
    while len(rest) >= 2:
        yield Case(name=name.strip(), source=rest[0], expected=rest[1])
        name, rest = rest[2] if len(rest) > 2 else "", rest[3:]


def save(path: Path, cases: list[Case]) -> None:
    """Write the cases with what they give today as expected."""
    parts = (f"{case.name}\n.\n{case.source}\n.\n{case.tree()}\n.\n" for case in cases)
    path.write_text("\n".join(parts), encoding="utf-8")


def show(document: Document) -> str:
    """Write sections, blocks and their parts, one a line, indented by depth."""
    lines = []
    for section, _ in walk(document.root):
        if section.level:
            lines.append(f"{section.section_id} {' > '.join(section.path)}".rstrip())
        for block in section.blocks:
            lines += _block(block, 1)
    return "\n".join(lines)


def blocks(document: Document) -> list[Block]:
    """Give the blocks of a document in reading order."""
    return [block for section, _ in walk(document.root) for block in section.blocks]


def _block(block: Block, depth: int) -> Iterator[str]:
    margin = "  " * depth
    yield f"{margin}{block.kind} {block.text!r}"
    match block.content:
        case Items() as items:
            yield from _items(items, depth + 1)
        case Quote(blocks=quoted):
            for below in quoted:
                yield from _block(below, depth + 1)
        case Table() as table:
            for line in _table(table):
                yield f"{margin}  {line}"
        case Code(lines=lines, opening=opening, closing=closing):
            yield f"{margin}  from {opening!r} to {closing!r}: {list(lines)}"
        case None:
            pass


def _items(items: Items, depth: int) -> Iterator[str]:
    for item in items.items:
        yield f"{'  ' * depth}{'loose ' if items.loose else ''}item {item.text!r}"
        for below in item.blocks:
            yield from _block(below, depth + 1)


def _table(table: Table) -> Iterator[str]:
    for row in table.header:
        yield f"header {[cell.text for cell in row.cells]}"
    yield f"delimiter {table.delimiter!r}"
    for row in table.rows:
        yield f"row {[cell.text for cell in row.cells]}"
