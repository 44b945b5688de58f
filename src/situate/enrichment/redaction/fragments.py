"""Finds what is left of something hidden where a text was cut or shortened inside it.

A chunk that writes a row as `label: value` shortens a long label, and a breadcrumb a
long heading, each with "…" where the rest was.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING

from situate.enrichment.redaction.hook import MARK
from situate.enrichment.redaction.plain import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SHORTENED = "…"
"""What stands where something was left out of a text."""

_CUTS = re.compile(rf"{SHORTENED}|\n|: |{re.escape(MARK)}")
"""Where a chunk may begin or end a piece of something: a line, a label, a value; what
is hidden itself may stand inside of something longer."""

_SURE = 3
"""Signs of a word from which a part of it counts as one, wherever it was cut."""


class Fragments:
    """Knows the beginnings and ends of words, and what stands in them."""

    def __init__(self, words: Iterable[str]) -> None:
        known = {each for word in words if (each := folded(word))}
        self._ahead = sorted(known)
        self._back = sorted(word[::-1] for word in known)
        self._all = "\0".join(self._ahead)

    def stay_in(self, text: str) -> bool:
        """Tell whether a piece of a text may be a part of what is hidden.

        It begins with the end of that, ends with its beginning, or stands all in it.
        """
        return any(
            piece in self._all
            or _reaches(piece, self._ahead)
            or _reaches(piece[::-1], self._back)
            for piece in _pieces(text)
        )


def _pieces(text: str) -> Iterator[str]:
    for part in _CUTS.split(text):
        piece = folded(part)
        if any(map(str.isalnum, piece)):
            yield piece


def _reaches(piece: str, words: Sequence[str]) -> bool:
    """Tell whether a word begins with the end of a piece, and goes on behind it."""
    for at in range(len(piece)):
        tail = piece[at:]
        first = bisect_left(words, tail)
        for word in islice(words, first, None):
            if not word.startswith(tail):
                break
            if word != tail and (len(tail) >= _SURE or _is_apart(piece, at, word)):
                return any(map(str.isalnum, tail))
    return False


def _is_apart(piece: str, at: int, word: str) -> bool:
    """Tell whether what both share is whole words in either."""
    shared = len(piece) - at
    return not (
        _are_one(piece[max(at - 1, 0) : at + 1])
        or _are_one(word[shared - 1 : shared + 1])
    )


def _are_one(signs: str) -> bool:
    """Tell whether two signs stand in the same word."""
    return len(signs) == 2 and signs.isalnum()
