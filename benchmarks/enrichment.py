"""Speed and memory of enrichment: `python -m benchmarks.enrichment`.

Against a protocol double on loopback, which answers as fast as it is told to:
what is measured is situate, never a model. Exceeding a budget is for people to
judge, so the exit code does not depend on it.
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

from benchmarks.measuring import table
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, asking
from tests.support.mock_model import MockModel, Script, speaking

CONCURRENCY = 32
LATENCY_SECONDS = 1.0

# The budgets of the design.
MOST_OWN_MILLISECONDS = 1.0
LEAST_CACHED_PER_SECOND = 5_000
LEAST_SHARE = 0.85

_LIFETIME_SECONDS = 600.0

# A process reports at least the peak of the one it was forked from, so that
# what is measured is started by a process that holds nothing.
_LAUNCHER = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of the command."""

    seconds: float
    megabytes: float
    """The most memory it held."""
    statements: int
    chunks: int


def corpus_of(
    folder: Path, *, documents: int, sections: int, model: MockModel | None = None
) -> Corpus:
    """Write a corpus, enriched by a server if one is given."""
    corpus = Corpus(folder=folder)
    for number in range(documents):
        corpus.document(f"{number:05}.md", agreement(number, sections))
    if model is None:
        return corpus.configure()
    keys = {"concurrency": CONCURRENCY, "max_total_tokens": 10**12}
    return corpus.configure(
        enrichment=asking(model.openai_url, **keys), cache={"directory": "cache"}
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
    with speaking(lifetime_seconds=_LIFETIME_SECONDS) as model:
        corpus = corpus_of(folder, documents=documents, sections=20, model=model)
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
    measured = json.loads(ended.stdout)
    chunks = measured["chunks"]
    sdk, live, cached = (
        1000 * measured[name] / chunks for name in ("sdk", "live", "cached")
    )
    rows = [
        ["the SDK alone", f"{sdk:.2f}", "1.00", ""],
        ["situate", f"{live:.2f}", f"{live / sdk:.2f}", ""],
        [
            "  of that above the SDK",
            f"{live - sdk:.2f}",
            f"{(live - sdk) / sdk:.2f}",
            f"at most {MOST_OWN_MILLISECONDS:g} ms",
        ],
        [
            f"everything cached: {1000 / cached:,.0f} chunks per CPU second",
            f"{cached:.2f}",
            f"{cached / sdk:.2f}",
            f"at least {LEAST_CACHED_PER_SECOND:,}",
        ],
    ]
    print(f"{chunks} chunks, {CONCURRENCY} in flight, no latency")
    table(["CPU time per chunk", "ms", "x SDK", "budget"], rows)


def throughput(folder: Path, *, waves: int) -> None:
    """Compare what reaches a slow server with what could."""
    script = Script(latency_seconds=LATENCY_SECONDS)
    with speaking(script, lifetime_seconds=_LIFETIME_SECONDS) as model:
        corpus = corpus_of(folder, documents=4 * waves, sections=8, model=model)
        ran = run(corpus)
        seen = model.statistics
    assert ran.statements == ran.chunks == seen.answers == seen.calls, (ran, seen)
    assert seen.most_in_flight <= CONCURRENCY
    share = seen.answers / seen.seconds / (CONCURRENCY / LATENCY_SECONDS)
    print(f"{seen.answers} requests, {LATENCY_SECONDS:g} s each")
    rows = [
        [
            "share of concurrency / latency",
            f"{share:.1%}",
            f"at least {LEAST_SHARE:.0%}",
        ],
        ["most in flight", f"{seen.most_in_flight}", f"{CONCURRENCY}"],
    ]
    table(["throughput, first request to last answer", "", "budget"], rows)


def memory(folder: Path, *, documents: int) -> None:
    """Compare the memory of a run over many documents with that over one."""
    rows = []
    sizes = {"one document": 1, f"{documents} documents": documents}
    for name, size in sizes.items():
        ran = run(corpus_of(folder / f"off-{size}", documents=size, sections=40))
        rows.append([f"{name}, no statements", *_figures(ran)])
    with speaking(lifetime_seconds=_LIFETIME_SECONDS) as model:
        for name, size in sizes.items():
            on = folder / f"on-{size}"
            corpus = corpus_of(on, documents=size, sections=40, model=model)
            asked, again = run(corpus), run(corpus)
            assert asked.statements == again.statements == asked.chunks
            rows.append([f"{name}, statements asked for", *_figures(asked)])
            rows.append([f"{name}, statements cached", *_figures(again)])
        assert model.statistics.calls == 40 * (documents + 1)
    table(["`situate run`", "peak MB", "chunks", "chunks/s, start included"], rows)


def _figures(ran: Ran) -> list[str]:
    speed = ran.chunks / ran.seconds
    return [f"{ran.megabytes:.0f}", f"{ran.chunks}", f"{speed:.0f}"]


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waves", type=int, default=15, help="of requests: 15")
    parser.add_argument("--documents", type=int, default=200, help="of many: 200")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        cpu(folder / "cpu", documents=25, rounds=asked.rounds)
        throughput(folder / "throughput", waves=asked.waves)
        memory(folder / "memory", documents=asked.documents)


if __name__ == "__main__":
    main()
