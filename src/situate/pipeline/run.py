"""The main job: documents in, chunks out, one corpus after another."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Protocol

from situate import parquet
from situate.errors import ConfigError, Locked, SituateError
from situate.manifest import NOTHING_SPENT, Manifest, Sizes, Spent, to_json
from situate.output import Output, writing
from situate.pipeline.documents import Failed, Ids, Prepared
from situate.pipeline.drafts import Drafts
from situate.pipeline.jobs import ready
from situate.pipeline.living.decisive import config_of
from situate.pipeline.parallel import write_all
from situate.pipeline.shortfall import Stated, none_read, too_many_failed
from situate.pipeline.stage import Stage
from situate.pipeline.tally import Tally
from situate.pipeline.written import Written, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from situate.config import Config
    from situate.corpus import Source
    from situate.manifest import Counts, FileDigest
    from situate.model import Chunk
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Forecast, Watcher

DONE, FAILED, REFUSED, INCOMPLETE, LOCKED = range(5)
"""Exit codes: done; nothing published; config or usage; published, but not what
was asked for; another run holds the lock."""

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


class Engine(Protocol):
    """Works on the documents of a corpus in processes of its own."""

    def check(self, jobs: Sequence[Job]) -> None:
        """Find out, before any work, whether it can.

        Raises:
            ConfigError: it lacks something, or a config asks for what it cannot do.
        """

    def work(
        self,
        job: Job,
        sources: Sequence[Source],
        publish: Callable[[Written | Failed], None],
    ) -> Spent:
        """Read, cut and ask; `publish` gets the documents in their order.

        Raises:
            SituateError: nothing can be published.
        """


def run(
    configs: Sequence[Config], watcher: Watcher, engine: Engine | None = None
) -> tuple[Result, ...]:
    """Work on corpora one after another; a failing one does not stop the others.

    In this process, and those it starts, unless there is an `engine`.

    Raises:
        ConfigError: something in a config cannot be used; nothing has been done.
    """
    jobs = ready(configs)
    for job in jobs:
        if job.config.output.parquet:
            parquet.require(f"{job.config.path}: output.parquet")
        if job.asking is not None:
            job.asking.check()
    if engine is not None:
        engine.check(jobs)
    return tuple(_result(job, watcher, engine) for job in jobs)


def _result(job: Job, watcher: Watcher, engine: Engine | None) -> Result:
    try:
        return _Run(job, watcher, engine).work()
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

    def __init__(self, job: Job, watcher: Watcher, engine: Engine | None) -> None:
        self._job = job
        self._engine = engine
        self._config = config_of(job)
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
        with (
            Output(*output.files, kept=kept) as files,
            writing(output.path),
            Drafts(files, output) as self._drafts,
        ):
            forecast = None
            stage = Stage(job=self._job, watcher=self._watcher)
            if self._job.asking is not None:
                forecast = stage.forecast(sources)
            if self._engine is not None:
                spent = self._elsewhere(sources, forecast, stage, self._engine)
            elif forecast is None:
                spent = self._without_statements(sources)
            else:
                spent = stage.work(sources, self._write, forecast)
            if len(self._tally.failed) == self._tally.documents:
                raise none_read(self._tally.documents)
            drafts = self._drafts.end()
            manifest = files.draft(output.beside("manifest.json").name)
            digests = tuple(draft.digest for draft in drafts)
            manifest.write(to_json(self._manifest(spent, digests)))
            files.publish(*drafts, manifest)
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

    def _elsewhere(
        self,
        sources: Sequence[Source],
        forecast: Forecast | None,
        stage: Stage,
        engine: Engine,
    ) -> Spent:
        if forecast is not None:
            stage.check(forecast)
        self._watcher.begin(self._config.corpus.name, len(sources))
        ids = Ids()

        def publish(outcome: Written | Failed) -> None:
            ids.add(outcome)
            self._publish(outcome)

        spent = engine.work(self._job, sources, publish)
        stage.tell(spent)
        return spent

    def _write(self, outcome: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
        """Publish a document with the chunks that came of it."""
        if isinstance(outcome, Prepared):
            self._publish(written(outcome, chunks))
        else:
            self._publish(outcome)

    def _publish(self, outcome: Written | Failed) -> None:
        """Write a document, or say why it is not written."""
        if isinstance(outcome, Written):
            self._drafts.write(outcome)
            self._tally.add(outcome)
            for warning in outcome.warnings:
                self._watcher.note(f"{outcome.doc_id}: {warning}")
        else:
            self._tally.fail(outcome)
            self._watcher.note(outcome.told)
        self._watcher.advance()

    def _shortfall(self, spent: Spent) -> str | None:
        """Say what keeps this from being what was asked for."""
        counts = self._tally.counts
        config = self._config
        return too_many_failed(
            counts.failed, counts.documents, config.corpus.max_failed_share
        ) or Stated.of_run(counts, spent).shortfall(
            config.enrichment.max_fallback_share
        )

    def _manifest(self, spent: Spent, files: tuple[FileDigest, ...]) -> Manifest:
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
            files=files,
            counts=self._tally.counts,
            spent=spent,
            warnings=tuple(self._tally.warnings),
            failed=tuple(self._tally.failed),
        )
