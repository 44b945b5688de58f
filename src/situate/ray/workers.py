"""What runs in the workers of a run on Ray: the steps, and what they say of themselves.

They are careful with what has ended a worker before: such documents are taken one by
one, until it is known which of them does it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from situate.enrichment.budget import Committed
from situate.errors import SituateError
from situate.pipeline.documents import Failed
from situate.ray.cutting import chunk_batch
from situate.ray.documents import SOURCE
from situate.ray.enriching import Enricher
from situate.ray.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    import pyarrow as pa

    from situate.config import Config
    from situate.corpus import Source

    Found: TypeAlias = Mapping[str, Sequence[Source]]
    Step: TypeAlias = Callable[[Found], pa.Table]

_DEATHS = 2
"""Workers that a document may end when it is taken alone: one of them may have been
ended by somebody else."""


def cut(
    batch: Found, *, config: Config, deleted: Mapping[str, str], register: Any
) -> pa.Table:
    """Cut documents as they were found; what stops a run is a row."""

    def step(batch: Found) -> pa.Table:
        return chunk_batch(batch, config=config, deleted=deleted)

    return _stopping(lambda: _carefully(batch, step, register, threading.Lock()))


class Worker:
    """One of the workers that ask, or what was put in the place of one."""

    def __init__(
        self, config: Config, *, workers: int, deleted: Mapping[str, str], register: Any
    ) -> None:
        """Take the rest of a share."""
        import ray

        self._name = ray.get_runtime_context().get_actor_id()
        self._register = register
        self._gone: Committed = ray.get(register.enter.remote(self._name))
        # Of what is taken alone there is one at a time, or nobody knew whose death.
        self._alone = threading.Lock()
        self._enrich: Enricher | SituateError
        try:
            self._enrich = Enricher(
                config, workers=workers, deleted=deleted, committed=self._gone
            )
        except SituateError as error:
            # Said where it is heard: with the first batch.
            self._enrich = error

    def __call__(self, batch: Found) -> pa.Table:
        """Cut and ask about documents as they were found; what stops a run is a row."""
        return _stopping(
            lambda: _carefully(batch, self._asked, self._register, self._alone)
        )

    def _asked(self, batch: Found) -> pa.Table:
        import ray

        if isinstance(self._enrich, SituateError):
            raise self._enrich
        table = self._enrich(batch)
        spent, before = self._enrich.spent, self._gone
        gone = Committed(
            usd=before.usd + (spent.cost_usd or 0),
            tokens=before.tokens + spent.usage.input + spent.usage.output,
        )
        ray.get(self._register.report.remote(self._name, gone))
        return table


def _stopping(work: Callable[[], pa.Table]) -> pa.Table:
    """Give what stops a run as a row.

    What a worker raises reaches whoever started it as pages about the inside of Ray.
    """
    try:
        return work()
    except SituateError as error:
        rows = Rows()
        rows.stop(error)
        return rows.table()


def _carefully(
    batch: Found, step: Step, register: Any, alone: threading.Lock
) -> pa.Table:
    """Take a batch as a whole; one by one where that has ended a worker."""
    import pyarrow as pa
    import ray

    sources = batch[SOURCE]
    work = f"batch {_named(sources[0])}"
    if not ray.get(register.begin.remote(work)):
        table = step(batch)
        register.end.remote(work)
        return table
    tables = []
    for source in sources:
        with alone:
            tables.append(_one(source, step, register))
    register.end.remote(work)
    return pa.concat_tables(tables)


def _one(source: Source, step: Step, register: Any) -> pa.Table:
    """Take a document, or give it up where it has ended workers."""
    import ray

    name = _named(source)
    if ray.get(register.begin.remote(name)) < _DEATHS:
        table = step({SOURCE: [source]})
        ray.get(register.end.remote(name))
        return table
    reason = (
        f"{source.doc_id}: the process that read it ended, twice; it is damaged, or "
        "too large for the memory there is"
    )
    rows = Rows()
    rows.add(Failed(source=source, reason=reason), ())
    return rows.table()


def _named(source: Source) -> str:
    """Tell a document from all others of a run."""
    return f"{source.named} {source.path}"
