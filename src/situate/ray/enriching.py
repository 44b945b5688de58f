"""The step that asks for statements: one that holds client, cache and limits."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.budget import NOTHING
from situate.manifest import NOTHING_SPENT
from situate.pipeline.asking import Asking
from situate.pipeline.documents import Prepared, Preparer
from situate.pipeline.jobs import Job
from situate.pipeline.stage import Stage
from situate.pipeline.written import written
from situate.ray.documents import documents
from situate.ray.rows import Rows
from situate.ray.shares import shared
from situate.ray.spending import since

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from typing import Self

    import pyarrow as pa

    from situate.config import Config
    from situate.enrichment.budget import Committed
    from situate.manifest import Spent
    from situate.model import Chunk
    from situate.pipeline.documents import Failed
    from situate.pipeline.watching import Forecast
    from situate.ray.documents import Batch

_Result = TypeVar("_Result")


class Enricher:
    """Cuts documents and asks for the statements of each as a whole.

        with Enricher(config, workers=2) as enrich:
            table = enrich(batch)

    One of so many `workers`, each of which has an equal share of what the config allows
    (`shared`). They keep answers in one place: a cache directory of one machine, or
    Redis. May be called by several threads; all of them ask through one loop.
    """

    def __init__(
        self,
        config: Config,
        *,
        workers: int = 1,
        deleted: Mapping[str, str] | None = None,
        committed: Committed = NOTHING,
    ) -> None:
        """Open everything; what is `committed` of the share was spent before.

        `deleted` has the ids that manifests delete, and where they do.

        Raises:
            ConfigError: enrichment is off, its limits cannot be divided or do not fit
                the model, the organisation does not allow to ask so, or the
                tokenizer cannot be loaded.
        """
        share = shared(config, workers)
        self._job = Job(
            config=share,
            preparer=replace(Preparer.of(share), deleted=deleted or {}),
            excluded=frozenset(),
            listings=(),
            inputs=(),
            asking=Asking.of(share),
        )
        self._job.asked().check()
        self._loop = _Loop()
        stage = Stage(job=self._job, watcher=_Nobody())
        self._open = stage.standing(committed=committed)
        self._standing = self._loop.result(self._open.__aenter__())
        self._told = NOTHING_SPENT
        # Keeps two threads from telling the same spending twice.
        self._telling = threading.Lock()

    def __call__(self, batch: Batch) -> pa.Table:
        """Give the rows of a batch's documents in their order, then what was spent.

        Bad documents are rows, as for `chunk_batch`; so are chunks without a
        statement, which say why.

        Raises:
            ProviderUnusable: the first request found that the key, the model or the
                address is wrong.
            ConfigError: no column holds documents.
            SituateError: two documents of the batch name one id.
        """
        found = documents(batch)
        rows = Rows()

        def write(outcome: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
            if isinstance(outcome, Prepared):
                rows.add(written(outcome, chunks), chunks)
            else:
                rows.add(outcome, ())

        preparer = replace(self._job.preparer, at_hand=found.refused)
        self._loop.result(self._standing.work(found.sources, write, preparer))
        with self._telling:
            now = self._standing.spent
            rows.spend(since(now, self._told))
            self._told = now
        return rows.table()

    @property
    def spent(self) -> Spent:
        """What was asked and spent so far."""
        return self._standing.spent

    def close(self) -> None:
        """Close client, cache and ledger."""
        self._loop.result(self._open.__aexit__(None, None, None))
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Loop:
    """One event loop in a thread of its own, for whoever has none."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._loop = self._runner.get_loop()
        # Whoever drops this without closing it is not kept from ending.
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def result(self, work: Coroutine[None, None, _Result]) -> _Result:
        """Wait for work; what stops several of its tasks is raised by itself."""
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except BaseExceptionGroup as group:
            error: BaseException = group
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from group

    def close(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._runner.close()


class _Nobody:
    """Hears nothing: what workers have to say stands in their rows."""

    def note(self, message: str) -> None:
        """Drop it."""

    def forecast(self, forecast: Forecast) -> None:
        """Drop it."""

    def begin(self, task: str, documents: int) -> None:
        """Drop it."""

    def advance(self) -> None:
        """Drop it."""
