"""What a model costs and how it wants to be asked: data, dated, with its source.

The data stands in `config/models.toml`. Code holds no price and no list of
models. Money is `Decimal` US dollars; where no price is known there is none,
never a guess.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, Protocol

from situate.errors import ConfigError
from situate.shipped import shipped

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping
    from pathlib import Path

    from situate.model import JsonValue

_MILLION = Decimal(1_000_000)


class Tokens(Protocol):
    """Tokens of one reply in disjoint counts; `output` includes thinking."""

    @property
    def uncached_input(self) -> int:
        """Input that no cache had anything to do with."""

    @property
    def cache_write(self) -> int:
        """Input that was stored in the provider's cache."""

    @property
    def cache_read(self) -> int:
        """Input that came from the provider's cache."""

    @property
    def output(self) -> int:
        """Everything the model wrote, thinking included."""

    @property
    def input(self) -> int:
        """The three kinds of input together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per million tokens, as they stood on one day."""

    input: Decimal
    output: Decimal
    cache_write: Decimal
    """Writing to a cache that is kept for five minutes, or for as long as the
    provider keeps it where it offers no choice."""
    cache_write_1h: Decimal | None = None
    """Writing to a cache that is kept for an hour; None where there is none."""
    cache_read: Decimal
    batch_factor: Decimal = Decimal("0.5")
    """What everything costs in the vendor's batch system, as a multiple: both
    vendors' price pages say half (2026-11)."""
    long_prompt_tokens: int | None = None
    """A prompt above this many input tokens, cached or not, costs more."""
    long_prompt_input_factor: Decimal = Decimal(1)
    """What every kind of input costs then, as a multiple."""
    long_prompt_output_factor: Decimal = Decimal(1)
    """What output costs then, as a multiple."""
    as_of: datetime.date
    """The day the figures were read."""
    source: str
    """Where they were read, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """How one model wants to be asked, and what it costs."""

    provider: str
    model: str
    """The model as it was asked for."""
    token_field: Literal["max_tokens", "max_completion_tokens"]
    """The key of the request that limits output."""
    temperature: float | None
    """What to send; None where the model refuses the key."""
    fixed: Mapping[str, JsonValue]
    """Keys that go into every request as they are: thinking off, storing off."""
    thinking_reserve: int
    """Output tokens to allow on top where thinking cannot be switched off."""
    structured_output: Literal["output_config", "response_format", "none"]
    """The key that takes a JSON schema for the answer."""
    cache: Literal["marked", "keyed", "none"]
    """How a request takes part in prompt caching: with a mark at the end of what
    is stable, where nothing is kept without one, with no more than a key that
    names it, or with nothing."""
    cache_minimum_tokens: int
    """A shorter prefix is never cached."""
    context_window: int | None
    """Input and output tokens together; None when unknown."""
    prices: Prices | None
    """None when no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """Everything `config/models.toml` says."""

    entries: tuple[_Entry, ...]
    embeddings: tuple[EmbeddingPrice, ...] = ()

    def facts(self, provider: str, model: str) -> ModelFacts:
        """Give the facts of a model, the most exact entry first.

        A provider without entries of its own (`replay`) is looked up among all
        vendors. A model nobody lists gets what the most cautious entry says.
        """
        own = [entry for entry in self.entries if entry.provider == provider]
        ranked = [
            (entry.exactness(model), entry)
            for entry in own or self.entries
            if entry.exactness(model)
        ]
        if not ranked:
            message = f"config/models.toml has no entry for {provider!r}, {model!r}"
            raise ConfigError(message)
        _, entry = max(ranked, key=lambda pair: pair[0])
        return ModelFacts(
            provider=provider, model=model, prices=entry.prices, **entry.facts
        )

    def embedding(self, model: str) -> EmbeddingPrice | None:
        """Give what a vendor's vectors cost; None where no price is known."""
        return next((one for one in self.embeddings if model in one.models), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingPrice:
    """US dollars per million tokens that are embedded, as they stood on one day."""

    models: tuple[str, ...]
    input: Decimal
    as_of: datetime.date
    source: str
    """Where the figure was read, in words."""

    def cost(self, tokens: int) -> Decimal:
        """Price so many tokens, in US dollars."""
        return tokens * self.input / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One table of the file; `*` and `?` in its patterns stand for anything."""

    provider: str
    patterns: tuple[str, ...]
    facts: Mapping[str, Any]
    prices: Prices | None

    def exactness(self, model: str) -> int:
        """Say how closely it fits: a longer pattern is closer, 0 is no fit."""
        return max(
            (
                len(pattern) + (pattern == model)
                for pattern in self.patterns
                if fnmatchcase(model, pattern)
            ),
            default=0,
        )


@functools.cache
def load_models() -> Models:
    """Read the shipped facts, once per process.

    Raises:
        ConfigError: this installation does not carry them, or they are broken.
    """
    return _read(shipped("config", "models.toml"))


def cost(usage: Tokens, prices: Prices) -> Decimal:
    """Price what one reply used, in US dollars.

    The whole request pays the long-prompt rates once its input, cached or not,
    is above the threshold. Cache writes are taken for five-minute ones: no
    others are asked for.
    """
    inward = (
        usage.uncached_input * prices.input
        + usage.cache_write * prices.cache_write
        + usage.cache_read * prices.cache_read
    )
    return _priced(inward, usage.output * prices.output, usage.input, prices)


def estimate(input_tokens: int, output_tokens: int, prices: Prices) -> Decimal:
    """Price a request before it is sent, in US dollars: what it costs at most.

    Every input token is taken at the dearer of the plain and the cache-writing
    rate, so that money set aside for a request always covers it.
    """
    dearest = max(prices.input, prices.cache_write)
    return _priced(
        input_tokens * dearest, output_tokens * prices.output, input_tokens, prices
    )


def _priced(
    inward: Decimal, outward: Decimal, input_tokens: int, prices: Prices
) -> Decimal:
    threshold = prices.long_prompt_tokens
    if threshold is not None and input_tokens > threshold:
        inward *= prices.long_prompt_input_factor
        outward *= prices.long_prompt_output_factor
    return (inward + outward) / _MILLION


def _read(path: Path) -> Models:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        return Models(
            entries=tuple(_entry(table) for table in data["model"]),
            embeddings=tuple(_embedding(table) for table in data["embedding"]),
        )
    except (OSError, ValueError, TypeError, KeyError, ArithmeticError) as error:
        message = f"{path.name} cannot be used: {error.__class__.__name__}: {error}"
        raise ConfigError(message) from error


def _entry(table: dict[str, Any]) -> _Entry:
    provider = table.pop("provider")
    patterns = tuple(table.pop("match"))
    prices = table.pop("prices", None)
    facts = {
        "temperature": None,
        "fixed": {},
        "thinking_reserve": 0,
        "cache_minimum_tokens": 0,
        "context_window": None,
        **table,
    }
    # Built once here, so that a misspelt key fails when the file is read.
    ModelFacts(provider=provider, model="", prices=None, **facts)
    return _Entry(
        provider=provider,
        patterns=patterns,
        facts=facts,
        prices=None if prices is None else _prices(prices),
    )


def _embedding(table: dict[str, Any]) -> EmbeddingPrice:
    models, price = tuple(table.pop("match")), Decimal(table.pop("input"))
    return EmbeddingPrice(models=models, input=price, **table)


def _prices(table: dict[str, Any]) -> Prices:
    as_they_are = {"as_of", "source", "long_prompt_tokens"}
    fields: dict[str, Any] = {
        key: value if key in as_they_are else Decimal(value)
        for key, value in table.items()
    }
    return Prices(**fields)
