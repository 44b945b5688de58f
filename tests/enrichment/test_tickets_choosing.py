"""The choice of what goes into a batch, and into which, without a vendor."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from situate.enrichment.batches import Chooser, Splitter
from situate.enrichment.batches.choosing import Wanted
from situate.enrichment.providers.batching import Frame, Limits
from tests.enrichment.scenes import facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.enrichment.batches.tickets import Outlook
    from situate.enrichment.plan import DocumentPlan, PlannedRequest
    from situate.enrichment.providers.batching import BatchProvider


@dataclass(frozen=True)
class About:
    """As much of a passage as batches look at."""

    name: str
    section_keys: tuple[str, ...] = ()
    number: int | None = None

    @property
    def chunk_key(self) -> str:
        """The key is the name."""
        return self.name

    @property
    def chunk_id(self) -> str:
        """So is the id."""
        return f"doc:{self.name}"


@dataclass(frozen=True)
class Asked:
    """As much of a planned request as batches look at."""

    passages: tuple[About, ...]
    view: str = "full"
    begin: str | None = None
    input_tokens: int = 10

    @property
    def parameters(self) -> Any:
        """As much of them as prices want."""
        return SimpleNamespace(max_output_tokens=5)

    @classmethod
    def about_these(cls, *names: str) -> Asked:
        """Ask about chunks with these names."""
        return cls(tuple(map(About, names)))

    @property
    def reply_key(self) -> str:
        """The key is what it asks about."""
        return "+".join(each.name for each in self.passages)

    @property
    def body(self) -> dict[str, Any]:
        """As long as the key."""
        return {"ask": self.reply_key}

    def about(self, passages: Sequence[About]) -> Asked:
        """Ask about fewer."""
        return self if tuple(passages) == self.passages else Asked(tuple(passages))


def plan(*requests: Asked) -> DocumentPlan:
    """Give a plan of these requests."""
    return cast("DocumentPlan", SimpleNamespace(requests=requests))


def chooser(
    *,
    known: Sequence[str] = (),
    stored: dict[str, Sequence[str]] | None = None,
    outlook: dict[str, Outlook] | None = None,
) -> Chooser:
    """Choose among requests where this is so."""
    return Chooser(
        known=lambda passage: passage.chunk_key in known,
        stored=lambda wanted: (stored or {}).get(wanted.key),
        outlook=lambda key: (outlook or {}).get(key, "none"),
    )


def chosen(found: list[Wanted]) -> list[str]:
    """Name what was chosen."""
    return [each.key for each in found]


def test_what_has_no_answer_and_no_ticket_is_missing() -> None:
    """What is at hand, on its way or left to a live run is not handed in."""
    plans = plan(*(Asked.about_these(name) for name in "abcde"))
    choice = chooser(
        known="a",
        stored={"b": "b"},
        outlook={"c": "pending", "d": "ask_live", "e": "none"},
    )

    found = choice.missing(plans)

    assert chosen(found) == ["e"]
    assert (choice.pending, choice.left) == (1, {"d"})


def test_equal_chunks_are_handed_in_once() -> None:
    """Also where they stand in two documents."""
    choice = chooser()

    first = choice.missing(plan(Asked.about_these("a"), Asked.about_these("a")))
    second = choice.missing(plan(Asked.about_these("a", "b")))

    assert chosen(first) + chosen(second) == ["a", "b"]


@pytest.mark.parametrize(
    "why",
    [
        pytest.param({"known": "bd"}, id="known"),
        pytest.param({"outlook": {"b": "pending", "d": "pending"}}, id="on its way"),
        pytest.param({"outlook": {"b": "ask_live"}, "known": "d"}, id="left to live"),
        pytest.param({"stored": {"a+b+c+d": "b"}, "known": "d"}, id="in its reply"),
    ],
)
def test_of_a_group_only_what_is_missing_is_asked(why: dict[str, Any]) -> None:
    """Each chunk goes its own way; the rest is one request."""
    choice = chooser(**why)

    found = choice.missing(plan(Asked.about_these(*"abcd")))

    assert chosen(found) == ["a+c"]


def test_a_chunk_whose_section_is_on_its_way_is_not_asked_again() -> None:
    """Its document was edited elsewhere; the answer serves all the same (E4)."""
    choice = chooser(outlook={"section": "pending"})
    passage = About("new", section_keys=("section",))

    found = choice.missing(plan(Asked((passage,))))

    assert (found, choice.pending) == ([], 1)


def test_a_reply_without_an_answer_is_not_paid_for_again() -> None:
    """A live run asks about the chunk by itself."""
    choice = chooser(stored={"a+b": "a"})

    found = choice.missing(plan(Asked.about_these("a", "b")))

    assert (found, choice.left) == ([], {"b"})


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
        Wanted(key=name, request=cast("PlannedRequest", Asked.about_these(name)))
        for name in names
    )
    for draft in splitter.drafts(asked):
        parcel = draft.parcel()
        parcel.file.seek(0)
        content = parcel.file.read()
        assert parcel.size_bytes == len(content) <= size
        assert len(draft.asked) <= requests
        files.append(content)
    return files, [each.chunk_id for each in splitter.too_long]


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
