"""Join lines to running text: words cut at line ends become whole again."""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from situate.readers.pdf.characters import HYPHEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SOFT_HYPHEN = "\u00ad"
_HYPHENS = f"-\u2010{_SOFT_HYPHEN}{HYPHEN}"

# Scripts that put no space between words, so that a line break is none either.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff00-\uffef]"
)

# What may stand between the first part of two compounds: "Vor- und Nachteile".
_CONJUNCTIONS = {"and", "or", "und", "oder", "bzw", "et", "ou", "y", "o", "e", "en"}

# Parts of words that are hardly ever written together with the next.
_PREFIXES = {"self", "well"}

_FIRST_WORD = re.compile(r"\w+")
_LAST_WORD = re.compile(r"\w+\Z")
_LONG_WORD = re.compile(r"\w{5,}")
_COMPOUND = re.compile(r"(\w+)-(\w+)")


class Joiner:
    """Knows a document's words and compounds, to join what line ends cut."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._compounds: set[tuple[str, str]] = set()
        self._words: set[str] = set()
        for text in texts:
            lowered = text.lower()
            self._words.update(_LONG_WORD.findall(lowered))
            if "-" in text:
                self._compounds.update(_COMPOUND.findall(lowered))

    def join(self, lines: Sequence[str]) -> str:
        """Put lines behind each other.

        A hyphen at the end goes where the word goes on in small letters, unless
        the document writes the compound with a hyphen elsewhere.
        """
        parts: list[str] = []
        for line, after in zip_longest(lines, lines[1:]):
            stem, border = (line, "") if after is None else self._border(line, after)
            parts += (stem, border)
        return plain("".join(parts))

    def _border(self, line: str, after: str) -> tuple[str, str]:
        """Give what of a line is kept, and what stands between it and the next."""
        sign = line[-1:]
        if sign and sign in _HYPHENS:
            first = _LAST_WORD.search(line[:-1])
            second = _FIRST_WORD.match(after)
            if first is not None and second is not None:
                return line[:-1], self._hyphen(first[0], second[0], sign)
        if _UNSPACED.match(sign) and _UNSPACED.match(after[:1]):
            return line, ""
        return line, " "

    def _hyphen(self, first: str, second: str, sign: str) -> str:
        if sign == _SOFT_HYPHEN:
            return ""
        pair = first.lower(), second.lower()
        if pair[1] in _CONJUNCTIONS:
            return "- "
        if "".join(pair) in self._words:
            return ""
        goes_on = first[-1].isalpha() and second[0].islower()
        if not goes_on or pair in self._compounds or pair[0] in _PREFIXES:
            return "-"
        return ""


def plain(text: str) -> str:
    """Give text without the signs that only say where a word was cut."""
    return text.replace(HYPHEN, "-").replace(_SOFT_HYPHEN, "")
