"""What running text says: its words without marks, its links, its sentences.

Every character that is left knows where it came from, so that a sentence found
in the words can be cited in the source.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.model import Span

# Each choice stops at the mark that would begin it again, so that text made of
# opening marks alone is passed once.
_MARK = re.compile(
    r"(?P<ticks>`{1,2})(?!`)(?P<code>[^`]+)(?P=ticks)(?!`)"
    r"|!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])?"
    r"|\[\^[^\[\]\s]+\]"
    r"|\[(?P<inside>[^\[\]]+)\]"
    r"(?:\(\s*+<?(?P<target>[^()<>\s]*(?:\([^()<>\s]*\))?)>?(?:\s[^()]*)?\)"
    r"|\[(?P<label>[^\[\]]*)\])?"
    r"|(?P<address><[A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*>)"
    r"|</?[A-Za-z][^<>]*>"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?<=\S)\*{1,3}|\*{1,3}(?=\S)|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|~~"
)

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W_])+")
_IDEOGRAPH = re.compile(f"[{_UNSPACED}]")

# sentencex 1.0.32 stops the process at `A.` with one of these before the stop: it
# takes every blank for one byte. Delete this when it no longer does.
_BLANKS: Final = {
    code: " " for code in (10, 13, *range(0x80, 0x3001)) if chr(code).isspace()
}

_WINDOW = 4_096
"""Characters given to the sentence splitter at once; no question is longer."""

_CLOSING = "\"'’”»」』）)]"
_OPENING_MARKS = "*_~`\"'“„«‘(["
_CLOSING_MARKS = "*_~`\"'”“»’)]"


@dataclass(frozen=True, slots=True)
class Link:
    """A link in running text: characters of the words, and where it leads."""

    span: Span
    target: str


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a text and where each of them stands in it."""

    text: str
    links: tuple[Link, ...]
    raw: str
    starts: tuple[int, ...]
    """Where in `text` each piece begins that was taken over as it is."""
    origins: tuple[int, ...]
    """Where in `raw` these pieces begin."""

    def origin(self, span: Span) -> Span:
        """Give where words stand in the text, with the marks around them."""
        start, end = self._place(span[0]), self._place(span[1] - 1) + 1
        while start > 0 and self.raw[start - 1] in _OPENING_MARKS:
            start -= 1
        while end < len(self.raw) and self.raw[end] in _CLOSING_MARKS:
            end += 1
        return start, end

    def _place(self, at: int) -> int:
        piece = bisect_right(self.starts, at) - 1
        return min(self.origins[piece] + at - self.starts[piece], len(self.raw) - 1)


class _Words:
    """Words while they are gathered."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.pieces: list[str] = []
        self.starts: list[int] = []
        self.origins: list[int] = []
        self.links: list[Link] = []
        self.length = 0

    def take(self, piece: str, origin: int) -> None:
        if piece:
            self.pieces.append(piece)
            self.starts.append(self.length)
            self.origins.append(origin)
            self.length += len(piece)

    def said(self) -> Said:
        return Said(
            text="".join(self.pieces),
            links=tuple(self.links),
            raw=self.raw,
            starts=tuple(self.starts) or (0,),
            origins=tuple(self.origins) or (0,),
        )


def said(text: str, targets: Mapping[str, str] | None) -> Said:
    """Read the words of a text; `targets` are those of links by reference.

    None instead of targets: the text has no marks, and all of it is said.
    """
    words = _Words(text)
    if targets is None:
        words.take(text, 0)
    else:
        _gather(words, (0, len(text)), targets)
    return words.said()


def label(text: str) -> str:
    """Give a link's label as labels are compared."""
    return " ".join(text.split()).casefold()


def sentences(text: str, language: str | None) -> Iterator[Span]:
    """Yield the sentences of a text, blanks around them left out.

    A sentence longer than some 4,000 characters is passed over: the splitter's
    time grows with the square of a text without spaces.
    """
    import sentencex

    blanked = text.translate(_BLANKS)
    position = start = 0
    while position < len(text):
        window = blanked[position : position + _WINDOW]
        segments = list(sentencex.segment(language or "en", window))
        if position + _WINDOW < len(text) and len(segments) > 1:
            # The last one may go on behind the window.
            segments.pop()
        for segment in segments:
            position += len(segment)
            end = position - (len(segment) - len(segment.rstrip()))
            # The splitter cuts in front of a closing quotation mark.
            while end < len(text) and text[end] in _CLOSING:
                end += 1
            if start < end:
                begin = start + len(text[start:end]) - len(text[start:end].lstrip())
                if begin < end:
                    yield begin, end
                start = end


def words(text: str) -> list[str]:
    """Give the words of a text in small letters; ideographs two by two."""
    found: list[str] = []
    for match in _WORD.finditer(text.casefold()):
        word = match.group()
        if len(word) > 2 and _IDEOGRAPH.match(word):
            found.extend(word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.append(word)
    return found


def _gather(words: _Words, span: Span, targets: Mapping[str, str]) -> None:
    text, (position, end) = words.raw, span
    while position < end:
        found = _MARK.search(text, position, end)
        if found is None:
            break
        words.take(text[position : found.start()], position)
        position = found.end()
        if found["code"]:
            words.take(found["code"], found.start("code"))
        elif found["inside"]:
            position = _link(words, found, targets)
        elif found["address"]:
            words.take(found["address"], found.start())
        elif found["escaped"]:
            words.take(found["escaped"], found.start("escaped"))
        elif found["entity"]:
            words.take(html.unescape(found["entity"]), found.start())
        elif found.group().lower().startswith(("<br", "<p")):
            words.take(" ", found.start())
    words.take(text[position:end], position)


def _link(words: _Words, found: re.Match[str], targets: Mapping[str, str]) -> int:
    """Take a link's text, or a bracket that opens none; give where to go on."""
    target = found["target"]
    if target is None:
        target = targets.get(label(found["label"] or found["inside"]))
    if target is None:
        words.take("[", found.start())
        return found.start() + 1
    start = words.length
    # There is no bracket inside, hence no further link.
    _gather(words, found.span("inside"), {})
    if words.length > start:
        words.links.append(Link((start, words.length), target))
    return found.end()
