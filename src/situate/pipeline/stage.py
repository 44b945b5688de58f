"""The enrichment stage of documents that are published, whatever comes of it (E10)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.enrichment.asking import Held
from situate.enrichment.batches import outstanding
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
from situate.pipeline.documents import Prepared
from situate.pipeline.enriching import Kept, ask, nothing_before

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from situate.corpus import Source
    from situate.enrichment.reasons import StopReason
    from situate.model import Chunk, Enrichment
    from situate.pipeline.documents import Failed
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Forecast, Watcher

    Write = Callable[[Prepared | Failed, Sequence[Chunk]], None]


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
        asking = self.job.asked()
        try:
            if forecast.estimate is not None and forecast.estimate.requests:
                asking.provider.check()
            return self._asked(sources, write)
        except ProviderUnusable as error:
            if not self.publishes_anyway:
                raise
            return self._without(sources, write, stop_reason_of(error), str(error))

    def _asked(self, sources: Sequence[Source], write: Write) -> Spent:
        asking = self.job.asked()
        self.watcher.begin(self.job.config.corpus.name, len(sources))
        ledger_path = self.job.config.output.beside("ledger.jsonl")
        try:
            opened = Cache(asking.cache_place)
        except ConfigError as error:
            return self._without(sources, write, "cache", str(error))
        with opened as cache:
            try:
                held = self._held(sources)
            except RecordError as error:
                return self._without(sources, write, "cache", str(error))
            try:
                ledger = Ledger(ledger_path)
            except ConfigError as error:
                return self._without(sources, write, "ledger", str(error))
            with ledger:
                kept = Kept(
                    cache=cache,
                    ledger=ledger,
                    held=held,
                    former=self.former,
                    publishes_anyway=self.publishes_anyway,
                )
                return self._spent(sources, write, kept)

    def _held(self, sources: Sequence[Source]) -> Held | None:
        """Say what waits for a batch, and hand over what is to go into one.

        Raises:
            RecordError: a ticket cannot be read; a batch may be under way.
            SituateError: nothing can be handed over as the config has it.
        """
        asking = self.job.asked()
        if asking.settings.replayed:
            return None
        if asking.settings.mode == "batch":
            return batches.hand_over(self.job.config, sources, self.watcher)
        return Held(outlook=outstanding(asking.cache_directory))

    def _without(
        self, sources: Sequence[Source], write: Write, reason: StopReason, why: str
    ) -> Spent:
        """Publish with statements of before alone."""
        asking, preparer = self.job.asked(), self.job.preparer
        for outcome in preparer.prepare_all(sources):
            chunks: Sequence[Chunk] = ()
            if isinstance(outcome, Prepared):
                contexts = Contexts(
                    document=outcome.document,
                    planned=asking.plan(outcome, preparer),
                    counter=preparer.counter,
                    max_tokens=asking.settings.statement_max_tokens,
                    instructions=instructions_of(*asking.prompt.parts),
                )
                former = self.former(outcome)
                chunks = without_asking(
                    outcome.chunks, former, contexts, asking.prompt, reason
                )
            write(outcome, chunks)
        return replace(NOTHING_SPENT, stopped=f"{reason}: {why}")

    def _spent(self, sources: Sequence[Source], write: Write, kept: Kept) -> Spent:
        summary = ask(self.job, sources, kept, write)
        warnings = tuple(sorted(summary.warnings))
        for warning in warnings[:_TOLD]:
            self.watcher.note(warning)
        if len(warnings) > _TOLD:
            self.watcher.note(f"{len(warnings) - _TOLD} more are in the manifest")
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
