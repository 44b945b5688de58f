"""A cache on the disk and one on a server: `python -m benchmarks.shared_cache`.

Every answer is at hand, in turns from a database and from a server of the Redis
protocol on this machine, which is started for it. Documents are read and cut before the
clock starts, so that what is measured is looking answers up, judging them and merging.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.enrichment import Asked, corpus_of
from benchmarks.measuring import table
from situate.addresses import read_server
from situate.config import load
from situate.enrichment.cache import Cache
from situate.enrichment.live import Session
from situate.pipeline.documents import Prepared
from situate.pipeline.jobs import ready
from tests.support.mock_model import Script, speaking
from tests.support.redis import serving

if TYPE_CHECKING:
    from situate.enrichment.cache import Place
    from situate.enrichment.settings import View
    from situate.pipeline.jobs import Job

VIEWS: tuple[View, ...] = ("marked", "window")


async def enrich(job: Job, documents: list[Prepared], place: Place) -> int:
    """Ask for all statements, from a cache as far as it has them; give the requests."""
    asking = job.asked()
    with Cache(place) as cache:
        async with Session(
            settings=asking.settings,
            prompt=asking.prompt,
            provider=asking.provider,
            cache=cache,
            ledger=None,
            counter=job.preparer.counter,
            facts=asking.facts,
        ) as session:
            for document in documents:
                await session.enrich(document.document, document.chunks)
            return session.summary.requests


def best(job: Job, documents: list[Prepared], places: dict[str, Place]) -> list[str]:
    """Give chunks per second from each place, the best of several turns."""
    chunks = sum(len(document.chunks) for document in documents)
    seconds = dict.fromkeys(places, float("inf"))
    for turn in itertools.product(range(6), places):
        name = turn[1]
        began = time.perf_counter()
        requests = asyncio.run(enrich(job, documents, places[name]))
        if turn[0]:
            assert not requests, f"{name} did not have every answer"
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    return [f"{chunks / each:,.0f}" for each in seconds.values()]


def main() -> None:
    """Measure both views and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--sections", type=int, default=20)
    options = parser.parse_args()
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as server,
        speaking(Script(), lifetime_seconds=600) as model,
    ):
        for view in VIEWS:
            corpus = corpus_of(
                Path(folder) / view,
                documents=options.documents,
                sections=options.sections,
                asked=Asked(model=model, view=view),
            )
            (job,) = ready(load([corpus.config], environment={}))
            documents = [
                outcome
                for outcome in job.preparer.prepare_all(job.sources())
                if isinstance(outcome, Prepared)
            ]
            places: dict[str, Place] = {
                "disk": Path(folder) / view / "cache",
                "server": read_server(server.url),
            }
            rows.append([view, *best(job, documents, places)])
    table(["cached chunks a second", "disk", "server"], rows)


if __name__ == "__main__":
    main()
