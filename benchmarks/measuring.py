"""How things are timed: in turns, and by the median.

A machine that others use is slow for seconds at a time. What is compared runs
in turns within one process, so that all of it meets the same weather; what is
reported are ratios.
"""

from __future__ import annotations

import gc
import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def cpu_seconds(
    steps: Mapping[str, Callable[[], object]], *, rounds: int
) -> dict[str, float]:
    """Give the median CPU seconds of each step, run in turns.

    A first round that loads and warms everything is not counted.
    """
    # What was made before is not part of what is timed, not even for the
    # collector that would walk over it.
    gc.collect()
    gc.freeze()
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 1):
        for name, step in steps.items():
            gc.collect()
            before = time.process_time()
            step()
            if number:
                taken[name].append(time.process_time() - before)
    gc.unfreeze()
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, the first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        first, *others = (
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *others]).rstrip())
    print()
