"""Batches from documents to answers, with both vendors' rules on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.batches import Tickets, tickets_folder
from situate.enrichment.providers.anthropic_batches import AnthropicBatches
from situate.enrichment.providers.batching import Limits
from situate.enrichment.providers.openai_batches import OpenAIBatches
from situate.errors import (
    ConfigError,
    Locked,
)
from situate.pipeline import batches
from tests.enrichment.scenes import VirtualTime
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import Fate, Fault, VendorName, batching
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2 * SECTIONS


@pytest.fixture(params=["anthropic", "openai"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BatchCorpus]:
    """Ask each vendor in turn, where it could make a difference."""
    name: VendorName = request.param
    with batching(name) as vendor:
        yield BatchCorpus.of(tmp_path, vendor)


@pytest.fixture
def openai(tmp_path: Path) -> Iterator[BatchCorpus]:
    """Ask OpenAI."""
    with batching("openai") as vendor:
        yield BatchCorpus.of(tmp_path, vendor)


@pytest.fixture
def anthropic(tmp_path: Path) -> Iterator[BatchCorpus]:
    """Ask Anthropic."""
    with batching("anthropic") as vendor:
        yield BatchCorpus.of(tmp_path, vendor)


def test_what_is_handed_in_is_collected_and_never_handed_in_again(
    either: BatchCorpus,
) -> None:
    """Before it ends and after that."""
    first = either.submit()
    again = either.submit()
    waiting = either.collect()
    either.vendor.end_all()
    done = either.collect()
    later = either.submit()

    assert (first.offer.requests, first.is_certain) == (COUNT, True)
    assert (again.offer.requests, again.offer.pending) == (0, COUNT)
    assert (waiting.pending, waiting.answered, waiting.is_complete) == (COUNT, 0, False)
    assert (done.pending, done.answered, done.is_complete) == (0, COUNT, True)
    assert (later.offer.requests, later.offer.pending) == (0, 0)
    assert set(either.vendor.taken_in.values()) == {1}
    assert len(either.answered(*either.vendor.taken_in)) == COUNT
    assert either.states == ["collected"]


def test_a_run_uses_what_a_batch_answered(openai: BatchCorpus) -> None:
    """Live and batch share answers: the server has no route for a live question."""
    openai.submit()
    openai.vendor.end_all()
    openai.collect()

    result = openai.corpus.run()

    assert result.counts is not None
    assert result.counts.statements == COUNT
    assert result.spent is not None
    assert result.spent.requests == 0


def test_results_are_matched_by_their_ids_alone(either: BatchCorpus) -> None:
    """Scene L28; whatever got no answer is left to a live run."""
    either.submit()
    keys = list(either.vendor.taken_in)
    fates: list[Fate] = ["missing", "doubled", "errored", "expired"]
    either.vendor.end_all(dict(zip(keys, fates, strict=False)))
    (batch,) = either.vendor.batches.values()
    batch.requests["somebody-elses"] = {"model": "m"}
    batch.fates["somebody-elses"] = "foreign"

    report = either.collect()

    lost = {keys[0], keys[2], keys[3]}
    assert (report.answered, report.ask_live) == (COUNT - 3, 3)
    assert report.doubled == [keys[1]]
    assert report.unknown == ["somebody-elses"]
    assert any("no good" in message for message in report.messages)
    assert either.answered(*keys) == set(keys) - lost
    assert len(either.pending.ask_live) == 3
    assert either.submit().offer.ask_live == 3
    assert len(either.vendor.batches) == 1


def test_collecting_twice_changes_nothing(anthropic: BatchCorpus) -> None:
    """The tickets know what is done."""
    anthropic.submit()
    anthropic.vendor.end_all({next(iter(anthropic.vendor.taken_in)): "errored"})
    anthropic.collect()
    before = anthropic.tickets

    again = anthropic.collect()

    assert again.is_complete
    assert anthropic.tickets == before


def test_an_answer_no_live_run_would_keep_is_left_to_one(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty and cut-off replies are not stored (E3)."""
    openai.submit()
    openai.vendor.end_all()
    monkeypatch.setattr("tests.support.batches.sentence", lambda _: "  ")

    report = openai.collect()

    assert (report.answered, report.ask_live) == (0, COUNT)
    assert openai.answered(*openai.vendor.taken_in) == set()


def test_batches_are_split_by_the_vendors_limits(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By number here; the server refuses what is above."""
    openai.vendor.most_requests = 3
    kind = {"anthropic": AnthropicBatches, "openai": OpenAIBatches}[openai.vendor.name]
    monkeypatch.setattr(kind, "limits", Limits(requests=3, size_bytes=1_000_000))

    done = openai.submit()
    openai.vendor.end_all()

    sizes = [len(batch.requests) for batch in openai.vendor.batches.values()]
    assert sizes == [3, 3, 2]
    assert [ticket.requests for ticket in done.tickets] == sizes
    assert openai.collect().answered == COUNT


def test_a_cancelled_batch_gives_what_it_has(either: BatchCorpus) -> None:
    """That is paid for; what was not asked may be handed in again."""
    either.submit()
    keys = list(either.vendor.taken_in)
    (batch,) = either.vendor.batches.values()

    asked = batches.cancel(either.config, Heard(), names=())
    status = batch.status
    batch.status = "ended" if either.vendor.name == "anthropic" else "cancelled"
    batch.fates = dict.fromkeys(keys[2:], "cancelled")
    report = either.collect()

    assert asked.pending == COUNT
    assert status in {"canceling", "cancelling"}
    assert (report.answered, report.ask_live) == (2, 0)
    assert either.states == ["cancelled"]
    assert either.submit().offer.requests == COUNT - 2


def test_only_the_batches_named_are_cancelled(openai: BatchCorpus) -> None:
    """A name nobody has is a mistake, and stops nothing."""
    openai.submit()

    with pytest.raises(ConfigError, match="no ticket 'other'"):
        batches.cancel(openai.config, Heard(), names=["other"])

    assert "cancel" not in openai.vendor.steps


def test_status_shows_tickets_and_what_the_vendor_says(openai: BatchCorpus) -> None:
    """It changes nothing and waits for no lock."""
    openai.submit()
    openai.vendor.faults = [Fault(step="poll", status=400)]

    unheard, heard = (batches.status(openai.config, Heard()) for _ in range(2))

    assert unheard[0].vendor is None
    assert "400" in str(unheard[0].message)
    assert heard[0].vendor is not None
    assert heard[0].vendor.status == "in_progress"
    assert heard[0].ticket == openai.tickets[0]


def test_waiting_looks_less_and_less_often(anthropic: BatchCorpus) -> None:
    """Others may work on the tickets between two looks."""
    anthropic.submit()
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        with Tickets(tickets_folder(anthropic.cache_directory)).locked():
            pass
        if len(slept) == 3:
            anthropic.vendor.end_all()

    report = anthropic.collect(wait=True, timing=_with_sleep(sleep))

    assert report.is_complete
    assert slept == [30.0, 45.0, 67.5]


def _with_sleep(sleep: Any) -> Any:
    timing = VirtualTime().timing
    return type(timing)(clock=timing.clock, sleep=sleep, random=timing.random)


def test_tickets_of_another_endpoint_are_left_alone(openai: BatchCorpus) -> None:
    """They want another key, and may be another corpus's."""
    openai.submit()
    openai.vendor.end_all()
    openai.configure(endpoint="elsewhere")

    report = openai.collect()

    assert report.answered == 0
    assert openai.states == ["submitted"]


def test_one_command_at_a_time_hands_in(openai: BatchCorpus) -> None:
    """A second one is told to wait."""
    errors: list[Exception] = []

    def second(step: str) -> None:
        if step == "created":
            with pytest.raises(Locked) as caught:
                _blocking_submit(openai)
            errors.append(caught.value)

    openai.vendor.heard = second
    openai.submit()

    assert len(errors) == 1


def _blocking_submit(openai: BatchCorpus) -> None:
    """Submit from the server's thread, while another command waits for it."""
    batches.submit(openai.config, Heard())
