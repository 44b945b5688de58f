"""What a batch may cost, said and held before it is handed in."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.batches import Allowance
from situate.enrichment.cache import Cache
from situate.errors import (
    BudgetExceeded,
    RequestRejected,
)
from situate.pipeline import batches
from situate.pipeline.jobs import forecasts
from tests.enrichment.scenes import document, facts, planned, settings, texts
from tests.support.agreements import agreement
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import Fault, batching, sentence
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2 * SECTIONS


@pytest.fixture
def openai(tmp_path: Path) -> Iterator[BatchCorpus]:
    """Ask OpenAI."""
    with batching("openai") as vendor:
        yield BatchCorpus.of(tmp_path, vendor)


PRICED = {"model": "claude-haiku-5-5", "max_usd": 5}


def test_the_price_of_a_batch_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """Half of the live one, as the vendor's prices say."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED)
        heard = Heard()
        before: list[int] = []
        vendor.heard = lambda _: before.append(len(heard.notes))
        (live,) = forecasts([desk.config], Heard())

        done = batches.submit(desk.config, heard)

    assert before[0] == 1
    assert "at the batch price" in heard.notes[0]
    assert live.estimate is not None
    assert done.offer.usd_low is not None
    assert done.offer.usd_high is not None
    assert live.estimate.usd_high is not None
    assert done.offer.usd_high == live.estimate.usd_high / 2
    assert 0 < done.offer.usd_low < done.offer.usd_high


@pytest.mark.parametrize(
    "limit", [{"max_usd": 0.00001}, {"max_usd": 5, "max_usd_month": 0.00001}]
)
def test_nothing_is_sent_where_not_even_one_request_fits(
    tmp_path: Path, limit: dict[str, float]
) -> None:
    """What it may cost is known before (E2)."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, model="claude-haiku-5-5", **limit)

        with pytest.raises(BudgetExceeded, match=r"= 0\.00001; nothing is sent"):
            desk.submit()

    assert vendor.steps == []
    assert desk.tickets == ()


def test_tokens_are_limited_where_no_price_is_known(openai: BatchCorpus) -> None:
    """A server of one's own has a bill, too."""
    openai.configure(max_total_tokens=500)

    with pytest.raises(BudgetExceeded, match="max_total_tokens = 500"):
        openai.submit()

    assert openai.vendor.batches == {}


def test_as_many_requests_as_there_are_tokens_for_are_handed_in(
    openai: BatchCorpus,
) -> None:
    """The rest waits for the next time."""
    openai.configure(max_total_tokens=7_000)

    done = openai.submit()
    again = openai.submit()

    assert 0 < done.offer.requests < COUNT
    assert done.offer.requests + done.offer.postponed == COUNT
    assert done.committed.usd == 0
    assert 3_500 < done.committed.tokens == openai.tickets[0].most_tokens <= 7_000
    assert "max_total_tokens = 7000" in str(done.stopped)
    assert again.offer.pending == done.offer.requests


def _price_of_all(folder: Path) -> Decimal:
    """Say what a batch with everything costs at most."""
    with batching("anthropic") as vendor:
        (ticket,) = BatchCorpus.of(folder, vendor, **PRICED).submit().tickets
    assert ticket.most_usd is not None
    return ticket.most_usd


@pytest.mark.parametrize("limit", ["max_usd", "max_usd_month"])
def test_what_fits_is_handed_in_and_the_rest_waits(tmp_path: Path, limit: str) -> None:
    """In the order of the documents; nothing crosses the limit (E2)."""
    usd = _price_of_all(tmp_path / "whole")
    most = usd * Decimal("0.6")
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **{**PRICED, limit: float(most)})

        done = desk.submit()

    assert 0 < done.offer.requests < COUNT
    assert done.offer.requests + done.offer.postponed == COUNT
    assert done.reason == "budget"
    assert f"{limit} = " in str(done.stopped)
    assert not done.is_certain
    assert most / 2 < done.committed.usd <= most
    assert done.committed.usd == done.offer.usd_high == desk.tickets[0].most_usd


def test_what_others_have_spent_this_month_is_not_there_any_more(
    tmp_path: Path,
) -> None:
    """What fits beside it is handed in."""
    usd = _price_of_all(tmp_path / "whole")
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=float(usd))
        others = spend(desk.cache_directory, usd / 2)

        done = desk.submit()

    assert usd / 4 < done.committed.usd <= usd / 2
    assert _spent(desk) == others + done.committed.usd


def test_nothing_overtakes_what_does_not_fit() -> None:
    """A small request behind a large one waits as well: the order is kept."""
    small, large = (
        planned(document(*texts(2), "word " * length)).requests[-1]
        for length in (1, 1_000)
    )
    allowance = Allowance(
        settings=settings(max_total_tokens=2_000),
        facts=facts(),
        month_usd=Decimal(0),
    )

    taken = [allowance.takes(each) for each in (small, large, small)]

    assert taken == [True, False, False]


def test_what_waits_for_money_is_handed_in_by_the_runs_that_follow(
    tmp_path: Path,
) -> None:
    """Each within its own limit, and none is stuck (E2)."""
    usd = _price_of_all(tmp_path / "whole")
    limits = {**PRICED, "max_usd": float(usd * Decimal("0.4"))}
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, mode="batch", **limits)

        first = desk.corpus.run()
        waiting = desk.outcomes
        for _ in range(3):
            vendor.end_all()
            last = desk.corpus.run()

    assert (first.exit_code, last.exit_code) == (3, 0)
    assert set(waiting) == {"pending", "budget"}
    assert desk.outcomes == {"statement": COUNT}
    assert set(vendor.taken_in.values()) == {1}


def test_live_questions_of_a_run_pay_out_of_what_its_batch_left(
    tmp_path: Path,
) -> None:
    """One limit holds for both together (E2)."""
    usd = _price_of_all(tmp_path / "whole")
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, mode="batch", **PRICED)
        desk.corpus.run()
        vendor.end_all(dict.fromkeys(vendor.taken_in, "errored"))
        vendor.live = lambda _: sentence("live")
        for number in (2, 3):
            desk.corpus.document(f"{number}.md", agreement(number, SECTIONS))
        # As much as the second batch may cost, and a live question or two.
        limit = usd * Decimal("1.3")
        desk.configure(mode="batch", **{**PRICED, "max_usd": float(limit)})

        result = desk.corpus.run()

    *_, second = desk.tickets
    assert result.spent is not None
    assert result.spent.cost_usd is not None
    assert second.most_usd is not None
    assert second.most_usd + result.spent.cost_usd <= limit
    assert desk.outcomes["budget"] > 0
    assert desk.outcomes["pending"] == COUNT


def test_the_month_bears_a_batch_from_hand_in_on(tmp_path: Path) -> None:
    """First with the most it may cost, then with what its replies say (E2)."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=1)

        desk.submit()
        (ticket,) = desk.tickets
        open_usd = _spent(desk)
        vendor.end_all()
        desk.collect()

    assert ticket.most_usd == open_usd > 0
    # 100 tokens read and 10 written for each, at $0.10 and $0.50 a million, half.
    assert _spent(desk) == COUNT * Decimal("0.0000075")
    assert desk.tickets[0].cost_usd == _spent(desk)


def test_a_batch_that_does_not_fit_the_month_is_not_handed_in(tmp_path: Path) -> None:
    """Others may have spent what is missing."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=1)
        others = spend(desk.cache_directory, Decimal("0.99999"))

        with pytest.raises(BudgetExceeded, match="max_usd_month = 1"):
            desk.submit()

    assert vendor.batches == {}
    assert desk.tickets == ()
    assert _spent(desk) == others


@pytest.mark.parametrize("usage", [(10**30, 10), (100, 10**30), (0, 10)])
def test_a_usage_nobody_can_believe_counts_as_what_was_set_aside(
    tmp_path: Path, usage: tuple[int, int]
) -> None:
    """One mistake of a vendor must not block the month (E2)."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=1)
        desk.submit()
        vendor.usage = usage
        vendor.end_all()

        report = desk.collect()

    (ticket,) = desk.tickets
    assert report.answered == COUNT
    assert "counts as the most it may cost" in report.messages[-1]
    assert ticket.cost_usd == ticket.most_usd == _spent(desk)
    assert {line["usage"] for line in desk.ledger} == {None}


def test_a_batch_that_was_refused_costs_the_month_nothing(tmp_path: Path) -> None:
    """What was set aside for it is free again."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=1)
        vendor.faults = [Fault(step="create", status=400)]

        with pytest.raises(RequestRejected):
            desk.submit()

    assert _spent(desk) == 0


def spend(directory: Path, usd: Decimal) -> Decimal:
    """Have somebody else spend money this month."""
    with Cache(directory) as cache:
        months = cache.months()
        month = months.reserve(usd, most=None)
        assert month is not None
        months.settle(month.name, reserved=usd, cost=usd)
    return usd


def _spent(desk: BatchCorpus) -> Decimal:
    with Cache(desk.cache_directory) as cache:
        return cache.months().current().usd
