"""Write Roman numerals, which lists of several formats number with."""

from __future__ import annotations

from typing import Final

_LETTERS = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)

_MOST: Final = 3_999
"""Longer numerals have no agreed form."""


def roman(value: int) -> str:
    """Write a number in small letters; one that has no numeral as decimal."""
    if not 0 < value <= _MOST:
        return str(value)
    written = ""
    for worth, letters in _LETTERS:
        count, value = divmod(value, worth)
        written += letters * count
    return written
