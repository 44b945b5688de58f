"""Time that passes only while everybody waits, and vendors that live in it.

    elapsed, result = simulate(work())

What would take a minute takes as long as its own work. A vendor renders and reads
like the real one; what it would send over a connection it answers itself.
"""

from __future__ import annotations

import asyncio
import json
import random
import selectors
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.providers.anthropic import AnthropicProvider
from situate.enrichment.providers.connection import on_the_wire
from situate.enrichment.providers.openai import OpenAIProvider
from situate.enrichment.throttle import Timing
from tests.support.mock_replies import Desk

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from situate.enrichment.exchange import Body
    from situate.pricing import ModelFacts
    from tests.support.mock_replies import Billing

T = TypeVar("T")

NOWHERE = "http://127.0.0.1:1"


class _Selector(selectors.SelectSelector):
    """Lets time pass instead of waiting for it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(
        self, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            message = "everybody waits and nothing will happen"
            raise RuntimeError(message)
        if not ready:
            self.now += timeout or 0.0
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._simulated = _Selector()
        super().__init__(self._simulated)

    def time(self) -> float:
        return self._simulated.now

    def work(self, seconds: float) -> None:
        self._simulated.now += seconds


def simulate(work: Coroutine[object, object, T]) -> tuple[float, T]:
    """Run to the end; gives the seconds that passed, and the result."""

    async def timed() -> tuple[float, T]:
        result = await work
        return asyncio.get_running_loop().time(), result

    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(timed())


def work(seconds: float) -> None:
    """Let time pass as when a processor is busy: nobody gets on meanwhile."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _Loop)
    loop.work(seconds)


def timing(seed: int = 7) -> Timing:
    """Give the clock of a simulation, for what runs inside it."""
    return Timing(
        clock=lambda: asyncio.get_running_loop().time(),
        random=random.Random(seed).random,  # noqa: S311 - spreads waits, no secret
    )


class SimulatedClaude(AnthropicProvider):
    """Anthropic, with its caching rules."""

    def __init__(
        self, facts: ModelFacts, billing: Billing, *, latency_seconds: float = 1.0
    ) -> None:
        super().__init__(facts=facts, base_url=NOWHERE, timeout_seconds=5)
        self.facts = facts
        self.desk = Desk(billing=billing)
        self.latency_seconds = latency_seconds

    async def send(self, body: Body) -> str:
        """Answer as the desk does, after a while."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        await asyncio.sleep(self.latency_seconds)
        return json.dumps(
            self.desk.message(on_the_wire(body), now=now, answered_at=loop.time())
        )


class SimulatedGPT(OpenAIProvider):
    """OpenAI, with its caching rules."""

    def __init__(
        self, facts: ModelFacts, billing: Billing, *, latency_seconds: float = 1.0
    ) -> None:
        super().__init__(facts=facts, base_url=NOWHERE, timeout_seconds=5)
        self.facts = facts
        self.desk = Desk(billing=billing)
        self.latency_seconds = latency_seconds

    async def send(self, body: Body) -> str:
        """Answer as the desk does, after a while."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        await asyncio.sleep(self.latency_seconds)
        return json.dumps(
            self.desk.completion(on_the_wire(body), now=now, answered_at=loop.time())
        )
