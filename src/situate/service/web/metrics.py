"""What monitoring wants to know, in Prometheus' words: counts, never content.

Labels are names of routes and corpora, statuses and reasons; no id, key or text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from situate.service.values import JobsBroken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client.metrics_core import Metric

    from situate.service.engine.engine import Engine
    from situate.service.jobs.jobs import Jobs
    from situate.service.values import CorpusFigures, JobsFigures
    from situate.service.web.limits import Shares

_SECONDS: Final = (0.005, 0.02, 0.1, 0.3, 1, 3, 10, 30, 100, 300)

_METHODS: Final = frozenset({"GET", "POST", "DELETE"})

_CLASSES: Final = ("uncached_input", "cache_write", "cache_read", "output")


class Metrics:
    """The metrics of one service, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "situate_requests",
            "Requests that were answered; status 0 where the client went before.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "situate_request_seconds",
            "From the head of a request to the end of its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def request(
        self, *, route: str, method: str, status: int | None, seconds: float
    ) -> None:
        """Count a request."""
        known = method if method in _METHODS else "other"
        self._requests.labels(route, known, str(status or 0)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Give all there is, in Prometheus' text format."""
        return generate_latest(self.registry)


class State(Collector):
    """What engine and jobs say of themselves whenever somebody looks.

    Figures of kept jobs are left out while their database cannot be read.
    """

    def __init__(self, engine: Engine, jobs: Jobs, shares: Shares) -> None:
        self._engine = engine
        self._jobs = jobs
        self._shares = shares

    def describe(self) -> Iterator[Metric]:
        """Name nothing before it is asked for: corpora and states come and go."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give what there is now."""
        engine, jobs = self._engine.figures(), self._of_jobs()
        yield _gauge("uploads_at_work", "Uploads at work.", engine.uploads_at_work)
        yield _gauge(
            "uploads_waiting", "Uploads that wait for others.", engine.uploads_waiting
        )
        yield _gauge("jobs_at_work", "Jobs at work.", engine.jobs_at_work)
        yield _gauge(
            "bodies_bytes",
            "Bytes of bodies under way, as they may become.",
            self._shares.bytes,
        )
        yield _gauge(
            "streams", "Events and results under way.", self._shares.count("stream")
        )
        is_broken = jobs is None or engine.trouble is not None
        yield _gauge(
            "jobs_trouble", "1 where the database of jobs cannot be used.", is_broken
        )
        if jobs is not None:
            yield from _of_kept(jobs)
        yield from _of_corpora(engine.corpora)

    def _of_jobs(self) -> JobsFigures | None:
        try:
            return self._jobs.figures()
        except JobsBroken:
            return None


def _of_kept(jobs: JobsFigures) -> Iterator[Metric]:
    yield _gauge("jobs_stored_bytes", "Bytes kept of jobs.", jobs.stored_bytes)
    states = GaugeMetricFamily("situate_jobs", "Jobs that are kept.", labels=["state"])
    for state in ("queued", "running", "done", "failed"):
        states.add_metric([state], jobs.by_state.get(state, 0))
    yield states


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"situate_{name}", meaning, value=value)


def _of_corpora(corpora: Mapping[str, CorpusFigures]) -> Iterator[Metric]:
    documents = CounterMetricFamily(
        "situate_documents", "Documents, cut or failed.", labels=["corpus", "outcome"]
    )
    chunks = CounterMetricFamily("situate_chunks", "Chunks.", labels=["corpus"])
    statements = CounterMetricFamily(
        "situate_statements",
        "Chunks by what became of the wish for a statement.",
        labels=["corpus", "status", "reason"],
    )
    tokens = CounterMetricFamily(
        "situate_tokens", "Tokens that models used.", labels=["corpus", "class"]
    )
    dollars = CounterMetricFamily(
        "situate_dollars", "What models cost, where it is known.", labels=["corpus"]
    )
    trouble = GaugeMetricFamily(
        "situate_trouble",
        "1 where nobody could be asked the last time.",
        labels=["corpus"],
    )
    for name, figures in corpora.items():
        documents.add_metric([name, "cut"], figures.documents - figures.failed)
        documents.add_metric([name, "failed"], figures.failed)
        chunks.add_metric([name], sum(figures.outcomes.values()))
        for (status, reason), count in sorted(figures.outcomes.items(), key=str):
            statements.add_metric([name, status, reason or ""], count)
        for each in _CLASSES:
            tokens.add_metric([name, each], getattr(figures.spent.usage, each))
        dollars.add_metric([name], float(figures.spent.cost_usd or 0))
        trouble.add_metric([name], float(figures.trouble is not None))
    yield from (documents, chunks, statements, tokens, dollars, trouble)
