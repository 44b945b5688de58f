"""Reads a text as people do: its words, without the marks that lay them out.

Whoever says what to hide thinks of words. "Jane **Smith**", "Jane&nbsp;Smith", a link
and a line that ends after "Jane" hold the same two. This reading is made to find words
in, never to be shown: what may be a mark is taken for one, and what stands only in the
target of a link or inside of a tag is no part of it.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from situate.model import Span

_MARKS = re.compile(
    # A line's end with what the next one begins with; blanks that are not one alone.
    r"(?P<line>[^\S\n]*+\n(?:\s|>|[-*+#=]++(?=\s|\Z))*+)"
    r"|(?P<blank>(?! \S)\s++|<(?:br|hr|p|div|td|th|li)\b[^<>]*+>)"
    r"|\A(?:>|[-*+#]++(?=\s))(?:\s|>|[-*+#]++(?=\s))*+"
    r"|\\(?:(?P<escaped>[!-/:-@\[-`{-~])|(?=\n))"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});)"
    r"|<!--(?:(?!<!--).)*?-->|</?[a-z][a-z0-9-]*+(?:\s[^<>]*+)?/?>"
    r"|\[\^[^\[\]\s]++\]"
    r"|(?P<target>\](?:\(\s*+(?:<[^<>\n]*+>|(?:[^()\s\\]|\\.|\([^()\s]*+\))*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)|\[[^\[\]\n]*+\]))"
    r"|(?P<opening>!?\[)|(?P<closing>\])"
    r"|[*`~]++|(?<![^\W_])_++|_++(?![^\W_])"
    # Signs that nobody sees.
    r"|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]++",
    re.DOTALL | re.IGNORECASE,
)

_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")


class _Stretch(NamedTuple):
    """A stretch of a reading, and what of the text it is read from."""

    at: int
    start: int
    end: int
    is_same: bool
    """Whether both are the same signs; else one stands for the other as a whole."""


class Plain:
    """The words of one text, and where each of them stands in it."""

    def __init__(self, text: str) -> None:
        self._said: list[str] = []
        self._length = 0
        self._stretches: list[_Stretch] = []
        self._links: list[Span] = []
        self._read(text)
        self.text = "".join(self._said)
        """Line by line, an empty one between paragraphs; blanks are single."""
        self._starts = [stretch.at for stretch in self._stretches]

    @property
    def line(self) -> str:
        """The words of each paragraph on one line, each where it stands in `text`."""
        return _LINE_END.sub(" ", self.text)

    def back(self, span: Span) -> Span:
        """Give the stretch of the text that a stretch of its words is read from.

        All of a link that it touches is in it: targets repeat what links say.
        """
        start, end = self._source(span[0])[0], self._source(span[1] - 1)[1]
        for opening, closing in self._links:
            if opening < end and start < closing:
                start, end = min(start, opening), max(end, closing)
        return start, end

    def _source(self, place: int) -> Span:
        """Give what of the text a sign is read from."""
        found = self._stretches[bisect_right(self._starts, place) - 1]
        if not found.is_same:
            return found.start, found.end
        start = found.start + place - found.at
        return start, start + 1

    def _read(self, text: str) -> None:
        at = 0
        opened: list[int] = []
        for mark in _MARKS.finditer(text):
            self._add(text, at, mark.start())
            at = mark.end()
            match mark.lastgroup:
                case "line":
                    is_empty = mark[0].count("\n") > 1
                    self._add_blank("\n\n" if is_empty else "\n", mark.span())
                case "blank":
                    self._add_blank(" ", mark.span())
                case "escaped":
                    self._put(mark["escaped"], mark.span())
                case "entity":
                    self._add_entity(mark[0], mark.span())
                case "opening":
                    opened.append(mark.start())
                case "target" | "closing" if opened:
                    opening = opened.pop()
                    if mark.lastgroup == "target":
                        self._links.append((opening, at))
        self._add(text, at, len(text))

    def _add(self, text: str, start: int, end: int) -> None:
        """Go on with what stands there."""
        if start < end and text[start] == " " and self._ends_in_blank():
            start += 1
        if start < end:
            self._put(text[start:end], (start, end), is_same=True)

    def _add_blank(self, blank: str, span: Span) -> None:
        if not self._ends_in_blank():
            self._put(blank, span)
        elif "\n" in blank and self._said[-1] != "\n\n":
            self._length += len(blank) - 1
            self._said[-1] = self._said[-1][:-1] + blank

    def _add_entity(self, entity: str, span: Span) -> None:
        said = html.unescape(entity)
        if said.isspace():
            self._add_blank(" ", span)
        elif said:
            self._put(said, span)

    def _ends_in_blank(self) -> bool:
        return bool(self._said) and self._said[-1][-1] in " \n"

    def _put(self, said: str, span: Span, *, is_same: bool = False) -> None:
        self._stretches.append(_Stretch(self._length, *span, is_same))
        self._said.append(said)
        self._length += len(said)


def folded(text: str) -> str:
    """Give the words of a text, each paragraph on one line."""
    return Plain(text).line.strip()
