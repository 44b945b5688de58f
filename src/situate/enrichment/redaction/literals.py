"""Finds what was hidden in one text in every other, as it stood there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.model import Span

TELLING = 12
"""Characters from which a part of something longer counts alone: shorter ones are
words that everybody uses."""

_RUN = re.compile(r"[\u2e80-\uffff]|[^\W\u2e80-\uffff]+|[^\w\s]")
"""What words begin with; in scripts without blanks between words each sign does."""


class Literals:
    """Finds words in a text, in time that does not grow with how many there are."""

    def __init__(self, words: Iterable[str], parts: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._parts = frozenset(part for part in parts if len(part) >= TELLING)
        self._lengths: dict[str, set[int]] = {}
        """Of words, by what they begin with."""
        for word in self._words:
            if first := _RUN.match(word):
                self._lengths.setdefault(first[0], set()).add(len(word))
        self._beginnings: dict[str, set[int]] = {}
        """Lengths of parts, by as many of their signs as all of them have."""
        for part in self._parts:
            self._beginnings.setdefault(part[:TELLING], set()).add(len(part))

    def find(self, text: str) -> Iterator[Span]:
        """Yield where words stand, none inside of another, and parts anywhere."""
        for run in _RUN.finditer(text):
            for length in self._lengths.get(run[0], ()):
                start, end = run.start(), run.start() + length
                if text[start:end] in self._words and _ends(text, end):
                    yield start, end
        if not self._beginnings:
            return
        for start in range(len(text) - TELLING + 1):
            for length in self._beginnings.get(text[start : start + TELLING], ()):
                if text[start : start + length] in self._parts:
                    yield start, start + length


def _ends(text: str, end: int) -> bool:
    """Tell whether a word that ends there goes no further."""
    if end >= len(text):
        return True
    last, following = text[end - 1], text[end]
    return not (_is_of_word(last) and _is_of_word(following))


def _is_of_word(sign: str) -> bool:
    return (sign.isalnum() or sign == "_") and sign < "\u2e80"
