"""A corpus of one's own, off, asked and cached: `python -m benchmarks.corpus FOLDER`.

Runs `situate run` over every Markdown file below a folder, without statements, with
a server on loopback that answers each request after a tenth of a second, and again
with everything cached; then `situate check` over every output. What answers is a
protocol double: its sentences say nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.enrichment import CONCURRENCY, Ran, run
from benchmarks.measuring import table
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import Script, speaking

if TYPE_CHECKING:
    from collections.abc import Sequence

LATENCY_SECONDS = 0.1


def copied(documents: Path, folder: Path) -> Corpus:
    """Copy the documents beside a config."""
    corpus = Corpus(folder=folder)
    for path in sorted(documents.rglob("*.md")):
        corpus.document(path.relative_to(documents).as_posix(), path.read_bytes())
    return corpus


def checked(corpus: Corpus) -> str:
    """Run `situate check` and give its last line."""
    command = [sys.executable, "-m", "situate", "check", str(corpus.chunks)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stderr.strip().splitlines()[-1].removeprefix("situate: ")


def measure(documents: Path, folder: Path) -> list[Sequence[str]]:
    """Give a row per run: documents per second, peak memory, statements, check."""
    count = sum(1 for _ in documents.rglob("*.md"))

    def row(name: str, ran: Ran, corpus: Corpus) -> Sequence[str]:
        return [
            name,
            f"{count / ran.seconds:.1f}",
            f"{ran.megabytes:.0f}",
            f"{ran.chunks}",
            f"{ran.statements}",
            checked(corpus),
        ]

    off = copied(documents, folder / "off").configure()
    rows = [row("no statements", run(off), off)]
    on = copied(documents, folder / "on")
    with speaking(
        Script(latency_seconds=LATENCY_SECONDS), lifetime_seconds=1800
    ) as model:
        keys = {"concurrency": CONCURRENCY, "max_total_tokens": 10**12}
        enrichment = asking(model.openai_url, **keys)
        on.configure(enrichment=enrichment, cache={"directory": "cache"})
        rows.append(row("asked for", run(on), on))
        calls = model.statistics.calls
        rows.append(row("cached", run(on), on))
        assert model.statistics.calls == calls, "a second run must send nothing"
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(asked.documents, Path(folder))
    header = ["statements", "documents/s", "peak MB", "chunks", "statements", "check"]
    table(header, rows)


if __name__ == "__main__":
    main()
