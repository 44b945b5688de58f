"""What a batch may cost, said and held before it is handed in."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache
from situate.errors import (
    BudgetExceeded,
    RequestRejected,
)
from situate.pipeline import batches
from situate.pipeline.jobs import forecasts
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import Fault, batching
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


def test_nothing_is_sent_that_may_cost_more_than_allowed(tmp_path: Path) -> None:
    """Not a part of it either: what it may cost is known before (E2)."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(
            tmp_path, vendor, model="claude-haiku-5-5", max_usd=0.0001
        )

        with pytest.raises(BudgetExceeded, match=r"max_usd = 0\.0001"):
            desk.submit()

    assert vendor.steps == []
    assert desk.tickets == ()


def test_tokens_are_limited_where_no_price_is_known(openai: BatchCorpus) -> None:
    """A server of one's own has a bill, too."""
    openai.configure(max_total_tokens=500)

    with pytest.raises(BudgetExceeded, match="max_total_tokens = 500"):
        openai.submit()

    assert openai.vendor.batches == {}


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
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=0.0001)

        with pytest.raises(BudgetExceeded, match=r"max_usd_month = 0\.0001"):
            desk.submit()

    assert vendor.batches == {}
    assert desk.tickets == ()


def test_a_batch_that_was_refused_costs_the_month_nothing(tmp_path: Path) -> None:
    """What was set aside for it is free again."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, **PRICED, max_usd_month=1)
        vendor.faults = [Fault(step="create", status=400)]

        with pytest.raises(RequestRejected):
            desk.submit()

    assert _spent(desk) == 0


def _spent(desk: BatchCorpus) -> Decimal:
    with Cache(desk.cache_directory) as cache:
        return cache.months().current().usd
