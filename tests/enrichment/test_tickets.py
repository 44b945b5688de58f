"""Tickets, files and the choice of what goes into a batch, without a vendor."""

from __future__ import annotations

import asyncio
import json
import stat
from dataclasses import dataclass, replace
from decimal import Decimal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from situate.enrichment.batches import Chooser, Pending, Splitter, Ticket, Tickets
from situate.enrichment.batches.choosing import Wanted
from situate.enrichment.batches.finding import look_for
from situate.enrichment.batches.tickets import closed, prepared
from situate.enrichment.providers.batching import (
    BatchItem,
    BatchState,
    Frame,
    Limits,
    Listed,
)
from situate.errors import Locked, RecordError
from tests.enrichment.scenes import facts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from situate.enrichment.batches.tickets import Outlook
    from situate.enrichment.plan import DocumentPlan, Passage, PlannedRequest
    from situate.enrichment.providers.batching import BatchProvider


def ticket(*keys: str, **changes: Any) -> Ticket:
    """Give a ticket for requests with these keys."""
    made = prepared(
        corpus="policies",
        provider="anthropic",
        endpoint="https://models.example",
        model="a-model",
        created="2026-11-30T12:00:00+00:00",
        custom_ids=keys,
    )
    return replace(made, **changes)


@dataclass(frozen=True)
class Asked:
    """As much of a planned request as batches look at."""

    passages: tuple[str, ...]

    @property
    def reply_key(self) -> str:
        """The key is what it asks about."""
        return "+".join(self.passages)

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """One chunk for every passage."""
        return tuple(f"doc:{each}" for each in self.passages)

    @property
    def body(self) -> dict[str, Any]:
        """As long as the key."""
        return {"ask": self.reply_key}

    def about(self, passages: Sequence[str]) -> Asked:
        """Ask about fewer."""
        return self if tuple(passages) == self.passages else Asked(tuple(passages))


def plan(*requests: Asked) -> DocumentPlan:
    """Give a plan of these requests."""
    return cast("DocumentPlan", SimpleNamespace(requests=requests))


def chooser(
    *,
    known: Sequence[str] = (),
    stored: Sequence[str] = (),
    outlook: dict[str, Outlook] | None = None,
) -> Chooser:
    """Choose among requests where this is so."""

    def is_known(passage: Passage) -> bool:
        return passage in cast("Sequence[Passage]", known)

    return Chooser(
        known=is_known,
        stored=lambda key: key in stored,
        outlook=lambda key: (outlook or {}).get(key, "none"),
    )


def chosen(found: list[Wanted]) -> list[str]:
    """Name what was chosen."""
    return [each.key for each in found]


def test_what_has_no_answer_and_no_ticket_is_missing() -> None:
    """What is at hand, on its way or left to a live run is not handed in."""
    plans = plan(*(Asked((name,)) for name in "abcde"))
    choice = chooser(
        known="a", stored="b", outlook={"c": "pending", "d": "ask_live", "e": "none"}
    )

    found = choice.missing(plans)

    assert chosen(found) == ["e"]
    assert (choice.pending, choice.ask_live) == (1, 1)


def test_equal_requests_are_handed_in_once() -> None:
    """Also where they stand in two documents."""
    choice = chooser()

    first = choice.missing(plan(Asked(("a",)), Asked(("a",))))
    second = choice.missing(plan(Asked(("a",)), Asked(("b",))))

    assert chosen(first) + chosen(second) == ["a", "b"]


def test_a_group_is_asked_about_what_is_not_known() -> None:
    """As a live run would ask it."""
    found = chooser(known="b").missing(plan(Asked(("a", "b", "c"))))

    assert chosen(found) == ["a+c"]


@pytest.mark.parametrize(
    "at_hand",
    [
        pytest.param({"stored": ["a+b+c"]}, id="its reply is here"),
        pytest.param({"outlook": {"a+b+c": "pending"}}, id="it is on its way"),
    ],
)
def test_a_part_of_a_group_is_not_asked_beside_the_whole(
    at_hand: dict[str, Any],
) -> None:
    """The rest of the reply answers it."""
    found = chooser(known="b", **at_hand).missing(plan(Asked(("a", "b", "c"))))

    assert found == []


@dataclass(frozen=True)
class Format:
    """A vendor's format, and what it takes in one batch."""

    limits: Limits
    frame: Frame

    def encode(self, custom_id: str, body: dict[str, Any]) -> bytes:
        """Write the id, as often as it is long."""
        assert body == {"ask": custom_id}
        return custom_id.encode()


def split(names: Sequence[str], *, requests: int = 99, size: int = 99) -> list[bytes]:
    """Give the files that requests with these names are put into."""
    files, _ = split_and_left(names, requests=requests, size=size)
    return files


def split_and_left(
    names: Sequence[str], *, requests: int, size: int
) -> tuple[list[bytes], list[str]]:
    """Give the files, and the chunks that fit none."""
    vendor = Format(
        limits=Limits(requests=requests, size_bytes=size),
        frame=Frame(head=b"<", between=b"|", tail=b">"),
    )
    splitter = Splitter(provider=cast("BatchProvider", vendor), facts=facts())
    files = []
    asked = (
        Wanted(key=name, request=cast("PlannedRequest", Asked((name,))))
        for name in names
    )
    for draft in splitter.drafts(asked):
        parcel = draft.parcel()
        parcel.file.seek(0)
        content = parcel.file.read()
        assert parcel.size_bytes == len(content) <= size
        assert len(draft.custom_ids) <= requests
        files.append(content)
    return files, splitter.too_long


def test_batches_hold_no_more_requests_than_the_vendor_takes() -> None:
    """The last one is as long as what is left."""
    assert split("abcde", requests=2) == [b"<a|b>", b"<c|d>", b"<e>"]


def test_batches_are_no_longer_than_the_vendor_takes() -> None:
    """Counted with all that stands around the requests."""
    assert split(["aa", "bb", "cc"], size=7) == [b"<aa|bb>", b"<cc>"]
    assert split(["aa", "bb", "cc"], size=6) == [b"<aa>", b"<bb>", b"<cc>"]


def test_a_request_that_fits_no_batch_is_named_and_stops_no_other() -> None:
    """A live run may bring it through, in halves."""
    files, left = split_and_left(["a", "bbbbbb", "c"], requests=9, size=6)

    assert files == [b"<a>", b"<c>"]
    assert left == ["doc:bbbbbb"]


def test_nothing_to_ask_makes_no_batch() -> None:
    """Not even an empty one."""
    assert split([]) == []


def test_a_ticket_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Every field of it, money to the last digit."""
    tickets = Tickets(tmp_path / "tickets")
    one = ticket("a", "b", after="x", most_usd=Decimal("0.10"), month="2026-11")
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


def test_an_open_ticket_holds_its_requests_back(tmp_path: Path) -> None:
    """Whether the vendor has it is no matter: it cannot be excluded."""
    tickets = Tickets(tmp_path)
    tickets.write(ticket("a"))
    tickets.write(ticket("b", state="submitted", batch_id="x"))
    tickets.write(closed(ticket("c", "d"), "collected", ask_live=("c",)))
    tickets.write(closed(ticket("e"), "failed"))

    pending = Pending.of(tmp_path)

    states = {key: pending.state(key) for key in "abcde"}
    assert states == {
        "a": "pending",
        "b": "pending",
        "c": "ask_live",
        "d": "none",
        "e": "none",
    }


def test_an_open_ticket_counts_more_than_one_that_failed_before() -> None:
    """A request that was submitted anew waits for that batch."""
    old = closed(ticket("a"), "collected", ask_live=("a",))

    assert Pending.among((ticket("a"), old)).state("a") == "pending"


def test_no_tickets_are_no_error(tmp_path: Path) -> None:
    """Most caches never see a batch."""
    assert Pending.of(tmp_path / "none").state("a") == "none"


def _without(name: str) -> str:
    record = _record()
    del record[name]
    return json.dumps(record)


def _with(**changes: object) -> str:
    return json.dumps({**_record(), **changes})


def _record() -> dict[str, Any]:
    made = ticket("a")
    names = Ticket.__dataclass_fields__
    return {"schema": 1, **{name: getattr(made, name) for name in names}}


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("[]", id="no object"),
        pytest.param('{"schema": 1', id="half"),
        pytest.param(_without("custom_ids"), id="key missing"),
        pytest.param(_with(schema=2), id="later version"),
        pytest.param(_with(state="lost"), id="unknown state"),
        pytest.param(_with(custom_ids=[]), id="no requests"),
        pytest.param(_with(custom_ids=[1]), id="a key that is no text"),
        pytest.param(_with(custom_ids=None), id="no list"),
        pytest.param(_with(ticket="other"), id="other name"),
        pytest.param(_with(state="submitted"), id="no vendor's id"),
        pytest.param(_with(created=5), id="no time"),
        pytest.param(_with(most_usd="much"), id="no amount"),
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
    (tmp_path / f"{ticket('a').ticket}.json").write_text(_with())

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
