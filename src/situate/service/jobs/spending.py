"""What a job spent, over all the times it was worked on."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from situate.enrichment.budget import Committed
from situate.manifest import Spent
from situate.usage import Usage

if TYPE_CHECKING:
    from situate.model import JsonValue

_MONEY = ("cost_usd", "saved_usd")
_COUNTS = tuple(
    field.name
    for field in fields(Spent)
    if field.name not in {*_MONEY, "usage", "stopped", "warnings"}
)


_TOLD = 20
"""Warnings of a job that are kept: they are written down with every document."""


def together(before: Spent, now: Spent) -> Spent:
    """Add up; why enrichment stopped is what is true now."""
    counts = {name: getattr(before, name) + getattr(now, name) for name in _COUNTS}
    return replace(
        now,
        **counts,
        usage=before.usage + now.usage,
        cost_usd=_sum(before.cost_usd, now.cost_usd),
        saved_usd=_sum(before.saved_usd, now.saved_usd),
        warnings=tuple(dict.fromkeys((*before.warnings, *now.warnings)))[:_TOLD],
    )


def committed(spent: Spent) -> Committed:
    """Give what counts against the limits of a job that goes on."""
    return Committed(
        usd=spent.cost_usd or Decimal(0),
        tokens=spent.usage.input + spent.usage.output,
    )


def as_values(spent: Spent) -> dict[str, JsonValue]:
    """Give it as JSON has it, money as exact text."""
    values: dict[str, JsonValue] = asdict(spent)
    for name in _MONEY:
        money = getattr(spent, name)
        values[name] = None if money is None else f"{money:f}"
    values["warnings"] = list(spent.warnings)
    return values


def stored(spent: Spent) -> str:
    """Write it down."""
    return json.dumps(as_values(spent))


def read(text: str) -> Spent:
    """Read what `stored` wrote."""
    values = json.loads(text)
    return Spent(
        **values
        | {name: _money(values[name]) for name in _MONEY}
        | {
            "usage": Usage(**values["usage"]),
            "warnings": tuple(values["warnings"]),
        }
    )


def _money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _sum(before: Decimal | None, now: Decimal | None) -> Decimal | None:
    if before is None or now is None:
        return before if now is None else now
    return before + now
