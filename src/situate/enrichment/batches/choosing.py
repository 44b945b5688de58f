"""Decides what goes into which batch, and writes the batch's file.

A request is put in once: not while its answer is at hand, not while a ticket
waits for it, and not when a batch has failed it before.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, BinaryIO, cast

from situate import pricing
from situate.enrichment.estimate import bounds
from situate.enrichment.providers.batching import Parcel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from situate.enrichment.batches.tickets import Outlook
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.providers.batching import BatchProvider, Frame
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.pricing import ModelFacts

_IN_MEMORY_BYTES = 1 << 20
"""Of a batch's file; a longer one goes to a temporary file without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A request that has to be asked, and the key its reply is stored under."""

    key: str
    request: PlannedRequest


@dataclass(slots=True)
class Chooser:
    """Picks the requests of one plan after another; each is picked once."""

    known: Callable[[Passage], bool]
    """Whether the answer about a chunk is at hand."""
    stored: Callable[[str], bool]
    """Whether the reply to a request is."""
    outlook: Callable[[str], Outlook]
    pending: int = 0
    """Requests that a ticket waits for."""
    ask_live: int = 0
    """Requests left to a live run."""
    _seen: set[str] = field(default_factory=set)

    def missing(self, plan: DocumentPlan) -> list[Wanted]:
        """Give what has to be asked about a document."""
        found = (self._missing(request) for request in plan.requests)
        return [wanted for wanted in found if wanted is not None]

    def _missing(self, request: PlannedRequest) -> Wanted | None:
        unknown = [each for each in request.passages if not self.known(each)]
        if not unknown:
            return None
        asked = request.about(unknown)
        key = asked.reply_key
        if key in self._seen:
            return None
        self._seen.add(key)
        # Of a request that is on its way, a part may be answered by now.
        whole = key if asked is request else request.reply_key
        if self.stored(key) or self.stored(whole):
            return None
        if "pending" in (self.outlook(key), self.outlook(whole)):
            self.pending += 1
            return None
        if self.outlook(key) == "ask_live":
            self.ask_live += 1
            return None
        return Wanted(key=key, request=asked)


class Draft:
    """A batch while its file is written."""

    def __init__(self, frame: Frame) -> None:
        self.custom_ids: list[str] = []
        self.most_usd = Decimal(0)
        self._frame = frame
        spooled = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by `close`
        self._file = cast("BinaryIO", spooled)
        self.size_bytes = self._file.write(frame.head) + len(frame.tail)

    def grown(self, entry: bytes) -> int:
        """Say how long the file would be with one more entry."""
        between = len(self._frame.between) if self.custom_ids else 0
        return self.size_bytes + between + len(entry)

    def add(self, key: str, entry: bytes, most_usd: Decimal) -> None:
        """Write one more entry."""
        self.size_bytes = self.grown(entry)
        if self.custom_ids:
            self._file.write(self._frame.between)
        self._file.write(entry)
        self.custom_ids.append(key)
        self.most_usd += most_usd

    def parcel(self) -> Parcel:
        """End the file and give it as it is sent."""
        self._file.write(self._frame.tail)
        return Parcel(file=self._file, size_bytes=self.size_bytes)

    def close(self) -> None:
        """Throw the file away."""
        self._file.close()


@dataclass(slots=True)
class Splitter:
    """Fills batches one after another, each within the vendor's limits."""

    provider: BatchProvider
    facts: ModelFacts
    too_long: list[str] = field(default_factory=list)
    """Chunks of requests that fit no batch."""

    def drafts(self, wanted: Iterable[Wanted]) -> Iterator[Draft]:
        """Give each batch once it is full; its file is gone after that.

        One file is open at a time, however many requests there are.
        """
        waiting = iter(wanted)
        left: tuple[Wanted, bytes] | None = None
        while True:
            with closing(Draft(self.provider.frame)) as draft:
                left = self._fill(draft, waiting, left)
                if draft.custom_ids:
                    yield draft
            if left is None:
                return

    def _fill(
        self,
        draft: Draft,
        waiting: Iterator[Wanted],
        left: tuple[Wanted, bytes] | None,
    ) -> tuple[Wanted, bytes] | None:
        """Add what fits and give the first that does not; None at the end."""
        limits = self.provider.limits
        while True:
            if left is None:
                wanted = next(waiting, None)
                if wanted is None:
                    return None
                left = wanted, self.provider.encode(wanted.key, wanted.request.body)
            wanted, entry = left
            if (
                len(draft.custom_ids) < limits.requests
                and draft.grown(entry) <= limits.size_bytes
            ):
                draft.add(wanted.key, entry, most_usd(wanted.request, self.facts))
            elif draft.custom_ids:
                return left
            else:
                self.too_long += wanted.request.chunk_ids
            left = None


def most_usd(request: PlannedRequest, facts: ModelFacts) -> Decimal:
    """Say what a request costs at most in a batch; 0 where no price is known."""
    if facts.prices is None:
        return Decimal(0)
    most = pricing.estimate(*bounds(request, facts=facts), facts.prices)
    return most * facts.prices.batch_factor
