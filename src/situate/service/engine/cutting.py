"""Documents on their way through the processes that read and cut them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from situate.pipeline.documents import Failed, Prepared, Preparer
from situate.pipeline.handed import source_of
from situate.pipeline.written import Written, write_one
from situate.service.values import JobsBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from situate.corpus import Source
    from situate.pipeline.pool import Pool
    from situate.service.jobs.worklist import Claimed, Waiting, Worklist
    from situate.validity import Keep

_AHEAD = 2
"""Documents that are cut while one before them is waited for."""

_Whole = TypeVar("_Whole", Prepared, Written)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Reads and cuts single documents in other processes."""

    pool: Pool
    corpus: str
    keep: Keep = "latest"

    def outcome(self, source: Source) -> Prepared | Failed:
        """Read and cut one document; a bad one is a value. Blocks."""
        future = self.pool.submit(Preparer.outcome, self.corpus, source)
        found = self.pool.result(future, Preparer.outcome, self.corpus, source)
        return _for_a_client(found) if isinstance(found, Failed) else found

    def written(self, source: Source) -> Written | Failed:
        """Read, cut and write one that nobody is asked about. Blocks."""
        future = self.pool.submit(write_one, self.corpus, source)
        found = self.pool.result(future, write_one, self.corpus, source)
        return _for_a_client(found) if isinstance(found, Failed) else found


class Documents(Generic[_Whole]):
    """The documents of a job that are not done, a few of them cut in advance.

    One thread iterates over them, and for each that is given `outcome` is called,
    in that order. Where two name one id themselves the second fails, also where the
    first was done before a restart.
    """

    keep: Keep = "latest"

    def __init__(
        self,
        claimed: Claimed,
        worklist: Worklist,
        pool: Pool,
        *,
        work: Callable[[Preparer, Source], _Whole | Failed],
        is_over: Callable[[], bool],
    ) -> None:
        """Take the first document, and others until `is_over` says so."""
        self.ordinals: deque[int] = deque()
        """Of what was given; whoever has dealt with a document takes its own off."""
        self.broken: JobsBroken | None = None
        """Why no more can be read; there are none then, as if the turn were over."""
        self._claimed = claimed
        self._worklist = worklist
        self._pool = pool
        self._work: Callable[[Preparer, Source], _Whole | Failed] = work
        self._is_over = is_over
        self._ids = dict(claimed.ids)
        self._sent: dict[Path, Future[_Whole | Failed]] = {}

    def __iter__(self) -> Iterator[Source]:
        last, is_first = -1, True
        ahead: deque[tuple[int, Source]] = deque()
        try:
            while is_first or not self._is_over():
                while len(ahead) <= _AHEAD:
                    found = self._next(last)
                    if found is None:
                        break
                    last, source = found.ordinal, source_of(found.handed)
                    self._sent[source.path] = self._pool.submit(
                        self._work, self._claimed.corpus, source
                    )
                    ahead.append((last, source))
                if not ahead:
                    return
                ordinal, source = ahead.popleft()
                self.ordinals.append(ordinal)
                is_first = False
                yield source
        finally:
            for _, source in ahead:
                self._sent.pop(source.path).cancel()

    def _next(self, last: int) -> Waiting | None:
        try:
            return self._worklist.next_document(self._claimed.number, last)
        except JobsBroken as error:
            self.broken = error
            return None

    def outcome(self, source: Source) -> _Whole | Failed:
        """Read and cut one document; a bad one is a value. Blocks."""
        outcome = self._pool.result(
            self._sent.pop(source.path), self._work, self._claimed.corpus, source
        )
        if isinstance(outcome, Failed):
            return _for_a_client(outcome)
        other = self._ids.setdefault(outcome.doc_id, source.doc_id)
        if other == source.doc_id:
            return outcome
        reason = (
            f"{source.doc_id}: names doc_id {outcome.doc_id!r}, as {other} does, which "
            "came before it in the job"
        )
        return Failed(source=source, reason=reason)


def _for_a_client(failed: Failed) -> Failed:
    """Ask nobody to install a package into a service that is not theirs."""
    if failed.refusal != "package":
        return failed
    name = failed.source.doc_id
    reason = f"{name}: this service cannot read {failed.source.path.suffix} files"
    return replace(failed, reason=reason)
