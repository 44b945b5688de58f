"""The limit of a month holds for everybody who spends on one cache (E2)."""

from __future__ import annotations

import asyncio
import datetime
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.accounts import Accounts, Bill, saved_usd
from situate.enrichment.budget import Budget, Committed, Month, check_limits
from situate.enrichment.cache import Cache
from situate.enrichment.commits import Commits
from situate.enrichment.throttle import Throttle, Timing
from situate.errors import BudgetExceeded, CacheBroken, ConfigError
from situate.usage import Usage
from tests.enrichment.scenes import PRICES, facts, settings
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.enrichment.budget import Reservation

CHEAP = Usage(uncached_input=400, output=100)
"""Half a dollar, where about 1.3 is set aside for each request below."""


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Use a disk that nobody waits for."""
    with memory_disk(tmp_path) as folder:
        yield folder


class Calendar:
    """A clock that is set by hand."""

    def __init__(self, now: str) -> None:
        self.now = now

    def __call__(self) -> datetime.datetime:
        """Give the moment it is set to."""
        return datetime.datetime.fromisoformat(self.now)


DECEMBER = Calendar("2026-12-31T23:00+00:00")


def _budget(cache: Cache, **limits: Any) -> Budget:
    chosen = settings(max_usd=Decimal(1000), **limits)
    return Budget(chosen, facts(PRICES), month=Commits(cache))


def _reserve(budget: Budget, **changes: Any) -> Reservation:
    tokens = {"input_tokens": 1000, "output_tokens": 100} | changes
    return asyncio.run(budget.reserve(**tokens))


def _spend(budget: Budget, times: int = 1) -> None:
    for _ in range(times):
        budget.settle(_reserve(budget), CHEAP)


def _spent(cache: Cache) -> Month:
    return cache.months().current()


def test_the_next_run_goes_on_from_what_the_last_one_spent(tmp_path: Path) -> None:
    """A scheduler that starts a run again does not start the month again."""
    for _ in range(2):
        with Cache(tmp_path, now=DECEMBER) as cache:
            _spend(_budget(cache), times=3)

    with Cache(tmp_path, now=DECEMBER) as cache:
        assert _spent(cache) == Month(name="2026-12", usd=Decimal("3.0"))


def test_a_request_that_would_cross_the_month_is_not_sent(tmp_path: Path) -> None:
    """The message names the key, what is spent and when the month ends."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        _spend(_budget(cache), times=3)
        other = _budget(cache, max_usd_month=Decimal("2.5"))

        with pytest.raises(BudgetExceeded) as refused:
            _reserve(other)

        assert str(refused.value) == (
            "the next request may cross max_usd_month: $1.50 of max_usd_month = 2.5 is "
            "spent or set aside by the runs on this cache; the month ends when "
            "2027-01-01 begins (UTC)"
        )
        assert _spent(cache).usd == Decimal("1.5")


def test_a_run_that_is_killed_leaves_the_month_over_counted(tmp_path: Path) -> None:
    """What was on the wire counts as the most it may have cost, never as nothing."""
    program = (
        "import asyncio, os, pathlib, signal, sys\n"
        "from decimal import Decimal\n"
        "from situate.enrichment.cache import Cache\n"
        "months = Cache(pathlib.Path(sys.argv[1])).months()\n"
        "for _ in range(3):\n"
        "    held = months.reserve(Decimal(2), most=None)\n"
        "    months.settle(held.name, reserved=Decimal(2), cost=Decimal(1))\n"
        "months.reserve(Decimal(2), most=None)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    subprocess.run([sys.executable, "-c", program, tmp_path], check=False)

    with Cache(tmp_path) as cache:
        assert _spent(cache).usd == Decimal(5)


def test_several_processes_never_spend_more_than_the_month_together(
    tmp_path: Path,
) -> None:
    """Money is set aside by one of them at a time."""
    program = (
        "import pathlib, sys\n"
        "from decimal import Decimal\n"
        "from situate.enrichment.cache import Cache\n"
        "with Cache(pathlib.Path(sys.argv[1])) as cache:\n"
        "    months, granted = cache.months(), 0\n"
        "    while held := months.reserve(Decimal(1), most=Decimal(40)):\n"
        "        months.settle(held.name, reserved=Decimal(1), cost=Decimal(1))\n"
        "        granted += 1\n"
        "print(granted)\n"
    )

    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    granted = [int(process.communicate(timeout=30)[0]) for process in running]

    assert sum(granted) == 40
    with Cache(tmp_path) as cache:
        assert _spent(cache).usd == Decimal(40)


def test_a_request_waits_for_those_in_flight_before_it_is_refused(
    tmp_path: Path,
) -> None:
    """They may turn out cheaper than what is set aside for them."""

    async def race(budget: Budget) -> Reservation:
        first = await budget.reserve(input_tokens=1000, output_tokens=100)
        second = asyncio.create_task(
            budget.reserve(input_tokens=1000, output_tokens=100)
        )
        await asyncio.sleep(0)
        assert not second.done()
        budget.settle(first, CHEAP)
        return await second

    with Cache(tmp_path, now=DECEMBER) as cache:
        budget = _budget(cache, max_usd_month=Decimal(2))

        granted = asyncio.run(race(budget))

        assert _spent(cache).usd == granted.usd + Decimal("0.5")


def test_money_is_settled_in_the_month_it_was_set_aside_in(tmp_path: Path) -> None:
    """A request that is sent before midnight belongs to the old month."""
    calendar = Calendar("2026-12-31T23:59+00:00")
    with Cache(tmp_path, now=calendar) as cache:
        budget = _budget(cache, max_usd_month=Decimal(2))
        old = _reserve(budget)
        calendar.now = "2027-01-01T00:00+00:00"
        new = _reserve(budget)

        budget.settle(old, CHEAP)
        budget.settle(new, CHEAP)

        assert _spent(cache) == Month(name="2027-01", usd=Decimal("0.5"))
        calendar.now = "2026-12-31T23:59+00:00"
        assert _spent(cache) == Month(name="2026-12", usd=Decimal("0.5"))


def test_a_request_that_costs_more_than_was_set_aside_is_written_at_once(
    tmp_path: Path,
) -> None:
    """Others see it while there is still something on the wire here."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        budget = _budget(cache)
        first, second = _reserve(budget), _reserve(budget)

        budget.settle(first, Usage(uncached_input=9000, output=1000))

        assert _spent(cache).usd == second.usd + 10


def test_a_request_that_costs_less_is_written_with_the_next(tmp_path: Path) -> None:
    """One write for each request; until then others count too much, not too little."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        budget = _budget(cache)
        first, second = _reserve(budget), _reserve(budget)

        budget.settle(first, CHEAP)
        before = _spent(cache).usd
        third = _reserve(budget)

        assert before == first.usd + second.usd
        assert _spent(cache).usd == Decimal("0.5") + second.usd + third.usd


def test_what_cannot_be_settled_is_settled_with_the_next(tmp_path: Path) -> None:
    """A disk that fails for a moment costs no answer and no money."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        budget = _budget(cache)
        reservation = _reserve(budget)
        cache._store._sql("PRAGMA query_only = 1")
        budget.settle(reservation, CHEAP)
        cache._store._sql("PRAGMA query_only = 0")
        assert _spent(cache).usd == reservation.usd

        _spend(budget)

        assert _spent(cache).usd == Decimal(1)


@pytest.mark.parametrize("value", ["nothing", '{"schema": 1, "usd": "NaN"}'])
def test_nothing_is_spent_on_top_of_an_amount_nobody_can_read(
    tmp_path: Path, value: str
) -> None:
    """It is not taken for 0; the cache counts as broken."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        _spend(_budget(cache))
        cache._store._sql("UPDATE Cache SET value = ?", (value,))

        with pytest.raises(CacheBroken, match="what was spent in 2026-12"):
            _reserve(_budget(cache))


def test_what_a_run_handed_in_counts_against_its_limits(tmp_path: Path) -> None:
    """E2: batch and live follow-ups together stay within max_usd."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        free = _reserve(_budget(cache)).usd
        chosen = settings(max_usd=free)
        budget = Budget(
            chosen, facts(PRICES), committed=Committed(usd=Decimal("0.01"), tokens=10)
        )

        with pytest.raises(BudgetExceeded, match="max_usd"):
            _reserve(budget)


def test_a_month_that_fills_up_is_said_once(tmp_path: Path) -> None:
    """From 80 percent on, among the warnings of the run."""
    with Cache(tmp_path, now=DECEMBER) as cache:
        budget = _budget(cache, max_usd_month=Decimal(4))
        accounts = Accounts(
            provider="scripted", replayed=False, budget=budget, throttle=_throttle()
        )
        warnings = []
        for _ in range(6):
            accounts.settle(Bill(), _reserve(budget), CHEAP)
            warnings.append(tuple(accounts.warnings.values()))

    first = next(number for number, said in enumerate(warnings) if said)
    assert first == 4
    assert set(warnings[first:]) == {warnings[-1]}
    assert "of max_usd_month = 4 is spent or set aside" in warnings[-1][0]


def _throttle() -> Throttle:
    return Throttle(
        concurrency=1,
        requests_per_minute=None,
        tokens_per_minute=None,
        timing=Timing(clock=lambda: 0.0),
    )


@pytest.mark.parametrize(
    ("name", "ends"),
    [("2026-12", "2027-01-01"), ("2027-01", "2027-02-01"), ("2024-11", "2024-12-01")],
)
def test_a_month_ends_when_the_next_begins(name: str, ends: str) -> None:
    """Also in December."""
    assert str(Month(name=name, usd=Decimal(0)).ends) == ends


def test_a_month_cannot_be_limited_where_no_price_is_known() -> None:
    """As `max_usd`; tokens can be."""
    with pytest.raises(ConfigError, match=r"enrichment\.max_usd_month cannot be kept"):
        check_limits(settings(max_usd_month=Decimal(5)), facts(None))


def test_a_limit_of_the_month_does_not_replace_that_of_a_run() -> None:
    """One night must not spend the month."""
    with pytest.raises(ConfigError, match=r"enrichment\.max_usd is required"):
        check_limits(settings(max_usd_month=Decimal(5)), facts(PRICES))


def test_a_replayed_run_spends_nothing_in_any_month(tmp_path: Path) -> None:
    """And is stopped by none."""
    chosen = settings(provider="replay", max_usd_month=Decimal(0))
    with Cache(tmp_path, now=DECEMBER) as cache:
        budget = Budget(chosen, facts(PRICES), month=Commits(cache))

        _spend(budget)

        assert _spent(cache).usd == 0


@pytest.mark.parametrize(
    ("usage", "saved"),
    [
        pytest.param(Usage(uncached_input=700, output=50), "0", id="no-cache"),
        pytest.param(Usage(cache_read=1000, output=50), "0.9", id="read"),
        pytest.param(Usage(cache_write=1000, output=50), "-0.25", id="write"),
        pytest.param(Usage(cache_write=1000, cache_read=1000), "0.65", id="both"),
        # Above the threshold everything is twice as dear, and so is what is saved.
        pytest.param(Usage(cache_read=3000), "5.4", id="long-prompt"),
    ],
)
def test_what_caching_saved_is_measured_against_plain_input(
    usage: Usage, saved: str
) -> None:
    """Reads save, writes cost extra."""
    prices = replace(
        PRICES,
        cache_write=Decimal(1250),
        cache_read=Decimal(100),
        long_prompt_tokens=2500,
        long_prompt_input_factor=Decimal(2),
    )

    assert saved_usd(usage, prices) == Decimal(saved)
