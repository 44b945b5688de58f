"""What a run on Ray costs and survives: `python -m benchmarks.ray_scale`.

Needs `pip install 'situate[ray]'`. Two figures: the throughput of one worker as a
share of what one process does with the same documents, its start counted apart, with
statements and without; and what a worker that is killed costs a run of two. The model
is a protocol double on loopback, in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import table
from situate.config import load
from situate.pipeline.jobs import ready
from situate.pipeline.stage import Stage
from situate.pipeline.written import write_one, written
from situate.ray.engine import Engine
from tests.integrations.test_ray import started, workers_of
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, Heard, asking
from tests.support.mock_model import Script, speaking
from tests.test_crash import stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from situate.model import Chunk
    from situate.pipeline.documents import Failed, Prepared
    from situate.pipeline.jobs import Job
    from situate.pipeline.written import Written

LEAST_SHARE = 0.7
CONCURRENCY = 32
LATENCY_SECONDS = 0.1

_FIRST = 256
"""Documents that are not timed: two batches for each of the two calls of a worker."""

_LIFETIME_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How documents came out."""

    first_seconds: float
    """Until the first."""
    per_second: float
    """Once all are at work: of those after the first few batches."""


def corpus_of(folder: Path, documents: int) -> Corpus:
    """Write so many small documents."""
    corpus = Corpus(folder=folder)
    for number in range(documents):
        corpus.document(f"{number // 1000:02}/{number:05}.md", agreement(number, 3))
    return corpus.configure()


def ask(corpus: Corpus, address: str, cache: str) -> Corpus:
    """Have a model asked about each document in one request."""
    wanted = {"concurrency": CONCURRENCY, "max_usd": 1000, "endpoint": "mock"}
    return corpus.configure(
        enrichment=asking(address, model="gpt-5.4-mini", view="marked", **wanted),
        cache={"directory": cache},
    )


def job_of(corpus: Corpus) -> Job:
    """Give what is to be done."""
    (job,) = ready(load([corpus.config], environment={}))
    return job


def paced(work: Callable[[Callable[[object], None]], object]) -> Pace:
    """Time work that tells of every document."""
    told: list[float] = []
    begins = time.perf_counter()
    work(lambda _: told.append(time.perf_counter()))
    late = told[_FIRST:]
    per_second = (len(late) - 1) / (late[-1] - late[0])
    return Pace(first_seconds=told[0] - begins, per_second=per_second)


def here(job: Job) -> Pace:
    """Do it in this process."""
    sources = job.sources()

    def work(tell: Callable[[object], None]) -> None:
        if job.asking is None:
            for source in sources:
                tell(write_one(job.preparer, source))
            return

        def write(document: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
            tell(written(document, chunks))  # type: ignore[arg-type]  # all are read

        stage = Stage(job=job, watcher=Heard())
        forecast = stage.job.forecast(sources[:1], Heard())
        stage.work(sources, write, forecast)

    return paced(work)


def on_ray(job: Job, engine: Engine) -> Pace:
    """Do it with the workers of an engine."""
    sources = job.sources()

    def work(tell: Callable[[object], None]) -> None:
        def publish(outcome: Written | Failed) -> None:
            tell(outcome)

        engine.work(job, sources, publish)

    return paced(work)


@contextmanager
def mock_model() -> Iterator[str]:
    """Serve the double from another process; give its address."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.ray_scale", "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def serve() -> None:
    """Serve until stdin ends."""
    script = Script(latency_seconds=LATENCY_SECONDS)
    with speaking(script, lifetime_seconds=_LIFETIME_SECONDS) as model:
        print(model.openai_url, flush=True)
        sys.stdin.read()


def throughput(folder: Path, documents: int, rounds: int) -> None:
    """Print how one worker compares with one process, in turns."""
    corpus = corpus_of(folder / "paced", documents)
    rows = []
    with mock_model() as address, Engine(1) as ray:
        for name in ("without statements", "with statements"):
            pairs = []
            for number in range(rounds):
                jobs = []
                for where in ("here", "ray"):
                    if name == "with statements":
                        cache = str(folder / f"cache-{where}-{number}")
                        ask(corpus, address, cache)
                    jobs.append(job_of(corpus))
                pairs.append((here(jobs[0]), on_ray(jobs[1], ray)))
            shares = [other.per_second / one.per_second for one, other in pairs]
            one, other = pairs[-1]
            rows.append(
                [
                    name,
                    f"{one.per_second:,.0f}",
                    f"{other.per_second:,.0f}",
                    f"{statistics.median(shares):.0%}",
                    f"{other.first_seconds:.1f} s",
                ]
            )
    print(f"{documents:,} documents, one worker; the budget is {LEAST_SHARE:.0%}")
    header = ["", "here /s", "worker /s", "share", "to its first"]
    table(header, rows)


def survival(folder: Path, documents: int) -> None:
    """Print what the death of one of two workers costs, after half of the requests."""
    alone, ray = (corpus_of(folder / name, documents) for name in ("alone", "ray"))
    script = Script(latency_seconds=LATENCY_SECONDS)
    with speaking(script, lifetime_seconds=_LIFETIME_SECONDS) as model:
        for corpus, options in (
            (alone, ()),
            (ray, ("--engine", "ray", "--workers", "2")),
        ):
            before = model.statistics
            begins = time.perf_counter()
            process = started(ask(corpus, model.openai_url, "cache"), *options)
            kept: set[str] = set()
            at_kill = before
            if options:
                half = before.calls + documents // 2
                assert model.wait_for_calls(half, timeout_seconds=_LIFETIME_SECONDS)
                os.kill(workers_of(process)[0], signal.SIGKILL)
                kept, at_kill = stored(corpus), model.statistics
            process.communicate()
            seconds = time.perf_counter() - begins
            assert process.returncode == 0
            repeated = Counter(model.statistics.requests - before.requests)
            again = (model.statistics.requests - at_kill.requests).keys() & kept
            print(
                f"{options[1] if options else 'here'}: {seconds:.0f} s, "
                f"{sum(repeated.values()):,} requests, {len(repeated):,} different; "
                f"stored {len(kept):,} at the kill, of those asked again {len(again)}; "
                f"in flight and asked again {sum(repeated.values()) - len(repeated)}"
            )
    for name in ("handbook.jsonl", "handbook.blocks.jsonl"):
        one, other = (each.chunks.with_name(name) for each in (alone, ray))
        assert one.read_bytes() == other.read_bytes(), name
    print("chunks and blocks are equal to the byte")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["throughput", "survival"])
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve()
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked.only != "survival":
            throughput(Path(folder), asked.documents, asked.rounds)
        if asked.only != "throughput":
            survival(Path(folder), asked.documents)


if __name__ == "__main__":
    main()
