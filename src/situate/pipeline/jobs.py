"""One corpus with everything it needs, found before any of it is used."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from situate import corpus
from situate.enrichment.batches import outstanding
from situate.enrichment.budget import check_limits
from situate.enrichment.cache import Cache, refuse_network
from situate.enrichment.estimate import Tally, compared
from situate.enrichment.plan import plan
from situate.enrichment.providers import open_provider
from situate.enrichment.settings import Settings
from situate.errors import ConfigError, RecordError
from situate.files import is_folder, opened, resolved
from situate.listing import check_together, read_listing
from situate.pipeline.documents import Prepared, Preparer
from situate.pipeline.watching import Forecast
from situate.pricing import load_models
from situate.prompts import load_prompt, refuse_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from situate.config import Config, EnrichmentConfig
    from situate.corpus import Found, Source
    from situate.enrichment.estimate import Estimate, Option
    from situate.enrichment.exchange import Provider
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import Passage
    from situate.enrichment.settings import View
    from situate.listing import Listing
    from situate.pipeline.watching import Watcher
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt


_START = re.compile(rb'\{\s*"schema"')
_START_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Whom to ask for statements, and how."""

    settings: Settings
    prompt: Prompt
    facts: ModelFacts
    provider: Provider
    cache_directory: Path

    @classmethod
    def of(cls, config: Config) -> Asking | None:
        """Give what a config says; None where enrichment is off.

        Raises:
            ConfigError: the prompt or a setting of the provider cannot be used.
        """
        if not config.enrichment.enabled:
            return None
        settings = _settings(config.enrichment)
        return cls(
            settings=settings,
            prompt=load_prompt(settings.prompt),
            facts=load_models().facts(settings.provider, settings.model),
            provider=open_provider(
                settings.provider,
                model=settings.model,
                base_url=settings.base_url,
                endpoint=settings.endpoint,
                timeout_seconds=settings.timeout_seconds,
                replay=settings.replay,
            ),
            cache_directory=config.cache.directory,
        )

    def check(self) -> None:
        """Find out, before any work, whether limits and answers can be kept.

        Raises:
            ConfigError: limits on spending do not fit the model, or the cache is on
                a network file system.
        """
        check_limits(self.settings, self.facts)
        refuse_network(self.cache_directory)

    def objection(self, estimate: Estimate) -> str | None:
        """Say what a run would stop at, None when nothing is in its way."""
        try:
            self.check()
        except ConfigError as error:
            return f"run would refuse this: {error}"
        settings = self.settings
        if settings.replayed:
            return None
        most, low = settings.max_usd, estimate.usd_low
        if most is not None and low is not None and low > most:
            return f"run would stop at max_usd = {most}"
        tokens = estimate.input_tokens + estimate.output_tokens
        if settings.max_total_tokens is not None and tokens > settings.max_total_tokens:
            return f"run would stop at max_total_tokens = {settings.max_total_tokens:,}"
        return None

    def plan(
        self, document: Prepared, preparer: Preparer, view: View | None = None
    ) -> DocumentPlan:
        """Give the requests of one document, in another view where one is named."""
        settings = self.settings
        return plan(
            document.chunks,
            document.document,
            settings=settings if view is None else replace(settings, view=view),
            prompt=self.prompt,
            provider=self.provider,
            facts=self.facts,
            counter=preparer.counter,
        )


@dataclass(slots=True)
class _Seen:
    """What a walk over the documents came across."""

    chunks: int = 0
    left_out: int = 0
    """Documents that a manifest deletes."""
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One corpus, ready to be worked on."""

    config: Config
    preparer: Preparer
    asking: Asking | None
    excluded: frozenset[Path]
    """Files and folders situate writes itself, and manifests."""
    listings: tuple[Listing, ...]
    """The manifests."""
    inputs: tuple[Path, ...]
    """Files and folders a run is made from, beside the documents."""

    def sources(self) -> tuple[Source, ...]:
        """Find the documents.

        Raises:
            SituateError: a glob matches nothing, a manifest lists nothing, or two
                files would bear one id.
        """
        return corpus.find(
            self.config.corpus.globs,
            self.folder,
            excluded=self.excluded,
            listings=self.listings,
        )

    def survey(self) -> Found:
        """Find the documents there are, and whether those are all.

        Raises:
            SituateError: two files would bear one id.
        """
        return corpus.survey(
            self.config.corpus.globs,
            self.folder,
            excluded=self.excluded,
            listings=self.listings,
            keep=self.config.versions.keep,
        )

    @property
    def folder(self) -> Path:
        """The folder that globs and manifests are relative to."""
        return _folder(self.config)

    def kept(self, sources: Sequence[Source]) -> tuple[Path, ...]:
        """Name what nothing that is written may replace."""
        files = (path for each in sources for path in (each.path, each.sidecar))
        return (*self.inputs, *(path for path in files if path is not None))

    def forecast(
        self, sources: Sequence[Source], watcher: Watcher, *, compare: bool = False
    ) -> Forecast:
        """Read, cut and plan everything, and send nothing.

        With `compare` every view and mode is planned, side by side.

        Raises:
            SituateError: two documents name one id.
        """
        seen = _Seen()
        documents = self._documents(sources, seen, watcher)
        asking, found = self.asking, None
        options: tuple[Option, ...] = ()
        if asking is None:
            for _ in documents:
                pass
        else:
            with self._cache(asking, watcher) as cache:
                found, options = self._estimate(
                    asking, documents, cache, compare=compare
                )
        return Forecast(
            corpus=self.config.corpus.name,
            documents=len(sources) - seen.left_out,
            failed=tuple(seen.failed),
            chunks=seen.chunks,
            provider=asking.settings.provider if asking else None,
            model=asking.settings.model if asking else None,
            estimate=found,
            options=options,
            objection=asking.objection(found) if asking and found else None,
        )

    def plans(
        self, sources: Sequence[Source], watcher: Watcher
    ) -> Iterator[DocumentPlan]:
        """Plan the documents that can be read, one by one.

        Raises:
            ConfigError: enrichment is off.
            SituateError: two documents name one id.
        """
        asking = self.asked()
        for document in self._documents(sources, _Seen(), watcher):
            yield asking.plan(document, self.preparer)

    def asked(self) -> Asking:
        """Give whom to ask, for what makes no sense without.

        Raises:
            ConfigError: enrichment is off.
        """
        if self.asking is None:
            message = (
                f"{self.config.path}: enrichment.enabled is false; nothing is asked"
            )
            raise ConfigError(message)
        return self.asking

    @contextmanager
    def _cache(self, asking: Asking, watcher: Watcher) -> Iterator[Cache | None]:
        """Open the cache to look into; None where there is nothing to see.

        Under replay the question is what asking for all of it would cost.
        """
        directory = asking.cache_directory
        cache = None
        if not asking.settings.replayed and is_folder(directory):
            try:
                cache = Cache(directory)
            except ConfigError as error:
                watcher.note(str(error))
        if cache is None:
            yield None
            return
        with cache:
            yield cache

    def _documents(
        self, sources: Sequence[Source], seen: _Seen, watcher: Watcher
    ) -> Iterator[Prepared]:
        watcher.begin(f"{self.config.corpus.name}: planning", len(sources))
        for outcome in self.preparer.prepare_all(sources):
            if isinstance(outcome, Prepared):
                seen.chunks += len(outcome.chunks)
                yield outcome
            elif outcome.is_deleted:
                seen.left_out += 1
            else:
                seen.failed.append(outcome.reason)
            watcher.advance()

    def _estimate(
        self,
        asking: Asking,
        documents: Iterator[Prepared],
        cache: Cache | None,
        *,
        compare: bool,
    ) -> tuple[Estimate, tuple[Option, ...]]:
        known = _unknown if cache is None else _known(cache)
        stored = None if cache is None else cache.holds
        tally = Tally(settings=asking.settings, facts=asking.facts)
        others: dict[View, Tally] = {}
        chosen: Counter[View] = Counter()
        for document in documents:
            planned = asking.plan(document, self.preparer)
            tally.add(planned, known, stored)
            chosen.update(part.view for part in planned.parts)
            for view in _views(asking) if compare else ():
                other = others.setdefault(
                    view, Tally(settings=asking.settings, facts=asking.facts)
                )
                other.add(asking.plan(document, self.preparer, view), _unknown)
        only = next(iter(chosen)) if len(chosen) == 1 else None
        return tally.estimate(), compared(others, only)


def _known(cache: Cache) -> Callable[[Passage], bool]:
    """Say of which chunks an answer is here, or on its way in a batch."""
    try:
        outlook = outstanding(cache.directory)
    except RecordError:
        # The run that follows says it; a plan counts what may be under way.
        return cache.knows

    def known(passage: Passage) -> bool:
        keys = (passage.chunk_key, *passage.section_keys)
        return cache.knows(passage) or "pending" in map(outlook, keys)

    return known


def _unknown(_: Passage) -> bool:
    return False


def _views(asking: Asking) -> tuple[View, ...]:
    if asking.prompt.can_mark:
        return ("marked", "full", "window")
    return ("full", "window")


def forecasts(configs: Sequence[Config], watcher: Watcher) -> tuple[Forecast, ...]:
    """Say for every corpus what a run would send, and send nothing.

    Raises:
        ConfigError: something in a config cannot be used.
        SituateError: a glob matches nothing, or two documents have one id.
    """
    found = tuple(
        job.forecast(job.sources(), watcher, compare=True) for job in ready(configs)
    )
    for forecast in found:
        for reason in forecast.failed:
            watcher.note(f"failed: {reason}")
    return found


def ready(configs: Sequence[Config]) -> tuple[Job, ...]:
    """Make the jobs of a run, or find out what is wrong before any work.

    Raises:
        ConfigError: a tokenizer, prompt, cassette or manifest cannot be used.
    """
    listings = [_listings(config) for config in configs]
    for config in configs:
        if config.enrichment.enabled and config.enrichment.prompt is not None:
            refuse_questions(config.enrichment.prompt)
    excluded = frozenset(
        resolved(path)
        for config in configs
        for path in (
            *filter(_is_ours, config.output.files),
            *config.output.of_comparisons(),
            config.cache.directory,
            config.output.index,
            config.output.deltas,
            *_manifests(config),
        )
    )
    inputs = tuple(
        path
        for config in configs
        for path in (
            config.path,
            config.cache.directory,
            config.enrichment.replay,
            *_manifests(config),
        )
        if path is not None
    )
    return tuple(
        Job(
            config=config,
            preparer=replace(Preparer.of(config), deleted=_deleted(own)),
            asking=Asking.of(config),
            excluded=excluded,
            listings=own,
            inputs=inputs,
        )
        for config, own in zip(configs, listings, strict=True)
    )


def _folder(config: Config) -> Path:
    """Give what globs and manifests are relative to."""
    return config.path.absolute().parent


def _manifests(config: Config) -> list[Path]:
    return [_folder(config) / name for name in config.corpus.manifests]


def _listings(config: Config) -> tuple[Listing, ...]:
    """Read a corpus's manifests.

    Raises:
        ConfigError: a line is wrong, or two contradict each other.
    """
    names = config.corpus.manifests
    keep = config.versions.keep
    paths = zip(_manifests(config), names, strict=True)
    listings = tuple(read_listing(path, name, keep) for path, name in paths)
    check_together(listings, keep)
    return listings


def _deleted(listings: Sequence[Listing]) -> dict[str, str]:
    """Give the ids that manifests delete whole, and where."""
    return {
        entry.doc_id: entry.said_in
        for listing in listings
        for entry in listing.entries
        if entry.op == "delete" and entry.wording is None
    }


def _is_ours(path: Path) -> bool:
    """Tell whether a run may have written a file: it is empty or starts like one.

    Anything else in its place is a document like those around it.
    """
    try:
        with opened(path) as file:
            start = file.read(_START_BYTES)
    except OSError:
        return True
    return not start or _START.match(start) is not None


def _settings(asked: EnrichmentConfig) -> Settings:
    if asked.provider is None or asked.model is None or asked.prompt is None:
        message = "enrichment needs a provider, a model and a prompt"
        raise ConfigError(message)
    return Settings(
        provider=asked.provider,
        model=asked.model,
        prompt=asked.prompt,
        endpoint=asked.endpoint,
        base_url=asked.base_url,
        accept_models=asked.accept_models,
        enrich_when=asked.enrich_when,
        view=asked.view,
        mode=asked.mode,
        reuse=asked.reuse,
        statement_max_tokens=asked.statement_max_tokens,
        concurrency=asked.concurrency,
        max_usd=asked.max_usd,
        max_usd_month=asked.max_usd_month,
        max_total_tokens=asked.max_total_tokens,
        max_attempts=asked.max_attempts,
        timeout_seconds=asked.timeout_seconds,
        max_wait_seconds=asked.max_wait_seconds,
        requests_per_minute=asked.requests_per_minute,
        tokens_per_minute=asked.tokens_per_minute,
        deadline_seconds=asked.deadline,
        replay=asked.replay,
    )
