"""Both SDKs for real: over TCP to a server that speaks the vendors' protocols."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.cassettes import PATHS, SCENARIOS, provider_for
from tests.support.server import MODEL

if TYPE_CHECKING:
    from situate.enrichment.exchange import Reply

pytestmark = pytest.mark.xdist_group("model server")


@pytest.mark.parametrize("name", sorted(PATHS))
def test_the_sdk_drives_the_real_route(name: str, llama_server: str) -> None:
    """Two chunks of a document are asked for and answered, usage and all."""
    scenario = SCENARIOS["statement"]

    async def ask() -> list[Reply]:
        provider = provider_for(name, scenario, address=llama_server)
        answered = [
            provider.parse(
                await provider.send(provider.render(rendered, scenario.parameters))
            )
            for rendered in scenario.asked
        ]
        await provider.close()
        return answered

    first, second = asyncio.run(ask())

    for reply in (first, second):
        assert reply.stop in {"end", "length"}
        assert reply.text
        assert reply.model == MODEL
        assert 50 < reply.usage.input < 100
        assert 0 < reply.usage.output <= scenario.max_output_tokens
        assert reply.usage.thinking == 0
    # The document is read once: the second chunk finds it in the cache.
    assert second.usage.cache_read > 30
    assert second.usage.uncached_input == second.usage.input - second.usage.cache_read


def test_a_provider_can_be_used_again_after_closing(llama_server: str) -> None:
    """Closing lets go of connections; the next request opens new ones."""
    scenario = SCENARIOS["truncated"]
    provider = provider_for("openai", scenario, address=llama_server)

    async def ask() -> str:
        body = provider.render(scenario.asked[0], scenario.parameters)
        raw = await provider.send(body)
        await provider.close()
        await provider.close()
        return raw

    first, second = asyncio.run(ask()), asyncio.run(ask())

    assert provider.parse(first).text == provider.parse(second).text


def test_the_server_ends_with_the_one_who_started_it() -> None:
    """Killed tests leave no server behind: its input ends, and so does it."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert b"http://127.0.0.1" in process.stdout.readline()

        process.stdin.close()

        assert process.wait(timeout=10) == 0
