"""One corpus with everything it needs, found before any of it is used."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from situate import corpus
from situate.addresses import Server
from situate.enrichment.batches import outstanding
from situate.enrichment.cache import Cache
from situate.enrichment.estimate import Tally, compared
from situate.errors import ConfigError, RecordError
from situate.files import is_folder, opened, resolved
from situate.listing import check_together, read_listing
from situate.pipeline.asking import Asking
from situate.pipeline.documents import Prepared, Preparer
from situate.pipeline.watching import Forecast
from situate.prompts import refuse_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from situate.config import Config
    from situate.corpus import Found, Source
    from situate.enrichment.estimate import Estimate, Option
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import Passage
    from situate.enrichment.settings import View
    from situate.listing import Listing
    from situate.pipeline.watching import Watcher


_START = re.compile(rb'\{\s*"schema"|PAR1')
_START_BYTES = 32


@dataclass(slots=True)
class _Seen:
    """What a walk over the documents came across."""

    chunks: int = 0
    left_out: int = 0
    """Documents that a manifest deletes."""
    failed: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One corpus, ready to be worked on."""

    config: Config
    preparer: Preparer
    excluded: frozenset[Path]
    """Files and folders situate writes itself, and manifests."""
    listings: tuple[Listing, ...]
    """The manifests."""
    inputs: tuple[Path, ...]
    """Files and folders a run is made from, beside the documents."""
    asking: Asking | None = None
    """Whom to ask; None where nobody is."""

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
            keep=self.preparer.keep,
        )

    @property
    def of_wordings(self) -> Job:
        """The same for an index, which may have several wordings of a document."""
        keep = self.config.versions.keep
        return replace(self, preparer=replace(self.preparer, keep=keep))

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
            with self.looking(asking, watcher) as cache:
                found, options = self._estimate(
                    asking, documents, seen, cache, compare=compare
                )
        return Forecast(
            corpus=self.config.corpus.name,
            documents=len(sources) - seen.left_out,
            failed=tuple(seen.failed),
            withheld=tuple(seen.withheld),
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
    def looking(self, asking: Asking, watcher: Watcher) -> Iterator[Cache | None]:
        """Open the cache to look into; None where there is nothing to see.

        Under replay the question is what asking for all of it would cost.
        """
        place = asking.cache_place
        cache = None
        is_there = isinstance(place, Server) or is_folder(place)
        if not asking.settings.replayed and is_there:
            try:
                cache = Cache(place)
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
        seen: _Seen,
        cache: Cache | None,
        *,
        compare: bool,
    ) -> tuple[Estimate, tuple[Option, ...]]:
        known = known_in(cache, asking)
        stored = None if cache is None else cache.holds
        tally = Tally(settings=asking.settings, facts=asking.facts)
        others: dict[View, Tally] = {}
        chosen: Counter[View] = Counter()
        for document in documents:
            planned = asking.plan(document, self.preparer)
            if planned.trouble is not None:
                seen.withheld.append(planned.trouble)
            tally.add(planned, known, stored)
            chosen.update(part.view for part in planned.parts)
            for view in _views(asking) if compare else ():
                other = others.setdefault(
                    view, Tally(settings=asking.settings, facts=asking.facts)
                )
                other.add(asking.plan(document, self.preparer, view), _unknown)
        only = next(iter(chosen)) if len(chosen) == 1 else None
        return tally.estimate(), compared(others, only)


def known_in(cache: Cache | None, asking: Asking) -> Callable[[Passage], bool]:
    """Say of which chunks an answer is here, or on its way in a batch."""
    if cache is None:
        return _unknown
    try:
        outlook = outstanding(asking.cache_directory)
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
    """Say for every corpus what a run or a sync would send, and send nothing.

    Raises:
        ConfigError: something in a config cannot be used.
        SituateError: a glob matches nothing, or two documents have one id.
    """
    jobs = [job.of_wordings for job in ready(configs)]
    found = tuple(job.forecast(job.sources(), watcher, compare=True) for job in jobs)
    for forecast in found:
        for reason in forecast.failed:
            watcher.note(f"failed: {reason}")
        for reason in forecast.withheld:
            watcher.note(reason)
    return found


def ready(configs: Sequence[Config]) -> tuple[Job, ...]:
    """Make the jobs of a run, or find out what is wrong before any work.

    Raises:
        ConfigError: a tokenizer, prompt, cassette, manifest or file of the
            organisation cannot be used.
    """
    jobs = unasked(configs)
    for config in configs:
        if config.enrichment.enabled and config.enrichment.prompt is not None:
            refuse_questions(config.enrichment.prompt)
    return tuple(replace(job, asking=Asking.of(job.config)) for job in jobs)


def unasked(configs: Sequence[Config]) -> tuple[Job, ...]:
    """Make jobs that ask nobody, whatever their configs say and may.

    Raises:
        ConfigError: a tokenizer or manifest cannot be used.
    """
    listings = [_listings(config) for config in configs]
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
