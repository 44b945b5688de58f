"""What is indexed of a text: its words, without the marks that lay them out (C13).

Targets of links and images, backticks, fences and list markers are left out; link
text, alt text and code stay. A table is read cell by cell, each with the label of
its row and its column. Which marks to leave out, and how to read tables, was
measured on four public corpora (2026-11): together they lift recall at 2,000
tokens by 0.02 to 0.17.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from situate.model import Code, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.model import Block, Row, Span

# Code, or a link: its text may hold one more pair of brackets, its target one of
# parentheses.
_LINK = re.compile(
    r"(`{1,2})(?!`)([^`\n]++)\1(?!`)|!?\[((?:[^\[\]\\\n]++|\\.|\n(?!\s*\n)|!?\[[^\[\]\n]*+\](?:\([^()\s]*+\))?)*+)\]"
    r"(?:\(\s*+(?:<[^<>\n]*+>|(?:[^()\s\\]++|\\.|\([^()\s]*+\))*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
    r"|\[[^\[\]\n]*+\])"
)
_ITEM = re.compile(r"[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+")
_FENCE = re.compile(r"[ \t]*+(`{3,}|~{3,})")
_ESCAPED_PIPE = re.compile(r"\\\|")


def prose(text: str) -> str:
    """Leave the targets of links and the backticks out of running text."""
    if "](" in text or "][" in text:
        text = _LINK.sub(_said, text)
    return text.replace("`", "") if "`" in text else text


def has_marks(text: str) -> bool:
    """Tell whether `prose` may have something to leave out."""
    return "`" in text or "](" in text or "][" in text


def laid_out(text: str) -> str:
    """Read a text of several blocks: lists, quotations, what a container holds."""
    if "`" not in text and "~~~" not in text:
        return _items(text)
    said: list[str] = []
    gathered: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence and found and line.strip().strip(fence[0]) == "":
            fence = ""
        elif fence:
            said.append(line)
        elif found and "`" not in line[found.end() :]:
            if gathered:
                said.append(_items("\n".join(gathered)))
                gathered = []
            fence = found[1]
        else:
            gathered.append(line)
    if gathered:
        said.append(_items("\n".join(gathered)))
    return "\n".join(said)


def block_reading(block: Block, text: str) -> str:
    """Read a block, or a piece of one, that is no table; `text` is what it shows."""
    match block.kind:
        case "code":
            return _code(block, text)
        case "list" | "quote" | "footnote":
            return laid_out(text)
        case "reference":
            return ""
        case _:
            return prose(text)


class TableReading:
    """The rows of one table as they are read, each made once."""

    def __init__(self, table: Table) -> None:
        """Find the labels of the columns, in the header and in rows that go on it."""
        heads = [list(labels) for labels in table.labels] or [
            [cell.text for cell in row.cells] for row in table.header
        ]
        self._first = _header_rows(table.rows)
        heads += [
            [cell.text for cell in row.cells] for row in table.rows[: self._first]
        ]
        self._labels = _deepest(heads)
        upper = (" ".join(_distinct(head)) for head in heads[:-1])
        self._above = [table.caption or "", *upper] if heads else [table.caption or ""]
        self._rows: dict[int, str] = {}
        self.tokens: dict[int, int] = {}
        """Tokens of rows, for whoever counts them."""
        self._table = table

    def row(self, index: int) -> str:
        """Read a row; empty for one that names the columns."""
        found = self._rows.get(index)
        if found is None:
            found = ""
            if self._first <= index < len(self._table.rows):
                found = " ".join(self._sentences(self._table.rows[index]))
            self._rows[index] = found
        return found

    @property
    def above(self) -> str:
        """The caption and the upper header rows, read above every piece."""
        return "\n".join(prose(line) for line in self._above if line)

    def text(self, parts: Span) -> str:
        """Read some rows, below what stands above them."""
        rows = [self.row(index) for index in range(*parts)]
        said = [each for each in (self.above, *rows) if each]
        # A table of a header alone still has that to say.
        return "\n".join(said) if any(rows) else _flat(self._labels, said)

    def _sentences(self, row: Row) -> Iterator[str]:
        values = [_cell(cell.text) for cell in row.cells]
        label = values[0] if values else ""
        others = False
        for column, value in enumerate(values[1:], 1):
            if value:
                others = True
                name = self._labels[column] if column < len(self._labels) else ""
                yield _sentence(label, name, value)
        if label and not others:
            yield _sentence(label)


def _code(code: Block, text: str) -> str:
    if not isinstance(code.content, Code) or not code.content.opening:
        return text
    lines = text.split("\n")
    if _FENCE.match(lines[0]):
        del lines[0]
    if lines and (found := _FENCE.match(lines[-1])) and found.end() == len(lines[-1]):
        del lines[-1]
    return "\n".join(lines)


def _items(text: str) -> str:
    said = (_without_marker(line) for line in prose(text).split("\n"))
    return "\n".join(line for line in said if line)


def _without_marker(line: str) -> str:
    found = _ITEM.match(line)
    return (line[found.end() :] if found else line).strip()


def _said(found: re.Match[str]) -> str:
    """Give the text of a link, and code as it is."""
    if found[1]:
        return found[2]
    return _LINK.sub(_said, found[3]) if "](" in found[3] else found[3]


def _header_rows(rows: Sequence[Row]) -> int:
    """Count the first rows that name columns: their own label cell is empty."""
    for index, row in enumerate(rows):
        if row.cells and row.cells[0].text:
            return index
    return 0


def _deepest(heads: Sequence[Sequence[str]]) -> list[str]:
    """Give each column the deepest label that is filled."""
    width = max(map(len, heads), default=0)
    labels = [""] * width
    for head in heads:
        for column, text in enumerate(head):
            labels[column] = _cell(text) or labels[column]
    return labels


def _distinct(head: Sequence[str]) -> list[str]:
    """Give the texts of a header row, one that spans columns once."""
    return [
        _cell(text)
        for column, text in enumerate(head)
        if text and (column == 0 or text != head[column - 1])
    ]


def _cell(text: str) -> str:
    return _ESCAPED_PIPE.sub("|", prose(text)).strip()


def _sentence(*words: str) -> str:
    said = " ".join(word for word in words if word)
    return said if said.endswith((".", "!", "?", "。")) else said + "."


def _flat(labels: Sequence[str], said: list[str]) -> str:
    return "\n".join([*said, " ".join(label for label in labels if label)])
