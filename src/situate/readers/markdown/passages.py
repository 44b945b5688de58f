"""Cut text out of a source, without the marks of what encloses it.

A passage is the source as one container's content sees it: its lines begin
after the quote marks and list indentation of everything around. Offsets are
always those of the source.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from situate.model import Span

HOLE = "\0"
"""Stands for every character of a source that is not to be shown."""

# All that `str.isspace` knows, so that a text ends where a sentence of it does.
_BLANK = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    f"\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000{HOLE}"
)

_MARKER = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])")


Line: TypeAlias = tuple[int, int, int, int]
"""One line from where a container's content starts on it: its start, its end (the
line break, or the end of the source), the column of the content (tabs expanded to
stops of four) and the columns that a tab leaves over where it was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The document's top level, where a text is a plain slice.

    `shown` is the decoded text with `HOLE` for all that is not to be shown, so
    it has the same offsets.
    """

    shown: str
    has_holes: bool
    has_formulas: bool

    def lead(self, offset: int) -> int:
        """Give where the line that holds `offset` begins."""
        return self.shown.rfind("\n", 0, offset) + 1

    def cut(self, start: int, end: int) -> tuple[str, int]:
        """Give the text of a range without the blanks it ends in, and its end."""
        text = self.shown[start:end].rstrip()
        if self.has_holes and HOLE in text:
            text = text.rstrip(_BLANK)
            return text.replace(HOLE, ""), start + len(text)
        return text, start + len(text)

    def lines(self, start: int, end: int) -> list[Line]:
        """Give the lines that a range touches, the last one cut at its end."""
        shown = self.shown
        lines = []
        position = self.lead(start)
        while position < end:
            stop = shown.find("\n", position, end)
            if stop < 0:
                stop = end
            lines.append((position, stop, 0, 0))
            position = stop + 1
        return lines


class Passage:
    """What stands inside a quotation or a list item."""

    def __init__(self, around: Source | Passage, lines: list[Line]) -> None:
        self.shown: str = around.shown
        self.has_holes: bool = around.has_holes
        self.has_formulas: bool = around.has_formulas
        self._lines = lines
        self._ends = [end for _, end, _, _ in lines]

    @property
    def start(self) -> int:
        """Offset of the first character inside."""
        return self._lines[0][0]

    def lead(self, offset: int) -> int:
        """Give where the content begins on the line that holds `offset`."""
        index = bisect_left(self._ends, offset)
        return min(offset, self._lines[index][0]) if index < len(self._ends) else offset

    def lines(self, start: int, end: int) -> list[Line]:
        """Give the lines that a range touches, the last one cut at its end."""
        first = bisect_left(self._ends, start)
        last = bisect_left(self._ends, end) + 1
        lines = self._lines[first:last]
        if lines and lines[-1][1] > end:
            begin, _, column, pad = lines[-1]
            lines[-1] = (begin, end, column, pad)
        return lines

    def cut(self, start: int, end: int) -> tuple[str, int]:
        """Give the text of a range without the blanks it ends in, and its end."""
        shown = self.shown
        lines = self.lines(start, end)
        parts = [
            shown[start:stop] if begin < start else " " * pad + shown[begin:stop]
            for begin, stop, _, pad in lines
        ]
        while parts:
            last = parts.pop()
            kept = last.rstrip(_BLANK)
            if kept:
                _, stop, _, _ = lines[len(parts)]
                text = "\n".join([*parts, kept])
                text = text.replace(HOLE, "") if self.has_holes else text
                return text, stop - len(last) + len(kept)
        return "", max(start, end)


def inside_quote(around: Source | Passage, span: Span) -> Passage:
    """Give what a quotation holds; a lazy line has no mark to take off."""
    shown = around.shown
    lines = []
    for line in around.lines(*span):
        start, end, column, _ = _indent(shown, line, 3)
        if start < end and shown[start] == ">":
            lines.append(_indent(shown, (start + 1, end, column + 1, 0), 1))
        else:
            lines.append(line)
    return Passage(around, lines)


def inside_item(around: Source | Passage, span: Span) -> Passage:
    """Give what a list item holds, below the first line without indentation."""
    shown = around.shown
    first, *rest = around.lines(*span)
    start, end, before, _ = _indent(shown, first, 3)
    marker = _MARKER.match(shown, start, end)
    width = 0 if marker is None else marker.end() - start
    behind = (start + width, end, before + width, 0)
    content = _indent(shown, behind, 5)
    # Five columns are a space and indented code; a blank line counts as one.
    if content[2] - behind[2] > 4 or content[0] >= end:
        content = _indent(shown, behind, 1)
    depth = max(content[2], behind[2] + 1) - first[2]
    return Passage(around, [content, *[_indent(shown, line, depth) for line in rest]])


def columns(row: str) -> list[str]:
    """Give the cells of a table row; an escaped pipe is no border but text.

    The last border is optional, and so is the first.
    """
    row = row.strip()
    if "\\" not in row:
        return [
            cell.strip() for cell in row.removeprefix("|").removesuffix("|").split("|")
        ]
    borders = [
        offset
        for offset, character in enumerate(row)
        if character == "|" and (offset == 0 or row[offset - 1] != "\\")
    ]
    if not borders or borders[0] > 0:
        borders.insert(0, -1)
    if borders[-1] < len(row) - 1 or len(borders) == 1:
        borders.append(len(row))
    return [
        row[left + 1 : right].strip().replace("\\|", "|")
        for left, right in pairwise(borders)
    ]


def _indent(shown: str, line: Line, width: int) -> Line:
    """Move a line's start over at most `width` columns of white space."""
    start, end, column, pad = line
    if pad == 0 and shown.startswith(" " * width, start, end):
        return start + width, end, column + width, 0
    while width > 0:
        if pad > 0:
            taken = min(pad, width)
            pad -= taken
        elif start < end and shown[start] == " ":
            taken = 1
            start += 1
        elif start < end and shown[start] == "\t":
            stop = 4 - column % 4
            taken = min(stop, width)
            pad = stop - taken
            start += 1
        else:
            break
        column += taken
        width -= taken
    return start, end, column, pad
