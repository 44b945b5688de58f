"""The enrichment stage of documents that are published, whatever comes of it (E10)."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from situate.enrichment.asking import Held
from situate.enrichment.batches import outstanding
from situate.enrichment.budget import NOTHING
from situate.enrichment.cache import Cache
from situate.enrichment.contexts import Contexts
from situate.enrichment.former import without_asking
from situate.enrichment.gate import instructions_of
from situate.enrichment.ledger import Ledger
from situate.enrichment.outcomes import stop_reason_of
from situate.enrichment.reasons import REASONS
from situate.errors import ConfigError, ProviderUnusable, RecordError
from situate.manifest import NOTHING_SPENT, Spent
from situate.pipeline import batches
from situate.pipeline.documents import Ids, Prepared
from situate.pipeline.enriching import (
    Kept,
    enrich_in_order,
    nothing_before,
    session_of,
    waited_for,
)

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Callable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from situate.corpus import Source
    from situate.enrichment.budget import Committed
    from situate.enrichment.live import Session
    from situate.enrichment.reasons import StopReason
    from situate.enrichment.throttle import Throttle
    from situate.model import Chunk, Enrichment
    from situate.pipeline.enriching import Preparing, Write
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Forecast, Watcher


_TOLD = 10
"""Warnings of enrichment that are said aloud; all are in the manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Asks for the statements of documents and hands each on, answered or not."""

    job: Job
    watcher: Watcher
    former: Callable[[Prepared], Mapping[str, Enrichment]] = nothing_before
    """What stays where nothing comes."""
    publishes_anyway: bool = False
    """Whether chunks wait for nobody: a wrong key or model stops the asking alone,
    where it would end a run (S7)."""

    def forecast(self, sources: Sequence[Source]) -> Forecast:
        """Say what will be asked and what it costs, before it is.

        Raises:
            SituateError: two documents name one id.
        """
        forecast = self.job.forecast(sources, self.watcher)
        self.watcher.forecast(forecast)
        return forecast

    def work(
        self, sources: Sequence[Source], write: Write, forecast: Forecast
    ) -> Spent:
        """Ask; `write` gets the documents in their order.

        Raises:
            AuthenticationFailed: the key is wrong.
            SituateError: two documents name one id, or no request can succeed.
        """
        try:
            self.check(forecast)
            self.watcher.begin(self.job.config.corpus.name, len(sources))
            with self._kept(sources) as kept:
                return waited_for(self._through(sources, write, kept))
        except ProviderUnusable as error:
            if not self.publishes_anyway:
                raise
            unkept = _Unkept(reason=stop_reason_of(error), why=str(error))
            return waited_for(self._through(sources, write, unkept))

    def check(self, forecast: Forecast) -> None:
        """Find out, where anything is to be asked, whether it can be.

        Raises:
            AuthenticationFailed: there is no key.
        """
        if forecast.estimate is not None and forecast.estimate.requests > 0:
            self.job.asked().provider.check()

    def tell(self, spent: Spent) -> None:
        """Say aloud what there is to say of a run."""
        for warning in spent.warnings[:_TOLD]:
            self.watcher.note(warning)
        if len(spent.warnings) > _TOLD:
            self.watcher.note(f"{len(spent.warnings) - _TOLD} more are in the manifest")

    @asynccontextmanager
    async def standing(
        self, throttle: Throttle | None = None, committed: Committed = NOTHING
    ) -> AsyncIterator[Standing]:
        """Stand ready for documents as they come; all of them are one run.

        Nothing is handed to a vendor's batch. Stages that share a `throttle`, in one
        loop, keep its pace together. What is `committed` was spent on this run before.

        Raises:
            ConfigError: enrichment is off, or its limits do not fit the model.
        """
        with self._kept(None) as kept:
            used = kept
            if isinstance(kept, Kept) and kept.held is not None:
                used = replace(kept, held=replace(kept.held, committed=committed))
            async with self._standing(used, throttle) as standing:
                yield standing

    async def _through(
        self, sources: Sequence[Source], write: Write, kept: Kept | _Unkept
    ) -> Spent:
        """Do all of a run, and say aloud what there is to say of it."""
        async with self._standing(kept) as standing:
            await standing.work(sources, write)
        self.tell(standing.spent)
        return standing.spent

    @asynccontextmanager
    async def _standing(
        self, kept: Kept | _Unkept, throttle: Throttle | None = None
    ) -> AsyncIterator[Standing]:
        if isinstance(kept, _Unkept):
            yield _Silent(stage=self, unkept=kept)
            return
        async with session_of(self.job, kept, throttle) as session:
            yield _Asking(stage=self, session=session)

    @contextmanager
    def _kept(self, sources: Sequence[Source] | None) -> Iterator[Kept | _Unkept]:
        """Open what answers and requests are kept in, or say why nobody is asked."""
        with ExitStack() as stack:
            yield self._opened(stack, sources)

    def _opened(
        self, stack: ExitStack, sources: Sequence[Source] | None
    ) -> Kept | _Unkept:
        asking = self.job.asked()
        try:
            cache = stack.enter_context(Cache(asking.cache_place))
        except ConfigError as error:
            return _Unkept(reason="cache", why=str(error))
        try:
            held = self._held(sources)
        except RecordError as error:
            return _Unkept(reason="cache", why=str(error))
        ledger_path = self.job.config.output.beside("ledger.jsonl")
        try:
            ledger = stack.enter_context(Ledger(ledger_path))
        except ConfigError as error:
            return _Unkept(reason="ledger", why=str(error))
        return Kept(
            cache=cache,
            ledger=ledger,
            held=held,
            former=self.former,
            publishes_anyway=self.publishes_anyway,
        )

    def _held(self, sources: Sequence[Source] | None) -> Held | None:
        """Say what waits for a batch, and hand over what is to go into one.

        Raises:
            RecordError: a ticket cannot be read; a batch may be under way.
            SituateError: nothing can be handed over as the config has it.
        """
        asking = self.job.asked()
        if asking.settings.replayed:
            return None
        if asking.settings.mode == "batch" and sources is not None:
            return batches.hand_over(self.job.config, sources, self.watcher)
        return Held(outlook=outstanding(asking.cache_directory))


class Standing(Protocol):
    """A stage that is open: documents go in, and what is spent adds up."""

    async def work(
        self,
        sources: Iterable[Source],
        write: Write,
        preparing: Preparing | None = None,
    ) -> None:
        """Ask; `write` gets the documents in their order.

        No more of `sources` is taken than is worked on; they are read and cut by
        `preparing`, here where none is given.

        Raises:
            SituateError: two documents name one id, or no request can succeed.
        """

    @property
    def spent(self) -> Spent:
        """What was asked and spent so far, for documents that are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Asks."""

    stage: Stage
    session: Session

    async def work(
        self,
        sources: Iterable[Source],
        write: Write,
        preparing: Preparing | None = None,
    ) -> None:
        job = self.stage.job
        await enrich_in_order(
            sources,
            preparing or job.preparer,
            self.session,
            concurrency=job.asked().settings.concurrency,
            write=write,
            former=self.stage.former,
        )

    @property
    def spent(self) -> Spent:
        summary = self.session.summary
        warnings = tuple(sorted(summary.warnings))
        stopped = summary.stopped
        return Spent(
            requests=summary.requests,
            attempts=summary.attempts,
            cache_hits=summary.cache_hits,
            usage=summary.usage,
            cost_usd=summary.cost_usd,
            saved_usd=summary.saved_usd,
            prefix_writes=summary.prefix_writes,
            prefix_reads=summary.prefix_reads,
            wasted_writes=summary.wasted_writes,
            distinct_statements=summary.distinct_statements,
            trimmed=summary.trimmed,
            warnings=warnings,
            stopped=stopped
            and f"{stopped}: {summary.stop_message or REASONS[stopped]}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unkept:
    """Why nobody is asked: what is said could not be kept."""

    reason: StopReason
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Silent:
    """Asks nobody: chunks come with statements of before alone."""

    stage: Stage
    unkept: _Unkept

    async def work(
        self,
        sources: Iterable[Source],
        write: Write,
        preparing: Preparing | None = None,
    ) -> None:
        preparing = preparing or self.stage.job.preparer
        ids = Ids(preparing.keep)
        for source in sources:
            outcome = await asyncio.to_thread(preparing.outcome, source)
            ids.add(outcome)
            chunks: Sequence[Chunk] = ()
            if isinstance(outcome, Prepared):
                chunks = self._chunks(outcome)
            write(outcome, chunks)

    @property
    def spent(self) -> Spent:
        stopped = f"{self.unkept.reason}: {self.unkept.why}"
        return replace(NOTHING_SPENT, stopped=stopped)

    def _chunks(self, document: Prepared) -> Sequence[Chunk]:
        asking, preparer = self.stage.job.asked(), self.stage.job.preparer
        contexts = Contexts(
            document=document.document,
            planned=asking.plan(document, preparer),
            counter=preparer.counter,
            max_tokens=asking.settings.statement_max_tokens,
            instructions=instructions_of(*asking.prompt.parts),
        )
        return without_asking(
            document.chunks,
            self.stage.former(document),
            contexts,
            asking.prompt,
            self.unkept.reason,
        )
