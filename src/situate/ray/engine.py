"""Runs on Ray Data: the same files as a run of one process, from several.

The process that was started finds the documents, says what they will cost, and writes
what comes back in their order; workers read, cut and ask. Ray is an extra, started
when the first corpus needs it, on this machine alone unless a cluster is named.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from situate.errors import ConfigError, SituateError
from situate.manifest import NOTHING_SPENT, Spent
from situate.ray.cluster import require, running
from situate.ray.documents import SOURCE
from situate.ray.register import Register
from situate.ray.rows import outcomes
from situate.ray.shares import shared
from situate.ray.spending import together
from situate.ray.workers import Worker, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Self

    import pyarrow as pa

    from situate.config import Config
    from situate.corpus import Source
    from situate.pipeline.documents import Failed
    from situate.pipeline.jobs import Job
    from situate.pipeline.written import Written

_BATCH_DOCUMENTS = 64
"""Documents that a worker is handed together, fewer where they are large."""

_BATCH_BYTES = 4 * 1024 * 1024
"""Bytes of documents from which a batch takes no further one: what comes of one batch
is held at once, by the worker and by the process that writes."""

_AT_ONCE = 2
"""Batches that a worker asks about at once: the next is under way while the last
requests of one end."""


class Engine:
    """Ray with so many workers, for the runs inside a block."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._stack = ExitStack()
        self._started = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def check(self, jobs: Sequence[Job]) -> None:
        """Find out, before any work, whether Ray is here and limits can be divided.

        Raises:
            ConfigError: a package is missing, or a config cannot be shared.
        """
        require()
        for job in jobs:
            shared(job.config, self._workers)

    def work(
        self,
        job: Job,
        sources: Sequence[Source],
        publish: Callable[[Written | Failed], None],
    ) -> Spent:
        """Read, cut and ask; `publish` gets the documents in their order.

        Raises:
            ConfigError: the cluster has too few processors, or more machines than
                one cache directory serves.
            SituateError: what a worker raised, or that workers were lost for good.
        """
        if not self._started:
            self._stack.enter_context(running(self._workers))
            self._started = True
        if job.asking is not None and job.config.cache.backend == "disk":
            _refuse_apart(job.config)
        spent: list[Spent] = []
        tables = _tables(job, sources, self._workers)
        for outcome in outcomes(_while_there_are(tables), iter(sources)):
            if isinstance(outcome, Spent):
                spent.append(outcome)
            else:
                publish(outcome)
        return NOTHING_SPENT if job.asking is None else together(spent)


def _tables(job: Job, sources: Sequence[Source], workers: int) -> Iterator[pa.Table]:
    """Yield what workers give for documents, in the order of `sources`."""
    import pandas as pd  # type: ignore[import-untyped]  # Ray brings it, no stubs
    import ray.data

    frames = [pd.DataFrame({SOURCE: batch}) for batch in _batches(sources)]
    config, deleted = _anchored(job.config), job.preparer.deleted
    register = ray.remote(Register).options(num_cpus=0)
    ledger = config.output.beside("ledger.jsonl")
    told: dict[str, Any] = {
        "config": config,
        "deleted": deleted,
        "register": register.remote(ledger, workers),
    }
    dataset = ray.data.from_pandas(frames)
    if job.asking is None:
        mapped = dataset.map_batches(
            cut,
            batch_size=None,
            batch_format="numpy",
            fn_kwargs=told,
            compute=ray.data.TaskPoolStrategy(size=workers),
        )
    else:
        mapped = dataset.map_batches(
            Worker,
            batch_size=None,
            batch_format="numpy",
            fn_constructor_kwargs={**told, "workers": workers},
            compute=ray.data.ActorPoolStrategy(
                size=workers,
                max_concurrent_calls_per_actor=_AT_ONCE,
                enable_true_multi_threading=True,
            ),
            num_cpus=1,
        )
    yield from mapped.iter_batches(batch_size=None, batch_format="pyarrow")


def _batches(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Part documents into what a worker is handed together."""
    batch: list[Source] = []
    size = 0
    for source in sources:
        size += _bytes(source)
        batch.append(_absolute(source))
        if len(batch) == _BATCH_DOCUMENTS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _bytes(source: Source) -> int:
    try:
        return source.path.stat().st_size
    except OSError:
        return 0  # Reading it will say why.


def _absolute(source: Source) -> Source:
    """Name a document so that it is found from any folder."""
    sidecar = source.sidecar
    return replace(
        source,
        path=source.path.absolute(),
        sidecar=None if sidecar is None else sidecar.absolute(),
    )


def _anchored(config: Config) -> Config:
    """Name what a worker opens so that it is found from any folder."""
    replay = config.enrichment.replay
    return replace(
        config,
        cache=replace(config.cache, directory=config.cache.directory.absolute()),
        output=replace(config.output, path=config.output.path.absolute()),
        enrichment=replace(
            config.enrichment, replay=None if replay is None else replay.absolute()
        ),
    )


def _refuse_apart(config: Config) -> None:
    """Refuse to keep answers in several places that know nothing of each other.

    Raises:
        ConfigError: there are several machines and a cache that one machine has.
    """
    import ray

    machines = {node["NodeManagerHostname"] for node in ray.nodes() if node["Alive"]}
    if len(machines) > 1:
        message = (
            f"{config.path}: the cluster has {len(machines)} machines, each of which "
            "would have a cache directory of its own; set cache.backend to 'redis'"
        )
        raise ConfigError(message)


def _while_there_are(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Say in a line that workers are lost for good.

    Raises:
        SituateError: they are.
    """
    import ray.exceptions

    try:
        yield from tables
    except ray.exceptions.RayActorError as error:
        why = str(error).strip().splitlines()[-1]
        message = f"engine ray: a worker was lost for good: {why}"
        raise SituateError(message) from error
