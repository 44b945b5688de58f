"""When the server misbehaves: waits, stops, and what is on the wire."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.providers.scripted import ScriptedProvider
from situate.errors import (
    ContextTooLong,
    RateLimited,
    TransientError,
    UnsupportedParameter,
)
from tests.enrichment.scenes import (
    VirtualTime,
    asked_about,
    document,
    play,
    texts,
)

if TYPE_CHECKING:
    from pathlib import Path

    from situate.enrichment.exchange import Body

FORTY = document(*texts(40))


def _limited(seconds: float | None) -> RateLimited:
    return RateLimited("429", retry_after_seconds=seconds)


def _number_of(body: Body) -> int:
    return int(asked_about(body).rsplit(" ", 1)[1].rstrip("."))


def _answer_to(body: Body) -> str:
    return f"Spending caps for renewed cover of grade {_number_of(body)}."


@pytest.mark.parametrize("told", [2.0, None, 0.0], ids=["told", "untold", "at-once"])
@pytest.mark.parametrize("concurrency", [1, 2, 8, 32])
@pytest.mark.parametrize("chance", [0.0, 0.3, None])
def test_a_storm_loses_no_statement(
    tmp_path: Path, told: float | None, concurrency: int, chance: float | None
) -> None:
    """Scene L22: every second call is refused, every chunk gets its sentence."""
    calls = itertools.count()
    tries: Counter[int] = Counter()
    luck = Random(concurrency)  # noqa: S311 - jitter keeps no secret
    time = VirtualTime()

    async def every_second(body: Body) -> Any:
        time.chance = luck.random() if chance is None else chance
        tries[_number_of(body)] += 1
        refused = next(calls) % 2
        await asyncio.sleep(0)
        return _limited(told) if refused else _answer_to(body)

    provider = ScriptedProvider(every_second)
    result = play(provider, tmp_path, FORTY, time=time, concurrency=concurrency)

    assert result.summary.statements == 40
    assert result.summary.requests == 40
    assert result.summary.attempts == len(provider.bodies)
    assert max(tries.values()) <= 6


def test_nobody_asks_earlier_than_told(tmp_path: Path) -> None:
    """Scene L22: one pause holds for all who share the provider."""
    time = VirtualTime()
    sent: list[float] = []
    told: list[float] = []

    def refuse_the_fifth(body: Body) -> Any:
        sent.append(time.now)
        if len(sent) == 5:
            told.append(time.now + 2)
            return _limited(2.0)
        return _answer_to(body)

    provider = ScriptedProvider(refuse_the_fifth)
    play(provider, tmp_path, FORTY, time=time, concurrency=2)

    late = sent[6:]  # The other one of two was on the wire already.
    assert late
    assert min(late) >= told[0]


def test_waits_differ_between_workers(tmp_path: Path) -> None:
    """Scene L22: what was told is a floor, and chance comes on top."""
    time = VirtualTime()
    chances = itertools.cycle([0.1, 0.35, 0.6, 0.85])
    refused: set[int] = set()

    def once_each(body: Body) -> Any:
        time.chance = next(chances)
        if _number_of(body) in refused:
            return _answer_to(body)
        refused.add(_number_of(body))
        return _limited(2.0)

    play(ScriptedProvider(once_each), tmp_path, document(*texts(8)), time=time)

    waits = [seconds for seconds in time.slept if seconds >= 2]
    assert len(waits) >= 8
    assert len(set(waits)) > 3


def test_attempts_on_the_wire_are_those_configured(tmp_path: Path) -> None:
    """Scene L23: one layer retries, and it counts."""
    provider = ScriptedProvider(lambda _: TransientError("503"))

    result = play(provider, tmp_path, document(*texts(1)), max_attempts=4)

    assert len(provider.bodies) == result.summary.attempts == 4
    assert result.outcomes == ["unavailable"]


@pytest.mark.parametrize("told", [2.0, None], ids=["told", "untold"])
def test_a_storm_without_end_is_left_after_a_while(
    tmp_path: Path, told: float | None
) -> None:
    """Scene L22: total attempts are bounded, and the run says why it stopped."""
    provider = ScriptedProvider(lambda _: _limited(told))

    result = play(provider, tmp_path, FORTY, concurrency=8)

    assert result.summary.stopped == "outage"
    assert result.summary.fallbacks == {"rate_limited": 3}
    assert len(provider.bodies) == 3 * 6


def test_backoff_grows_when_nothing_is_told(tmp_path: Path) -> None:
    """Full jitter below a bound that doubles."""
    time = VirtualTime(chance=0.0)
    provider = ScriptedProvider(lambda _: TransientError("503"))

    play(provider, tmp_path, document(*texts(1)), time=time, max_attempts=5)

    assert time.slept == [1, 2, 4, 8]


def test_a_wait_that_is_too_long_stops_enrichment(tmp_path: Path) -> None:
    """Scene L22: it is never shortened; what was answered stays."""

    def later_an_hour(body: Body) -> Any:
        return _limited(3600) if _number_of(body) >= 10 else _answer_to(body)

    time = VirtualTime()
    result = play(
        ScriptedProvider(later_an_hour), tmp_path, FORTY, time=time, concurrency=1
    )

    assert result.summary.stopped == "wait_too_long"
    assert result.summary.statements == 10
    assert result.summary.skipped == {"wait_too_long": 30}
    assert result.summary.attempts == 11
    assert max(time.slept, default=0) < 120


def test_a_server_that_is_down_is_not_asked_by_every_chunk(tmp_path: Path) -> None:
    """Three requests in a row that failed on every attempt are an outage."""
    provider = ScriptedProvider(lambda _: TransientError("connection refused"))

    result = play(provider, tmp_path, FORTY, max_attempts=2)

    assert len(provider.bodies) == 6
    assert result.summary.fallbacks == {"unavailable": 3}
    assert result.summary.skipped == {"outage": 37}
    assert "connection refused" in str(result.summary.stop_message)


def test_the_first_request_goes_alone(tmp_path: Path) -> None:
    """Nobody follows until the provider has answered."""
    in_flight = most_at_first = 0

    async def count(body: Body) -> str:
        nonlocal in_flight, most_at_first
        in_flight += 1
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if len(provider.bodies) == 1:
            most_at_first = max(most_at_first, in_flight)
        in_flight -= 1
        return _answer_to(body)

    provider = ScriptedProvider(count)
    play(provider, tmp_path, FORTY, concurrency=8)

    assert most_at_first == 1
    assert len(provider.bodies) == 40


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_no_more_requests_are_in_flight_than_allowed(
    tmp_path: Path, concurrency: int
) -> None:
    """Two documents at once share one limit."""
    in_flight = most = 0

    async def count(body: Body) -> str:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.001)
        in_flight -= 1
        return _answer_to(body)

    other = document(*texts(20), doc_id="other", title="Other")
    play(ScriptedProvider(count), tmp_path, FORTY, other, concurrency=concurrency)

    assert most == concurrency


def test_a_prompt_that_does_not_fit_costs_its_own_document_alone(
    tmp_path: Path,
) -> None:
    """Scene L16: tried once, said why, and no state is left behind."""
    long = document(*texts(3), doc_id="long", title="Long")

    def too_long(body: Body) -> Any:
        if "Title: Long" in str(body["document"]):
            return ContextTooLong("400: context_length_exceeded")
        return _answer_to(body)

    provider = ScriptedProvider(too_long)
    result = play(provider, tmp_path, document(*texts(4)), long)

    assert result.summary.statements == 4
    assert result.summary.fallbacks == {"context_too_long": 3}
    assert len(provider.bodies) == 7
    healthy = play(ScriptedProvider(_answer_to), tmp_path, long)
    assert healthy.summary.statements == 3


def test_an_unknown_parameter_is_dropped_once_and_remembered(tmp_path: Path) -> None:
    """The first request learns it for the whole session."""

    async def picky(body: Body) -> Any:
        await asyncio.sleep(0.001)  # Others are under way meanwhile.
        if "max_output_tokens" in body:
            return UnsupportedParameter("400", parameter="max_output_tokens")
        return _answer_to(body)

    provider = ScriptedProvider(picky)
    result = play(provider, tmp_path, FORTY)

    assert result.summary.statements == 40
    assert len(provider.bodies) == 41
    again = ScriptedProvider(picky)
    play(again, tmp_path, FORTY)
    assert not again.bodies


@pytest.mark.parametrize("parameter", ["max_output_tokens", "no_such_key"])
def test_a_parameter_that_dropping_does_not_help_is_a_rejection(
    tmp_path: Path, parameter: str
) -> None:
    """No request is repeated for ever."""
    provider = ScriptedProvider(
        lambda _: UnsupportedParameter("400", parameter=parameter)
    )

    result = play(provider, tmp_path, document(*texts(1)))

    assert result.outcomes == ["rejected"]
    assert len(provider.bodies) <= 2
