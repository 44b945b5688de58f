"""What the core weighs, here and in another checkout, in one run.

    python -m benchmarks.footprint FOLDER...

Every folder is a checkout. Each is installed without extras into an environment of
its own, where packages and their bytes are counted; then processes that import
situate, show its help, or do nothing are started in turns. To compare with an earlier
commit: `git worktree add FOLDER COMMIT`.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import table

_STARTED = {
    "nothing": ["-c", "pass"],
    "import": ["-c", "import situate"],
    "help": ["-m", "situate", "--help"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An environment that holds situate and what it needs, and no more."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Where packages lie."""
        (found,) = (self.folder / "lib").glob("python*/site-packages")
        return found

    def names(self) -> list[str]:
        """Name the packages, pip aside."""
        found = (path.name for path in self.packages.glob("*.dist-info"))
        return sorted(name for name in found if not name.startswith("pip-"))

    def megabytes(self) -> tuple[float, float]:
        """Count all of it, pip aside, and situate alone; no compiled files."""

        def size(folder: Path) -> float:
            return sum(
                path.stat().st_size
                for path in folder.rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            )

        every = size(self.packages) - sum(map(size, self.packages.glob("pip*")))
        return every / 1e6, size(self.packages / "situate") / 1e6


def install(checkout: Path, folder: Path) -> Installed:
    """Install a checkout without extras."""
    venv.create(folder, with_pip=True)
    made = Installed(folder=folder)
    subprocess.run(
        [made.python, "-m", "pip", "install", "--quiet", checkout.absolute()],
        check=True,
    )
    return made


def cpu_seconds(command: list[str | Path]) -> float:
    """Give the CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Install, count, and start processes in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=15, help="default: 15")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = [
            install(checkout, Path(temporary) / str(number))
            for number, checkout in enumerate(arguments.checkouts)
        ]
        taken: list[dict[str, list[float]]] = [
            {name: [] for name in _STARTED} for _ in made
        ]
        for _ in range(arguments.rounds):
            for each, seconds in zip(made, taken, strict=True):
                for name, given in _STARTED.items():
                    seconds[name].append(cpu_seconds([each.python, *given]))
        rows = []
        for checkout, each, seconds in zip(
            arguments.checkouts, made, taken, strict=True
        ):
            medians = {name: statistics.median(of) for name, of in seconds.items()}
            every, alone = each.megabytes()
            rows.append(
                [
                    checkout.absolute().name,
                    str(len(each.names())),
                    f"{every:.1f}",
                    f"{alone:.2f}",
                    f"{medians['import'] - medians['nothing']:.3f}",
                    f"{medians['help'] - medians['nothing']:.3f}",
                ]
            )
        common = {name for each in made for name in each.names()}
        for each in made:
            common &= set(each.names())
        names = sorted({name for each in made for name in each.names()} - common)
    heads = ["checkout", "packages", "MB", "situate MB", "import CPU s", "help CPU s"]
    table(heads, rows)
    sys.stdout.write(f"packages not in all of them: {', '.join(names) or 'none'}\n")


if __name__ == "__main__":
    main()
