"""What goes wrong between a batch and its answers, and what is never done twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from situate.enrichment.batches.office import SETTLE_SECONDS
from situate.enrichment.providers.anthropic_batches import AnthropicBatches
from situate.enrichment.providers.batching import Limits
from situate.enrichment.providers.openai_batches import OpenAIBatches
from situate.errors import (
    AuthenticationFailed,
    ConfigError,
    RequestRejected,
    TransientError,
)
from situate.pipeline import batches
from tests.enrichment.scenes import VirtualTime
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import Fault, VendorName, batching
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


def test_a_told_wait_before_a_hand_in_is_kept(either: BatchCorpus) -> None:
    """A 429 took nothing in, so the same batch is sent again."""
    either.vendor.faults = [
        Fault(step="create", status=429, headers={"retry-after": "7"}),
        Fault(step="create", status=429, headers={"retry-after": "7"}),
    ]
    time = VirtualTime()

    done = either.submit(time)

    assert done.is_certain
    assert all(7 <= seconds < 10 for seconds in time.slept)
    assert len(time.slept) == 2
    assert set(either.vendor.taken_in.values()) == {1}


def test_a_wait_above_the_limit_ends_the_hand_in(openai: BatchCorpus) -> None:
    """It is never shortened, and the requests are free again (E7)."""
    openai.vendor.faults = [
        Fault(step="create", status=429, headers={"retry-after": "900"})
    ]

    with pytest.raises(TransientError, match="429"):
        openai.submit()

    assert openai.states == ["failed"]
    assert openai.submit().offer.requests == COUNT


def test_a_hand_in_that_failed_unheard_is_looked_for_before_it_is_repeated(
    either: BatchCorpus,
) -> None:
    """A 500 does not say; the list does, once it must hold what was taken in."""
    either.vendor.faults = [Fault(step="create", status=500)]
    time = VirtualTime()

    done = either.submit(time)

    assert done.is_certain
    assert time.now >= SETTLE_SECONDS
    assert either.vendor.steps.count("create") == 2
    assert set(either.vendor.taken_in.values()) == {1}


def test_openai_is_asked_for_the_batch_with_our_ticket(tmp_path: Path) -> None:
    """It was taken in although a 500 came back; nobody has to wait."""
    with batching("openai") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        vendor.faults = [Fault(step="create", status=500, taken_in=True)]
        time = VirtualTime()

        done = desk.submit(time)

    assert done.is_certain
    assert time.slept == []
    assert len(vendor.batches) == 1


def test_anthropic_shows_whose_a_batch_is_when_it_has_ended(tmp_path: Path) -> None:
    """Until then its requests are neither sent again nor given up."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        vendor.faults = [Fault(step="create", status=500, taken_in=True)]

        done = desk.submit()
        again = desk.submit()
        unclear = desk.collect()
        vendor.end_all()
        report = desk.collect()

    assert (done.is_certain, again.is_certain) == (False, False)
    # It may be billed, so it counts; what was handed in before does not again.
    assert (done.committed.tokens > 0, again.committed.tokens) == (True, 0)
    assert "batch resolve" in again.messages[0]
    assert again.offer.pending == COUNT
    assert unclear.unclear == COUNT
    assert report.answered == COUNT
    assert len(vendor.batches) == 1


def test_a_batch_of_somebody_else_is_not_taken_for_ours(tmp_path: Path) -> None:
    """It has as many requests, was taken in meanwhile, and has other ids."""
    with batching("anthropic") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        vendor.faults = [Fault(step="create", status=500)]

        def meanwhile(step: str) -> None:
            if step == "create" and not vendor.batches:
                others = {f"other-{n}": {"model": "m"} for n in range(COUNT)}
                vendor.take_in(others, {}).status = "ended"

        vendor.heard = meanwhile
        done = desk.submit()

    assert done.is_certain
    assert len(vendor.batches) == 2
    assert set(vendor.taken_in.values()) == {1}
    assert done.tickets[0].batch_id == "batch_1"


@pytest.mark.parametrize("step", ["poll", "results"])
@pytest.mark.parametrize("status", [429, 500])
def test_trouble_while_collecting_passes(
    either: BatchCorpus, step: str, status: int
) -> None:
    """Asking how far a batch is can be repeated without harm."""
    either.submit()
    either.vendor.end_all()
    either.vendor.faults = [Fault(step=step, status=status)] * 2

    assert either.collect().answered == COUNT


def test_trouble_that_stays_leaves_a_ticket_open(anthropic: BatchCorpus) -> None:
    """The answers are still at the vendor's."""
    anthropic.submit()
    anthropic.vendor.end_all()
    anthropic.vendor.faults = [Fault(step="results", status=500)] * 6

    report = anthropic.collect()

    assert (report.pending, report.answered) == (COUNT, 0)
    assert "500" in report.messages[0]
    assert anthropic.states == ["submitted"]
    assert anthropic.collect().answered == COUNT


def test_a_batch_the_vendor_does_not_know_stays_until_a_person_decides(
    either: BatchCorpus,
) -> None:
    """It may be of another account; nothing of it is sent again."""
    either.submit()
    (ticket,) = either.tickets
    (batch,) = either.vendor.batches.values()
    batch.batch_id = "batch_renamed"
    either.vendor.batches = {batch.batch_id: batch}

    stuck = either.collect()
    unmoved = either.submit().offer
    batches.resolve(
        either.config, Heard(), name=ticket.ticket, batch_id="batch_renamed"
    )
    either.vendor.end_all()

    assert (stuck.stuck, unmoved.requests) == (COUNT, 0)
    assert "batch resolve" in stuck.messages[0]
    assert either.collect().answered == COUNT


def test_results_that_fall_short_leave_the_ticket_open(either: BatchCorpus) -> None:
    """What is withheld is paid for; it may come with the next look."""
    either.submit()
    first, *_ = either.vendor.taken_in
    either.vendor.end_all({first: "withheld"})

    short = either.collect()
    states = either.states
    either.vendor.batches["batch_0"].fates = {}
    whole = either.collect()

    assert (short.stuck, short.answered, states) == (COUNT, 0, ["submitted"])
    assert f"gave those of {COUNT - 1}; it stays open" in short.messages[0]
    assert "batch resolve" in short.messages[0]
    assert either.submit().offer.requests == 0
    assert (whole.answered, either.states) == (COUNT, ["collected"])


def test_results_of_somebody_else_are_not_taken_for_ours(either: BatchCorpus) -> None:
    """A vendor that mixes batches up still has ours."""
    either.submit()
    (batch,) = either.vendor.batches.values()
    batch.requests = {f"other-{n}": {"model": "m"} for n in range(COUNT)}
    either.vendor.end_all()

    report = either.collect()

    assert (report.stuck, either.states) == (COUNT, ["submitted"])


def test_a_vendor_that_counts_nothing_has_to_give_everything(
    openai: BatchCorpus,
) -> None:
    """An empty file is no answer to a batch that is complete."""
    openai.submit()
    openai.vendor.end_all(dict.fromkeys(openai.vendor.taken_in, "missing"))

    report = openai.collect()

    assert (report.stuck, openai.states) == (COUNT, ["submitted"])


def test_what_fell_short_is_asked_again_once_a_person_calls_it_lost(
    anthropic: BatchCorpus,
) -> None:
    """What did come is kept."""
    anthropic.submit()
    first, *_ = anthropic.vendor.taken_in
    anthropic.vendor.end_all({first: "withheld"})
    anthropic.collect()
    (ticket,) = anthropic.tickets

    batches.resolve(anthropic.config, Heard(), name=ticket.ticket, batch_id=None)

    assert anthropic.submit().offer.requests == 1


@pytest.mark.parametrize("batch_id", ["", "b\n", "b\ud800", "b" * 1_000])
def test_an_id_no_vendor_gives_resolves_nothing(
    anthropic: BatchCorpus, batch_id: str
) -> None:
    """It would go into an address."""
    anthropic.submit()
    (ticket,) = anthropic.tickets

    with pytest.raises(ConfigError, match="no id of a batch"):
        batches.resolve(
            anthropic.config, Heard(), name=ticket.ticket, batch_id=batch_id
        )

    assert anthropic.tickets == (ticket,)


def test_what_is_called_lost_can_be_submitted_again(anthropic: BatchCorpus) -> None:
    """That is for a person to say."""
    anthropic.submit()
    (ticket,) = anthropic.tickets

    batches.resolve(anthropic.config, Heard(), name=ticket.ticket, batch_id=None)

    assert anthropic.submit().offer.requests == COUNT
    with pytest.raises(ConfigError, match="nothing to resolve"):
        batches.resolve(anthropic.config, Heard(), name=ticket.ticket, batch_id=None)
    with pytest.raises(ConfigError, match="there is no ticket 'other'"):
        batches.resolve(anthropic.config, Heard(), name="other", batch_id=None)


def test_a_batch_that_fails_validation_frees_its_requests(tmp_path: Path) -> None:
    """OpenAI refuses a file after taking it in; nothing of it ran."""
    with batching("openai") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor)
        vendor.most_requests = 3
        desk.submit()

        report = desk.collect()
        vendor.most_requests = 100
        again = desk.submit()

    assert (report.failed, report.is_complete) == (COUNT, False)
    assert "too many, or one twice" in report.messages[0]
    assert again.offer.requests == COUNT


def test_a_hand_in_that_is_refused_says_why_and_frees_its_requests(
    openai: BatchCorpus,
) -> None:
    """Anything else would hold them back for ever."""
    openai.vendor.faults = [Fault(step="create", status=400)]

    with pytest.raises(RequestRejected, match="scripted"):
        openai.submit()

    assert openai.states == ["failed"]
    assert "scripted" in str(openai.tickets[0].reason)
    assert openai.submit().is_certain


def test_what_came_in_before_a_refusal_is_kept(
    anthropic: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batches before it run."""
    kind = {"anthropic": AnthropicBatches, "openai": OpenAIBatches}[
        anthropic.vendor.name
    ]
    monkeypatch.setattr(kind, "limits", Limits(requests=5, size_bytes=1_000_000))

    def refuse_the_second(step: str) -> None:
        if step == "create" and anthropic.vendor.batches:
            anthropic.vendor.faults = [Fault(step="create", status=400)]
            anthropic.vendor.heard = lambda _: None

    anthropic.vendor.heard = refuse_the_second
    done = anthropic.submit()
    rest = anthropic.submit()

    assert not done.is_certain
    assert "scripted" in str(done.stopped)
    assert (done.offer.requests, rest.offer.requests) == (COUNT, COUNT - 5)
    assert set(anthropic.vendor.taken_in.values()) == {1}


def test_a_wrong_key_is_said_at_once(anthropic: BatchCorpus) -> None:
    """No ticket is written for what nobody can send."""
    anthropic.vendor.faults = [
        Fault(step=step, status=401) for step in ("list", "upload", "create")
    ]

    with pytest.raises(AuthenticationFailed):
        anthropic.submit()

    assert anthropic.tickets == ()
