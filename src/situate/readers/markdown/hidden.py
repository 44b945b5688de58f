"""Find what a Markdown source holds but a reader is not to see.

HTML comments and data URIs, except in code, where they are what is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.model import Span

COMMENT = "<!--"
_COMMENT_END = "-->"

_MAYBE_DATA = ("data:", "Data:", "DATA:")

# RFC 2397 with a media type. In quotes the data may hold spaces (SVG) or line
# breaks (base64); elsewhere it ends where a link destination would.
_DATA_URI = re.compile(
    r"""
      (?<==") data:[\w.+%-]+/ [^"\n]* (?=")
    | (?<==') data:[\w.+%-]+/ [^'\n]* (?=')
    | (?<=["'])
      data:[\w.+%-]+/[\w.+%-]+(?:;[\w.=+%-]+)*;base64,[A-Za-z0-9+/=\s]+ (?=["'])
    | data:[\w.+%-]+/[\w.+%-]+(?:;[\w.=+%-]+)*,[^\s"'<>()\[\]`]*
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


class Hidden:
    """Collects ranges of one text while its events pass by."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_comments = COMMENT in text
        self._data_marks = [mark for mark in _MAYBE_DATA if mark in text]
        marks = [COMMENT, *self._data_marks] if self._has_comments else self._data_marks
        self._places = merge(*(_places(text, mark) for mark in marks))
        self._comments: list[Span] = []
        self._code: list[Span] = []
        self.ahead = next(self._places, len(text))
        """The next place where something may have to be hidden; the end for none."""
        self.unclosed: int | None = None
        """Where a comment begins that never ends; it is shown."""

    def possible(self, start: int, end: int) -> bool:
        """Say whether something inside a range may have to be hidden.

        What begins before `start` is done with.
        """
        while self.ahead < start:
            self.ahead = next(self._places, len(self._text))
        return self.ahead < end

    def code(self, start: int, end: int) -> None:
        """Keep data URIs in a range of code."""
        if self._data_marks:
            self._code.append((start, end))

    def comment(self, start: int, end: int) -> None:
        """Hide one comment, with its line where it stands alone.

        The break before that line goes, not the one behind it: the next line
        has to keep its quote marks and indentation apart from its text.
        """
        text = self._text
        before, after = start, end
        while before > 0 and text[before - 1] in " \t>":
            before -= 1
        while after < len(text) and text[after] in " \t":
            after += 1
        at_start = before == 0 or text[before - 1] == "\n"
        at_end = after == len(text) or text[after] == "\n"
        if at_start and at_end:
            self._comments.append((max(before - 1, 0), after))
            return
        if not at_start and (at_end or after > end):
            while text[start - 1] in " \t":
                start -= 1
        self._comments.append((start, end))

    def html(self, start: int, end: int) -> None:
        """Hide the comments of an HTML block.

        One that a blank line cuts in two is hidden up to its end, unless
        another begins before that: then the first was never closed.
        """
        if not self._has_comments:
            return
        text = self._text
        position = text.find(COMMENT, start, end)
        while position >= 0:
            # `<!-->` and `<!--->` are comments too.
            close = text.find(_COMMENT_END, position + 2, end)
            if close < 0:
                self._cut_comment(position, end)
                return
            self.comment(position, close + len(_COMMENT_END))
            position = text.find(COMMENT, close + len(_COMMENT_END), end)

    def _cut_comment(self, start: int, end: int) -> None:
        text = self._text
        following = text.find(COMMENT, start + len(COMMENT))
        limit = len(text) if following < 0 else following
        close = text.find(_COMMENT_END, end, limit)
        if close >= 0:
            self.comment(start, close + len(_COMMENT_END))
        elif self.unclosed is None:
            self.unclosed = start

    def ranges(self) -> list[Span]:
        """Give everything to hide, in order, none touching another."""
        found = self._comments
        if self._data_marks:
            self._code.sort()
            found = found + [
                span
                for span in _data(self._text, self._data_marks)
                if not self._in_code(span[0])
            ]
        merged: list[Span] = []
        for start, end in sorted(found):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def _in_code(self, offset: int) -> bool:
        index = bisect_right(self._code, (offset, len(self._text)))
        return index > 0 and offset < self._code[index - 1][1]


def without_data(text: str) -> str:
    """Take data URIs out of a text."""
    if "ata:" not in text and "ATA:" not in text:
        return text
    parts = []
    position = 0
    for start, end in sorted(_data(text, _MAYBE_DATA)):
        parts.append(text[position:start])
        position = max(position, end)
    return "".join(parts) + text[position:]


def _data(text: str, marks: Iterable[str]) -> Iterator[Span]:
    # Searching for the plain word first is twenty times as fast as the pattern.
    for mark in marks:
        position = text.find(mark)
        while position >= 0:
            match = _DATA_URI.match(text, position)
            if match is not None:
                yield match.span()
            position = text.find(mark, match.end() if match else position + 1)


def _places(text: str, mark: str) -> Iterator[int]:
    position = text.find(mark)
    while position >= 0:
        yield position
        position = text.find(mark, position + 1)
