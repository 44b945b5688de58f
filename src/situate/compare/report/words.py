"""Says figures the way a report prints them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

MINUS: Final = "\N{MINUS SIGN}"

UNKNOWN: Final = "unknown"

_BUDGET: Final = re.compile(r"rec@(\d+)([rt])\Z")
_PLAIN: Final = {"rec": "recall", "mrr": "MRR", "ndcg": "nDCG", "fail": "failure"}
_MEANS: Final = {
    "r": "the share of gold excerpts in the first {0} tokens of text that an answering "
    "model is handed",
    "t": "the share of gold excerpts in the first {0} tokens of what was embedded, "
    "prefixes counted",
    "rec": "the share of gold excerpts found in the first {0} entries",
    "mrr": "one over the rank of the first answering entry, 0 after rank {0}",
    "ndcg": "how much gold the first {0} entries bring, early ones counting more",
    "fail": "the share of gold excerpts missed by the first {0} entries; "
    "less is better",
}


def measure(name: str) -> str:
    """Name a measure as the field does: `rec@2000r` is recall in 2,000 tokens."""
    if budget := _BUDGET.match(name):
        of = "text" if budget[2] == "r" else "embedded text"
        return f"recall in {int(budget[1]):,} tokens of {of}"
    kind, _, cut = name.partition("@")
    return f"{_PLAIN.get(kind, kind)}@{cut}" if cut else name


def meaning(name: str) -> str | None:
    """Say in a clause what a measure is; None for one that nobody here knows."""
    if budget := _BUDGET.match(name):
        return _MEANS[budget[2]].format(f"{int(budget[1]):,}")
    kind, _, cut = name.partition("@")
    return _MEANS[kind].format(cut) if kind in _MEANS else None


def share(value: float) -> str:
    """Write a value from 0 to 1, or a difference's end, with three digits."""
    return _negative(f"{value:.3f}")


def signed(value: float) -> str:
    """Write a difference with its sign; what rounds to nothing has none."""
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else _negative(text)


def interval(low: float, high: float) -> str:
    """Write an interval of a mean."""
    return f"{share(low)} to {share(high)}"


def signed_interval(low: float, high: float) -> str:
    """Write an interval of a difference."""
    return f"{signed(low)} to {signed(high)}"


def percent(value: float) -> str:
    """Write a share as a percentage; neither none nor all unless it is so."""
    if 0 < value < 0.005:
        return "under 1 %"
    if 0.995 < value < 1:
        return "over 99 %"
    return f"{value * 100:.0f} %"


def growth(value: float | None) -> str:
    """Write what an index has more tokens than another; a dash for that other."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{(value - 1) * 100:+.0f} %"
    return "0 %" if text in ("+0 %", "-0 %") else _negative(text)


def usd(value: Decimal | None) -> str:
    """Write dollars, with four digits after the point below ten cents."""
    if value is None:
        return UNKNOWN
    digits = 4 if 0 < value < 1 and value < 10**-1 else 2
    return f"${value:,.{digits}f}"


def p_value(value: float) -> str:
    """Write a p-value as journals do."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def many(count: int, thing: str) -> str:
    """Write a number with what is counted, in the plural where it is not one."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def listed(parts: Iterable[str]) -> str:
    """Join parts as a sentence does."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _negative(text: str) -> str:
    return text.replace("-", MINUS)
