"""What nightly syncs of 10,000 documents take: `python -m benchmarks.syncing`.

The first sync, its acknowledgement, a night without a change, and one on which a
document is edited, one deleted, one renamed and five are touched. Each is a process of
its own, as it is at night. Exceeding a budget is for people to judge, so the exit code
does not depend on it.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import table

# The budgets of what it must show.
MOST_SECONDS = 20.0
MOST_MEGABYTES = 300.0

CONFIG = """\
[corpus]
name = "policies"
documents = ["docs/**/*.md"]

[output]
path = "out/policies.jsonl"
"""

WORDS = (
    *("leave", "days", "office", "travel", "rail", "hotel"),
    *("meals", "receipts", "notice", "budget", "manager", "approval"),
)

SECTIONS = 5
WORDS_OF_A_SECTION = 120

# `ru_maxrss` counts kilobytes on Linux, bytes on macOS.
_PER_MEGABYTE = 1e6 if sys.platform == "darwin" else 1e6 / 1024


def document(number: int, chance: random.Random) -> str:
    """Write a document of a few sections."""
    lines = ["---", f"doc_id: P-{number}", "---", f"# Policy {number}", ""]
    for section in range(SECTIONS):
        words = " ".join(chance.choice(WORDS) for _ in range(WORDS_OF_A_SECTION))
        lines += [f"## Section {section}", "", f"{words.capitalize()}.", ""]
    return "\n".join(lines)


def situate(folder: Path, *arguments: str) -> tuple[str, float, float]:
    """Run a command; give what it wrote, its seconds and its megabytes."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "situate", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    seconds = time.perf_counter() - began
    return said.strip(), seconds, usage.ru_maxrss / _PER_MEGABYTE


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    documents = parser.parse_args().documents
    chance = random.Random(6)  # noqa: S311 - draws words, not secrets
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        docs = folder / "docs"
        docs.mkdir()
        (folder / "policies.toml").write_text(CONFIG, "utf-8")
        for number in range(documents):
            path = docs / f"{number:05}.md"
            path.write_text(document(number, chance), "utf-8")

        def take(told: str, *arguments: str) -> str:
            said, seconds, megabytes = situate(folder, *arguments)
            rows.append((told, f"{seconds:.1f}", f"{megabytes:.0f}"))
            return said

        run = take("first sync", "sync", "policies.toml")
        take("ack", "ack", run, "--config", "policies.toml")
        take("sync, no change", "sync", "policies.toml")
        (docs / "00000.md").write_text(document(0, chance), "utf-8")
        (docs / "00001.md").unlink()
        (docs / "00002.md").rename(docs / "renamed.md")
        for number in range(3, 8):
            os.utime(docs / f"{number:05}.md", (1, 1))
        run = take("sync, 1 edited, 1 gone, 1 renamed", "sync", "policies.toml")
        take("ack of that", "ack", run, "--config", "policies.toml")
    table(("command", "seconds", "MB"), rows)
    print(f"budget without a change: {MOST_SECONDS:.0f} s, {MOST_MEGABYTES:.0f} MB")


if __name__ == "__main__":
    main()
