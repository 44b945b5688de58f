"""A cache on a server: what holds on a disk holds there, for many machines."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.addresses import read_server
from situate.enrichment.cache import Cache, Located, User
from situate.enrichment.cache.forgetting import Told, erase, find
from situate.errors import CacheBroken, ConfigError
from situate.pipeline import upkeep
from tests.support.memory_disk import memory_disk
from tests.support.redis import serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from situate.enrichment.cache import Place
    from tests.support.redis import RedisServer

RAW = '{"text": "ß \\ud800 \u2028", "n": 1}'
USER = User(corpus="handbook", doc_id="leave.md")
TODAY = "2026-12-10"


@pytest.fixture(params=["disk", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Give a place for a cache of each kind, with nothing in it."""
    if request.param == "disk":
        return tmp_path / "cache"
    server: RedisServer = request.getfixturevalue("redis_server")
    return read_server(server.url)


def _on(day: str) -> Callable[[], datetime]:
    return lambda: datetime.fromisoformat(f"{day}T12:00+00:00")


def _fill(place: Place, day: str, *names: str) -> None:
    """Store a reply and what stands in it, on a day."""
    with Cache(place, now=_on(day)) as cache, cache.at_once():
        for name in names:
            cache.store_reply(name, RAW, USER)
            cache.store_answers(f"about-{name}", (Located(name),))


def _replies(place: Place, *names: str) -> list[bool]:
    with Cache(place) as cache:
        return [cache.reply(name) is not None for name in names]


# ---------------------------------------------------------------- the same on both


def test_what_was_stored_is_there_in_the_next_run(place: Place) -> None:
    """Any text comes back as it was, under its own key."""
    with Cache(place) as cache:
        cache.store_reply("k", RAW)
        cache.store_answers("c", (Located("k"), Located("k2", "m7")))

    with Cache(place) as cache:
        assert cache.reply("k") == RAW
        assert cache.answers("c") == (Located("k"), Located("k2", "m7"))
        assert cache.reply("c") is None
        assert cache.answers("k") == ()


def test_all_that_is_stored_at_once_is_there_or_nothing(place: Place) -> None:
    """Whoever is stopped in the middle leaves no half."""

    class Stopped(Exception):
        pass

    with Cache(place) as cache:
        with pytest.raises(Stopped), cache.at_once():  # noqa: PT012 - both writes belong to it
            cache.store_reply("k", RAW)
            raise Stopped

        assert cache.reply("k") is None


def test_what_is_written_is_read_before_the_transaction_ends(place: Place) -> None:
    """An answer may be judged by the reply that was stored a line above."""
    with Cache(place) as cache, cache.at_once():
        cache.store_reply("k", RAW)

        assert cache.reply("k") == RAW


def test_a_use_makes_a_reply_as_young_as_today(place: Place) -> None:
    """What was read today is not pruned by a day before, nor what it stands in."""
    _fill(place, "2026-10-01", "used", "idle")
    with Cache(place, now=_on("2026-11-20")) as cache:
        cache.answers("about-used")

    gone = upkeep.prune(place, "2026-11-01", rehearsal=False, now=_on(TODAY))

    assert (gone.replies, gone.answers) == (1, 1)
    assert gone.bytes >= 0
    assert _replies(place, "used", "idle") == [True, False]
    assert upkeep.verify(place).findings == ()


def test_a_rehearsal_says_what_would_go_and_removes_nothing(place: Place) -> None:
    """Counts are those of the pruning that follows."""
    _fill(place, "2026-10-01", "a", "b")
    _fill(place, "2026-12-01", "c")

    told = upkeep.prune(place, "2026-11-01", rehearsal=True, now=_on(TODAY))

    assert (told.replies, told.answers) == (2, 2)
    assert _replies(place, "a", "b", "c") == [True, True, True]


def test_pruning_takes_the_uses_of_what_it_removes(place: Place) -> None:
    """No row names a reply that is gone."""
    _fill(place, "2026-10-01", "a")

    upkeep.prune(place, "2026-11-01", rehearsal=False, now=_on(TODAY))

    assert upkeep.verify(place).rows == 0


def test_a_cache_says_what_it_holds(place: Place) -> None:
    """Spending by month, documents by what replies were for."""
    _fill(place, "2026-10-01", "a", "b")
    with Cache(place, now=_on("2026-11-05")) as cache:
        cache.store_reply("alone", RAW)
        cache.months().reserve(Decimal("1.50"), most=None)

    found = upkeep.statistics(place)

    assert (found.replies, found.answers, found.documents) == (3, 2, 1)
    assert (found.unreferenced_replies, found.unattributed_replies) == (1, 1)
    assert (found.oldest_use, found.newest_use) == ("2026-10-01", "2026-11-05")
    assert found.spent_usd == {"2026-11": Decimal("1.50")}
    assert found.bytes > 0


def test_a_forgotten_document_leaves_nothing_behind(place: Place) -> None:
    """Its replies and what stands in them go; what another one uses stays."""
    other = User(corpus="handbook", doc_id="travel.md")
    _fill(place, "2026-10-01", "own", "shared")
    with Cache(place) as cache:
        cache.store_reply("shared", RAW, other)

    traces = find(place, USER, Told())
    erase(place, USER, traces)

    assert traces.shared == 1
    assert _replies(place, "own", "shared") == [False, True]
    assert find(place, USER, Told()).is_empty
    assert find(place, other, Told()).replies


def test_several_processes_never_spend_more_than_the_month_together(
    redis_server: RedisServer,
) -> None:
    """Money is set aside by one of them at a time, to the cent."""
    program = (
        "import sys\n"
        "from decimal import Decimal\n"
        "from situate.addresses import read_server\n"
        "from situate.enrichment.cache import Cache\n"
        "with Cache(read_server(sys.argv[1])) as cache:\n"
        "    months, granted = cache.months(), 0\n"
        "    while held := months.reserve(Decimal('0.1'), most=Decimal(4)):\n"
        "        months.settle(held.name, reserved=Decimal('.1'), cost=Decimal('.1'))\n"
        "        granted += 1\n"
        "print(granted)\n"
    )
    command = [sys.executable, "-c", program, redis_server.url]

    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    granted = [int(process.communicate(timeout=30)[0]) for process in running]

    assert sum(granted) == 40
    with Cache(read_server(redis_server.url)) as cache:
        assert cache.months().current().usd == Decimal(4)


def test_what_is_fetched_ahead_gives_way_to_what_is_stored(place: Place) -> None:
    """An answer that was repaired meanwhile is the one that counts."""
    with Cache(place) as cache:
        cache.store_answers("c", (Located("k"),))
        cache.read_ahead(["c", "missing"])
        cache.store_answers("c", (Located("k"), Located("k2")))
        cache.store_answers("missing", (Located("k"),))

        assert cache.answers("c") == (Located("k"), Located("k2"))
        assert cache.answers("missing") == (Located("k"),)


# ---------------------------------------------------------------- from one to the other


def test_a_file_of_one_is_a_file_of_the_other(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Carried to a server and back, the same bytes come out each time."""
    disk, server = tmp_path / "cache", read_server(redis_server.url)
    _fill(disk, "2026-10-01", "a", "b")
    files = [tmp_path / f"{name}.jsonl" for name in ("one", "two", "three")]

    upkeep.export(disk, files[0])
    taken = upkeep.take_in(server, files[0], now=_on(TODAY))
    upkeep.export(server, files[1])
    upkeep.take_in(tmp_path / "back", files[1])
    upkeep.export(tmp_path / "back", files[2])

    assert (taken.replies, taken.answers, taken.refused) == (2, 2, ())
    assert len({path.read_bytes() for path in files}) == 1


def test_claims_and_rates_are_no_rows(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """What holds for seconds is neither counted nor carried over."""
    server = read_server(redis_server.url)
    with Cache(server) as cache:
        assert cache.claims is not None
        cache.claims.take("k")
        schedule = cache.schedule("rate")
        assert schedule is not None
        schedule.book(1.0)

        exported = upkeep.export(server, tmp_path / "file.jsonl")

    assert upkeep.verify(server).rows == 0
    assert (exported.replies, exported.left_out) == (0, 0)


NAMES = st.sampled_from(["a", "b", "c"])
DAYS = st.dates(date(2026, 10, 1), date(2026, 10, 5))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reply"), NAMES, DAYS),
        st.tuples(st.just("answers"), NAMES, DAYS),
        st.tuples(st.just("use"), NAMES, DAYS),
        st.tuples(st.just("spend"), NAMES, DAYS),
        st.tuples(st.just("prune"), NAMES, DAYS),
        st.tuples(st.just("forget"), NAMES, DAYS),
    ),
    max_size=12,
)


def _follow(place: Place, steps: list[tuple[str, str, date]], folder: Path) -> Any:
    """Do what steps say; give all that can be seen of the cache then."""
    seen: list[object] = []
    for kind, name, day in steps:
        user = User(corpus="corpus", doc_id=name)
        if kind == "prune":
            now = _on(TODAY)
            gone = upkeep.prune(place, day.isoformat(), rehearsal=False, now=now)
            seen.append((gone.replies, gone.answers))
            continue
        if kind == "forget":
            traces = find(place, user, Told())
            erase(place, user, traces)
            seen.append(traces)
            continue
        with Cache(place, now=_on(day.isoformat())) as cache:
            if kind == "reply":
                cache.store_reply(name, json.dumps({"text": name}), user)
            elif kind == "answers":
                cache.store_answers(f"about-{name}", (Located(name), Located("a")))
            elif kind == "use":
                seen.append((cache.reply(name), cache.answers(f"about-{name}")))
                cache.note_uses(User(corpus="other", doc_id=name), [name])
            else:
                seen.append(cache.months().reserve(Decimal("0.7"), most=Decimal(2)))
    found = upkeep.statistics(place)
    counts = (found.replies, found.answers, found.documents, found.spent_usd)
    used = (found.oldest_use, found.newest_use)
    (folder / "file.jsonl").unlink(missing_ok=True)
    upkeep.export(place, folder / "file.jsonl")
    return seen, counts, used, (folder / "file.jsonl").read_bytes()


@given(steps=STEPS)
def test_any_sequence_of_steps_gives_the_same_on_both(
    steps: list[tuple[str, str, date]],
    tmp_path_factory: pytest.TempPathFactory,
    one_redis_server: RedisServer,
) -> None:
    """A corpus can move to a server, and nobody notices."""
    one_redis_server.empty()
    with memory_disk(tmp_path_factory.mktemp("both")) as folder:
        # A folder is made by the first who opens it.
        Cache(folder / "cache").close()

        on_disk = _follow(folder / "cache", steps, folder)
        on_server = _follow(read_server(one_redis_server.url), steps, folder)

    assert on_server == on_disk


# ---------------------------------------------------------------- what is not ours


def test_rows_of_others_are_missing_to_runs_and_named_by_verify(
    redis_server: RedisServer,
) -> None:
    """The same server may hold anything, also under our names."""
    server = read_server(redis_server.url)
    with redis_server.client() as client:
        client.set("situate:reply:text", "paid")
        client.hset("situate:reply:old", mapping={"value": '{"schema":9,"raw":"x"}'})
        client.hset("situate:chunk:broken", mapping={"value": "{"})
        client.set("theirs", "1")

    with Cache(server) as cache:
        assert cache.reply("text") is None
        assert cache.reply("old") is None
        assert cache.answers("broken") == ()
        cache.store_reply("text", RAW)
        assert cache.reply("text") == RAW

    assert {each.subject for each in upkeep.verify(server).findings} == {
        "chunk:broken",
        "reply:old",
    }


def test_spending_that_nobody_can_read_stops_the_spending(
    redis_server: RedisServer,
) -> None:
    """Nothing is spent on top of it; the message names the server and the month."""
    with redis_server.client() as client:
        client.hset("situate:month:2026-12", mapping={"value": '{"schema":1}'})
    server = read_server(redis_server.url)

    with (
        Cache(server, now=_on(TODAY)) as cache,
        pytest.raises(CacheBroken, match=r"redis://127.0.0.1.* in 2026-12"),
    ):
        cache.months().reserve(Decimal(1), most=Decimal(2))


# ---------------------------------------------------------------- what it promises


def test_a_server_that_throws_rows_away_is_refused(redis_server: RedisServer) -> None:
    """What is paid for is not evicted (E3)."""
    with redis_server.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")

    with pytest.raises(ConfigError, match=r"allkeys-lru.*noeviction"):
        Cache(read_server(redis_server.url))


def test_a_server_that_may_drop_claims_is_told_of(redis_server: RedisServer) -> None:
    """Rows stay; two may ask for the same when memory is short."""
    with redis_server.client() as client:
        client.config_set("maxmemory-policy", "volatile-lru")

    with Cache(read_server(redis_server.url)) as cache:
        assert "volatile-lru" in cache.warnings[0]


def test_a_server_without_a_disk_is_told_of(tmp_path: Path) -> None:
    """What is paid for dies with it."""
    with (
        serving(tmp_path, "--save", "", "--appendonly", "no") as server,
        Cache(read_server(server.url)) as cache,
    ):
        assert "dies with it" in cache.warnings[0]


def test_a_copy_that_takes_no_writes_is_sealed(redis_server: RedisServer) -> None:
    """Answers are read from it, and nothing can be kept."""
    _fill(read_server(redis_server.url), "2026-10-01", "a")
    with redis_server.client() as client:
        # Of a server that cannot be reached, so that it keeps what it has.
        client.replicaof("127.0.0.1", "1")

        with Cache(read_server(redis_server.url)) as cache:
            assert cache.is_sealed
            assert cache.reply("a") == RAW
            with pytest.raises(CacheBroken, match="read-only"):
                cache.store_reply("b", RAW)

        client.replicaof("NO", "ONE")


def test_a_server_that_is_full_loses_nothing_and_says_so(
    redis_server: RedisServer,
) -> None:
    """A transaction is refused as a whole."""
    with Cache(read_server(redis_server.url)) as cache:
        cache.store_reply("k", RAW)
        with redis_server.client() as client:
            client.config_set("maxmemory", 1)

        with pytest.raises(CacheBroken, match="maxmemory"):
            cache.store_reply("more", RAW, USER)

        assert cache.reply("k") == RAW
        assert cache.reply("more") is None


# ---------------------------------------------------------------- who may ask it


def test_a_password_is_in_no_message(tmp_path: Path) -> None:
    """A wrong one is told in one line that names the server (E14)."""
    with serving(tmp_path, "--requirepass", "right-secret") as server:
        address = f"127.0.0.1:{server.port}"
        with Cache(read_server(f"redis://:right-secret@{address}/0")) as cache:
            cache.store_reply("k", RAW)

        with pytest.raises(ConfigError, match="Authentication required"):
            Cache(read_server(f"redis://{address}/0"))
        with pytest.raises(ConfigError) as refused:
            Cache(read_server(f"redis://:wrong-secret@{address}/0"))

    assert f"'redis://{address}/0'" in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "secret" not in repr(cache.place)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        pytest.param("redis://127.0.0.1:1/0", "refused", id="nobody"),
        pytest.param("redis://127.0.0.1:{port}/9999", "index", id="database"),
        pytest.param("redis://nobody:x@127.0.0.1:{port}/0", "invalid", id="user"),
        pytest.param("unix:///nowhere/redis.sock", "No such file", id="socket"),
    ],
)
def test_a_server_that_cannot_be_asked_is_named_with_the_reason(
    redis_server: RedisServer, address: str, problem: str
) -> None:
    """On one line, before anything is asked of a model."""
    server = read_server(address.format(port=redis_server.port))

    with pytest.raises(ConfigError, match=problem) as refused:
        Cache(server)

    assert str(refused.value).startswith(f"cache {str(server)!r} cannot be opened: ")
    assert "\n" not in str(refused.value)


def test_a_server_that_goes_away_breaks_the_cache(tmp_path: Path) -> None:
    """Whoever asks next hears of it."""
    with serving(tmp_path) as server, Cache(read_server(server.url)) as cache:
        cache.store_reply("k", RAW)
        server.stop()

        with pytest.raises(CacheBroken, match="failed"):
            cache.reply("k")
        with pytest.raises(CacheBroken, match="failed"):
            cache.store_reply("more", RAW)
