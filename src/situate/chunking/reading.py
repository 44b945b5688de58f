"""What is indexed of a text: its words, without the marks that lay them out (C13).

Targets of links and images, backticks, fences and list markers are left out; link
text, alt text and code stay. A table is read cell by cell, each with the label of
its row and its column. Which marks to leave out, and how to read tables, was
measured on four public corpora (2026-11): together they lift recall at 2,000
tokens by 0.02 to 0.17.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from situate.model import Code, Items, Quote, Table, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from situate.model import Block, Document, Row, Span

# Code, or a link: its text may hold one more pair of brackets, its target one of
# parentheses; or a link by reference. What begins with a choice of characters is
# looked for four times as fast.
_LINK = re.compile(
    r"[`!\[](?:(?<=`)(`?)(?!`)([^`\n]++)`\1(?!`)|"
    r"(?:(?<=!)\[|(?<=\[))((?:[^\[\]\\\n]++|\\.|\n(?!\s*\n)|!?\[[^\[\]\n]*+\](?:\([^()\s]*+\))?)*+)\]"
    r"(?:\(\s*+(?:<[^<>\n]*+>|(?:[^()\s\\]++|\\.|\([^()\s]*+\))*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
    r"|\[([^\[\]\n]*+)\]))"
)
_DEFINITION = re.compile(r"^[ \t>*+-]*+\[([^\[\]\n]++)\]:", re.MULTILINE)
_NAMED_ATTRIBUTES = re.compile(r"[ \t]*+\{[^{}\n]*=[^{}\n]*\}\s*\Z")
_ITEM = re.compile(r"[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?+")
_TASK = re.compile(r"\[[ xX]\][ \t]++")
_FENCE = re.compile(r"[ \t]*+(`{3,}|~{3,})")
_IMAGE = re.compile(r"!\[(.*)\]\([^()\s]*\)", re.DOTALL)
_ESCAPED_PIPE = re.compile(r"\\\|")

_HOLDING = (Table, Quote, Items)
"""Parts of blocks that may hold blocks, or are read cell by cell."""
_PLAIN = frozenset({"heading", "paragraph", "html"})
"""Kinds that are read as they are where their text has no marks."""


class Reading:
    """Reads the blocks of one document."""

    def __init__(self, document: Document) -> None:
        """See how the document's text is marked up."""
        self._document = document
        self._is_marked = document.markup == "markdown"
        self._tables: dict[int, TableReading] = {}

    @cached_property
    def _labels(self) -> frozenset[str]:
        """What links by reference may refer to."""
        return _labels(self._document)

    def has_marks(self, text: str) -> bool:
        """Tell whether running text or a heading in it may leave something out."""
        if self._is_marked:
            return "`" in text or "](" in text or "][" in text or "}" in text
        return "![" in text

    def prose(self, text: str) -> str:
        """Leave the targets of links and the backticks out of running text.

        Where text has no marks, nothing of it is one; only a picture that stands
        alone was written as one.
        """
        if not self._is_marked:
            picture = _IMAGE.fullmatch(text) if text.startswith("![") else None
            return picture[1] if picture else text
        if "](" in text or "][" in text:
            text = _LINK.sub(self._said, text)
        return text.replace("`", "") if "`" in text else text

    def heading(self, text: str) -> str:
        """Read a heading, without what its attributes say of its section."""
        if self._is_marked and text.endswith("}"):
            text = _NAMED_ATTRIBUTES.sub("", text)
        return self.prose(text)

    def laid_out(self, text: str) -> str:
        """Read a text of several blocks: a piece of a list, what a container holds."""
        if "`" not in text and "~~~" not in text:
            return self._lines(text)
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
                    said.append(self._lines("\n".join(gathered)))
                    gathered = []
                fence = found[1]
            else:
                gathered.append(line)
        if gathered:
            said.append(self._lines("\n".join(gathered)))
        return "\n".join(said)

    def blocks(self, blocks: Sequence[Block], text: str) -> list[str]:
        """Read whole blocks one by one; `text` is all of theirs."""
        if not self.has_marks(text) and _PLAIN.issuperset(
            [block.kind for block in blocks]
        ):
            return [block.text for block in blocks]
        return [self.block(block) for block in blocks]

    def block(self, block: Block) -> str:
        """Read a whole block, and all that stands inside it."""
        if not isinstance(block.content, _HOLDING):
            return self._simple(block, block.text)
        said: list[str] = []
        waiting: list[Block | str] = [block]
        while waiting:
            each = waiting.pop()
            if isinstance(each, str):
                said.append(each)
                continue
            match each.content:
                case Table() as table:
                    rows = (0, len(table.rows))
                    said.append(self.table(each, table).text(rows))
                case Quote(blocks=blocks):
                    waiting.extend(reversed(blocks))
                case Items(items=items):
                    for item in reversed(items):
                        if item.blocks:
                            waiting.extend(self._parts(item.blocks))
                        else:
                            waiting.append(self._item(item.text))
                case _:
                    said.append(self._simple(each, each.text))
        return "\n".join(text for text in said if text)

    def piece(self, block: Block, text: str, rows: Span | None) -> str:
        """Read what stands of a block in one chunk; of a table, these rows."""
        if isinstance(block.content, Table) and rows is not None:
            table = self.table(block, block.content)
            if any(map(table.row, range(*rows))):
                return table.text(rows)
            # Rows that name columns alone: their values may be written elsewhere.
            return self.prose(text)
        if block.kind in {"list", "quote"}:
            return self.laid_out(text)
        return self._simple(block, text)

    def table(self, block: Block, table: Table) -> TableReading:
        """Give a table as it is read."""
        found = self._tables.get(id(block))
        if found is None:
            found = self._tables[id(block)] = TableReading(table, self.prose)
        return found

    def _simple(self, block: Block, text: str) -> str:
        match block.kind:
            case "paragraph" | "html":
                return self.prose(text)
            case "heading":
                return self.heading(text)
            case "code":
                return _code(block, text)
            case "footnote":
                return self.laid_out(text)
            case "reference":
                return ""
            case _:
                return self.prose(text)

    def _item(self, text: str) -> str:
        """Read an item of plain text."""
        first, *others = text.split("\n")
        said = _without_marker(first)
        if others:
            said = "\n".join(filter(None, [said, *map(str.strip, others)]))
        return self.prose(said)

    def _parts(self, blocks: Sequence[Block]) -> Iterator[Block | str]:
        """Yield what an item holds, last first."""
        first_block, *rest = blocks
        yield from reversed(rest)
        task = _TASK.match(first_block.text) if not first_block.content else None
        yield self.prose(first_block.text[task.end() :]) if task else first_block

    def _lines(self, text: str) -> str:
        said = (_without_marker(line) for line in self.prose(text).split("\n"))
        return "\n".join(line for line in said if line)

    def _said(self, found: re.Match[str]) -> str:
        """Give the text of a link, and code as it is."""
        if found[2]:
            return found[2]
        if found[4] is not None and _label(found[4] or found[3]) not in self._labels:
            return found[0]
        return _LINK.sub(self._said, found[3]) if "](" in found[3] else found[3]


class TableReading:
    """The rows of one table as they are read, each made once."""

    def __init__(self, table: Table, prose: Callable[[str], str]) -> None:
        """Find the labels of the columns, in the header and in rows that go on it."""
        self._prose = prose
        self._table = table
        heads = [list(labels) for labels in table.labels] or [
            [cell.text for cell in row.cells] for row in table.header
        ]
        self._first = _header_rows(table.rows)
        heads += [
            [cell.text for cell in row.cells] for row in table.rows[: self._first]
        ]
        self._labels = self._deepest(heads)
        upper = (" ".join(self._distinct(head)) for head in heads[:-1])
        self._above = [table.caption or "", *upper] if heads else [table.caption or ""]
        self._is_list = len(self._labels) == 1
        self._with_values = self._filled(range(self._first, len(table.rows)))
        # What the rows are is said once; what columns are, with every value.
        self._above.append(
            " ".join(
                label
                for column, label in enumerate(self._labels)
                if label and column not in self._with_values
            )
        )
        self._rows: dict[int, str] = {}
        self.tokens: dict[int, int] = {}
        """Tokens of rows, for whoever counts them."""

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
        return "\n".join(self._prose(line) for line in self._above if line)

    def text(self, parts: Span) -> str:
        """Read some rows, below what stands above them."""
        rows = [self.row(index) for index in range(*parts)]
        named = self._unsaid(parts) if parts[0] < self._first else ""
        return "\n".join(each for each in (self.above, named, *rows) if each)

    def _unsaid(self, parts: Span) -> str:
        """Give the names that stand in these rows and no value of them is said with."""
        filled = self._filled(range(self._first, parts[1]))
        return " ".join(
            label
            for column, label in enumerate(self._labels)
            if label and column in self._with_values and column not in filled
        )

    def _filled(self, rows: range) -> frozenset[int]:
        """Give the columns that have a value in some rows."""
        return frozenset(
            column
            for index in rows
            for column, cell in enumerate(self._table.rows[index].cells)
            if cell.text and (column or self._is_list)
        )

    def _sentences(self, row: Row) -> Iterator[str]:
        values = [self._cell(cell.text) for cell in row.cells]
        label = values[0] if values else ""
        others = False
        for column, value in enumerate(values[1:], 1):
            if value:
                others = True
                name = self._labels[column] if column < len(self._labels) else ""
                yield _sentence(label, name, value)
        if label and not others:
            yield _sentence(self._labels[0] if self._is_list else "", label)

    def _deepest(self, heads: Sequence[Sequence[str]]) -> list[str]:
        """Give each column the deepest label that is filled."""
        width = max(map(len, heads), default=0)
        labels = [""] * width
        for head in heads:
            for column, text in enumerate(head):
                labels[column] = self._cell(text) or labels[column]
        return labels

    def _distinct(self, head: Sequence[str]) -> list[str]:
        """Give the texts of a header row, one that spans columns once."""
        return [
            self._cell(text)
            for column, text in enumerate(head)
            if text and (column == 0 or text != head[column - 1])
        ]

    def _cell(self, text: str) -> str:
        return _ESCAPED_PIPE.sub("|", self._prose(text)).strip()


def _code(code: Block, text: str) -> str:
    if not isinstance(code.content, Code) or not code.content.opening:
        return text
    first, _, below = text.partition("\n")
    if _FENCE.match(first):
        text = below
    above, _, last = text.rpartition("\n")
    found = _FENCE.match(last)
    return above if found and found.end() == len(last) else text


def _without_marker(line: str) -> str:
    found = _ITEM.match(line)
    return (line[found.end() :] if found else line).strip()


def _labels(document: Document) -> frozenset[str]:
    """Name what links may refer to."""
    return frozenset(
        _label(label)
        for section, _ in walk(document.root)
        for block in section.blocks
        if "]:" in block.text
        for label in _DEFINITION.findall(block.text)
    )


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _header_rows(rows: Sequence[Row]) -> int:
    """Count the first rows that name columns: their own label cell is empty."""
    for index, row in enumerate(rows):
        if row.cells and row.cells[0].text:
            return index
    return 0


def _sentence(*words: str) -> str:
    said = " ".join(word for word in words if word)
    return said if said.endswith((".", "!", "?", "。")) else said + "."
