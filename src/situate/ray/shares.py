"""What each of several workers may do: together they keep what a config says."""

from __future__ import annotations

import decimal
from dataclasses import replace
from typing import TYPE_CHECKING

from situate.errors import ConfigError

if TYPE_CHECKING:
    from situate.config import Config

_EACH = ("concurrency", "max_total_tokens")
_RATES = ("requests_per_minute", "tokens_per_minute")
"""What a server keeps for all who share it."""

_DOWN = decimal.Context(rounding=decimal.ROUND_DOWN)


def shared(config: Config, workers: int) -> Config:
    """Give the config of one of so many workers, each with an equal share.

    Requests in flight, requests and tokens a minute, dollars and tokens of a run are
    divided, and rounded down. What is kept beside the answers for everybody together is
    not: `max_usd_month`, and on a server the rates.

    Raises:
        ConfigError: there is less of something than there are workers, or a vendor's
            batch is to be handed in, which one process does.
    """
    asked = config.enrichment
    if not asked.enabled:
        return config
    if asked.mode == "batch":
        message = (
            f"{config.path}: enrichment.mode is 'batch': workers ask live; run without "
            "Ray, or set it to 'live'"
        )
        raise ConfigError(message)
    shares: dict[str, int] = {}
    for name in _EACH if config.cache.backend == "redis" else (*_EACH, *_RATES):
        most: int | None = getattr(asked, name)
        if most is None:
            continue
        if most < workers:
            message = (
                f"{config.path}: enrichment.{name} = {most} cannot be divided among "
                f"{workers} workers; take fewer"
            )
            raise ConfigError(message)
        shares[name] = most // workers
    most_usd = asked.max_usd
    return replace(
        config,
        enrichment=replace(
            asked,
            max_usd=None if most_usd is None else _DOWN.divide(most_usd, workers),
            **shares,  # type: ignore[arg-type]  # each is a whole number
        ),
    )
