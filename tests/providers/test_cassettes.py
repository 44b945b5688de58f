"""Recorded exchanges with a real server, played through the providers."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from situate.errors import ContextTooLong, ProviderUnusable
from situate.usage import Usage
from tests.support.cassettes import (
    DIRECTORY,
    PATHS,
    REPLY_HEADERS,
    SCENARIOS,
    Player,
    cassette_path,
    played,
    provider_for,
)
from tests.support.server import MODEL

FILES = sorted(path for name in PATHS for path in (DIRECTORY / name).glob("*.json"))


@pytest.fixture(params=sorted(PATHS))
def name(request: pytest.FixtureRequest) -> str:
    """Give the name of each vendor's provider in turn."""
    chosen: str = request.param
    return chosen


def replies(name: str, scenario: str) -> list[str]:
    """Ask what the scenario asks and give the raw replies."""

    async def ask(player: Player) -> list[str]:
        asked = SCENARIOS[scenario]
        provider = provider_for(
            name, asked, address="http://recorded.test", transport=player
        )
        return [
            await provider.send(provider.render(rendered, asked.parameters))
            for rendered in asked.asked
        ]

    with played(name, scenario) as player:
        return asyncio.run(ask(player))


def test_statements_are_read_with_their_usage(name: str) -> None:
    """The second chunk of a document finds the first one's prefix in the cache."""
    scenario = SCENARIOS["statement"]
    provider = provider_for(name, scenario, address="http://recorded.test")

    first, second = (provider.parse(raw) for raw in replies(name, "statement"))

    assert (first.stop, second.stop) == ("end", "end")
    assert first.text.startswith("This passage is about")
    assert first.model == second.model == MODEL
    assert first.usage.cache_read == 0
    assert second.usage.cache_read > second.usage.uncached_input > 0
    assert 0 < first.usage.output < scenario.max_output_tokens


def test_a_statement_cut_off_says_so(name: str) -> None:
    """The stop reason is read, not guessed from the text."""
    scenario = SCENARIOS["truncated"]
    provider = provider_for(name, scenario, address="http://recorded.test")

    (raw,) = replies(name, "truncated")

    reply = provider.parse(raw)
    assert reply.stop == "length"
    assert reply.usage == Usage(
        uncached_input=reply.usage.input, output=scenario.max_output_tokens
    )


def test_a_prompt_too_long_for_the_model_is_told_apart(name: str) -> None:
    """It can be cut and asked again, unlike other refused requests."""
    with pytest.raises(ContextTooLong, match=r"400 \(exceed_context_size_error\)"):
        replies(name, "context-too-long")


def test_a_wrong_address_is_told_apart(name: str) -> None:
    """No request could succeed there."""
    with pytest.raises(ProviderUnusable, match="check base_url"):
        replies(name, "unknown-route")


def test_every_cassette_belongs_to_a_scenario_and_every_scenario_has_one() -> None:
    """No recording lies about unplayed."""
    wanted = {cassette_path(name, scenario) for name in PATHS for scenario in SCENARIOS}

    assert set(FILES) == wanted


def test_a_request_that_differs_by_a_letter_finds_no_recording(name: str) -> None:
    """Cassettes are matched on the exact body."""
    scenario = SCENARIOS["truncated"]

    async def ask(player: Player) -> str:
        provider = provider_for(
            name, scenario, address="http://recorded.test", transport=player
        )
        body = provider.render(scenario.asked[0], scenario.parameters)
        return await provider.send({**body, "model": f"{MODEL}x"})

    with pytest.raises(AssertionError, match="no recorded reply is left"):  # noqa: SIM117 - the other check of playing is not under test
        with played(name, "truncated") as player:
            asyncio.run(ask(player))


def test_a_recording_that_is_not_played_fails_the_test(name: str) -> None:
    """A scenario that asks less than it did is found."""
    with (
        pytest.raises(AssertionError, match="never asked for"),
        played(name, "statement"),
    ):
        pass


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}"
)
def test_cassettes_keep_no_header_but_the_allowed_ones(path: Any) -> None:
    """Of requests no header is kept, of replies three at most."""
    for exchange in json.loads(path.read_text(encoding="utf-8"))["exchanges"]:
        assert set(exchange["request"]) == {"method", "path", "body"}
        assert set(exchange["reply"]) == {"status", "headers", "body"}
        assert set(exchange["reply"]["headers"]) <= set(REPLY_HEADERS)


@pytest.mark.parametrize(
    "path",
    sorted(path for path in DIRECTORY.rglob("*.json*")),
    ids=lambda path: f"{path.parent.name} {path.stem}",
)
def test_cassettes_hold_no_secret(path: Any) -> None:
    """Nothing that looks like a key, a token or a cookie is in any recording."""
    text = path.read_text(encoding="utf-8")

    found = re.findall(
        r"(?i)\bbearer\s|x-api-key|\"(?:authorization|cookie|set-cookie)\"|\bsk-[\w-]{8}",
        text,
    )

    assert not found
