"""Reads answers that hold a sentence for every marker.

What belongs to which chunk is said by the marker and by nothing else, least of all
by the order. Whatever cannot be matched without doubt is taken for missing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from situate.enrichment.statement import said

if TYPE_CHECKING:
    from collections.abc import Collection

_MOST_DIGITS = 6


def sentences(answer: str, numbers: Collection[int]) -> dict[int, str]:
    """Give the sentence of each of these numbers that has exactly one.

    Text around the object is passed over; an answer without one gives nothing.
    """
    found: dict[int, str] = {}
    doubled: set[int] = set()
    for key, value in _entries(said(answer)):
        number = _number(key)
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


def _entries(text: str) -> list[tuple[str, Any]]:
    """Give the entries of the first JSON object in a text, doubled ones as well."""
    decoder = json.JSONDecoder(object_pairs_hook=_Entries, strict=False)
    start = text.find("{")
    if start < 0:
        return []
    try:
        value, _ = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, _Entries) else []


class _Entries(list[tuple[str, Any]]):
    """The entries of an object; a dict would keep the last of two equal keys."""


def _number(key: str) -> int | None:
    """Read a key: the number alone, or the marker as it stands in the document."""
    digits = key.strip("[] ").rpartition(".")[2]
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_number else None
