"""Jobs are on the disk before they are promised, and gone when they are removed."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import tracemalloc
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.errors import ConfigError, Locked, ReadError
from situate.manifest import NOTHING_SPENT
from situate.pipeline.handed import Handed
from situate.service.jobs import database
from situate.service.jobs.jobs import Jobs
from situate.service.jobs.worklist import Worklist
from situate.service.values import Bounds, JobsBroken, JobsFigures, NotDone, QueueFull
from tests.service.handing import SERVED, bad, handed, some, whole, work_on_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.service.values import Event, JobView

EMPTY = JobsFigures()

SAID = len('{"doc_id": null, "version": null, "metadata": {}}')
"""Bytes of what is said of a document of which nothing is said."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Name a state directory that is not there yet."""
    return tmp_path / "state"


@pytest.fixture
def jobs(state: Path) -> Iterator[Jobs]:
    """Open it."""
    with closing(Jobs(state)) as opened:
        yield opened


def seen(jobs: Jobs, view: JobView) -> JobView:
    """Give a job as it stands now."""
    found = jobs.get(view.job_id, view.owner)
    assert found is not None
    return found


def bytes_of(state: Path) -> bytes:
    """Give every byte of a state directory."""
    return b"".join(path.read_bytes() for path in state.iterdir())


def test_a_job_is_kept_document_by_document(jobs: Jobs) -> None:
    """What came of each is there when it is said to be, in the order of the job."""
    one, two, three = some(3)
    view = jobs.add("ann", "handbook", [one, two, three])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None

    worklist.finish(claimed.number, [(0, whole(one)), (1, bad(two))], NOTHING_SPENT)
    halfway = seen(jobs, view)
    worklist.finish(claimed.number, [(2, whole(three))], NOTHING_SPENT)
    done = seen(jobs, view)

    assert (view.state, view.documents, view.finished) == ("queued", 3, 0)
    assert (halfway.state, halfway.finished, halfway.failed) == ("running", 2, 1)
    assert (done.state, done.finished, done.failed, done.chunks) == ("done", 3, 1, 2)
    assert done.outcomes == {"fallback:language": 2}
    assert [each.reason for each in done.failures] == ["1.md: is bad"]
    assert list(jobs.result(view.job_id)) == [whole(one).chunks, whole(three).chunks]
    assert list(jobs.result(view.job_id, "blocks")) == [
        whole(one).blocks,
        whole(three).blocks,
    ]


def test_what_is_said_of_a_document_is_handed_on(jobs: Jobs) -> None:
    """Name, id, version, metadata and every byte come out as they went in."""
    document = Handed(
        name="ä/b.pdf",
        content=bytes(range(256)),
        doc_id="POL-7",
        version="3",
        metadata={"effective_from": "2026-01-01", "acl_groups": ["hr", "é"]},
    )
    jobs.add("ann", "handbook", [document])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None

    found = worklist.next_document(claimed.number, -1)

    assert found is not None
    assert found.handed == document


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        pytest.param([], "at least one", id="none"),
        pytest.param([handed("../a.md")], "no name", id="name"),
        pytest.param([handed("a.md"), handed("a.md")], "another", id="names"),
        pytest.param(
            [handed("a.md"), replace(handed("b.md"), doc_id="a.md")],
            "another",
            id="ids",
        ),
        pytest.param(
            [replace(handed(), metadata={"title": 7})], "title", id="metadata"
        ),
    ],
)
def test_what_cannot_be_worked_on_is_refused_whole(
    jobs: Jobs, documents: list[Handed], says: str
) -> None:
    """Nothing of a job is there that was not taken in."""
    with pytest.raises(ReadError, match=says):
        jobs.add("ann", "handbook", documents)

    assert jobs.figures() == EMPTY


def test_a_client_that_breaks_off_leaves_nothing(jobs: Jobs, state: Path) -> None:
    """A job appears whole or not at all, whatever ends its documents."""

    def breaking_off() -> Iterator[Handed]:
        yield handed("a.md", "a secret of mine " * 100_000)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        jobs.add("ann", "handbook", breaking_off())

    assert jobs.figures() == EMPTY
    assert Worklist(jobs).claim(SERVED) is None
    assert b"a secret of mine" not in bytes_of(state)


def test_a_job_is_not_seen_while_it_comes_in(jobs: Jobs) -> None:
    """Nobody works on half a job, nor takes it for one that was left over."""
    claims = []

    def coming() -> Iterator[Handed]:
        yield handed("a.md", "x" * 2_000_000)
        claims.append(Worklist(jobs).claim(SERVED))
        jobs.sweep()
        yield handed("b.md")

    view = jobs.add("ann", "handbook", coming())
    work_on_all(Worklist(jobs))

    assert claims == [None]
    assert len(list(jobs.result(view.job_id))) == 2


def test_memory_holds_one_document_and_no_job(jobs: Jobs) -> None:
    """Documents stream in, and results out, however many there are."""
    count, size = 60, 400_000

    def coming() -> Iterator[Handed]:
        for number in range(count):
            yield handed(f"{number}.md", f"{number} " + "x" * size)

    tracemalloc.start()
    try:
        view = jobs.add("ann", "handbook", coming())
        work_on_all(Worklist(jobs))
        read = sum(len(piece) for piece in jobs.result(view.job_id))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert read > count * size
    assert peak < 1_000_000 + 12 * size


@pytest.mark.parametrize(
    "bounds",
    [
        pytest.param(Bounds(open_jobs=1), id="jobs"),
        pytest.param(Bounds(open_jobs_each=1), id="jobs of an owner"),
        pytest.param(Bounds(stored_bytes=5_000), id="bytes"),
        pytest.param(Bounds(stored_bytes_each=5_000), id="bytes of an owner"),
    ],
)
def test_a_full_queue_says_when_to_come_back(state: Path, bounds: Bounds) -> None:
    """The queue has a bound, and what is over it leaves no trace."""
    with closing(Jobs(state, bounds)) as jobs:
        first = jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])
        before = jobs.figures()

        with pytest.raises(QueueFull) as refused:
            jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])

        assert refused.value.retry_after_seconds > 0
        assert jobs.figures() == before
        assert jobs.delete(first.job_id, "ann")
        jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])


@pytest.mark.parametrize(
    ("bounds", "seconds"),
    [
        pytest.param(Bounds(stored_bytes=10_000), 1_000, id="of all"),
        pytest.param(Bounds(stored_bytes_each=6_000), 2_000, id="of an owner"),
    ],
)
def test_a_full_folder_says_when_the_first_job_goes_by_itself(
    state: Path, bounds: Bounds, seconds: int
) -> None:
    """It takes a deletion or that time to make room, however often somebody asks."""
    now = datetime(2026, 12, 1, tzinfo=UTC)
    bounds = replace(bounds, kept_seconds=3_000)
    with closing(Jobs(state, bounds, now=lambda: now)) as jobs:
        worklist = Worklist(jobs)
        for owner in ("bob", "ann"):
            jobs.add(owner, "handbook", [handed("a.md", "x" * 4_000)])
            work_on_all(worklist)
            now += timedelta(seconds=1_000)

        with pytest.raises(QueueFull) as refused:
            jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])
        now += timedelta(seconds=seconds)
        jobs.sweep()

        assert refused.value.retry_after_seconds == seconds
        assert jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])


def test_a_folder_full_of_open_jobs_says_when_one_may_go(state: Path) -> None:
    """A job that is not over is kept for that long once it is."""
    bounds = Bounds(stored_bytes=5_000, kept_seconds=3_000)
    with closing(Jobs(state, bounds)) as jobs:
        jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])

        with pytest.raises(QueueFull) as refused:
            jobs.add("ann", "handbook", [handed("a.md", "x" * 4_000)])

        assert refused.value.retry_after_seconds == 3_000


def test_a_job_that_comes_in_takes_its_place_from_the_start(state: Path) -> None:
    """No number of slow clients opens more jobs than there may be."""
    with closing(Jobs(state, Bounds(open_jobs=1))) as jobs:

        def coming() -> Iterator[Handed]:
            yield handed("a.md")
            with pytest.raises(QueueFull):
                jobs.add("bob", "handbook", some(1))

        assert jobs.add("ann", "handbook", coming()).documents == 1


def test_a_document_that_is_done_takes_the_room_of_what_came_of_it(
    jobs: Jobs,
) -> None:
    """A queue whose documents are done has room again."""
    large = handed("a.md", "x" * 100_000)
    jobs.add("ann", "handbook", [large, handed("b.md")])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None
    before = jobs.figures().stored_bytes
    outcome = replace(whole(large), chunks=b"c" * 300, blocks=b"b" * 70)

    worklist.finish(claimed.number, [(0, outcome)], NOTHING_SPENT)

    assert before - jobs.figures().stored_bytes == 100_000 + SAID - 370


def test_a_bound_of_one_owner_is_nobody_elses(state: Path) -> None:
    """Whoever fills their share leaves the others theirs."""
    with closing(Jobs(state, Bounds(open_jobs_each=1))) as jobs:
        jobs.add("ann", "handbook", some(1))

        other = jobs.add("bob", "handbook", some(1))

        assert other.state == "queued"


def test_another_owner_finds_no_job(jobs: Jobs) -> None:
    """An id is worth nothing to who did not make it."""
    view = jobs.add("ann", "handbook", some(1))

    assert jobs.get(view.job_id, "bob") is None
    assert jobs.listed("bob") == ()
    assert not jobs.delete(view.job_id, "bob")
    assert jobs.listed("ann") == (view,)


def test_what_a_service_left_under_way_waits_again(state: Path) -> None:
    """After a restart what is done stays done, and what was spent stays spent."""
    one, two = some(2)
    spent = replace(NOTHING_SPENT, requests=3, cost_usd=Decimal("0.25"))
    with closing(Jobs(state)) as jobs:
        view = jobs.add("ann", "handbook", [one, two])
        worklist = Worklist(jobs)
        claimed = worklist.claim(SERVED)
        assert claimed is not None
        worklist.finish(claimed.number, [(0, whole(one, doc_id="ONE"))], spent)

    with closing(Jobs(state)) as jobs:
        worklist = Worklist(jobs)
        waits = seen(jobs, view)
        claimed = worklist.claim(SERVED)

        assert waits.state == "queued"
        assert claimed is not None
        assert (claimed.spent, claimed.ids) == (spent, {"ONE": "0.md"})
        found = worklist.next_document(claimed.number, -1)
        assert found is not None
        assert found.handed == two


def test_a_text_is_removed_once_its_document_is_done(jobs: Jobs, state: Path) -> None:
    """What is not needed any more is kept nowhere, the database's log included."""
    metadata = {"title": "a secret of mine, too"}
    document = replace(handed("a.md", "a secret of mine"), metadata=metadata)
    jobs.add("ann", "handbook", [document, handed("b.md")])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None
    assert b"a secret of mine" in bytes_of(state)

    worklist.finish(claimed.number, [(0, bad(document))], NOTHING_SPENT)
    jobs.database.tidy()

    assert b"a secret of mine" not in bytes_of(state)


@pytest.mark.parametrize("is_claimed", [False, True])
def test_a_deleted_job_leaves_no_byte(
    jobs: Jobs, state: Path, *, is_claimed: bool
) -> None:
    """Names, texts, results: all of it is overwritten, and the disk given back."""
    documents = [handed(f"secret-{n}.md", "a secret" * 2_000) for n in range(100)]
    kept = jobs.add("ann", "handbook", some(1))
    view = jobs.add("bob", "handbook", documents)
    worklist = Worklist(jobs)
    if is_claimed:
        jobs.delete(kept.job_id, "ann")
        claimed = worklist.claim(SERVED)
        assert claimed is not None
        outcomes = [(0, whole(documents[0])), (1, bad(documents[1]))]
        worklist.finish(claimed.number, outcomes, NOTHING_SPENT)

    assert jobs.delete(view.job_id, "bob")

    assert jobs.get(view.job_id, "bob") is None
    assert b"secret" not in bytes_of(state)
    assert (state / database.NAME).stat().st_size < 100_000
    if is_claimed:
        late = [(2, whole(documents[2]))]
        assert not worklist.finish(claimed.number, late, NOTHING_SPENT)
        assert not worklist.spend(claimed.number, NOTHING_SPENT)
        assert worklist.next_document(claimed.number, -1) is None
        assert jobs.figures() == EMPTY


def test_a_job_expires_some_time_after_it_has_ended(state: Path) -> None:
    """How long results are kept is said, and true to the second."""
    now = datetime(2026, 12, 1, tzinfo=UTC)
    with closing(Jobs(state, Bounds(kept_seconds=60), now=lambda: now)) as jobs:
        done = jobs.add("ann", "handbook", some(2))
        work_on_all(Worklist(jobs))
        waits = jobs.add("ann", "handbook", some(1))
        expires = seen(jobs, done).expires
        now += timedelta(seconds=59)
        jobs.sweep()
        before = jobs.listed("ann")
        now += timedelta(seconds=1)

        found = jobs.get(done.job_id, "ann")
        after = jobs.listed("ann")
        jobs.sweep()

        assert expires == now
        assert [view.job_id for view in before] == [waits.job_id, done.job_id]
        assert found is None
        assert [view.job_id for view in after] == [waits.job_id]
        assert b"Text of 1" not in bytes_of(state)


def test_a_result_is_whole_or_is_asked_for_in_part(jobs: Jobs) -> None:
    """Nobody takes half a result for all of it by accident."""
    one, two = some(2)
    view = jobs.add("ann", "handbook", [one, two])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None
    worklist.finish(claimed.number, [(0, whole(one))], NOTHING_SPENT)

    with pytest.raises(NotDone, match="running"):
        jobs.result(view.job_id)

    assert list(jobs.result(view.job_id, partial=True)) == [whole(one).chunks]


def test_a_result_that_is_removed_while_it_is_read_does_not_just_end(
    jobs: Jobs,
) -> None:
    """Whoever gets the first lines alone hears that there were more."""
    view = jobs.add("ann", "handbook", some(2))
    work_on_all(Worklist(jobs))
    result = jobs.result(view.job_id)
    next(result)

    jobs.delete(view.job_id, "ann")

    with pytest.raises(NotDone, match="removed"):
        next(result)


def test_a_job_that_fails_as_a_whole_says_why(jobs: Jobs) -> None:
    """What was done stays; the texts of the rest go."""
    one, two = some(2)
    view = jobs.add("ann", "handbook", [one, two])
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None
    worklist.finish(claimed.number, [(0, whole(one))], NOTHING_SPENT)
    stored = jobs.figures().stored_bytes

    worklist.fail(claimed.number, "its corpus is gone: '\ud800'")

    failed = seen(jobs, view)
    assert (failed.state, failed.finished) == ("failed", 1)
    assert failed.reason == "its corpus is gone: '\\ud800'"
    assert list(jobs.result(view.job_id)) == [whole(one).chunks]
    assert jobs.figures().stored_bytes == stored - len(two.content) - SAID
    assert jobs.events(view.job_id, 0)[-1].data["reason"] == failed.reason


def test_owners_take_turns(jobs: Jobs) -> None:
    """Whoever adds a hundred jobs does not keep the others waiting for all of them."""
    mine = [jobs.add("ann", "handbook", some(1)).job_id for _ in range(3)]
    theirs = [jobs.add("bob", "handbook", some(1)).job_id for _ in range(2)]
    worklist = Worklist(jobs)

    claims = [worklist.claim(SERVED) for _ in range(6)]

    taken = [claimed.job_id for claimed in claims if claimed is not None]
    assert taken == [mine[0], theirs[0], mine[1], theirs[1], mine[2]]


def test_a_job_that_is_put_back_comes_after_those_of_others(jobs: Jobs) -> None:
    """A long job gives way to short ones, and goes on where it was."""
    long = jobs.add("ann", "handbook", some(2))
    worklist = Worklist(jobs)
    claimed = worklist.claim(SERVED)
    assert claimed is not None
    alone = worklist.others_wait("ann", SERVED)
    short = jobs.add("bob", "handbook", some(1))
    waits = worklist.others_wait("ann", SERVED)

    worklist.put_back(claimed.number)

    following = [worklist.claim(SERVED), worklist.claim(SERVED)]
    kinds = [event.kind for event in jobs.events(long.job_id, 0)]
    assert (alone, waits) == (False, True)
    assert kinds == ["queued", "running"]
    assert [claim and claim.job_id for claim in following] == [
        short.job_id,
        long.job_id,
    ]


def test_jobs_of_one_owner_take_turns_as_well(jobs: Jobs) -> None:
    """Whichever waited longest since it was last at work is next."""
    first, second = (jobs.add("ann", "handbook", some(1)).job_id for _ in range(2))
    worklist = Worklist(jobs)
    taken = []

    for _ in range(4):
        claimed = worklist.claim(SERVED)
        assert claimed is not None
        taken.append(claimed.job_id)
        worklist.put_back(claimed.number)

    assert taken == [first, second, first, second]


def follow(jobs: Jobs, job_id: str, after: int = 0) -> list[Event]:
    """Follow a job to its end."""

    async def all_of_it() -> list[Event]:
        async with asyncio.timeout(10):
            return [event async for event in jobs.follow(job_id, after)]

    return asyncio.run(all_of_it())


def test_what_happened_is_told_in_order_and_again_from_any_point(jobs: Jobs) -> None:
    """Whoever lost the connection goes on after the last number they saw."""
    documents = some(120)
    view = jobs.add("ann", "handbook", documents)
    work_on_all(Worklist(jobs))

    events = follow(jobs, view.job_id)

    assert [event.number for event in events] == list(range(1, 124))
    kinds = [event.kind for event in events]
    assert kinds == ["queued", "running", *["document"] * 120, "done"]
    assert events[2].data == {
        "ordinal": 0,
        "name": "0.md",
        "doc_id": "0.md",
        "status": "done",
        "chunks": 1,
        "reason": None,
    }
    assert follow(jobs, view.job_id, 121) == events[121:]
    assert follow(jobs, view.job_id, 123) == []
    assert follow(jobs, "no such job") == []


@pytest.mark.parametrize("ending", ["work", "delete"])
def test_who_follows_is_told_at_once_and_let_go_at_the_end(
    jobs: Jobs, ending: str
) -> None:
    """Events arrive from another thread, without anybody asking again and again."""
    view = jobs.add("ann", "handbook", some(1))

    def end() -> None:
        time.sleep(0.05)  # until the follower has nothing to read and waits
        if ending == "work":
            work_on_all(Worklist(jobs))
        else:
            jobs.delete(view.job_id, "ann")

    async def following() -> list[str]:
        async with asyncio.timeout(10):
            ends = asyncio.create_task(asyncio.to_thread(end))
            kinds = [event.kind async for event in jobs.follow(view.job_id)]
            await ends
        return kinds

    kinds = asyncio.run(following())

    rest = ["running", "document", "done"] if ending == "work" else []
    assert kinds == ["queued", *rest]


def test_nobody_else_may_read_it(jobs: Jobs, state: Path) -> None:
    """Texts of other people lie in there."""
    jobs.add("ann", "handbook", some(1))

    modes = {path.name: path.stat().st_mode & 0o777 for path in state.iterdir()}

    assert state.stat().st_mode & 0o777 == 0o700
    assert {modes[name] for name in modes if name.startswith("jobs.db")} == {0o600}


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    """What is not ours is not closed to its owner's friends."""
    tmp_path.joinpath("letter.txt").write_text("Dear", "utf-8")
    mode = tmp_path.stat().st_mode

    with pytest.raises(ConfigError, match="one of its own"):
        Jobs(tmp_path)

    assert tmp_path.stat().st_mode == mode


@pytest.mark.usefixtures("jobs")
def test_two_services_do_not_share_a_state_directory(state: Path) -> None:
    """Each would take the other's jobs for left over."""
    with pytest.raises(Locked, match="another serve"):
        Jobs(state)


def test_a_database_of_another_version_is_left_as_it_is(state: Path) -> None:
    """Nobody guesses at tables they do not know."""
    Jobs(state).close()
    with closing(sqlite3.connect(state / database.NAME)) as connection:
        connection.execute("PRAGMA user_version = 7")

    with pytest.raises(ConfigError, match="has version 7"):
        Jobs(state)


def test_a_file_that_is_no_database_is_named(state: Path) -> None:
    """One line says which, and nothing is written over it."""
    state.mkdir()
    state.joinpath(database.NAME).write_bytes(b"not a database at all" * 100)

    with pytest.raises(ConfigError, match="state directory"):
        Jobs(state)

    assert state.joinpath(database.NAME).read_bytes().startswith(b"not a database")


def test_a_full_disk_refuses_a_job_and_keeps_the_others(state: Path) -> None:
    """Whoever hands it over hears of it, and nothing half is there."""
    with closing(Jobs(state)) as jobs:
        view = jobs.add("ann", "handbook", some(1))
        before = jobs.figures()
        with jobs.database.writing() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
        with closing(sqlite3.connect(state / database.NAME)):
            limit(jobs, pages + 50)

        with pytest.raises(JobsBroken, match="full"):
            jobs.add("ann", "handbook", [handed("a.md", "x" * 3_000_000)])

        assert jobs.figures() == before
        work_on_all(Worklist(jobs))
        assert seen(jobs, view).state == "done"


def limit(jobs: Jobs, pages: int) -> None:
    """Let the database grow no further than so many pages."""
    with jobs.database.writing() as connection:
        connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_database_that_somebody_holds_is_broken_for_now(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever, and afterwards it works again."""
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.01)
    with (
        closing(Jobs(state)) as jobs,
        closing(sqlite3.connect(state / database.NAME)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(JobsBroken, match="locked"):
            jobs.add("ann", "handbook", some(1))

        other.rollback()
        assert jobs.add("ann", "handbook", some(1)).state == "queued"
