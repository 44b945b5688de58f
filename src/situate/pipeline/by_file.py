"""The requests of a run as a file, and replies back from one."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from situate.enrichment.batches import outstanding
from situate.enrichment.by_file import (
    ImportReport,
    custom_id,
    export_requests,
    import_replies,
    record_replies,
)
from situate.enrichment.cache import Cache
from situate.enrichment.providers.replay import read_cassette
from situate.enrichment.settings import REPLAY
from situate.errors import ConfigError, RecordError
from situate.files import is_regular
from situate.output import Output, writing
from situate.pipeline.batches import choosing, opened
from situate.records import from_line, read_lines, to_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.config import Config
    from situate.enrichment.batches import Chooser, Outlook
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import PlannedRequest
    from situate.pipeline.asking import Asking
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher


def export(config: Config, path: Path, watcher: Watcher) -> int:
    """Write what a run would have to ask, and give the number of requests.

    What has an answer already, in the cache or the cassette, is left out, and what
    an open batch asks about. The file appears whole.

    Raises:
        ConfigError: enrichment is off, or something in the config cannot be used.
        SituateError: a glob matches nothing, or the file cannot be written.
    """
    job, _, cassette = _opened(config)
    sources = job.sources()
    count = 0
    kept = (*job.kept(sources), *config.output.files)
    with Output(path, kept=kept) as files, writing(path):
        draft = files.draft()
        plans = job.plans(sources, watcher)
        with _missing(plans, job, cassette) as documents:
            for request in export_requests(documents):
                draft.write(to_line(request))
                count += 1
        files.publish(draft)
    return count


def take_in(
    config: Config, path: Path, watcher: Watcher, *, model: str | None = None
) -> ImportReport:
    """Put a file of replies where the next run finds them.

    Under `replay` that is the cassette the config names, else the cache. `model`
    is the model that answered where a line does not say.

    Raises:
        ConfigError: enrichment is off, or something in the config cannot be used.
        RecordError: the file cannot be read.
        SituateError: a glob matches nothing, or the cassette or cache cannot be
            written.
    """
    job, asking, cassette = _opened(config)
    plans = job.plans(job.sources(), watcher)
    lines = _with_model(path, model)
    if cassette is not None:
        with writing(cassette):
            return record_replies(
                (plan.requests for plan in plans),
                lines,
                provider=asking.provider,
                cassette=cassette,
            )
    with Cache(asking.cache_place) as cache:
        chooser = _chooser(job, asking, cache)
        # Whole requests as well: somebody may have exported before a part of one
        # was answered.
        documents = (
            [*plan.requests, *(each.request for each in chooser.missing(plan))]
            for plan in plans
        )
        return import_replies(
            documents,
            lines,
            provider=asking.provider,
            cache=cache,
            corpus=job.config.corpus.name,
        )


@contextmanager
def _missing(
    plans: Iterator[DocumentPlan], job: Job, cassette: Path | None
) -> Iterator[Iterator[list[PlannedRequest]]]:
    """Give what has to be asked about each document.

    A cassette answers requests as they are planned, whatever it holds already.
    """
    if cassette is not None:
        recorded = read_cassette(cassette)
        yield (
            [each for each in plan.requests if custom_id(each) not in recorded]
            for plan in plans
        )
        return
    asking = job.asked()
    with Cache(asking.cache_place) as cache:
        chooser = _chooser(job, asking, cache)
        yield ([each.request for each in chooser.missing(plan)] for plan in plans)


def _chooser(job: Job, asking: Asking, cache: Cache) -> Chooser:
    """Choose as for a batch; what a batch did not answer, a file may."""
    in_tickets = outstanding(asking.cache_directory)

    def outlook(key: str) -> Outlook:
        return "pending" if in_tickets(key) == "pending" else "none"

    return choosing(cache, asking.provider, outlook, corpus=job.config.corpus.name)


def _opened(config: Config) -> tuple[Job, Asking, Path | None]:
    """Make the job, and the cassette it will fill if that is not there yet."""
    asked = config.enrichment
    cassette = None
    if asked.enabled and asked.provider == REPLAY:
        cassette = asked.replay
        if cassette is None or not _may_be_file(cassette):
            message = (
                f"{config.path}: enrichment.replay names no file; replies are "
                "recorded in one cassette of your own"
            )
            raise ConfigError(message)
        with writing(cassette):
            cassette.parent.mkdir(parents=True, exist_ok=True)
            cassette.touch()
    return *opened(config), cassette


def _may_be_file(path: Path) -> bool:
    """Tell whether a file is there, or nothing yet."""
    try:
        return is_regular(path)
    except OSError:
        return True


def _with_model(path: Path, model: str | None) -> Iterator[str]:
    """Yield the lines of a file, with the model where a line names none."""
    for where, line in read_lines(path):
        try:
            record = from_line(line, where)
        except RecordError:
            # The import counts it among the lines it could not use.
            yield line.decode("utf-8", "replace")
            continue
        if model is not None and "text" in record:
            record.setdefault("model", model)
        yield json.dumps(record)
