"""Tickets on disk, and what they say, without a vendor."""

from __future__ import annotations

import asyncio
import json
import stat
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest

from situate.enrichment.batches import (
    Pending,
    Ticket,
    Tickets,
    outstanding,
    tickets_folder,
)
from situate.enrichment.batches.filing import AskedPassage, AskedRequest
from situate.enrichment.batches.finding import look_for
from situate.enrichment.batches.tickets import closed, prepared
from situate.enrichment.providers.batching import (
    BatchItem,
    BatchState,
    Listed,
)
from situate.errors import Locked, RecordError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from situate.enrichment.providers.batching import BatchProvider


def asked(key: str, *, section: str | None = None) -> AskedRequest:
    """Give a request about one chunk, with keys that tell of it."""
    passage = AskedPassage(
        number=None, chunk_key=f"chunk-{key}", section_key=section, chunk_id=f"d:{key}"
    )
    return AskedRequest(
        custom_id=key,
        view="full",
        begin=None,
        input_tokens=100,
        output_tokens=10,
        passages=(passage,),
    )


MARKED = AskedRequest(
    custom_id="m",
    view="marked",
    begin="3f2a",
    input_tokens=200,
    output_tokens=20,
    passages=tuple(
        AskedPassage(
            number=number,
            chunk_key=f"chunk-{number}",
            section_key=f"section-{number}",
            chunk_id=f"d:{number}",
        )
        for number in (1, 2)
    ),
)
"""A request about two chunks."""


def ticket(*keys: str, **changes: Any) -> Ticket:
    """Give a ticket for requests with these keys."""
    made = prepared(
        corpus="policies",
        provider="anthropic",
        endpoint="https://models.example",
        model="a-model",
        created="2026-11-30T12:00:00+00:00",
        asked=tuple(map(asked, keys)),
    )
    return replace(made, **changes)


def test_a_ticket_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Every field of it, money to the last digit."""
    tickets = Tickets(tmp_path / "tickets")
    one = prepared(
        corpus="policies",
        provider="anthropic",
        endpoint="https://models.example",
        model="a-model",
        created="2026-11-30T12:00:00+00:00",
        asked=(asked("a", section="s"), MARKED),
        after="x",
        most_tokens=7,
        most_usd=Decimal("0.10"),
        month="2026-11",
    )
    two = closed(
        ticket("c", batch_id="y"), "collected", ask_live=("c",), cost_usd=Decimal(0)
    )

    with tickets.locked():
        tickets.write(one)
        tickets.write(two)

    assert set(tickets.all()) == {one, two}


def test_tickets_are_for_their_owner_alone(tmp_path: Path) -> None:
    """Keys tell who asked the same."""
    tickets = Tickets(tmp_path / "cache" / "tickets")

    with tickets.locked():
        tickets.write(ticket("a"))

    (path,) = tickets.folder.glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(tickets.folder.stat().st_mode) == 0o700


def test_one_command_at_a_time_works_on_tickets(tmp_path: Path) -> None:
    """Two would hand the same requests in."""
    tickets = Tickets(tmp_path)

    with (
        tickets.locked(),
        pytest.raises(Locked, match="another command"),
        Tickets(tmp_path).locked(),
    ):
        pass

    with tickets.locked():
        pass


def test_an_open_ticket_holds_its_chunks_back(tmp_path: Path) -> None:
    """Whether the vendor has it is no matter: it cannot be excluded."""
    tickets = Tickets(tickets_folder(tmp_path))
    tickets.folder.mkdir()
    tickets.write(ticket("a"))
    tickets.write(ticket("b", state="submitted", batch_id="x"))
    tickets.write(closed(ticket("c", "d"), "collected", ask_live=("chunk-c",)))
    tickets.write(closed(ticket("e"), "failed"))

    outlook = outstanding(tmp_path)

    states = {key: outlook(f"chunk-{key}") for key in "abcde"}
    assert states == {
        "a": "pending",
        "b": "pending",
        "c": "ask_live",
        "d": "none",
        "e": "none",
    }


def test_an_open_ticket_holds_every_chunk_of_a_group_and_its_section_back() -> None:
    """However the chunks are grouped by then."""
    pending = Pending.among((ticket("a", asked=(MARKED,)),))

    keys = ("chunk-1", "chunk-2", "section-1", "section-2")
    assert {pending.state(key) for key in keys} == {"pending"}
    assert pending.state("m") == "none"


def test_an_open_ticket_counts_more_than_one_that_failed_before() -> None:
    """A chunk that was handed in anew waits for that batch."""
    old = closed(ticket("a"), "collected", ask_live=("chunk-a",))

    assert Pending.among((ticket("a"), old)).state("chunk-a") == "pending"


def test_no_tickets_are_no_error(tmp_path: Path) -> None:
    """Most caches never see a batch."""
    assert Pending.of(tmp_path / "none").state("a") == "none"


def _without(name: str) -> str:
    record = _record()
    del record[name]
    return json.dumps(record)


def _with(**changes: object) -> str:
    return json.dumps({**_record(), **changes})


def _asking(*passage: object, **changes: object) -> str:
    about = {**ABOUT, **changes}
    return _with(asked=[{**about, "passages": [passage] if passage else []}])


ABOUT = {
    "custom_id": "a",
    "view": "full",
    "begin": None,
    "input_tokens": 100,
    "output_tokens": 10,
}
"""A request as it is written, without its passages."""

GOOD = (None, "chunk-a", None, "d:a")
"""A passage as it is written."""


def _record() -> dict[str, Any]:
    made = ticket("a")
    names = Ticket.__dataclass_fields__
    request = {**ABOUT, "passages": [GOOD]}
    plain = {name: getattr(made, name) for name in names}
    return {"schema": 3, **plain, "asked": [request]}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("[]", id="no object"),
        pytest.param('{"schema": 1', id="half"),
        pytest.param(_without("asked"), id="key missing"),
        pytest.param(_with(schema=4), id="later version"),
        pytest.param(_with(state="lost"), id="unknown state"),
        pytest.param(_with(asked=[]), id="no requests"),
        pytest.param(_with(asked=[1]), id="a request that is no object"),
        pytest.param(_with(asked=None), id="no list"),
        pytest.param(_with(ask_live=[1]), id="a key that is no text"),
        pytest.param(_with(most_tokens="7"), id="no number"),
        pytest.param(_asking(*GOOD, custom_id=1), id="an id that is no text"),
        pytest.param(_asking(*GOOD, view="all"), id="unknown view"),
        pytest.param(_asking(*GOOD, begin=1), id="a marker that is no text"),
        pytest.param(_asking(*GOOD, more=1), id="unknown key of a request"),
        pytest.param(_asking(), id="a request about nothing"),
        pytest.param(_asking(*GOOD[:3]), id="half a passage"),
        pytest.param(_asking("1", *GOOD[1:]), id="a number that is none"),
        pytest.param(_asking(None, None, None, "d:a"), id="no chunk's key"),
        pytest.param(_asking(None, "k", 1, "d:a"), id="a section's that is no text"),
        pytest.param(_asking(None, "k", None, 1), id="a chunk's id that is no text"),
        pytest.param(_with(ticket="other"), id="other name"),
        pytest.param(_with(state="submitted"), id="no vendor's id"),
        pytest.param(_with(created=5), id="no time"),
        pytest.param(_with(created="2026-11-30T12:00:00"), id="time without zone"),
        pytest.param(_with(unseen_since="yesterday"), id="a day in words"),
        pytest.param(_with(most_usd="much"), id="no amount"),
        pytest.param(_with(most_usd="NaN"), id="not a number"),
        pytest.param(_with(cost_usd="1e999999999"), id="more money than memory"),
        pytest.param(_with(cost_usd="-1"), id="less than nothing"),
        pytest.param(_with(month="soon"), id="no month"),
        pytest.param(_with(requests=None), id="no count"),
        pytest.param(_with(answered=10**4000), id="a count too long to write"),
        pytest.param(_with(batch_id="b\n"), id="a vendor's id in two lines"),
        pytest.param(_with(batch_id="b\ud800"), id="a vendor's id in half a letter"),
        pytest.param(_asking(*GOOD, custom_id="\ud800"), id="half a letter"),
        pytest.param(_asking(*GOOD, input_tokens=-1), id="fewer tokens than none"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param(_with(surprise=1), id="unknown key"),
    ],
)
def test_a_ticket_that_cannot_be_read_is_an_error(tmp_path: Path, content: str) -> None:
    """What it stands for may be running: it is never taken for missing."""
    (tmp_path / f"{ticket('a').ticket}.json").write_text(content)

    with pytest.raises(RecordError, match="a batch may be running"):
        Pending.of(tmp_path)


def test_a_ticket_as_written_passes(tmp_path: Path) -> None:
    """The cases above fail for what is wrong with each of them."""
    for content in (_with(), _asking(*GOOD)):
        (tmp_path / f"{ticket('a').ticket}.json").write_text(content)

        assert Tickets(tmp_path).all() == (ticket("a"),)


def test_a_half_written_ticket_is_not_read(tmp_path: Path) -> None:
    """A kill leaves the old one in its place."""
    tickets = Tickets(tmp_path)
    tickets.write(ticket("a"))
    (tmp_path / f"{ticket('a').ticket}.json.part").write_text("{")

    assert tickets.all() == (ticket("a"),)


@dataclass(frozen=True)
class Vendor:
    """A vendor's list: ids, the ticket each carries, and how far each is."""

    batches: tuple[Listed, ...]
    answers: dict[str, tuple[str, ...]]

    async def listed(self, since: str | None) -> AsyncIterator[Listed]:
        """Give all of it."""
        assert since == "before"
        for each in self.batches:
            yield each

    async def results(self, batch_id: str) -> AsyncIterator[BatchItem]:
        """Give the ids of a batch that is over."""
        for key in self.answers[batch_id]:
            yield BatchItem(custom_id=key)


def listed(
    batch_id: str, *, note: str | None = None, total: int = 2, over: bool = False
) -> Listed:
    """Give a batch as the vendor lists it."""
    state = BatchState(status="ended" if over else "in_progress", total=total)
    return Listed(batch_id=batch_id, ticket=note, state=state)


OURS = ticket("a", "b", after="before")


@pytest.mark.parametrize(
    ("batches", "found"),
    [
        pytest.param([], "absent", id="nothing there"),
        pytest.param([listed("x", note=OURS.ticket)], "x", id="our note"),
        pytest.param([listed("x", note="")], "absent", id="no note where some have"),
        pytest.param([listed("x", note="other")], "absent", id="another note"),
        pytest.param([listed("x")], "unclear", id="may be ours"),
        pytest.param([listed("x", total=3)], "absent", id="another number"),
        pytest.param([listed("known")], "absent", id="another ticket has it"),
        pytest.param([listed("ours", over=True)], "ours", id="our results"),
        pytest.param([listed("theirs", over=True)], "absent", id="their results"),
        pytest.param([listed("mixed", over=True)], "absent", id="some of ours"),
        pytest.param([listed("none", over=True)], "absent", id="no results"),
        pytest.param(
            [listed("x"), listed("ours", over=True)], "ours", id="ours among others"
        ),
        pytest.param(
            [listed("x"), listed("theirs", over=True)], "unclear", id="one is left"
        ),
    ],
)
def test_a_vendors_list_says_what_became_of_a_hand_in(
    batches: list[Listed], found: str
) -> None:
    """What may be ours is never taken for missing, what is not never for ours."""
    answers = {
        "ours": ("b", "a"),
        "theirs": ("c", "d"),
        "mixed": ("a", "c"),
        "none": (),
    }
    vendor = cast("BatchProvider", Vendor(tuple(batches), answers))

    sighting = asyncio.run(look_for(OURS, vendor, taken={"known"}))

    assert (sighting.batch_id or sighting.verdict) == found
