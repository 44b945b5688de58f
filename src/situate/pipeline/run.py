"""The main job: documents in, chunks out, one corpus after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from situate.enrichment.asking import Held
from situate.enrichment.batches import outstanding
from situate.enrichment.cache import Cache
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import skipped
from situate.enrichment.reasons import NOT_WANTED, REASONS
from situate.errors import ConfigError, Locked, RecordError, SituateError
from situate.manifest import NOTHING_SPENT, Manifest, Sizes, Spent, to_json
from situate.output import Output, writing
from situate.pipeline import batches
from situate.pipeline.documents import Failed, Ids, Prepared
from situate.pipeline.enriching import Kept, ask
from situate.pipeline.jobs import ready
from situate.pipeline.parallel import write_all
from situate.pipeline.tally import Tally
from situate.pipeline.written import Written, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from situate.config import Config
    from situate.corpus import Source
    from situate.manifest import Counts
    from situate.model import Chunk
    from situate.pipeline.jobs import Asking, Job
    from situate.pipeline.watching import Forecast, Watcher

DONE, FAILED, REFUSED, INCOMPLETE, LOCKED = range(5)
"""Exit codes: done; nothing published; config or usage; published, but not what
was asked for; another run holds the lock."""

_TOLD = 10
"""Warnings of enrichment that are said aloud; all are in the manifest."""

_WORST_FIRST = (FAILED, REFUSED, LOCKED, INCOMPLETE, DONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one corpus."""

    corpus: str
    path: Path
    exit_code: int
    reason: str | None
    """Why the exit code is not 0."""
    counts: Counts | None
    """None when nothing was published."""
    spent: Spent | None
    """None when nothing was published."""
    forecast: Forecast | None
    """What was said before asking; None where enrichment is off."""


def exit_code(results: Sequence[Result]) -> int:
    """Give the worst of several: failed, then refused, locked, incomplete."""
    return min((result.exit_code for result in results), key=_WORST_FIRST.index)


def run(configs: Sequence[Config], watcher: Watcher) -> tuple[Result, ...]:
    """Work on corpora one after another; a failing one does not stop the others.

    Raises:
        ConfigError: something in a config cannot be used; nothing has been done.
    """
    jobs = ready(configs)
    for job in jobs:
        if job.asking is not None:
            job.asking.check()
    return tuple(_result(job, watcher) for job in jobs)


def _result(job: Job, watcher: Watcher) -> Result:
    try:
        return _Run(job, watcher).work()
    except SituateError as error:
        code = {ConfigError: REFUSED, Locked: LOCKED}.get(type(error), FAILED)
        return Result(
            corpus=job.config.corpus.name,
            path=job.config.output.path,
            exit_code=code,
            reason=str(error),
            counts=None,
            spent=None,
            forecast=None,
        )


class _Run:
    """One corpus being worked on."""

    def __init__(self, job: Job, watcher: Watcher) -> None:
        self._job = job
        self._config = job.config
        self._watcher = watcher
        self._tally = Tally()

    def work(self) -> Result:
        """Read, cut, ask, write and publish.

        Raises:
            SituateError: nothing can be published.
        """
        output = self._config.output
        sources = self._job.sources()
        kept = self._job.kept(sources)
        with Output(*output.files, kept=kept) as files, writing(output.path):
            self._chunks = files.draft()
            self._blocks = files.draft(output.beside("blocks.jsonl").name)
            forecast = None
            if self._job.asking is None:
                spent = self._without_statements(sources)
            else:
                forecast = self._job.forecast(sources, self._watcher)
                self._watcher.forecast(forecast)
                if forecast.estimate is not None and forecast.estimate.requests:
                    self._job.asking.provider.check()
                spent = self._with_statements(sources, self._job.asking)
            if len(self._tally.failed) == len(sources):
                message = f"none of {len(sources)} documents could be read"
                raise SituateError(message)
            manifest = files.draft(output.beside("manifest.json").name)
            manifest.write(to_json(self._manifest(spent)))
            files.publish(self._chunks, self._blocks, manifest)
        reason = self._shortfall(spent)
        return Result(
            corpus=self._config.corpus.name,
            path=output.path,
            exit_code=INCOMPLETE if reason else DONE,
            reason=reason,
            counts=self._tally.counts,
            spent=spent,
            forecast=forecast,
        )

    def _without_statements(self, sources: Sequence[Source]) -> Spent:
        self._watcher.begin(self._config.corpus.name, len(sources))
        ids = Ids()
        for outcome in write_all(sources, self._job.preparer, self._config):
            ids.add(outcome)
            self._publish(outcome)
        return NOTHING_SPENT

    def _with_statements(self, sources: Sequence[Source], asking: Asking) -> Spent:
        self._watcher.begin(self._config.corpus.name, len(sources))
        ledger_path = self._config.output.beside("ledger.jsonl")
        try:
            opened = Cache(asking.cache_directory)
        except ConfigError as error:
            return self._skipped(sources, asking, str(error))
        with opened as cache:
            try:
                held = self._held(asking)
            except RecordError as error:
                return self._skipped(sources, asking, str(error))
            with Ledger(ledger_path) as ledger:
                kept = Kept(cache=cache, ledger=ledger, held=held)
                return self._asked(sources, kept)

    def _held(self, asking: Asking) -> Held | None:
        """Say what waits for a batch, and hand over what is to go into one.

        Raises:
            RecordError: a ticket cannot be read; a batch may be under way.
            SituateError: nothing can be handed over as the config has it.
        """
        if asking.settings.replayed:
            return None
        if asking.settings.mode == "batch":
            return batches.hand_over(self._config, self._watcher)
        return Held(outlook=outstanding(asking.cache_directory))

    def _skipped(self, sources: Sequence[Source], asking: Asking, why: str) -> Spent:
        """Publish without statements: answers could not be kept (E10)."""
        for outcome in self._job.preparer.prepare_all(sources):
            chunks: Sequence[Chunk] = ()
            if isinstance(outcome, Prepared):
                chunks = skipped(
                    outcome.chunks,
                    asking.settings,
                    asking.prompt,
                    asking.facts,
                    "cache",
                )
            self._write(outcome, chunks)
        return replace(NOTHING_SPENT, stopped=f"cache: {why}")

    def _asked(self, sources: Sequence[Source], kept: Kept) -> Spent:
        summary = ask(self._job, sources, kept, self._write)
        warnings = tuple(sorted(summary.warnings))
        for warning in warnings[:_TOLD]:
            self._watcher.note(warning)
        if len(warnings) > _TOLD:
            self._watcher.note(f"{len(warnings) - _TOLD} more are in the manifest")
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

    def _write(self, outcome: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
        """Publish a document with the chunks that came of it."""
        if isinstance(outcome, Prepared):
            self._publish(written(outcome, chunks))
        else:
            self._publish(outcome)

    def _publish(self, outcome: Written | Failed) -> None:
        """Write a document, or say why it is not written."""
        if isinstance(outcome, Written):
            self._chunks.write(outcome.chunks)
            self._blocks.write(outcome.blocks)
            self._tally.add(outcome)
            for warning in outcome.warnings:
                self._watcher.note(f"{outcome.doc_id}: {warning}")
        else:
            self._tally.fail(outcome)
            self._watcher.note(f"failed: {outcome.reason}")
        self._watcher.advance()

    def _shortfall(self, spent: Spent) -> str | None:
        """Say what keeps this from being what was asked for."""
        counts = self._tally.counts
        failed_share = counts.failed / counts.documents
        if failed_share > self._config.corpus.max_failed_share:
            return (
                f"{counts.failed} of {counts.documents} documents failed, above "
                f"corpus.max_failed_share = {self._config.corpus.max_failed_share}"
            )
        if spent.stopped is not None:
            skipped = sum(counts.skipped.values())
            return f"{skipped} chunks were not asked about; {spent.stopped}"
        waiting = {
            reason: number
            for reason, number in counts.skipped.items()
            if reason not in NOT_WANTED
        }
        for reason, number in waiting.items():
            return f"{number} chunks have no statement yet: {REASONS[reason]}"
        fallbacks = sum(counts.fallbacks.values())
        asked = fallbacks + counts.statements
        most = self._config.enrichment.max_fallback_share
        if asked and fallbacks / asked > most:
            return (
                f"{fallbacks} of {asked} chunks got no statement, above "
                f"enrichment.max_fallback_share = {most}"
            )
        return None

    def _manifest(self, spent: Spent) -> Manifest:
        config, rules = self._config, self._job.preparer.rules
        return Manifest(
            situate=version("situate"),
            corpus=config.corpus.name,
            config=config.hash,
            sizes=Sizes(
                tokenizer=config.chunking.tokenizer,
                granularity=rules.granularity,
                max_tokens=rules.max_tokens,
                min_tokens=rules.min_tokens,
                container_max_tokens=rules.container_max_tokens or 4 * rules.max_tokens,
                prefix_max_tokens=rules.prefix_max_tokens,
                reading_max_tokens=rules.reading_bound,
                statement_max_tokens=config.enrichment.statement_max_tokens,
            ),
            reader=self._job.preparer.options,
            files=(self._chunks.digest, self._blocks.digest),
            counts=self._tally.counts,
            spent=spent,
            warnings=tuple(self._tally.warnings),
            failed=tuple(self._tally.failed),
        )
