"""What it costs to begin: `python -m benchmarks.startup`.

CPU seconds of a process that imports situate or shows its help, above those of
one that does nothing.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys

from benchmarks.measuring import table

MOST_SECONDS = 0.15
"""The budget of the design, for `import situate`."""

_STARTED = {
    "python": ["-c", "pass"],
    "import situate": ["-c", "import situate"],
    "situate --help": ["-m", "situate", "--help"],
}


def cpu_seconds(arguments: list[str]) -> float:
    """Give the CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure in turns, and compare medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="default: 9")
    rounds = parser.parse_args().rounds
    taken: dict[str, list[float]] = {name: [] for name in _STARTED}
    for _ in range(rounds):
        for name, arguments in _STARTED.items():
            taken[name].append(cpu_seconds(arguments))
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    alone = medians["python"]
    rows = [
        [
            name,
            f"{seconds:.3f}",
            f"{seconds - alone:.3f}",
            f"{MOST_SECONDS}" if name == "import situate" else "",
        ]
        for name, seconds in medians.items()
    ]
    table(["process", "CPU s", "above python", "budget"], rows)


if __name__ == "__main__":
    main()
