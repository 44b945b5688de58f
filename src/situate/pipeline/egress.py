"""What a run would send, to whom, document by document. Nothing is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from situate.enrichment.estimate import to_send
from situate.enrichment.providers.connection import on_the_wire
from situate.enrichment.providers.proxies import proxy_for
from situate.errors import ConfigError
from situate.pipeline.documents import Failed
from situate.pipeline.jobs import known_in, ready

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from situate.config import Config
    from situate.organisation import Mode
    from situate.pipeline.asking import Asking
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEgress:
    """What would be sent about one document."""

    doc_id: str
    requests: int
    bytes: int
    """Of the bodies: JSON as it goes on the wire, in UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressPlan:
    """What one corpus would send, with the cache as it is."""

    corpus: str
    host: str | None
    """With its port where that is named; None where nothing leaves the machine."""
    base_url: str | None
    proxy: str | None
    """Of the environment, which everything goes through; the organisation's file does
    not bound it."""
    model: str | None
    mode: Mode | None
    organisation: tuple[Path, ...]
    """The files that bound it."""
    objection: str | None
    """What `run` would stop at before anything is sent."""
    read: int
    """Documents that can be read."""
    documents: tuple[DocumentEgress, ...]
    """Those of which something would be sent, the most bytes first."""

    @property
    def requests(self) -> int:
        """All of them."""
        return sum(each.requests for each in self.documents)

    @property
    def bytes(self) -> int:
        """Of all bodies."""
        return sum(each.bytes for each in self.documents)


def egress_plans(configs: Sequence[Config], watcher: Watcher) -> tuple[EgressPlan, ...]:
    """Say for every corpus what a run or a sync would send, in requests and bytes.

    Repairs and what is asked once more are not in it. Every body is written to be
    measured, one at a time.

    Raises:
        ConfigError: something in a config, or the organisation's file, cannot be used.
        SituateError: a glob matches nothing, or two documents have one id.
    """
    return tuple(_egress_plan(job.of_wordings, watcher) for job in ready(configs))


def _egress_plan(job: Job, watcher: Watcher) -> EgressPlan:
    asking = job.asking
    address = None if asking is None else asking.address
    found: list[DocumentEgress] = []
    read = 0
    if asking is not None and address is not None:
        for document in _documents(job, asking, watcher):
            read += 1
            found += [document] if document.requests else []
    return EgressPlan(
        corpus=job.config.corpus.name,
        host=None if address is None else urlsplit(address).netloc,
        base_url=address,
        proxy=None if address is None else proxy_for(address),
        model=None if asking is None else asking.settings.model,
        mode=None if asking is None else asking.settings.mode,
        organisation=() if asking is None else asking.egress.paths,
        objection=None if asking is None else _objection(asking),
        read=read,
        documents=tuple(sorted(found, key=lambda each: (-each.bytes, each.doc_id))),
    )


def _documents(job: Job, asking: Asking, watcher: Watcher) -> Iterator[DocumentEgress]:
    """Measure document by document what has no answer yet."""
    sources = job.sources()
    watcher.begin(f"{job.config.corpus.name}: measuring", len(sources))
    seen: set[str] = set()
    with job.looking(asking, watcher) as cache:
        known, stored = known_in(cache, asking), None if cache is None else cache.holds
        for outcome in job.preparer.prepare_all(sources):
            watcher.advance()
            if isinstance(outcome, Failed):
                watcher.note(f"failed: {outcome.reason}")
                continue
            plan = asking.plan(outcome, job.preparer)
            if plan.trouble is not None:
                watcher.note(plan.trouble)
            sizes = [
                len(on_the_wire(asked.body))
                for asked in to_send(plan, known, stored, seen)
            ]
            yield DocumentEgress(
                doc_id=plan.doc_id, requests=len(sizes), bytes=sum(sizes)
            )


def _objection(asking: Asking) -> str | None:
    try:
        asking.check()
    except ConfigError as error:
        return f"run would refuse this: {error}"
    return None
