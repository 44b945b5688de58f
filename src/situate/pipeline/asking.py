"""Whom a corpus asks for statements, and whether it may."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.addresses import Server
from situate.enrichment.budget import check_limits
from situate.enrichment.cache import check_place
from situate.enrichment.plan import plan
from situate.enrichment.providers import asked_at, open_provider
from situate.enrichment.redaction import Redaction
from situate.enrichment.settings import Settings
from situate.errors import ConfigError
from situate.organisation import Egress, read_egress
from situate.pricing import load_models
from situate.prompts import load_prompt

if TYPE_CHECKING:
    from pathlib import Path

    from situate.config import Config, EnrichmentConfig
    from situate.enrichment.cache import Place
    from situate.enrichment.estimate import Estimate
    from situate.enrichment.exchange import Provider
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.settings import View
    from situate.organisation import Mode
    from situate.pipeline.documents import Prepared, Preparer
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Whom to ask for statements, and how."""

    settings: Settings
    prompt: Prompt
    facts: ModelFacts
    provider: Provider
    cache_directory: Path
    """Where tickets lie, and replies that are kept on the disk."""
    cache_place: Place
    """Where replies are kept."""
    config_path: Path
    egress: Egress
    """What the organisation allows."""

    @classmethod
    def of(cls, config: Config) -> Asking | None:
        """Give what a config says; None where enrichment is off.

        Raises:
            ConfigError: the prompt or a setting of the provider cannot be used.
        """
        if not config.enrichment.enabled:
            return None
        settings, place = _settings(config.enrichment), config.cache.place
        # Replies tell of documents, also those that were recorded.
        is_bound = isinstance(place, Server) or not settings.replayed
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
            cache_place=place,
            config_path=config.path,
            egress=read_egress(os.environ) if is_bound else Egress(),
        )

    @property
    def address(self) -> str | None:
        """Where text is sent; None where recorded replies answer."""
        settings = self.settings
        if settings.replayed:
            return None
        return asked_at(settings.provider, settings.base_url)

    def check(self, *, mode: Mode | None = None) -> None:
        """Find out, before any work, whether it may be asked and answers be kept.

        `mode` is how, where that is not what the config says.

        Raises:
            ConfigError: limits on spending do not fit the model, the cache is on a
                network file system or lacks its client, or the organisation does not
                allow to ask so or to keep replies there.
        """
        check_limits(self.settings, self.facts)
        check_place(self.cache_place)
        objection = None
        if isinstance(self.cache_place, Server):
            objection = self.egress.about_cache(self.cache_place)
        if self.address is not None:
            objection = objection or self.egress.objection(
                url=self.address,
                model=self.settings.model,
                mode=mode or self.settings.mode,
            )
        if objection is not None:
            message = f"{self.config_path}: {objection}"
            raise ConfigError(message)

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
        redaction=None if asked.redact is None else Redaction.of(asked.redact),
    )
