"""The registry: a provider by its name in config."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from situate.errors import ConfigError
from situate.pricing import load_models

if TYPE_CHECKING:
    from pathlib import Path

    from situate.enrichment.exchange import Provider

PROVIDERS = ("anthropic", "openai", "replay")
"""What config may name. The scripted provider is built in code only."""


def open_provider(  # noqa: PLR0913 - the settings that config has for a provider
    name: str,
    *,
    model: str,
    base_url: str | None,
    endpoint: str | None,
    timeout_seconds: float,
    replay: Path | None,
) -> Provider:
    """Give the provider that config names; its `check` says if it can be asked.

    Nothing is sent and no SDK is loaded. `replay` is the file or folder of
    recorded replies, None the one that ships with situate; only the provider
    `replay` reads it.

    Raises:
        ConfigError: the name is unknown, or a setting cannot be used.
    """
    match name:
        case "anthropic":
            from situate.enrichment.providers.anthropic import (
                AnthropicProvider,
            )

            return AnthropicProvider(
                facts=load_models().facts(name, model),
                base_url=base_url,
                endpoint=endpoint,
                timeout_seconds=timeout_seconds,
            )
        case "openai":
            from situate.enrichment.providers.openai import (
                OpenAIProvider,
            )

            return OpenAIProvider(
                facts=load_models().facts(name, model),
                base_url=base_url,
                endpoint=endpoint,
                timeout_seconds=timeout_seconds,
            )
        case "replay":
            from situate.enrichment.providers.replay import (
                ReplayProvider,
            )

            return ReplayProvider(replay)
        case _:
            raise ConfigError(_unknown(name))


def asked_at(name: str, base_url: str | None) -> str:
    """Give the address that a vendor's provider sends to: config's, or its own.

    Raises:
        ConfigError: the name is no vendor's.
    """
    if base_url is not None:
        return base_url
    match name:
        case "anthropic":
            from situate.enrichment.providers.anthropic import VENDOR

            return VENDOR.base_url
        case "openai":
            from situate.enrichment.providers.openai import VENDOR

            return VENDOR.base_url
        case _:
            raise ConfigError(_unknown(name))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), PROVIDERS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(PROVIDERS)}"
    return f"provider {name!r} is unknown; {hint}"
