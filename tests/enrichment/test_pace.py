"""The pace that refusals teach: what was borne, and how it is forgotten."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from situate.enrichment.throttle import Throttle, Turn
from tests.enrichment.scenes import VirtualTime


def _gate(time: VirtualTime, *, concurrency: int = 8) -> Throttle:
    return Throttle(
        concurrency=concurrency,
        requests_per_minute=None,
        tokens_per_minute=None,
        timing=time.timing,
    )


def _sent(gate: Throttle, time: VirtualTime, count: int, *, every: float) -> Turn:
    """Send requests one after the other, each answered at once; gives the last."""

    async def send() -> Turn:
        for _ in range(count):
            time.now += every
            async with gate.turn() as turn:
                await turn.ready(1)
        return turn

    return asyncio.run(asyncio.wait_for(send(), timeout=5))


def _pace(gate: Throttle, time: VirtualTime) -> float:
    """Give the seconds between the next two starts, asked for at once."""

    async def send() -> float:
        started = []
        for _ in range(3):
            async with gate.turn() as turn:
                await turn.ready(1)
                started.append(time.now)
        return started[2] - started[1]

    return asyncio.run(asyncio.wait_for(send(), timeout=5))


def test_nobody_waits_before_anybody_was_refused() -> None:
    """A pace is learned from refusals alone: without them there is none."""
    time = VirtualTime()

    _sent(_gate(time), time, 50, every=0.001)

    assert time.slept == []


@pytest.mark.parametrize("told", [0.5, 1.0, 10.0])
def test_after_a_pause_requests_start_at_the_pace_that_was_borne(told: float) -> None:
    """What was taken within the second before a refusal, and a tenth less."""
    time = VirtualTime()
    gate = _gate(time)
    refused = _sent(gate, time, 60, every=0.0249)

    refused.refused(told)

    assert _pace(gate, time) == pytest.approx(1.1 / 40, rel=0.02)


def test_what_is_refused_late_has_taught_nothing_by_being_sent() -> None:
    """Of a burst only those count that were sent before the first refused one."""
    time = VirtualTime()
    gate = _gate(time)

    async def burst() -> None:
        async with contextlib.AsyncExitStack() as stack:
            turns = [await stack.enter_async_context(gate.turn()) for _ in range(8)]
            for turn in turns:
                await turn.ready(1)
            time.now = 0.5
            for turn in turns[:4:-1]:
                turn.refused(1.0)

    asyncio.run(asyncio.wait_for(burst(), timeout=5))

    assert _pace(gate, time) == pytest.approx(1.1 / 5, rel=0.02)


def test_few_requests_teach_no_pace_below_a_round_for_each_second() -> None:
    """Who was refused at once may pay for somebody else; concurrency is halved."""
    time = VirtualTime()
    gate = _gate(time, concurrency=32)
    refused = _sent(gate, time, 2, every=0.1)

    refused.refused(5.0)

    assert gate.limit == 16
    assert _pace(gate, time) == pytest.approx(1.1 / 16, rel=0.02)


def test_a_pace_that_is_refused_again_is_slowed_down_again() -> None:
    """Below a request a second nothing is counted; every pause takes a tenth."""
    time = VirtualTime()
    gate = _gate(time, concurrency=1)

    for _ in range(4):
        _sent(gate, time, 1, every=1.0).refused(5.0)

    assert _pace(gate, time) == pytest.approx(1.1**4, rel=0.02)


def test_no_pace_is_slower_than_a_request_for_each_pause() -> None:
    """Where refusals have nothing to do with the pace it does not starve a run."""
    time = VirtualTime()
    gate = _gate(time)

    for _ in range(100):
        _sent(gate, time, 1, every=0.1).refused(0.02)

    assert _pace(gate, time) == pytest.approx(1.1 * 0.02, rel=0.02)


@pytest.mark.parametrize(("seconds", "faster"), [(9, 1.06), (30, 2), (60, 16)])
def test_the_pace_recovers_slowly_at_first_and_then_fast(
    seconds: float, faster: float
) -> None:
    """A limit is met again with care, and one that is gone is soon forgotten."""
    time = VirtualTime()
    gate = _gate(time)
    _sent(gate, time, 60, every=0.0249).refused(1.0)
    before = _pace(gate, time)

    time.now += seconds

    assert before / _pace(gate, time) == pytest.approx(faster, rel=0.05)


def test_the_first_round_is_heard_of_before_the_second_begins() -> None:
    """What was sent in a row is answered in a row; its end may be refused."""
    time = VirtualTime()
    started: list[float] = []

    async def scene() -> None:
        gate = _gate(time, concurrency=4)
        async with contextlib.AsyncExitStack() as others:
            async with gate.turn() as first:
                await first.ready(1)
                for _ in range(3):
                    time.now += 0.01
                    turn = await others.enter_async_context(gate.turn())
                    await turn.ready(1)
                time.now = 1.0
            for _ in range(3):
                async with gate.turn() as turn:
                    await turn.ready(1)
                    started.append(time.now)

    asyncio.run(asyncio.wait_for(scene(), timeout=5))

    assert started == [pytest.approx(1.03)] * 3
