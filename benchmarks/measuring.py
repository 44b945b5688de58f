"""How things are timed: in turns, and by the median.

A machine that others use is slow for seconds at a time. What is compared runs
in turns within one process, so that all of it meets the same weather; what is
reported are ratios.
"""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Step: TypeAlias = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How long one step takes."""

    cpu_seconds: float
    wall_seconds: float


def in_turns(
    prepared: Mapping[str, Callable[[], Step]], *, rounds: int
) -> dict[str, Taken]:
    """Give the median of what each step takes, run in turns.

    What a step needs is prepared anew before each of its turns, untimed. A first
    round that loads and warms everything is not counted.
    """
    # What was made before is not part of what is timed, not even for the
    # collector that would walk over it.
    gc.collect()
    gc.freeze()
    cpu: dict[str, list[float]] = {name: [] for name in prepared}
    wall: dict[str, list[float]] = {name: [] for name in prepared}
    for number in range(rounds + 1):
        for name, prepare in prepared.items():
            step = prepare()
            gc.collect()
            wall_before, cpu_before = time.perf_counter(), time.process_time()
            step()
            cpu_after, wall_after = time.process_time(), time.perf_counter()
            if number:
                cpu[name].append(cpu_after - cpu_before)
                wall[name].append(wall_after - wall_before)
    gc.unfreeze()
    return {
        name: Taken(
            cpu_seconds=statistics.median(cpu[name]),
            wall_seconds=statistics.median(wall[name]),
        )
        for name in prepared
    }


def cpu_seconds(steps: Mapping[str, Step], *, rounds: int) -> dict[str, float]:
    """Give the median CPU seconds of each step, run in turns."""
    taken = in_turns(
        {name: partial(_as_it_is, step) for name, step in steps.items()}, rounds=rounds
    )
    return {name: each.cpu_seconds for name, each in taken.items()}


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


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of Markdown, for a page to show as it is."""
    for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows):
        print(f"| {' | '.join(row)} |")
    print()


def _as_it_is(step: Step) -> Step:
    return step
