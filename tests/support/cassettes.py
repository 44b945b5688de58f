"""Recorded exchanges with a real server, and a transport that plays them.

A cassette is one scenario for one provider: what was sent, to the byte, and
what came back. Requests are matched on method, path and exact body; all of
them have to be played. Of the reply's headers three are kept, of the request's
none.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from situate.enrichment.exchange import Parameters, Rendered
from situate.enrichment.providers.anthropic import AnthropicProvider
from situate.enrichment.providers.connection import on_the_wire
from situate.enrichment.providers.openai import OpenAIProvider
from situate.pricing import load_models
from tests.support.server import CONTEXT_TOKENS, MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = Path(__file__).parents[2] / "cassettes"

REPLY_HEADERS = ("content-type", "retry-after", "retry-after-ms")
"""The only headers that are ever written to a cassette."""

PATHS = {"anthropic": "", "openai": "/v1"}
"""Where each vendor's routes begin on a server that speaks both protocols."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is asked, in order, of a server at `path` below the routes' beginning."""

    asked: tuple[Rendered, ...]
    max_output_tokens: int
    path: str = ""

    @property
    def parameters(self) -> Parameters:
        """What goes beside each prompt."""
        return Parameters(model=MODEL, max_output_tokens=self.max_output_tokens)


def _about(chunk: str) -> Rendered:
    return Rendered(
        system="You place a passage in its document.",
        document="Travel policy. Meals: 40 euros a day. Hotels: 120 euros a night.",
        chunk=f"Say in one sentence what this passage is about: {chunk}",
    )


SCENARIOS = {
    "statement": Scenario(
        asked=(
            _about("Meals: 40 euros a day."),
            _about("Hotels: 120 euros a night."),
        ),
        max_output_tokens=100,
    ),
    "truncated": Scenario(
        asked=(_about("Meals: 40 euros a day."),), max_output_tokens=3
    ),
    "context-too-long": Scenario(
        asked=(_about("Meals. " * CONTEXT_TOKENS),), max_output_tokens=60
    ),
    "unknown-route": Scenario(
        asked=(_about("Meals: 40 euros a day."),),
        max_output_tokens=60,
        path="/nowhere",
    ),
}


def provider_for(
    name: str,
    scenario: Scenario,
    *,
    address: str,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> AnthropicProvider | OpenAIProvider:
    """Give the provider that plays a scenario against the server at `address`."""
    kind = {"anthropic": AnthropicProvider, "openai": OpenAIProvider}[name]
    return kind(
        facts=load_models().facts(name, MODEL),
        base_url=f"{address}{PATHS[name]}{scenario.path}",
        timeout_seconds=30,
        transport=transport,
    )


class Player(httpx2.AsyncBaseTransport):
    """Answers with recorded replies, each of them once."""

    def __init__(self, exchanges: list[dict[str, Any]]) -> None:
        self._waiting = list(exchanges)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Give the reply that was recorded for exactly this request."""
        sent = (request.method, request.url.path, request.content)
        for exchange in self._waiting:
            recorded = exchange["request"]
            body = on_the_wire(recorded["body"])
            if sent == (recorded["method"], recorded["path"], body):
                self._waiting.remove(exchange)
                reply = exchange["reply"]
                return httpx2.Response(
                    reply["status"], headers=reply["headers"], text=reply["body"]
                )
        message = f"no recorded reply is left for {request.method} {request.url.path}"
        raise AssertionError(message)

    def assert_played(self) -> None:
        """Fail when a recorded exchange was not asked for."""
        left = [exchange["request"]["path"] for exchange in self._waiting]
        assert not left, f"recorded but never asked for: {left}"


@contextlib.contextmanager
def played(provider: str, scenario: str) -> Iterator[Player]:
    """Play a cassette to its end."""
    text = cassette_path(provider, scenario).read_text(encoding="utf-8")
    player = Player(json.loads(text)["exchanges"])
    yield player
    player.assert_played()


def cassette_path(provider: str, scenario: str) -> Path:
    """Give the file that holds a scenario's exchanges with a provider's routes."""
    return DIRECTORY / provider / f"{scenario}.json"
