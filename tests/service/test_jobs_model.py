"""Whatever is done to jobs in whatever order, and wherever it fails: all or nothing."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
)

from situate.errors import ReadError
from situate.manifest import NOTHING_SPENT
from situate.service.jobs.jobs import Jobs
from situate.service.jobs.worklist import Worklist
from situate.service.values import Bounds, JobsBroken, QueueFull
from tests.service.handing import SERVED, bad, handed, some, whole
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Callable

    from situate.pipeline.handed import Handed
    from situate.service.jobs.worklist import Claimed
    from situate.service.values import JobView

OWNERS = ("ann", "bob")
OPEN_EACH = 5
"""Jobs of an owner that may be open."""
KEPT = 100
"""Seconds that a job is kept after it has ended."""


@dataclass(slots=True)
class Expected:
    """What a job should be."""

    owner: str
    documents: list[Handed]
    state: str = "queued"
    results: list[bytes] = field(default_factory=list)
    finished: int = 0
    failed: int = 0
    ended: datetime | None = None


class JobsMachine(RuleBasedStateMachine):
    """Does to jobs what services and clients do, and remembers it beside them."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        folder = self._stack.enter_context(TemporaryDirectory())
        self._folder = self._stack.enter_context(memory_disk(Path(folder)))
        self._now = datetime(2026, 12, 1, tzinfo=UTC)
        self.expected: dict[str, Expected] = {}
        self._open()

    def teardown(self) -> None:
        """Let go of the folder."""
        self.jobs.close()
        self._stack.close()

    def _open(self) -> None:
        self.jobs = Jobs(
            self._folder / "state",
            Bounds(kept_seconds=KEPT, open_jobs_each=OPEN_EACH),
            now=lambda: self._now,
        )
        self.worklist = Worklist(self.jobs)

    @rule(owner=st.sampled_from(OWNERS), count=st.integers(1, 3))
    def add(self, owner: str, count: int) -> None:
        """Hand over a job; there is room for so many that are not over."""
        documents = some(count)
        if self._is_full(owner):
            with pytest.raises(QueueFull):
                self.jobs.add(owner, "handbook", documents)
            return
        view = self.jobs.add(owner, "handbook", documents)
        self.expected[view.job_id] = Expected(owner=owner, documents=documents)

    @rule(owner=st.sampled_from(OWNERS))
    def break_off(self, owner: str) -> None:
        """Hand over what cannot be taken."""
        with pytest.raises(QueueFull if self._is_full(owner) else ReadError):
            self.jobs.add(owner, "handbook", [handed("a.md"), handed("a.md")])

    @rule(target=claims)
    def claim(self) -> Claimed | None:
        """Take the next job."""
        waiting = [job for job in self.expected.values() if job.state == "queued"]
        claimed = self.worklist.claim(SERVED)
        assert (claimed is None) == (not waiting)
        if claimed is not None:
            assert self.expected[claimed.job_id].state == "queued"
            self.expected[claimed.job_id].state = "running"
        return claimed

    @rule(claimed=claims, fails=st.booleans())
    def finish(self, claimed: Claimed | None, *, fails: bool) -> None:
        """Do the next document of a job."""
        job = self._at_work(claimed)
        if claimed is None:
            return
        found = self.worklist.next_document(claimed.number, -1)
        assert (found is None) == (job is None)
        if found is None or job is None:
            return
        assert found.ordinal == job.finished
        assert found.handed == job.documents[found.ordinal]
        outcome = bad(found.handed) if fails else whole(found.handed)
        done = [(found.ordinal, outcome)]
        assert self.worklist.finish(claimed.number, done, NOTHING_SPENT)
        job.finished += 1
        job.failed += fails
        job.results += [] if fails else [whole(found.handed).chunks]
        if job.finished == len(job.documents):
            job.state, job.ended = "done", self._now

    @rule(claimed=consumes(claims))
    def put_back(self, claimed: Claimed | None) -> None:
        """Let a job wait again."""
        job = self._at_work(claimed)
        if claimed is not None:
            self.worklist.put_back(claimed.number)
        if job is not None:
            job.state = "queued"

    @rule(claimed=consumes(claims))
    def fail(self, claimed: Claimed | None) -> None:
        """Give a job up."""
        job = self._at_work(claimed)
        if claimed is not None:
            self.worklist.fail(claimed.number, "because")
        if job is not None:
            job.state, job.ended = "failed", self._now

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Remove a job, whatever it is at."""
        if self.expected:
            # By when they came: their ids are random.
            job_id = data.draw(st.sampled_from([*self.expected]))
            job = self.expected.pop(job_id)
            assert self.jobs.delete(job_id, job.owner)

    @rule()
    def restart(self) -> None:
        """End without a word, and start again."""
        self.jobs.close()
        self._open()
        for job in self.expected.values():
            if job.state == "running":
                job.state = "queued"

    @rule(seconds=st.sampled_from([1, KEPT]))
    def wait(self, seconds: int) -> None:
        """Let time pass, and what is over go."""
        self._now += timedelta(seconds=seconds)
        self.jobs.sweep()
        oldest = self._now - timedelta(seconds=KEPT)
        self.expected = {
            job_id: job
            for job_id, job in self.expected.items()
            if job.ended is None or job.ended > oldest
        }

    def _is_full(self, owner: str) -> bool:
        """Tell whether an owner has as many open jobs as there may be."""
        own = [job for job in self.expected.values() if job.owner == owner]
        return sum(job.state in {"queued", "running"} for job in own) == OPEN_EACH

    def _at_work(self, claimed: Claimed | None) -> Expected | None:
        """Give the job that a claim is still good for."""
        job = claimed and self.expected.get(claimed.job_id)
        return job if job and job.state == "running" else None

    @invariant()
    def jobs_are_as_expected(self) -> None:
        """Every job is what it should be, and there is no other."""
        views = {
            view.job_id: view for name in OWNERS for view in self.jobs.listed(name)
        }
        assert views.keys() == self.expected.keys()
        for job_id, job in self.expected.items():
            view = views[job_id]
            assert (view.state, view.owner) == (job.state, job.owner)
            counts = (view.documents, view.finished, view.failed)
            assert counts == (len(job.documents), job.finished, job.failed)
            assert list(self.jobs.result(job_id, partial=True)) == job.results
            events = self.jobs.events(job_id, 0)
            assert [each.number for each in events] == list(range(1, len(events) + 1))
            kinds = Counter(each.kind for each in events)
            assert kinds["document"] == job.finished
            assert kinds[job.state] == 1 or not view.is_over
        assert bool(self.expected) == bool(self.jobs.figures().stored_bytes)


TestJobs = JobsMachine.TestCase
"""Any order of what services and clients do."""


class Faulty(sqlite3.Connection):
    """A connection whose n-th statement fails, as on a disk that has no room."""

    left: int | None = None

    def execute(self, *given: Any) -> sqlite3.Cursor:  # type: ignore[override]
        """Run a statement, or fail in its place."""
        if Faulty.left is not None and given[0] != "ROLLBACK":
            Faulty.left -= 1
            if Faulty.left < 0:
                message = "database or disk is full"
                raise sqlite3.OperationalError(message)
        return super().execute(*given)


def add(jobs: Jobs) -> None:
    """Hand over a job."""
    jobs.add("ann", "handbook", some(2))


def claim(jobs: Jobs) -> None:
    """Take the job that waits."""
    Worklist(jobs).claim(SERVED)


def finish(jobs: Jobs) -> None:
    """Do the document that is left of the job at work, which ends it."""
    worklist = Worklist(jobs)
    found = worklist.next_document(1, -1)
    assert found is not None
    outcome = whole(found.handed)
    worklist.finish(1, [(found.ordinal, outcome)], NOTHING_SPENT)


def put_back(jobs: Jobs) -> None:
    """Let the job at work wait."""
    Worklist(jobs).put_back(1)


def fail(jobs: Jobs) -> None:
    """Give up the job at work."""
    Worklist(jobs).fail(1, "because")


def delete(jobs: Jobs) -> None:
    """Remove both jobs."""
    for view in jobs.listed("ann"):
        jobs.delete(view.job_id, "ann")


State: TypeAlias = "list[tuple[JobView, list[bytes], str]]"


def clock() -> datetime:
    """Give the moment at which all of this happens."""
    return datetime(2026, 12, 1, tzinfo=UTC)


def state_of(jobs: Jobs) -> State:
    """Give all that a client may see."""
    return [
        (
            view,
            list(jobs.result(view.job_id, partial=True)),
            json.dumps([str(each) for each in jobs.events(view.job_id, 0)]),
        )
        for view in jobs.listed("ann")
    ]


def prepared(folder: Path) -> Jobs:
    """Open a directory with a job at work, half done, and one that waits."""
    jobs = Jobs(folder, now=clock)
    first, second = some(2)
    jobs.add("ann", "handbook", [first, second])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None
    worklist.finish(claimed.number, [(0, whole(first))], NOTHING_SPENT)
    jobs.add("ann", "handbook", some(1))
    return jobs


@pytest.mark.parametrize(
    "change",
    [add, claim, finish, put_back, fail, delete],
    ids=lambda each: each.__name__,
)
def test_a_change_that_fails_at_any_step_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Jobs], None]
) -> None:
    """The disk may be full at every statement: before, or after, and nothing between.

    Of two jobs that are deleted one may be gone.
    """
    monkeypatch.setattr("secrets.token_hex", lambda _: f"job {next(numbers)}")
    monkeypatch.setattr("sqlite3.connect", partial(sqlite3.connect, factory=Faulty))
    numbers = count()
    with closing(prepared(tmp_path / "undisturbed")) as jobs:
        before = state_of(jobs)
        change(jobs)
        after = state_of(jobs)
    faults = 0
    is_whole = False

    while not is_whole:
        numbers = count()
        with closing(prepared(tmp_path / str(faults))) as jobs:
            monkeypatch.setattr(Faulty, "left", faults)
            try:
                change(jobs)
                is_whole = True
            except JobsBroken:
                faults += 1
            finally:
                monkeypatch.setattr(Faulty, "left", None)
            found = state_of(jobs)
        numbers = count(2)
        with closing(Jobs(tmp_path / str(faults - (not is_whole)), now=clock)) as jobs:
            reopened = state_of(jobs)
            stored = jobs.figures().stored_bytes

        assert found in ([after] if is_whole else allowed(before, after))
        assert len(reopened) == len(found)
        assert bool(stored) == bool(found)
    assert faults >= 3


def allowed(before: State, after: State) -> list[State]:
    """Give what may be there of a change that failed."""
    return [before, after, *([before[1:]] if not after else [])]
