"""Throttle and budget, each on its own, and a storm that both weather."""

from __future__ import annotations

import asyncio
from collections import deque
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.budget import Budget
from situate.enrichment.cache import Cache
from situate.enrichment.live import Session
from situate.enrichment.throttle import Throttle, Turn, spread_seconds
from situate.errors import BudgetExceeded, RateLimited
from situate.pricing import load_models
from situate.prompts import load_prompt
from situate.usage import Usage
from tests.enrichment.scenes import (
    COUNTER,
    PRICES,
    VirtualTime,
    chunks_of,
    document,
    facts,
    settings,
    texts,
)
from tests.support.mock_replies import Billing
from tests.support.simulated import SimulatedGPT, simulate, timing, work

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from situate.enrichment.exchange import Body
    from situate.enrichment.live import Summary
    from situate.pricing import ModelFacts


def _run(work: Coroutine[object, object, None]) -> None:
    asyncio.run(asyncio.wait_for(work, timeout=5))


def _throttle(
    time: VirtualTime,
    *,
    concurrency: int = 8,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
) -> Throttle:
    return Throttle(
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        timing=time.timing,
    )


def _refuse(
    gate: Throttle, time: VirtualTime, told: float | None, *, sent_at: float = -1
) -> None:
    """Refuse a request that was sent now, or when it is said."""
    Turn(gate, started_at=time.now if sent_at < 0 else sent_at).refused(told)


def test_a_refusal_halves_what_may_be_in_flight_once_per_pause() -> None:
    """Eight workers refused at the same moment are one message, not eight."""
    time = VirtualTime()
    gate = _throttle(time)

    for _ in range(8):
        _refuse(gate, time, 2.0)
    after_one_storm = gate.limit
    time.now = 3.0
    _refuse(gate, time, None)

    assert after_one_storm == 4
    assert gate.limit == 2


def test_what_was_sent_before_a_pause_is_no_news_after_it() -> None:
    """Refusals of one burst may come late; they are about the same burst."""
    time = VirtualTime()
    gate = _throttle(time)
    _refuse(gate, time, 0.5)

    time.now = 1.0
    _refuse(gate, time, 0.5, sent_at=0.0)

    assert gate.limit == 4


def test_answers_open_the_gate_slowly_and_no_wider_than_configured() -> None:
    """One more per full round of answers."""
    time = VirtualTime()
    gate = _throttle(time)
    _refuse(gate, time, 0)

    limits = []
    for _ in range(60):
        gate.speed_up()
        limits.append(gate.limit)

    assert limits[3] == 4
    assert limits[4] == 5
    assert limits[-1] == 8


def test_one_request_always_gets_through() -> None:
    """A limit never falls below one."""
    time = VirtualTime()
    gate = _throttle(time, concurrency=1)

    for second in range(5):
        time.now = second
        _refuse(gate, time, 0)

    assert gate.limit == 1


@pytest.mark.parametrize(
    ("requests", "tokens", "seconds"),
    [(60, None, 9), (None, 6000, 9), (600, 6000, 9), (None, None, 0)],
)
def test_rates_are_kept(requests: int | None, tokens: int | None, seconds: int) -> None:
    """Ten requests of a hundred tokens take what the slower rate says."""
    time = VirtualTime()

    async def ten() -> None:
        gate = _throttle(time, requests_per_minute=requests, tokens_per_minute=tokens)
        for _ in range(10):
            async with gate.turn() as turn:
                await turn.ready(100)

    _run(ten())

    assert time.now == pytest.approx(seconds)


def test_a_wrong_estimate_is_made_up_for() -> None:
    """Tokens that were really used count against the rate."""
    time = VirtualTime()

    async def two() -> None:
        gate = _throttle(time, tokens_per_minute=6000)
        async with gate.turn() as turn:
            await turn.ready(100)
            gate.correct(estimated=100, used=400)
        async with gate.turn() as turn:
            await turn.ready(100)

    _run(two())

    assert time.now == pytest.approx(4)


def test_no_correction_weighs_on_more_than_a_minute() -> None:
    """What was used counts against the minute it was used in."""
    time = VirtualTime()

    async def two() -> None:
        gate = _throttle(time, tokens_per_minute=6000)
        async with gate.turn() as turn:
            await turn.ready(100)
            gate.correct(estimated=100, used=10**9)
        async with gate.turn() as turn:
            await turn.ready(100)

    _run(two())

    assert time.now == pytest.approx(61)


@pytest.mark.parametrize(
    ("told", "spread"), [(0.0, 0.02), (0.05, 0.05), (2.0, 0.5), (60.0, 0.5)]
)
def test_a_short_pause_spreads_requests_over_its_own_length(
    told: float, spread: float
) -> None:
    """A server that asks for a moment does not cost half a second each time."""
    time = VirtualTime(chance=0.999)

    async def one() -> None:
        gate = _throttle(time)
        async with gate.turn() as turn:
            turn.refused(told)
            await turn.ready(1)

    _run(one())

    assert spread_seconds(told) == spread
    assert told <= time.now <= told + spread


def test_a_place_nobody_takes_is_passed_on() -> None:
    """Whoever is called off while waiting holds up nobody."""

    async def scene() -> None:
        gate = _throttle(VirtualTime(), concurrency=1)
        done = asyncio.Event()

        async def work() -> None:
            async with gate.turn():
                done.set()

        async with gate.turn():
            called_off = asyncio.create_task(work())
            waiting = asyncio.create_task(work())
            await asyncio.sleep(0)
        called_off.cancel()
        await done.wait()
        await waiting

    _run(scene())


def test_who_was_refused_twice_goes_first_and_alone() -> None:
    """It must not use up its attempts while newcomers get through."""
    order: list[str] = []

    async def scene() -> None:
        gate = _throttle(VirtualTime())

        async def newcomer() -> None:
            async with gate.turn() as turn:
                await turn.ready(1)
                order.append("newcomer")

        async with asyncio.TaskGroup() as group, gate.turn() as unlucky:
            unlucky.refused(1)
            unlucky.refused(1)
            group.create_task(newcomer())
            for _ in range(9):
                await asyncio.sleep(0)
            await unlucky.ready(1)
            order.append("unlucky")

    _run(scene())

    assert order == ["unlucky", "newcomer"]


@pytest.mark.parametrize(
    ("latency_seconds", "most_seconds"),
    [(0.0, 12), (0.02, 12), (0.2, 13), (0.5, 14), (1.0, 16), (1.5, 22)],
)
def test_a_storm_costs_few_requests_and_no_answer(
    tmp_path: Path, latency_seconds: float, most_seconds: float
) -> None:
    """64 workers, 40 requests a second, Retry-After: at most 15 % more than answers.

    Nor does it take much longer than the 10 s that 400 requests have to take, or
    than half of the workers need.
    """
    vendor = _Busy(BUSY, Billing(), latency_seconds=latency_seconds)
    chosen = settings(
        provider="openai",
        model=BUSY.model,
        view="full",
        concurrency=64,
        max_total_tokens=10**9,
    )
    lines = texts(400)
    sources = [
        document(*lines[n : n + 20], doc_id=f"policy-{n}") for n in range(0, 400, 20)
    ]

    async def enriched(cache: Cache) -> Summary:
        async with Session(
            settings=chosen,
            prompt=load_prompt(chosen.prompt),
            provider=vendor,
            cache=cache,
            ledger=None,
            counter=COUNTER,
            facts=BUSY,
            timing=timing(),
        ) as session:
            await asyncio.gather(
                *(session.enrich(each, chunks_of(each)) for each in sources)
            )
            return session.summary

    with Cache(tmp_path) as cache:
        seconds, summary = simulate(enriched(cache))

    assert summary.statements == summary.chunks == 400
    assert summary.attempts == vendor.calls
    assert vendor.refused > 0
    assert vendor.calls <= 1.15 * (vendor.calls - vendor.refused)
    assert seconds <= most_seconds


BUSY = load_models().facts("openai", "local-model")


SENDING_SECONDS = 0.0015
"""What the SDK and its transport take for a request (measured, 2026-11): 64 that
are sent at once are sent within a tenth of a second."""


class _Busy(SimulatedGPT):
    """Answers 40 requests in any second and sends the others away for a second.

    That takes as long as an answer, as where a gateway queues what it refuses.
    """

    def __init__(
        self, facts: ModelFacts, billing: Billing, *, latency_seconds: float
    ) -> None:
        super().__init__(facts, billing, latency_seconds=latency_seconds)
        self.calls = self.refused = 0
        self._accepted: deque[float] = deque()

    async def send(self, body: Body) -> str:
        work(SENDING_SECONDS)
        now = asyncio.get_running_loop().time()
        self.calls += 1
        while self._accepted and self._accepted[0] <= now - 1:
            self._accepted.popleft()
        if len(self._accepted) >= 40:
            self.refused += 1
            await asyncio.sleep(self.latency_seconds)
            message = "too many requests"
            raise RateLimited(message, retry_after_seconds=1.0)
        self._accepted.append(now)
        return await super().send(body)


def _budget(max_usd: str | None = "10", tokens: int | None = None) -> Budget:
    return Budget(
        settings(
            max_usd=None if max_usd is None else Decimal(max_usd),
            max_total_tokens=tokens,
        ),
        facts(None if max_usd is None else PRICES),
    )


def test_a_request_that_may_not_fit_waits_for_those_in_flight() -> None:
    """They may turn out cheaper than what was set aside for them."""

    async def scene() -> None:
        purse = _budget("10")
        first = await purse.reserve(input_tokens=4000, output_tokens=500)
        second = asyncio.create_task(
            purse.reserve(input_tokens=4000, output_tokens=500)
        )
        await asyncio.sleep(0)
        assert not second.done()
        purse.settle(first, Usage(uncached_input=4000, output=10))
        await second

    _run(scene())


def test_a_request_that_cannot_fit_is_refused_before_it_is_sent() -> None:
    """With nothing in flight nothing can change that."""

    async def scene() -> None:
        with pytest.raises(BudgetExceeded, match="max_usd = 10"):
            await _budget("10").reserve(input_tokens=9000, output_tokens=500)
        with pytest.raises(BudgetExceeded, match="max_total_tokens = 10"):
            await _budget(None, 10).reserve(input_tokens=9, output_tokens=1)

    _run(scene())


def test_what_was_refused_costs_nothing_and_what_says_nothing_the_most() -> None:
    """What may be billed and nobody said how is taken at what was set aside."""

    async def scene() -> None:
        purse = _budget("10")
        for usage, cost in (
            (Usage(), "0"),
            (None, "1.4"),
            (Usage(uncached_input=1000, output=100), "1.1"),
        ):
            held = await purse.reserve(input_tokens=1000, output_tokens=100)
            assert purse.settle(held, usage) == Decimal(cost)

    _run(scene())


@pytest.mark.parametrize(
    ("usage", "believed"),
    [
        (Usage(uncached_input=900, output=20), True),
        (Usage(uncached_input=9_000, output=20), True),
        (Usage(uncached_input=20, cache_read=20_000, output=20_000), True),
        (Usage(uncached_input=10**9, output=20), False),
        (Usage(uncached_input=900, output=10**9), False),
        (Usage(output=20), False),
        (None, False),
    ],
    ids=[
        "usual",
        "other tokenizer",
        "hidden prompt",
        "read",
        "written",
        "free",
        "none",
    ],
)
def test_a_usage_beyond_all_measure_is_doubted(
    usage: Usage | None, *, believed: bool
) -> None:
    """Tokenizers differ and gateways add prompts; a mistake is another matter."""

    async def scene() -> None:
        held = await _budget("10").reserve(input_tokens=1000, output_tokens=100)
        assert (held.doubt(usage) is None) is believed

    _run(scene())


def test_a_provider_that_counts_more_is_given_more_room() -> None:
    """The margin grows to what was seen, so that the limit holds."""

    async def scene() -> None:
        purse = _budget("10")
        held = await purse.reserve(input_tokens=1000, output_tokens=0)
        purse.settle(held, Usage(uncached_input=2000))
        after = await purse.reserve(input_tokens=1000, output_tokens=0)
        assert after.tokens == 2100

    _run(scene())


def test_a_replayed_run_has_no_limit() -> None:
    """Recorded answers cost nothing, whatever the model is priced at."""

    async def scene() -> None:
        purse = Budget(settings(provider="replay", max_usd=Decimal(0)), facts(PRICES))
        held = await purse.reserve(input_tokens=10**9, output_tokens=10**9)
        assert purse.settle(held, Usage(output=10**9)) == 0

    _run(scene())
