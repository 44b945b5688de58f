"""Decides what goes into which batch, and writes the batch's file.

It goes by chunks: one is asked about once, not while its answer is at hand, not
while an open ticket asks about it, and not when a batch has failed it before.
What is left of a group is one request.
"""

from __future__ import annotations

import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, cast

from situate.enrichment.batches.allowance import added, most
from situate.enrichment.batches.filing import AskedRequest
from situate.enrichment.budget import NOTHING
from situate.enrichment.providers.batching import Parcel
from situate.errors import SituateError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

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
    """Picks from one plan after another; each chunk is picked once."""

    known: Callable[[Passage], bool]
    """Whether an answer about a chunk is at hand."""
    outlook: Callable[[str], Outlook]
    """What tickets say of a chunk or its section, by its key."""
    stored: Callable[[Wanted], Collection[str] | None]
    """Which chunks, by their keys, are answered by a reply that is here already;
    None where there is no reply."""
    pending: int = 0
    """Chunks that an open ticket asks about."""
    left: set[str] = field(default_factory=set)
    """Chunks, by their keys, that are left to a live run."""
    _seen: set[str] = field(default_factory=set)

    def missing(self, plan: DocumentPlan) -> list[Wanted]:
        """Give what has to be asked about a document."""
        found = []
        for request in plan.requests:
            unknown = [each for each in request.passages if self._is_missing(each)]
            wanted = self._wanted(request, unknown) if unknown else None
            if wanted is not None:
                found.append(wanted)
        return found

    def _is_missing(self, passage: Passage) -> bool:
        key = passage.chunk_key
        if key in self._seen or self.known(passage):
            return False
        self._seen.add(key)
        # What is asked about the same section will answer this one as well (E4).
        keys = (key, *passage.section_keys)
        if any(self.outlook(each) == "pending" for each in keys):
            self.pending += 1
            return False
        if self.outlook(key) == "ask_live":
            self.left.add(key)
            return False
        return True

    def _wanted(
        self, request: PlannedRequest, unknown: Sequence[Passage]
    ) -> Wanted | None:
        """Give the request about these chunks; None where its reply is here.

        A run may have ended between storing a reply and noting whose it is.
        """
        asked = request.about(unknown)
        if asked is not request:
            whole = Wanted(key=request.reply_key, request=request)
            answered = self.stored(whole) or ()
            unknown = [each for each in unknown if each.chunk_key not in answered]
            if not unknown:
                return None
            asked = request.about(unknown)
        wanted = Wanted(key=asked.reply_key, request=asked)
        found = self.stored(wanted)
        if found is None:
            return wanted
        # The same question again would be paid for twice.
        self.left |= {each.chunk_key for each in unknown}.difference(found)
        return None


class Draft:
    """A batch while its file is written."""

    def __init__(self, frame: Frame) -> None:
        self.asked: list[AskedRequest] = []
        self.most = NOTHING
        """What it may cost."""
        self._frame = frame
        spooled = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by `close`
        self._file = cast("BinaryIO", spooled)
        self.size_bytes = len(frame.head) + len(frame.tail)
        self._write(frame.head)

    def grown(self, entry: bytes) -> int:
        """Say how long the file would be with one more entry."""
        between = len(self._frame.between) if self.asked else 0
        return self.size_bytes + between + len(entry)

    def add(self, wanted: Wanted, entry: bytes, facts: ModelFacts) -> None:
        """Write one more entry.

        Raises:
            SituateError: there is no room on the disk.
        """
        self.size_bytes = self.grown(entry)
        if self.asked:
            self._write(self._frame.between)
        self._write(entry)
        self.asked.append(AskedRequest.of(wanted.key, wanted.request))
        self.most = added(self.most, most(wanted.request, facts))

    def parcel(self) -> Parcel:
        """End the file and give it as it is sent.

        Raises:
            SituateError: there is no room on the disk.
        """
        self._write(self._frame.tail, last=True)
        return Parcel(file=self._file, size_bytes=self.size_bytes)

    def close(self) -> None:
        """Throw the file away."""
        # What a full disk did not take is tried once more by closing.
        with suppress(OSError):
            self._file.close()

    def _write(self, part: bytes, *, last: bool = False) -> None:
        try:
            self._file.write(part)
            if last:
                self._file.flush()
        except OSError as error:
            message = f"the file of a batch cannot be written: {error}"
            raise SituateError(message) from error


@dataclass(slots=True)
class Splitter:
    """Fills batches one after another, each within the vendor's limits."""

    provider: BatchProvider
    facts: ModelFacts
    too_long: list[Passage] = field(default_factory=list)
    """Asked about by requests that fit no batch."""

    def drafts(self, wanted: Iterable[Wanted]) -> Iterator[Draft]:
        """Give each batch once it is full; its file is gone after that.

        One file is open at a time, however many requests there are.
        """
        waiting = iter(wanted)
        left: tuple[Wanted, bytes] | None = None
        while True:
            with closing(Draft(self.provider.frame)) as draft:
                left = self._fill(draft, waiting, left)
                if draft.asked:
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
                len(draft.asked) < limits.requests
                and draft.grown(entry) <= limits.size_bytes
            ):
                draft.add(wanted, entry, self.facts)
            elif draft.asked:
                return left
            else:
                self.too_long += wanted.request.passages
            left = None
