"""The corpora that are served: whom each asks, and what it shares with the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from situate.enrichment.flights import Flights
from situate.enrichment.keys import canonical
from situate.enrichment.throttle import throttle_of
from situate.errors import ConfigError, ProviderError
from situate.model import digest
from situate.pipeline.jobs import ready
from situate.pipeline.stage import Stage
from situate.service.values import CorpusView

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from situate.config import Config
    from situate.enrichment.exchange import (
        Body,
        Parameters,
        Provider,
        Rendered,
        Reply,
    )
    from situate.enrichment.settings import Settings
    from situate.enrichment.throttle import Throttle
    from situate.pipeline.asking import Asking
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Forecast


_Asked: TypeAlias = "tuple[str | None, ...]"
"""A model at an address."""


class Silent:
    """A watcher whom nobody hears: what there is to say stands in answers."""

    def note(self, message: str) -> None:
        """Say nothing."""

    def forecast(self, forecast: Forecast) -> None:
        """Say nothing."""

    def begin(self, task: str, documents: int) -> None:
        """Say nothing."""

    def advance(self) -> None:
        """Say nothing."""


class Lasting:
    """A provider whose connections outlive the sessions that use them.

    What two sessions ask at the same time, a job and an upload of one document, is
    sent once. Both take it for paid, so that no limit is crossed.
    """

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._flights = Flights[str](ProviderError)

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider.name

    @property
    def endpoint(self) -> str:
        """Who answers."""
        return self.provider.endpoint

    def render(self, rendered: Rendered, parameters: Parameters) -> Body:
        """Give the body of the request that asks this."""
        return self.provider.render(rendered, parameters)

    def check(self) -> None:
        """Find out, without asking, whether the provider can be asked."""
        self.provider.check()

    async def send(self, body: Body) -> str:
        """Send the body once and give the raw JSON reply."""
        key = digest(canonical(body))
        shared = await self._flights.wait(key)
        if shared is not None:
            return shared
        return await self._flights.lead(key, lambda: self.provider.send(body))

    def parse(self, raw: str) -> Reply:
        """Read a raw reply."""
        return self.provider.parse(raw)

    async def close(self) -> None:
        """Keep the connections for the next session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A corpus, ready to be worked on."""

    job: Job
    provider: Lasting | None
    """None where nobody is asked."""
    throttle: Throttle | None
    """Shared by all that ask the same model at the same address."""

    @property
    def stage(self) -> Stage:
        """Give what asks for the statements of an upload, or of a turn of a job."""
        return Stage(job=self.job, watcher=Silent(), publishes_anyway=True)

    @property
    def view(self) -> CorpusView:
        """Say what it is."""
        name = self.job.config.corpus.name
        if self.job.asking is None:
            return CorpusView(
                name=name, provider=None, model=None, max_usd=None, max_usd_month=None
            )
        settings = self.job.asking.settings
        return CorpusView(
            name=name,
            provider=settings.provider,
            model=settings.model,
            max_usd=settings.max_usd,
            max_usd_month=settings.max_usd_month,
        )


def serve(configs: Sequence[Config]) -> dict[str, Served]:
    """Make corpora ready, by their names, or find out what is wrong before any work.

    What `mode` says is not asked: nobody waits for a batch.

    Raises:
        ConfigError: a config cannot be used, may not be asked for, or sets no limit
            to what all uploads and jobs of a month spend.
    """
    jobs = [_live(job) for job in ready(configs)]
    for job in jobs:
        if job.asking is not None:
            _check(job.asking)
    throttles = _throttles(job.asking for job in jobs)
    return {job.config.corpus.name: _served(job, throttles) for job in jobs}


def _served(job: Job, throttles: Mapping[_Asked, Throttle]) -> Served:
    if job.asking is None:
        return Served(job=job, provider=None, throttle=None)
    provider = Lasting(job.asking.provider)
    return Served(
        job=replace(job, asking=replace(job.asking, provider=provider)),
        provider=provider,
        throttle=throttles[_asked(job.asking.settings)],
    )


def _live(job: Job) -> Job:
    if job.asking is None:
        return job
    settings = replace(job.asking.settings, mode="live")
    return replace(job, asking=replace(job.asking, settings=settings))


def _check(asking: Asking) -> None:
    asking.check()
    settings = asking.settings
    has_price = asking.facts.prices is not None and not settings.replayed
    if has_price and settings.max_usd_month is None:
        message = (
            f"{asking.config_path}: enrichment.max_usd_month is required where the "
            f"corpus is served: model {settings.model!r} costs money, and max_usd "
            "holds for each job and each upload alone"
        )
        raise ConfigError(message)


def _asked(settings: Settings) -> _Asked:
    return (settings.provider, settings.base_url, settings.endpoint, settings.model)


def _throttles(
    askings: Iterable[Asking | None],
) -> Mapping[_Asked, Throttle]:
    """Make one gate for each model at an address, as careful as the most careful."""
    found: dict[_Asked, Settings] = {}
    for asking in askings:
        if asking is None:
            continue
        settings = asking.settings
        other = found.setdefault(_asked(settings), settings)
        found[_asked(settings)] = replace(
            settings,
            concurrency=min(settings.concurrency, other.concurrency),
            requests_per_minute=_least(
                settings.requests_per_minute, other.requests_per_minute
            ),
            tokens_per_minute=_least(
                settings.tokens_per_minute, other.tokens_per_minute
            ),
        )
    return {key: throttle_of(settings) for key, settings in found.items()}


def _least(one: int | None, other: int | None) -> int | None:
    return min(filter(None, (one, other)), default=None)
