"""Places values along an axis whose ends are round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis from `low` to `high`, with a mark every `step`."""

    low: float
    high: float
    step: float

    def at(self, value: float) -> float:
        """Give how far along the axis a value stands: 0 at its start, 1 at its end."""
        return (value - self.low) / (self.high - self.low)

    @property
    def marks(self) -> tuple[float, ...]:
        """The round values from end to end."""
        count = round((self.high - self.low) / self.step)
        return tuple(round(self.low + i * self.step, 9) for i in range(count + 1))


def scale(values: Iterable[float], marks: int = 5) -> Scale:
    """Make an axis that holds all values and has about so many marks."""
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if high - low < 1e-9:
        low, high = low - 0.01, high + 0.01
    rough = (high - low) / marks
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return Scale(low=first * step, high=last * step, step=step)
