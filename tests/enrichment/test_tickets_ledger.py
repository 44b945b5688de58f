"""What the ledger is told of requests that came back in a batch."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.errors import SituateError
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import Fate, batching

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2 * SECTIONS


@pytest.fixture
def priced(tmp_path: Path) -> Iterator[BatchCorpus]:
    """Ask Anthropic for a model with a price."""
    with batching("anthropic") as vendor:
        yield BatchCorpus.of(tmp_path, vendor, model="claude-haiku-5-5", max_usd=5)


def test_every_request_of_a_batch_has_a_line_once_it_is_collected(
    priced: BatchCorpus,
) -> None:
    """Whom it was about, what it used, and what that costs in a batch."""
    priced.submit()
    before = priced.ledger
    priced.vendor.end_all()
    priced.collect()

    lines = priced.ledger

    assert before == []
    assert {line["request"] for line in lines} == set(priced.vendor.taken_in)
    assert {line["source"] for line in lines} == {"batch"}
    assert {line["view"] for line in lines} == {"full"}
    assert {line["outcome"] for line in lines} == {"answered"}
    assert len({chunk for line in lines for chunk in line["chunk_ids"]}) == COUNT
    assert all(line["usage"]["uncached_input"] == 100 for line in lines)
    costs = [Decimal(line["cost_usd"]) for line in lines]
    assert sum(costs) == priced.tickets[0].cost_usd
    # 100 tokens read and 10 written, at $0.10 and $0.50 a million, half.
    assert set(costs) == {Decimal("0.0000075")}


def test_a_line_names_all_chunks_of_a_group(priced: BatchCorpus) -> None:
    """One request asks about a whole document."""
    priced.configure(model="claude-haiku-5-5", max_usd=5, view="marked")
    priced.submit()
    priced.vendor.end_all()
    priced.collect()

    lines = priced.ledger

    assert [len(line["chunk_ids"]) for line in lines] == [SECTIONS, SECTIONS]
    assert {line["view"] for line in lines} == {"marked"}


def test_what_got_no_answer_is_noted_with_the_reason(priced: BatchCorpus) -> None:
    """It costs nothing; what never came back has no line."""
    priced.submit()
    keys = list(priced.vendor.taken_in)
    fates: list[Fate] = ["errored", "expired", "missing", "doubled"]
    priced.vendor.end_all(dict(zip(keys, fates, strict=False)))
    priced.collect()

    lines = {line["request"]: line for line in priced.ledger}

    assert len(priced.ledger) == len(lines) == COUNT - 1
    assert [lines[key]["outcome"] for key in keys[:2]] == ["errored", "expired"]
    assert [Decimal(lines[key]["cost_usd"]) for key in keys[:2]] == [0, 0]
    assert keys[2] not in lines
    assert lines[keys[3]]["outcome"] == "answered"


def test_an_answer_that_is_of_no_use_is_noted_with_its_price(
    priced: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid for all the same."""
    priced.submit()
    priced.vendor.end_all()
    monkeypatch.setattr("tests.support.batches.sentence", lambda _: "  ")
    priced.collect()

    assert {line["outcome"] for line in priced.ledger} == {"empty"}
    assert {line["cost_usd"] for line in priced.ledger} == {"0.0000075"}


def test_a_second_collection_adds_nothing(priced: BatchCorpus) -> None:
    """A ticket that is over has told everything."""
    priced.submit()
    priced.vendor.end_all()
    priced.collect()
    priced.collect()

    assert len(priced.ledger) == COUNT


def test_a_ledger_that_cannot_be_written_leaves_the_ticket_open(
    priced: BatchCorpus,
) -> None:
    """Answers are kept, and the next collection tells of them."""
    priced.submit()
    priced.vendor.end_all()
    path = priced.config.output.beside("ledger.jsonl")
    path.mkdir(parents=True)

    with pytest.raises(SituateError, match="ledger"):
        priced.collect()
    held = priced.states
    path.rmdir()
    priced.collect()

    assert (held, priced.states) == (["submitted"], ["collected"])
    assert len(priced.ledger) == COUNT


def test_a_run_does_not_count_what_a_batch_has_used(priced: BatchCorpus) -> None:
    """Its own live requests stand in its manifest; the ledger has both."""
    priced.submit()
    priced.vendor.end_all()
    priced.configure(model="claude-haiku-5-5", max_usd=5, mode="batch")

    result = priced.corpus.run()

    assert result.spent is not None
    assert (result.spent.requests, result.spent.cost_usd) == (0, 0)
    assert sum(line["source"] == "batch" for line in priced.ledger) == COUNT
