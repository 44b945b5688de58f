"""One of all processes asks; the others wait for what it gets."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from situate.addresses import read_server
from situate.enrichment.alone import Alone
from situate.enrichment.cache.shared import ServerStore, claims
from situate.enrichment.throttle import Throttle, Timing
from situate.errors import CacheBroken
from tests.enrichment.scenes import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.redis import RedisServer


class Others:
    """Claims of others: they give a key back after so many looks."""

    def __init__(self, *, looks: int) -> None:
        self.looks = looks
        self.released: list[str] = []

    def take(self, key: str) -> bool:
        """Give a key when its time has come."""
        assert key == "k"
        self.looks -= 1
        return self.looks < 0

    def release(self, key: str) -> None:
        """Note it."""
        self.released.append(key)


class Scene:
    """A question, and what is at hand about it after so many looks."""

    def __init__(self, *, looks: int, answered_after: int | None = None) -> None:
        self.claims = Others(looks=looks)
        self.time = VirtualTime()
        self.asked = 0
        self._left = answered_after

    def at_hand(self) -> str | None:
        """Give what others got, once it is there."""
        if self._left is None:
            return None
        self._left -= 1
        return "theirs" if self._left < 0 else None

    async def ask(self) -> str:
        """Ask, and be counted."""
        self.asked += 1
        return "ours"

    def go(self, at_hand: Callable[[], str | None] | None = None) -> str:
        """Give the answer."""
        alone = Alone(self.claims, self.time.timing)
        asking = alone.ask("k", at_hand=at_hand or self.at_hand, ask=self.ask)
        return asyncio.run(asking)


def test_who_has_the_claim_asks_and_gives_it_back() -> None:
    """Nobody waits where nobody else asks."""
    scene = Scene(looks=0)

    assert scene.go() == "ours"

    assert (scene.asked, scene.claims.released, scene.time.slept) == (1, ["k"], [])


def test_who_comes_second_has_what_the_first_one_got() -> None:
    """It is asked for again and again, less and less often, and never by two."""
    scene = Scene(looks=100, answered_after=12)

    assert scene.go() == "theirs"

    assert scene.asked == 0
    assert scene.claims.released == []
    assert scene.time.slept == sorted(scene.time.slept)
    assert max(scene.time.slept) == 0.25


def test_who_comes_just_after_looks_before_asking() -> None:
    """The claim was given back between two looks, with the reply there."""
    scene = Scene(looks=0, answered_after=0)

    assert scene.go() == "theirs"

    assert (scene.asked, scene.claims.released) == (0, ["k"])


def test_who_waits_for_somebody_killed_takes_over() -> None:
    """The claim has lapsed, and nothing is there."""
    scene = Scene(looks=3)

    assert scene.go() == "ours"

    assert (scene.asked, len(scene.time.slept)) == (1, 3)


def test_waiting_ends_when_the_run_stops() -> None:
    """A deadline holds for those who wait as well."""

    class Stopped(Exception):
        pass

    def stopped() -> None:
        raise Stopped

    scene = Scene(looks=100)

    with pytest.raises(Stopped):
        scene.go(stopped)

    assert scene.asked == 0


# ---------------------------------------------------------------- on a server


@pytest.fixture
def short_lease(monkeypatch: pytest.MonkeyPatch) -> float:
    """Let claims lapse sooner than anybody likes to wait for a test."""
    monkeypatch.setattr(claims, "LEASE_SECONDS", 0.09)
    return 0.09


@pytest.fixture
def two(
    redis_server: RedisServer, short_lease: float
) -> Iterator[tuple[ServerStore, ServerStore]]:
    """Give a server as two processes see it."""
    del short_lease
    server = read_server(redis_server.url)
    with closing(ServerStore(server)) as one, closing(ServerStore(server)) as other:
        yield one, other


def test_a_claim_is_one_processs_until_it_gives_it_back(
    two: tuple[ServerStore, ServerStore],
) -> None:
    """Others cannot take it, and what they give back is not theirs to give."""
    one, other = two

    assert one.claims.take("k")
    assert not other.claims.take("k")
    other.claims.release("k")
    assert not other.claims.take("k")
    one.claims.release("k")
    assert other.claims.take("k")


def test_a_claim_is_held_for_longer_than_its_lease(
    two: tuple[ServerStore, ServerStore], short_lease: float
) -> None:
    """It is renewed while the request is under way, whatever else goes on."""
    one, other = two
    one.claims.take("k")

    time.sleep(3 * short_lease)

    assert not other.claims.take("k")


def test_a_claim_of_somebody_gone_lapses(
    two: tuple[ServerStore, ServerStore], short_lease: float
) -> None:
    """A worker that is killed delays the others by a lease at most."""
    one, other = two
    one.claims.take("k")
    one.claims.close()

    until = time.monotonic() + 10
    while not other.claims.take("k"):
        assert time.monotonic() < until
        time.sleep(short_lease / 3)


# ---------------------------------------------------------------- one rate for all


def test_two_processes_keep_one_rate(two: tuple[ServerStore, ServerStore]) -> None:
    """A start that one has booked is none that the other gets."""
    rates = [store.schedule("vendor") for store in two]
    another = two[0].schedule("another vendor")

    waits = [rate.book(60.0) for _ in range(2) for rate in rates]

    assert waits == [pytest.approx(60.0 * n, abs=5) for n in range(4)]
    assert another.book(60.0) == 0


def test_what_was_used_less_than_expected_comes_back_to_all(
    two: tuple[ServerStore, ServerStore],
) -> None:
    """An estimate of tokens that was too high delays nobody for long."""
    one, other = (store.schedule("vendor") for store in two)
    one.book(60.0)

    one.correct(-50.0)

    assert other.book(1.0) == pytest.approx(10.0, abs=5)


def test_a_throttle_waits_as_the_shared_rate_says(
    two: tuple[ServerStore, ServerStore],
) -> None:
    """Requests and tokens per minute hold over all workers."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def send(store: ServerStore) -> None:
        throttle = Throttle(
            concurrency=8,
            requests_per_minute=1,
            tokens_per_minute=None,
            timing=Timing(sleep=sleep),
        )
        throttle.share(store.schedule("vendor"))
        async with throttle.turn() as turn:
            await turn.ready(1)

    for store in two:
        asyncio.run(send(store))

    assert slept == [pytest.approx(60.0, abs=5)]


def test_a_throttle_without_a_rate_asks_no_server() -> None:
    """Most configs have none."""

    class Broken:
        def book(self, seconds: float) -> float:
            raise CacheBroken(str(seconds))

        def correct(self, seconds: float) -> None:
            raise CacheBroken(str(seconds))

    async def send() -> None:
        throttle = Throttle(
            concurrency=8,
            requests_per_minute=None,
            tokens_per_minute=None,
            timing=VirtualTime().timing,
        )
        throttle.share(Broken())
        async with throttle.turn() as turn:
            await turn.ready(100)
        throttle.correct(estimated=100, used=50)

    asyncio.run(send())
