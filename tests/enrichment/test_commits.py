"""What has to be on the disk is there first, and shares one wait with its like (E3)."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.budget import Budget
from situate.enrichment.cache import Cache
from situate.enrichment.cache.store import Store
from situate.enrichment.commits import Commits
from situate.errors import BudgetExceeded, CacheBroken
from tests.enrichment.scenes import PRICES, facts, settings
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.enrichment.budget import Month, Reservation

ONE = Decimal(1)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    """Open a cache on a disk that nobody waits for."""
    with memory_disk(tmp_path) as folder, Cache(folder / "cache") as opened:
        yield opened


def _spent(cache: Cache) -> Decimal:
    return cache.months().current().usd


def _break_the_month(cache: Cache) -> None:
    """Write what is no amount in place of what was spent."""
    name = cache.months().current().name
    with cache._store.transaction():
        cache._store.put(f"month:{name}", {"schema": 1, "usd": "much"}, day=None)


def test_what_comes_together_waits_for_the_disk_once(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten replies and ten requests: one transaction."""
    commits = 0
    transaction = Store.transaction

    @contextmanager
    def counting(store: Store) -> Iterator[None]:
        nonlocal commits
        outermost = not store._rows._con.in_transaction
        with transaction(store):
            yield
        commits += outermost

    async def work() -> list[Month | None]:
        waiting = Commits(cache)
        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(waiting.store_reply(f"{number}", "{}"))
            wishes = [
                group.create_task(waiting.reserve(ONE, most=None)) for _ in range(10)
            ]
        return [wish.result() for wish in wishes]

    monkeypatch.setattr(Store, "transaction", counting)
    granted = asyncio.run(work())

    assert commits == 1
    assert [month and month.usd for month in granted] == list(range(1, 11))
    assert all(cache.reply(f"{number}") == "{}" for number in range(10))
    assert _spent(cache) == 10


def test_a_reply_is_on_the_disk_before_anybody_goes_on(cache: Cache) -> None:
    """Another process finds it as soon as it may be used here."""

    async def work() -> None:
        await Commits(cache).store_reply("k", "{}")
        with Cache(cache.place) as other:
            assert other.reply("k") == "{}"

    asyncio.run(work())


def test_a_reply_whose_asker_is_called_off_is_stored(cache: Cache) -> None:
    """It is paid for, whoever still wants it."""

    async def work() -> None:
        task = asyncio.create_task(Commits(cache).store_reply("k", "{}"))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(work())

    assert cache.reply("k") == "{}"


@pytest.mark.parametrize("turns", range(1, 5))
def test_money_that_nobody_is_going_to_spend_is_given_back(
    cache: Cache, turns: int
) -> None:
    """Whoever is called off may have been granted it already, or not yet."""

    async def work() -> None:
        task = asyncio.create_task(Commits(cache).reserve(ONE, most=None))
        for _ in range(turns):
            await asyncio.sleep(0)
        if task.cancel():
            await asyncio.wait([task])
            assert task.cancelled()
        else:
            month = await task
            assert month is not None
            assert month.usd == 1

    asyncio.run(work())

    assert _spent(cache) == (0 if turns < 3 else 1)


def test_a_month_that_nobody_can_read_costs_no_answer(cache: Cache) -> None:
    """What is paid for is stored, though nothing more can be spent."""
    _break_the_month(cache)

    async def work() -> None:
        waiting = Commits(cache)
        stored = asyncio.create_task(waiting.store_reply("k", "{}"))
        with pytest.raises(CacheBroken, match="what was spent"):
            await waiting.reserve(ONE, most=None)
        await stored

    asyncio.run(work())

    assert cache.reply("k") == "{}"


def test_those_who_come_together_never_cross_the_month_together(cache: Cache) -> None:
    """Each is granted on top of what the others are."""

    async def work() -> list[Month | None]:
        waiting = Commits(cache)
        return await asyncio.gather(
            *(waiting.reserve(ONE, most=Decimal(4)) for _ in range(10))
        )

    granted = asyncio.run(work())

    assert sum(month is not None for month in granted) == 4
    assert _spent(cache) == 4


@pytest.mark.parametrize("limit", ["max_usd", "max_usd_month"])
def test_those_who_are_refused_together_all_hear_of_it(
    cache: Cache, limit: str
) -> None:
    """Nobody waits for others that wait as well."""
    chosen = settings(**{"max_usd": Decimal(1000), limit: Decimal(2)})

    async def work() -> list[Reservation | BaseException]:
        budget = Budget(chosen, facts(PRICES), month=Commits(cache))
        wanted = (budget.reserve(input_tokens=9000, output_tokens=1) for _ in range(5))
        async with asyncio.timeout(10):
            return await asyncio.gather(*wanted, return_exceptions=True)

    refused = asyncio.run(work())

    assert {type(each) for each in refused} == {BudgetExceeded}
    assert _spent(cache) == 0


def test_a_limit_of_the_run_holds_while_money_is_being_set_aside(cache: Cache) -> None:
    """Whoever waits for the disk has taken their share already."""
    chosen = settings(max_usd=Decimal(3))

    async def work() -> list[asyncio.Task[Reservation]]:
        budget = Budget(chosen, facts(PRICES), month=Commits(cache))
        tasks = [
            asyncio.create_task(budget.reserve(input_tokens=1000, output_tokens=100))
            for _ in range(5)
        ]
        _, waiting = await asyncio.wait(tasks, timeout=0.1)
        for task in waiting:
            task.cancel()
        return [task for task in tasks if task not in waiting]

    granted = asyncio.run(work())

    assert sum(task.result().usd for task in granted) <= 3
    assert len(granted) == 2
