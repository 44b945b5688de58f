"""Speed and memory of enrichment: `python -m benchmarks.enrichment`.

Against a protocol double on loopback, which answers as fast as it is told to:
what is measured is situate, never a model. Exceeding a budget is for people to
judge, so the exit code does not depend on it. Every figure is given for `marked`,
with many chunks in a request, for `window` with one, and for `full` with one and
a prefix that the vendor keeps.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import table
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import MockModel, Script, speaking

if TYPE_CHECKING:
    from situate.enrichment.settings import View

CONCURRENCY = 32
LATENCY_SECONDS = 1.0

MODEL = "gpt-5.4-mini"
"""Takes a schema for its answers and keeps prefixes."""

VIEWS: tuple[View, ...] = ("marked", "window", "full")

# The budgets of the design.
MOST_OWN_MILLISECONDS = 1.0
LEAST_CACHED_PER_SECOND = 5_000
LEAST_SHARE = 0.85
MOST_MORE = 0.15

_LIFETIME_SECONDS = 600.0

# A process reports at least the peak of the one it was forked from, so that
# what is measured is started by a process that holds nothing.
_LAUNCHER = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whom a corpus asks, and how."""

    model: MockModel
    view: View
    concurrency: int = CONCURRENCY


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of the command."""

    seconds: float
    megabytes: float
    """The most memory it held."""
    statements: int
    chunks: int


def corpus_of(
    folder: Path,
    *,
    documents: int,
    sections: int,
    asked: Asked | None = None,
) -> Corpus:
    """Write a corpus, enriched if it is said how."""
    corpus = Corpus(folder=folder)
    for number in range(documents):
        corpus.document(f"{number:05}.md", agreement(number, sections))
    if asked is None:
        return corpus.configure()
    keys = {
        "model": MODEL,
        "view": asked.view,
        "concurrency": asked.concurrency,
        "max_usd": 10**6,
    }
    return corpus.configure(
        enrichment=asking(asked.model.openai_url, **keys),
        cache={"directory": "cache"},
    )


def run(corpus: Corpus) -> Ran:
    """Run the command in a process of its own.

    Raises:
        SystemExit: it did not end with success.
    """
    command = [sys.executable, "-m", "situate", "run", str(corpus.config)]
    before = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *command],
        capture_output=True,
        check=False,
        env=_environment(),
    )
    seconds = time.perf_counter() - before
    if ended.returncode:
        raise SystemExit(ended.stderr.decode())
    peak = int(ended.stdout.split()[-1])
    counts = corpus.manifest["counts"]
    return Ran(
        seconds=seconds,
        # Linux counts kilobytes, macOS bytes.
        megabytes=peak / (2**20 if sys.platform == "darwin" else 2**10),
        statements=counts["statements"],
        chunks=sum(counts["chunks"].values()),
    )


def _environment() -> dict[str, str]:
    """Give the environment without settings, keys and proxies."""
    foreign = ("ANTHROPIC_", "OPENAI_", "SITUATE_")
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(foreign) and not name.upper().endswith("_PROXY")
    }


def cpu(folder: Path, *, documents: int, rounds: int) -> None:
    """Compare the CPU time per chunk with that of the SDK alone."""
    rows = []
    for view in VIEWS:
        measured = _measured(folder / view, view, documents=documents, rounds=rounds)
        chunks = measured["chunks"]
        sdk, live, cached = (
            1000 * measured[name] / chunks for name in ("sdk", "live", "cached")
        )
        rows.append(
            [
                f"{view}, {measured['requests']:g} requests for {chunks:g} chunks",
                *(f"{figure:.2f}" for figure in (sdk, live, live - sdk, cached)),
                f"{1000 / cached:,.0f}",
            ]
        )
    print(f"{CONCURRENCY} in flight, no latency")
    header = ["CPU ms per chunk", "the SDK alone", "situate"]
    header += [f"above the SDK (at most {MOST_OWN_MILLISECONDS:g})", "cached"]
    header += [f"cached chunks per second (at least {LEAST_CACHED_PER_SECOND:,})"]
    table(header, rows)


def _measured(
    folder: Path, view: View, *, documents: int, rounds: int
) -> dict[str, float]:
    """Measure in a process that does nothing else."""
    with speaking(lifetime_seconds=_LIFETIME_SECONDS) as model:
        asked = Asked(model=model, view=view)
        corpus = corpus_of(folder, documents=documents, sections=20, asked=asked)
        ended = subprocess.run(
            [
                sys.executable,
                *("-m", "benchmarks.asking", str(corpus.config)),
                *("--rounds", str(rounds)),
            ],
            stdout=subprocess.PIPE,
            check=True,
            env=_environment(),
        )
    measured: dict[str, float] = json.loads(ended.stdout)
    return measured


def throughput(folder: Path, *, waves: int) -> None:
    """Compare what reaches a slow server with what could."""
    rows = []
    for view in VIEWS:
        script = Script(latency_seconds=LATENCY_SECONDS)
        per_document = 1 if view == "marked" else 8
        documents = waves * CONCURRENCY // per_document
        with speaking(script, lifetime_seconds=_LIFETIME_SECONDS) as model:
            asked = Asked(model=model, view=view)
            corpus = corpus_of(
                folder / view, documents=documents, sections=8, asked=asked
            )
            ran = run(corpus)
            seen = model.statistics
        assert ran.statements == ran.chunks, (ran, seen)
        assert seen.answers == seen.calls == documents * per_document, (ran, seen)
        assert seen.most_in_flight <= CONCURRENCY
        share = seen.answers / seen.seconds / (CONCURRENCY / LATENCY_SECONDS)
        writes = seen.prefix_writes.total() / documents if view == "full" else 0
        rows.append(
            [
                f"{view}, {seen.answers} requests",
                f"{share:.1%}",
                f"{seen.most_in_flight}",
                f"{writes:.2f}",
            ]
        )
    print(f"{CONCURRENCY} in flight, {LATENCY_SECONDS:g} s each, 8 chunks a document")
    header = ["first request to last answer"]
    header += [f"share of concurrency / latency (at least {LEAST_SHARE:.0%})"]
    header += ["most in flight", "cache writes per document"]
    table(header, rows)


def storm(folder: Path) -> None:
    """Compare requests with answers where a server takes 40 in a second."""
    rows = []
    for latency in (0.0, 0.2, 1.0):
        script = Script(
            requests_per_second=40, retry_after_seconds=1.0, latency_seconds=latency
        )
        with speaking(script, lifetime_seconds=_LIFETIME_SECONDS) as model:
            asked = Asked(model=model, view="window", concurrency=64)
            corpus = corpus_of(
                folder / f"{latency:g}", documents=20, sections=20, asked=asked
            )
            ran = run(corpus)
            seen = model.statistics
        more = seen.calls / seen.answers - 1
        rows.append(
            [
                f"{latency:g} s each",
                f"{seen.answers}",
                f"{ran.chunks - ran.statements}",
                f"{more:.1%}",
                f"{seen.seconds:.1f}",
            ]
        )
    print("64 workers, 40 requests a second, Retry-After 1 s")
    header = ["storm", "answers", "lost", f"more requests (at most {MOST_MORE:.0%})"]
    table([*header, "seconds"], rows)


def memory(folder: Path, *, documents: int) -> None:
    """Compare the memory of a run over many documents with that over one."""
    rows = []
    sizes = {"one document": 1, f"{documents} documents": documents}
    for name, size in sizes.items():
        ran = run(corpus_of(folder / f"off-{size}", documents=size, sections=40))
        rows.append([f"{name}, no statements", *_figures(ran)])
    for view in VIEWS[:2]:
        with speaking(lifetime_seconds=_LIFETIME_SECONDS) as model:
            for name, size in sizes.items():
                on = folder / f"{view}-{size}"
                asked = Asked(model=model, view=view)
                corpus = corpus_of(on, documents=size, sections=40, asked=asked)
                first, again = run(corpus), run(corpus)
                assert first.statements == again.statements == first.chunks
                rows.append([f"{name}, {view}, asked for", *_figures(first)])
                rows.append([f"{name}, {view}, cached", *_figures(again)])
    table(["`situate run`", "peak MB", "chunks", "chunks/s, start included"], rows)


def _figures(ran: Ran) -> list[str]:
    speed = ran.chunks / ran.seconds
    return [f"{ran.megabytes:.0f}", f"{ran.chunks}", f"{speed:.0f}"]


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    # The first request of a run is sent alone, and the first documents wait for the
    # vendor's cache: of half as many waves that is a sixth.
    parser.add_argument("--waves", type=int, default=30, help="of requests: 30")
    parser.add_argument("--documents", type=int, default=200, help="of many: 200")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        cpu(folder / "cpu", documents=25, rounds=asked.rounds)
        throughput(folder / "throughput", waves=asked.waves)
        storm(folder / "storm")
        memory(folder / "memory", documents=asked.documents)


if __name__ == "__main__":
    main()
