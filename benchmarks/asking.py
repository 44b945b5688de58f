"""CPU time of asking: `python -m benchmarks.asking CONFIG`.

Asks for the statements of a corpus three ways in turns, in one process that
does nothing else: with the vendor's SDK alone, through a session with an empty
cache, and through a session that has every answer already. Prints JSON; the
server is somebody else's process. Meant to be started by
`python -m benchmarks.enrichment`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import cpu_seconds
from situate.config import load
from situate.enrichment.cache import Cache
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import Session
from situate.pipeline.documents import Prepared
from situate.pipeline.jobs import Asking, Job, ready
from situate.pricing import load_models

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.enrichment.exchange import Body
    from situate.enrichment.live import Summary


async def ask_with_the_sdk(asking: Asking, bodies: list[Body]) -> None:
    """Ask as a caller of the SDK would, with as many requests in flight."""
    import openai

    client = openai.AsyncOpenAI(
        api_key="none", base_url=asking.settings.base_url, max_retries=0
    )
    waiting = iter(bodies)

    async def work() -> None:
        for body in waiting:
            completion = await client.chat.completions.create(**body)  # type: ignore[call-overload]  # a body is any JSON
            assert completion.choices[0].message.content

    async with client, asyncio.TaskGroup() as group:
        for _ in range(asking.settings.concurrency):
            group.create_task(work())


async def ask_with_a_session(
    job: Job, documents: list[Prepared], asking: Asking, directory: Path
) -> Summary:
    """Ask as a run does, with the cache in this directory."""
    with Cache(directory / "cache") as cache, Ledger(directory / "ledger") as ledger:
        async with Session(
            settings=asking.settings,
            prompt=asking.prompt,
            provider=asking.provider,
            cache=cache,
            ledger=ledger,
            counter=job.preparer.counter,
            facts=load_models().facts(asking.settings.provider, asking.settings.model),
        ) as session:
            async with asyncio.TaskGroup() as group:
                for document in documents:
                    group.create_task(
                        session.enrich(document.document, document.chunks)
                    )
            return session.summary


def measure(config: Path, *, rounds: int) -> dict[str, float]:
    """Give chunks and requests, and the CPU seconds each way of asking takes."""
    (job,) = ready(load([config], environment={}))
    asking = job.asking
    assert asking is not None, "the config asks for nothing"
    outcomes = job.preparer.prepare_all(job.sources())
    documents = [each for each in outcomes if isinstance(each, Prepared)]
    plans = [asking.plan(document, job.preparer) for document in documents]
    bodies = [request.body for each in plans for request in each.requests]
    chunks = sum(len(each.passages) for each in plans)
    with tempfile.TemporaryDirectory() as folder:
        fresh = _fresh(Path(folder))

        def live() -> None:
            summary = asyncio.run(
                ask_with_a_session(job, documents, asking, next(fresh))
            )
            assert summary.statements == chunks, summary
            assert summary.attempts == len(bodies), summary

        filled = next(fresh)
        asyncio.run(ask_with_a_session(job, documents, asking, filled))

        def cached() -> None:
            summary = asyncio.run(ask_with_a_session(job, documents, asking, filled))
            assert summary.statements == chunks, summary
            assert summary.attempts == 0, summary

        seconds = cpu_seconds(
            {
                "sdk": lambda: asyncio.run(ask_with_the_sdk(asking, bodies)),
                "live": live,
                "cached": cached,
            },
            rounds=rounds,
        )
    return {"chunks": chunks, "requests": len(bodies), **seconds}


def _fresh(folder: Path) -> Iterator[Path]:
    for number in itertools.count():
        directory = folder / str(number)
        directory.mkdir()
        yield directory


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print(json.dumps(measure(asked.config, rounds=asked.rounds)))


if __name__ == "__main__":
    main()
