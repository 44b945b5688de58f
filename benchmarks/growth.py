"""What ten times the document takes, in time and memory: `python -m benchmarks.growth`.

For documents of every shape that could be slow: very long ones, and those that are
one section, paragraph, table, list or code block. Memory is that of a process of its
own, above what it held once everything was loaded. Exceeding a budget is for people
to judge, so the exit code does not depend on it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.chunking import TOKENIZER, cut, lines, tokenized
from benchmarks.documents import SHAPES, Shape, Source
from benchmarks.measuring import cpu_seconds, table
from situate.chunking import Rules
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from situate.chunking import Granularity

# The budgets of the design and of what it must show.
MOST_AT_TEN_TIMES = 11.0
MOST_TOKENIZED = 4.0
MOST_MEGABYTES = 25.0

GRANULARITIES: tuple[Granularity, ...] = ("leaves", "tree")

# `ru_maxrss` counts kilobytes on Linux, bytes on macOS.
_PER_MEGABYTE = 1e6 if sys.platform == "darwin" else 1e6 / 1024

# Bytes of text in a turn.
_LEAST_TIMED = 1_000_000

# A smaller document says more of what is loaded late than of itself.
_LEAST_MEGABYTES = 0.5


def source(shape: Shape, size: int) -> Source:
    """Make a document."""
    return Source(name="document.md", data=shape.write(size).encode())


def write(document: Source, rules: Rules) -> None:
    """Take a document from bytes to JSON lines, as a run does."""
    with Path(os.devnull).open("wb") as nowhere:
        nowhere.writelines(lines(cut(document, load_counter(TOKENIZER), rules)))


def times(shape: Shape, rules: Rules, *, rounds: int) -> list[float]:
    """Give for each size what ten times the text takes of the time of the one before.

    A short document is written as often as it takes to be timed: a clock ticks
    too slowly for a single one.
    """
    documents = [source(shape, size) for size in shape.sizes]
    often = [max(1, _LEAST_TIMED // len(document.data)) for document in documents]
    steps: dict[str, Callable[[], object]] = {
        str(at): partial(_repeat, partial(write, document, rules), count)
        for at, (document, count) in enumerate(zip(documents, often, strict=True))
    }
    seconds = list(cpu_seconds(steps, rounds=rounds).values())
    per_byte = [
        taken / (len(document.data) * count)
        for taken, document, count in zip(seconds, documents, often, strict=True)
    ]
    return [10 * long / short for short, long in pairwise(per_byte)]


def time_table(shapes: Sequence[Shape], *, rounds: int) -> None:
    """Print what ten times the document takes, one row for each step of size."""
    rows = []
    for shape in shapes:
        found = {
            name: times(shape, Rules(granularity=name), rounds=rounds)
            for name in GRANULARITIES
        }
        for at, size in enumerate(shape.sizes[1:]):
            long = source(shape, size)
            counted = (tokenized([long], Rules(granularity=g)) for g in GRANULARITIES)
            rows.append(
                [
                    shape.name,
                    f"{len(long.data) / 1e6:.2f}",
                    *(f"{found[name][at]:.1f}" for name in GRANULARITIES),
                    *(f"{each:.2f}" for each in counted),
                ]
            )
    print(f"Time of ten times the text, budget {MOST_AT_TEN_TIMES:g}; characters")
    print(f"tokenized for each of the text, budget {MOST_TOKENIZED:g}.\n")
    counted_names = [f"tokenized, {name}" for name in GRANULARITIES]
    table(["document", "MB", *GRANULARITIES, *counted_names], rows)


def memory_table(shapes: Sequence[Shape]) -> None:
    """Print the most memory that the longest document of each shape takes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document.md"
        for at, shape in enumerate(shapes):
            _python("--write", str(at), str(path))
            megabytes = path.stat().st_size / 1e6
            row = [shape.name, f"{megabytes:.2f}"]
            for name in GRANULARITIES:
                above = float(_python("--peak", name, str(path)))
                row += [
                    f"{above:.0f}",
                    f"{above / megabytes:.0f}" if megabytes > _LEAST_MEGABYTES else "",
                ]
            rows.append(row)
    print(f"Most memory above start-up; budget {MOST_MEGABYTES:g} MB for each MB.\n")
    columns = (f"{what}, {name}" for name in GRANULARITIES for what in ("MB", "each"))
    table(["document", "MB", *columns], rows)


def peak(path: Path, rules: Rules) -> float:
    """Give the megabytes that a document takes above what is loaded without it."""
    # Something of everything, so that all that loads late is there before.
    for shape in SHAPES:
        write(source(shape, max(1, shape.sizes[0] // 50)), rules)
    before = _most()
    write(Source(name=path.name, data=path.read_bytes()), rules)
    return (_most() - before) / _PER_MEGABYTE


def _most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _repeat(step: Callable[[], object], count: int) -> None:
    for _ in range(count):
        step()


def _python(*arguments: str) -> str:
    """Run this module in a process of its own and give what it prints."""
    command = [sys.executable, "-m", "benchmarks.growth", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--shape", help="only shapes with this in their name")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write:
        at, path = asked.write
        shape = SHAPES[int(at)]
        Path(path).write_bytes(source(shape, shape.sizes[-1]).data)
    elif asked.peak:
        granularity, path = asked.peak
        print(peak(Path(path), Rules(granularity=granularity)))
    else:
        shapes = [one for one in SHAPES if (asked.shape or "") in one.name]
        # Memory first: a process reports at least the peak of the one that
        # started it, which holds nothing yet.
        memory_table(shapes)
        time_table(shapes, rounds=asked.rounds)


if __name__ == "__main__":
    main()
