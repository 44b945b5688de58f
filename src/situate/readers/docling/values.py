"""Take values out of JSON that nobody vouches for: what does not fit is nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from situate.readers.decoding import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.model import JsonValue

_NO_MAPPING: Mapping[str, JsonValue] = {}


def mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    """Give an object, an empty one for anything else."""
    return value if isinstance(value, dict) else _NO_MAPPING


def sequence(value: JsonValue) -> Sequence[JsonValue]:
    """Give an array, an empty one for anything else."""
    return value if isinstance(value, list) else ()


def string(value: JsonValue) -> str:
    """Give a string without control characters, an empty one for anything else."""
    return clean(value) if isinstance(value, str) else ""


def words(value: JsonValue) -> str:
    """Give a string in one line."""
    return " ".join(string(value).split())


def number(value: JsonValue) -> float | None:
    """Give a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def whole(value: JsonValue) -> int | None:
    """Give a whole number that is not negative."""
    found = number(value)
    if found is None or found < 0 or not found.is_integer():
        return None
    return int(found)


def reference(value: JsonValue) -> str:
    """Give where a reference points, `#/texts/0`; empty when it is none.

    Exports made without aliases say `cref` for `$ref`.
    """
    found = mapping(value)
    target = found.get("$ref", found.get("cref"))
    return target if isinstance(target, str) else ""


def references(value: JsonValue) -> tuple[str, ...]:
    """Give where each of a list of references points."""
    return tuple(reference(each) for each in sequence(value))
