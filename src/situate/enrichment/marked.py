"""Reads answers that hold a sentence for every marker.

What belongs to which chunk is said by the marker and by nothing else, least of all
by the order. Whatever cannot be matched without doubt is taken for missing.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from situate.enrichment.statement import said

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_MOST_DIGITS = 6


def sentences(
    answer: str, numbers: Collection[int], begin: str | None
) -> dict[int, str]:
    """Give the sentence of each of these numbers that has exactly one.

    A key is the number or the whole marker, which begins with `begin`; None where
    an answer is read again that was matched before. Text around the object is
    passed over; an answer without one gives nothing.
    """
    found: dict[int, str] = {}
    doubled: set[int] = set()
    for key, value in _entries(said(answer)):
        number = _number(key, begin)
        if number is None or number not in numbers:
            continue
        if number in found:
            doubled.add(number)
        if isinstance(value, str):
            found[number] = value
        else:
            doubled.add(number)
    return {
        number: text
        for number, text in found.items()
        if number not in doubled and text.strip()
    }


def _entries(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the entries of the JSON objects in a text, doubled ones as well.

    Where a model corrects itself in a second object, both stand, and are in doubt.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_Entries, strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield from value
        start = text.find("{", end)


class _Entries(list[tuple[str, Any]]):
    """The entries of an object; a dict would keep the last of two equal keys."""


_WHOLE = re.compile(r"\[?([0-9a-f]{4,})\.([0-9]{1,6})\]?")


def _number(key: str, begin: str | None) -> int | None:
    """Read a key: the number alone, or the marker as it stands in the document."""
    key = key.strip()
    if key.isascii() and key.isdigit() and len(key) <= _MOST_DIGITS:
        return int(key) if key[0] != "0" else None
    whole = _WHOLE.fullmatch(key)
    is_ours = whole is not None and begin in {None, whole[1]}
    return int(whole[2]) if whole is not None and is_ours else None
