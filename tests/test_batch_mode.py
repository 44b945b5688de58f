"""`mode = "batch"`: a run hands over what is open, and publishes what there is."""

from __future__ import annotations

import json
from errno import ENOSPC
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

import pytest

from situate.check import check
from situate.enrichment.batches import Tickets, tickets_folder
from situate.enrichment.providers.batching import Limits
from situate.enrichment.providers.openai_batches import OpenAIBatches
from situate.pipeline import batches
from situate.pipeline.run import FAILED, INCOMPLETE
from tests.support import batches as vendors
from tests.support.agreements import agreement
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import Fault, VendorName, asked_numbers, batching
from tests.support.corpora import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 2 * SECTIONS

ADDED = """

## Added later

Some words of an editor. More words of an editor follow here, and they are enough to
be a chunk of its own, says the editor, who writes on and on.
"""


def answer(body: dict[str, Any]) -> str:
    """Answer a live question well."""
    return vendors.reply_to("live", body)


@pytest.fixture(params=["anthropic", "openai"])
def desk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchCorpus]:
    """Write a corpus that asks one vendor in batches."""
    monkeypatch.setenv(f"{request.param.upper()}_API_KEY", "a-key-for-loopback")
    with batching(cast("VendorName", request.param)) as vendor:
        yield BatchCorpus.of(tmp_path, vendor, mode="batch")


@pytest.fixture
def openai(tmp_path: Path) -> Iterator[BatchCorpus]:
    """Write a corpus that asks OpenAI about marked documents in batches."""
    with batching("openai") as vendor:
        yield BatchCorpus.of(
            tmp_path, vendor, mode="batch", view="marked", max_attempts=1
        )


def test_a_run_hands_over_and_publishes_without_waiting(desk: BatchCorpus) -> None:
    """The chunks are there at once; the next run has their statements."""
    first = desk.corpus.run()
    waiting = desk.outcomes
    second = desk.corpus.run()
    desk.vendor.end_all()
    third = desk.corpus.run()

    assert [r.exit_code for r in (first, second, third)] == [3, 3, 0]
    assert waiting == {"pending": COUNT}
    assert "wait" in str(first.reason) or "batch" in str(first.reason)
    assert desk.outcomes == {"statement": COUNT}
    assert set(desk.vendor.taken_in.values()) == {1}
    assert len(desk.vendor.batches) == 1
    assert check(desk.corpus.chunks).findings == []


def test_a_run_that_is_repeated_costs_nothing(desk: BatchCorpus) -> None:
    """Batch and live share their answers."""
    desk.corpus.run()
    desk.vendor.end_all()
    done = desk.corpus.run()
    desk.configure(mode="live")
    again = desk.corpus.run()

    assert done.exit_code == again.exit_code == 0
    assert again.spent is not None
    assert again.spent.requests == 0
    assert again.spent.cache_hits == COUNT


def test_marked_documents_go_through_a_batch(desk: BatchCorpus) -> None:
    """One request of the batch answers for all chunks of a document."""
    desk.configure(mode="batch", view="marked")

    desk.corpus.run()
    desk.vendor.end_all()
    last = desk.corpus.run()

    assert last.exit_code == 0
    assert sum(desk.vendor.taken_in.values()) == 2
    assert desk.outcomes == {"statement": COUNT}


def _asked(desk: BatchCorpus) -> list[list[list[int]]]:
    """Give the markers that each batch asks about, request by request."""
    return [
        [asked_numbers(body) for body in batch.requests.values()]
        for batch in desk.vendor.batches.values()
    ]


def test_an_edit_while_a_batch_is_out_loses_nothing(openai: BatchCorpus) -> None:
    """Its answers are found by their sections; the new one alone is asked (E4)."""
    openai.corpus.run()
    openai.append("0.md", ADDED)
    openai.vendor.end_all()

    openai.corpus.run()
    between = openai.outcomes
    openai.vendor.end_all()
    last = openai.corpus.run()

    everything = list(range(1, SECTIONS + 1))
    assert _asked(openai) == [[everything, everything], [[SECTIONS + 1]]]
    assert between == {"statement": COUNT, "pending": 1}
    assert last.exit_code == 0
    assert openai.outcomes == {"statement": COUNT + 1}


def test_an_edit_while_a_batch_is_worked_on_asks_the_new_section_alone(
    openai: BatchCorpus,
) -> None:
    """What the open batch says of the others will serve (E4)."""
    openai.corpus.run()
    openai.append("0.md", ADDED)

    openai.corpus.run()

    assert _asked(openai)[1:] == [[[SECTIONS + 1]]]
    assert openai.outcomes == {"pending": COUNT + 1}


def _short_of(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    """Have batches leave these markers out."""
    whole = vendors.reply_to

    def short(key: str, body: dict[str, Any]) -> str:
        found = json.loads(whole(key, body))
        return json.dumps({k: v for k, v in found.items() if int(k) not in numbers})

    monkeypatch.setattr(vendors, "reply_to", short)


def test_markers_that_a_reply_is_short_of_end_live(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Night after night until they are answered, and never in a batch again."""
    openai.vendor.live = answer
    openai.corpus.run()
    openai.vendor.end_all()
    with monkeypatch.context() as patch:
        _short_of(patch, 2, 3)
        openai.vendor.faults = [Fault(step="live", status=400)] * 99
        openai.corpus.run()
    openai.vendor.faults = []
    tonight = openai.outcomes

    tomorrow = openai.corpus.run()

    assert tonight == {"statement": COUNT - 4, "rejected": 4}
    assert tomorrow.exit_code == 0
    assert openai.outcomes == {"statement": COUNT}
    assert len(openai.vendor.batches) == 1


def test_a_request_that_failed_in_a_batch_is_asked_live(openai: BatchCorpus) -> None:
    """All of its chunks, in one request again."""
    openai.vendor.live = answer
    openai.corpus.run()
    openai.vendor.end_all({next(iter(openai.vendor.taken_in)): "errored"})

    result = openai.corpus.run()

    assert result.exit_code == 0
    assert openai.outcomes == {"statement": COUNT}
    assert openai.vendor.steps.count("live") == 1


def test_an_answer_of_before_that_does_not_do_is_asked_live(
    openai: BatchCorpus,
) -> None:
    """The document says by now what the answer says; it is not held for ever."""
    openai.corpus.run()
    openai.vendor.end_all()
    openai.corpus.run()
    said = openai.corpus.records[0]["metadata"]["enrichment"]["statement"]
    openai.append("0.md", ADDED.replace("Some words", f"{said} Some words"))
    openai.vendor.live = lambda _: "What the company says of it is kept by all."

    openai.corpus.run()
    openai.vendor.end_all()
    last = openai.corpus.run()

    assert last.exit_code == 0
    assert openai.outcomes == {"statement": COUNT + 1}
    assert _asked(openai)[1:] == [[[SECTIONS + 1]]]


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_a_run_does_not_ask_what_was_handed_in_by_hand(
    openai: BatchCorpus, mode: str
) -> None:
    """A live one neither: the batch is paid for."""
    openai.vendor.live = answer
    openai.configure(mode=mode, view="full")
    openai.submit()

    openai.corpus.run()
    waiting = openai.outcomes
    openai.vendor.end_all()
    openai.collect()
    last = openai.corpus.run()

    assert waiting == {"pending": COUNT}
    assert (last.exit_code, openai.outcomes) == (0, {"statement": COUNT})
    assert "live" not in openai.vendor.steps


def test_what_was_handed_in_is_left_when_live_questions_are_about_the_rest(
    openai: BatchCorpus,
) -> None:
    """Other chunks do not wait for a batch that does not ask about them."""
    openai.configure(mode="live", view="full")
    openai.submit()
    openai.vendor.live = answer
    openai.corpus.document("2.md", agreement(2, SECTIONS))

    openai.corpus.run()

    assert openai.outcomes == {"pending": COUNT, "statement": SECTIONS}


def test_what_fits_no_batch_is_asked_live(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No batch will ever bring an answer to it."""
    openai.vendor.live = answer
    monkeypatch.setattr(OpenAIBatches, "limits", Limits(requests=9, size_bytes=100))

    result = openai.corpus.run()

    assert result.exit_code == 0
    assert openai.outcomes == {"statement": COUNT}
    assert openai.tickets == ()


def test_what_fits_no_batch_is_asked_live_also_when_others_wait_for_money(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait in vain; they are handed in one day."""
    openai.configure(mode="batch", view="full", max_total_tokens=7_000)
    openai.vendor.live = answer
    monkeypatch.setattr(OpenAIBatches, "limits", Limits(requests=9, size_bytes=100))

    openai.corpus.run()

    assert openai.outcomes.keys() == {"statement", "budget"}
    assert openai.outcomes.total() == COUNT


def test_a_marker_that_a_cancelled_batch_left_out_is_asked_live(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its request was answered all the same."""
    openai.corpus.run()
    (ticket,) = openai.tickets
    batches.cancel(openai.config, Heard(), names=[ticket.ticket])
    (batch,) = openai.vendor.batches.values()
    batch.status = "cancelled"
    with monkeypatch.context() as patch:
        _short_of(patch, 2)
        openai.collect()

    assert openai.states == ["cancelled"]
    assert len(openai.pending.ask_live) == 2


TROUBLE = [
    pytest.param("upload", 402, "quota", id="quota"),
    pytest.param("upload", 400, "outage", id="file refused"),
    pytest.param("create", 400, "outage", id="batch refused"),
    pytest.param("upload", 503, "outage", id="outage"),
]


@pytest.mark.parametrize(("step", "status", "reason"), TROUBLE)
def test_trouble_at_hand_in_keeps_nothing_from_being_published(
    openai: BatchCorpus, step: str, status: int, reason: str
) -> None:
    """Chunks never wait for statements; they say why they have none (S7, E10)."""
    openai.vendor.faults = [Fault(step=step, status=status)]
    heard = Heard()

    tonight = openai.corpus.run(heard)
    why = openai.outcomes
    openai.corpus.run()

    assert tonight.exit_code == INCOMPLETE
    assert why == {reason: COUNT}
    assert any(str(status) in note for note in heard.notes)
    assert openai.outcomes == {"pending": COUNT}


def test_tickets_that_another_command_works_on_keep_nothing_from_being_published(
    openai: BatchCorpus,
) -> None:
    """The next run goes on."""
    with Tickets(tickets_folder(openai.cache_directory)).locked():
        result = openai.corpus.run()

    assert result.exit_code == INCOMPLETE
    assert openai.outcomes == {"cache": COUNT}


def test_a_ticket_that_cannot_be_read_keeps_nothing_from_being_published(
    openai: BatchCorpus,
) -> None:
    """Nothing is asked: a batch may be running for it."""
    folder = tickets_folder(openai.cache_directory)
    folder.mkdir(parents=True)
    (folder / "0123.json").write_text("{")

    result = openai.corpus.run()

    assert result.exit_code == INCOMPLETE
    assert openai.outcomes == {"cache": COUNT}
    assert openai.vendor.steps == []


def test_a_full_disk_keeps_nothing_from_being_published(
    openai: BatchCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is written to a file before it is sent."""

    class Full(BytesIO):
        def flush(self) -> None:
            raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda **_: Full())

    result = openai.corpus.run()

    assert result.exit_code == INCOMPLETE
    assert openai.outcomes == {"cache": COUNT}
    assert openai.vendor.batches == {}


@pytest.mark.parametrize("status", [404, 405])
@pytest.mark.parametrize(
    "missing", [("upload", "create", "list"), ("create",)], ids=["all", "only the last"]
)
def test_a_server_without_batches_is_said_to_have_none(
    desk: BatchCorpus, missing: tuple[str, ...], status: int
) -> None:
    """Many speak a vendor's language and have none; nothing is published."""
    desk.vendor.faults = [Fault(step=step, status=status) for step in missing]

    result = desk.corpus.run()

    assert result.exit_code == FAILED
    assert "has no batch system" in str(result.reason)
    assert "enrichment.mode = 'live'" in str(result.reason)
    assert "situate batch export" in str(result.reason)
    assert not desk.corpus.chunks.exists()


def test_a_wrong_key_ends_a_run_that_hands_over(openai: BatchCorpus) -> None:
    """As it ends one that asks live: nothing is published (E10)."""
    openai.vendor.faults = [Fault(step="upload", status=401)]

    result = openai.corpus.run()

    assert result.exit_code == FAILED
    assert not openai.corpus.chunks.exists()
