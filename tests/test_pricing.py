"""Prices are dated data, money is exact, and what is unknown stays unknown."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.pricing import ModelFacts, Prices, cost, estimate, load_models
from situate.usage import Usage

PRICES = Prices(
    input=Decimal(1),
    output=Decimal(5),
    cache_write=Decimal("1.25"),
    cache_read=Decimal("0.1"),
    long_prompt_tokens=100_000,
    long_prompt_input_factor=Decimal(2),
    long_prompt_output_factor=Decimal("1.5"),
    as_of=datetime.date(2026, 11, 30),
    source="made up",
)

ENTRIES = load_models().entries

counts = st.integers(min_value=0, max_value=200_000)


def facts(provider: str, model: str) -> ModelFacts:
    """Look up a model as it is asked for."""
    return load_models().facts(provider, model)


def test_every_kind_of_token_has_its_own_price() -> None:
    """Four disjoint counts, four rates, per million."""
    usage = Usage(uncached_input=1000, cache_write=2000, cache_read=4000, output=100)

    assert cost(usage, PRICES) == Decimal("0.0044")


def test_thinking_is_paid_once_as_output() -> None:
    """`output` includes thinking."""
    usage = Usage(output=100)

    assert cost(Usage(output=100, thinking=80), PRICES) == cost(usage, PRICES)


@pytest.mark.parametrize(
    ("cache_read", "dollars"),
    [(99_000, "0.0159"), (99_001, "0.0293002")],
    ids=["at the threshold", "one token above"],
)
def test_a_long_prompt_pays_more_for_all_of_it(cache_read: int, dollars: str) -> None:
    """Cached input counts towards the threshold, and output costs more too."""
    usage = Usage(uncached_input=1000, cache_read=cache_read, output=1000)

    assert cost(usage, PRICES) == Decimal(dollars)


@given(uncached=counts, written=counts, read=counts, output=counts)
def test_an_estimate_covers_whatever_the_cache_does(
    uncached: int, written: int, read: int, output: int
) -> None:
    """Money set aside for a request is never less than the request costs."""
    usage = Usage(
        uncached_input=uncached, cache_write=written, cache_read=read, output=output
    )

    assert estimate(usage.input, output, PRICES) >= cost(usage, PRICES)


def test_money_is_exact() -> None:
    """A million small requests add up to the cent."""
    one = estimate(10, 1, PRICES)

    assert one * 1_000_000 == Decimal("17.5")


@pytest.mark.parametrize(
    ("provider", "model", "price"),
    [
        ("anthropic", "claude-haiku-5-5", "0.10"),
        ("anthropic", "claude-haiku-4-5", "1"),
        ("anthropic", "claude-haiku-4-5-20251001", "1"),
        ("openai", "gpt-6-luna", "0.10"),
        ("openai", "gpt-5.4-mini-2026-03-17", "0.75"),
        ("replay", "claude-haiku-5-5", "0.10"),
        ("replay", "gpt-6-luna", "0.10"),
    ],
)
def test_a_listed_model_has_its_price_under_any_provider_that_may_serve_it(
    provider: str, model: str, price: str
) -> None:
    """Replay prices the model it stands for."""
    prices = facts(provider, model).prices

    assert prices is not None
    assert prices.input == Decimal(price)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("anthropic", "claude-haiku-5-6"),
        ("anthropic", "claude-haiku-5-5-mini"),
        ("anthropic", "gpt-6-luna"),
        ("openai", "gpt-6-luna-2"),
        ("openai", "openai/gpt-6-luna"),
        ("openai", "llama-3.3-70b"),
        ("openai", ""),
        ("replay", "somebody-elses-model"),
    ],
)
def test_a_model_that_is_not_listed_has_no_price(provider: str, model: str) -> None:
    """A new model is never priced like an old one."""
    assert facts(provider, model).prices is None


@pytest.mark.parametrize(
    ("provider", "model", "field", "temperature", "fixed"),
    [
        (
            "anthropic",
            "claude-haiku-5-5",
            "max_tokens",
            None,
            {"thinking": {"type": "disabled"}},
        ),
        (
            "anthropic",
            "claude-sonnet-5-5",
            "max_tokens",
            None,
            {"thinking": {"type": "between_tools"}},
        ),
        ("anthropic", "claude-haiku-4-5", "max_tokens", 0, {}),
        (
            "anthropic",
            "claude-unheard-of",
            "max_tokens",
            None,
            {"thinking": {"type": "disabled"}},
        ),
        ("anthropic", "smollm2", "max_tokens", 0, {}),
        (
            "openai",
            "gpt-5.4-mini",
            "max_completion_tokens",
            None,
            {"reasoning_effort": "none", "store": False},
        ),
        (
            "openai",
            "gpt-5-mini",
            "max_completion_tokens",
            None,
            {"reasoning_effort": "minimal", "store": False},
        ),
        ("openai", "gpt-4.1-mini", "max_completion_tokens", 0, {"store": False}),
        ("openai", "smollm2", "max_tokens", 0, {}),
    ],
)
def test_each_model_is_asked_in_its_own_way(
    provider: str,
    model: str,
    field: str,
    temperature: float | None,
    fixed: dict[str, object],
) -> None:
    """Thinking is off where it can be; strangers get only what all servers know."""
    found = facts(provider, model)

    assert (found.token_field, found.temperature, found.fixed) == (
        field,
        temperature,
        fixed,
    )


def test_every_price_is_dated_and_says_where_it_is_from() -> None:
    """A figure without date and source cannot be checked."""
    for entry in ENTRIES:
        if entry.prices is not None:
            assert datetime.date(2026, 1, 1) <= entry.prices.as_of
            assert len(entry.prices.source) > 20


def test_a_cache_never_makes_reading_dearer() -> None:
    """A figure in the wrong column shows: read < plain <= write < output."""
    for entry in ENTRIES:
        if (prices := entry.prices) is not None:
            assert 0 < prices.cache_read < prices.input <= prices.cache_write
            assert prices.cache_write < prices.output
            assert prices.cache_write <= (prices.cache_write_1h or prices.cache_write)


def test_only_exact_names_and_dated_snapshots_have_a_price() -> None:
    """A pattern that fits names to come would price them by accident."""
    for entry in ENTRIES:
        if entry.prices is not None:
            assert not any("*" in pattern for pattern in entry.patterns)
