"""What workers spend, told in parts and added up."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields, replace
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING

from situate.manifest import NOTHING_SPENT, Spent
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DOLLARS = ("cost_usd", "saved_usd")
_COUNTS = tuple(
    field.name
    for field in fields(Spent)
    if field.name not in {*_DOLLARS, "usage", "stopped", "warnings"}
)


def since(now: Spent, before: Spent) -> Spent:
    """Give what was spent between two looks at one worker."""
    new = Counter(now.warnings) - Counter(before.warnings)
    usage = {
        field.name: getattr(now.usage, field.name) - getattr(before.usage, field.name)
        for field in fields(Usage)
    }
    return replace(
        _counted(now, before, int.__sub__, Decimal.__sub__),
        usage=Usage(**usage),
        stopped=now.stopped,
        warnings=tuple(sorted(new.elements())),
    )


def together(parts: Iterable[Spent]) -> Spent:
    """Add up what several workers spent; what several say alike is said once."""
    return reduce(_both, parts, NOTHING_SPENT)


def _both(one: Spent, other: Spent) -> Spent:
    return replace(
        _counted(one, other, int.__add__, Decimal.__add__),
        usage=one.usage + other.usage,
        stopped=one.stopped or other.stopped,
        warnings=tuple(sorted({*one.warnings, *other.warnings})),
    )


def _counted(
    one: Spent,
    other: Spent,
    count: Callable[[int, int], int],
    pay: Callable[[Decimal, Decimal], Decimal],
) -> Spent:
    """Put counts and dollars of two together; no dollars are unknown ones."""
    found: dict[str, int | Decimal | None] = {
        name: count(getattr(one, name), getattr(other, name)) for name in _COUNTS
    }
    for name in _DOLLARS:
        pair = getattr(one, name), getattr(other, name)
        known = any(usd is not None for usd in pair)
        amounts = (Decimal(0) if usd is None else usd for usd in pair)
        found[name] = pay(*amounts) if known else None
    return replace(NOTHING_SPENT, **found)  # type: ignore[arg-type]  # each of its type


def to_json(spent: Spent) -> str:
    """Write it; dollars as text, and exactly."""
    return json.dumps(asdict(spent), default=str)


def from_json(text: str) -> Spent:
    """Read what `to_json` wrote."""
    values = json.loads(text)
    for name in _DOLLARS:
        if values[name] is not None:
            values[name] = Decimal(values[name])
    return Spent(
        **{
            **values,
            "usage": Usage(**values["usage"]),
            "warnings": tuple(values["warnings"]),
        }
    )
