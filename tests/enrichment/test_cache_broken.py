"""A store that fails stops enrichment; no chunk and no answer is lost (E10)."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache, store
from situate.enrichment.live import Session
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.errors import CacheBroken, ConfigError
from situate.pipeline import upkeep
from situate.prompts import load_prompt
from tests.enrichment.scenes import (
    COUNTER,
    GOOD,
    Result,
    chunks_of,
    document,
    facts,
    play,
    settings,
    texts,
)
from tests.support.memory_disk import memory_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from situate.enrichment.exchange import Body

resource = pytest.importorskip("resource", reason="limits of POSIX")

TWENTY = document(*texts(20))


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Use a disk that nobody waits for."""
    with memory_disk(tmp_path) as folder:
        yield folder


@contextmanager
def _full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond a size; the system refuses as on a full disk."""
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))


def _enriched(
    directory: Path, when_asked: Callable[[Cache, int], None]
) -> tuple[Result, int]:
    """Enrich, with something happening to the cache before every answer.

    Gives the result and how many requests were sent.
    """

    def answer(_: Body) -> str:
        when_asked(cache, len(provider.bodies))
        return GOOD

    async def session() -> Result:
        async with Session(
            settings=settings(concurrency=1, view="full"),
            prompt=load_prompt("findable-v1"),
            provider=provider,
            cache=cache,
            ledger=None,
            counter=COUNTER,
            facts=facts(),
        ) as opened:
            chunks = await opened.enrich(TWENTY, chunks_of(TWENTY))
            return Result(chunks=chunks, summary=opened.summary)

    provider = ScriptedProvider(answer)
    with Cache(directory) as cache:
        return asyncio.run(session()), len(provider.bodies)


def _all_published(result: Result) -> bool:
    wanted = [chunk.chunk_id for chunk in chunks_of(TWENTY)]
    return [chunk.chunk_id for chunk in result.chunks] == wanted


def test_a_disk_that_fills_up_stops_enrichment(tmp_path: Path) -> None:
    """What was stored before is whole, and the next run goes on from it."""
    Cache(tmp_path / "cache").close()

    with _full_disk(120_000):
        first, sent = _enriched(tmp_path / "cache", lambda *_: None)

    assert _all_published(first)
    assert first.summary.stopped == "cache"
    assert first.summary.skipped == {"cache": 20 - first.summary.statements}
    assert 1 < first.summary.statements == sent < 20
    assert upkeep.verify(tmp_path / "cache").findings == ()
    rest = ScriptedProvider(lambda _: GOOD)
    second = play(rest, tmp_path, TWENTY, view="full")
    assert second.summary.statements == 20
    # The answer that did not fit was used, and is asked for once more.
    assert len(rest.bodies) <= 20 - sent + 1


def test_a_cache_works_again_when_there_is_room_again(tmp_path: Path) -> None:
    """What could not be written is not half there, and holds up nobody else."""
    with Cache(tmp_path) as cache, Cache(tmp_path) as other:
        cache.store_reply("before", "{}")
        with _full_disk(50_000), pytest.raises(CacheBroken, match="failed: "):
            cache.store_reply("large", "x" * 100_000)

        other.store_reply("theirs", "{}")
        cache.store_reply("after", "{}")

        assert cache.reply("large") is None
        assert cache.reply("theirs") == other.reply("after") == "{}"
    assert upkeep.verify(tmp_path).findings == ()


def test_a_cache_that_turns_read_only_stops_enrichment(tmp_path: Path) -> None:
    """As a disk does that is mounted anew after an error."""

    def turn(cache: Cache, asked: int) -> None:
        if asked == 5:
            cache._store._sql("PRAGMA query_only = 1")

    result, sent = _enriched(tmp_path, turn)

    assert _all_published(result)
    assert result.summary.stopped == "cache"
    assert "read-only" in str(result.summary.stop_message)
    assert result.summary.statements == sent == 5


def test_a_log_of_changes_that_is_removed_costs_no_answer(tmp_path: Path) -> None:
    """Somebody tidies up beside a running process."""

    def remove(_: Cache, asked: int) -> None:
        if asked == 5:
            (tmp_path / "cache" / "cache.db-wal").unlink()
            (tmp_path / "cache" / "cache.db-shm").unlink()

    result, _ = _enriched(tmp_path / "cache", remove)

    assert _all_published(result)
    assert result.summary.statements == 20
    assert upkeep.verify(tmp_path / "cache").findings == ()
    again = ScriptedProvider(lambda _: GOOD)
    assert play(again, tmp_path, TWENTY, view="full").summary.statements == 20


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_a_database_damaged_in_the_middle_costs_no_chunk(
    tmp_path: Path, share: float
) -> None:
    """It is refused at the start, or enrichment stops where it shows."""
    _enriched(tmp_path / "cache", lambda *_: None)
    path = tmp_path / "cache" / "cache.db"
    content = bytearray(path.read_bytes())
    start = int(len(content) * share) // 4096 * 4096
    content[start : start + 8192] = b"\x5a" * 8192
    path.write_bytes(content)

    try:
        result, _ = _enriched(tmp_path / "cache", lambda *_: None)
    except ConfigError as error:
        assert "cannot be opened" in str(error)  # noqa: PT017 - either will do
    else:
        assert _all_published(result)
        assert result.summary.stopped in {None, "cache"}
    assert upkeep.verify(tmp_path / "cache").findings


def test_a_cache_that_somebody_else_holds_is_said_to_be_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading goes on; writing does once they let go; no use is worth an error."""
    monkeypatch.setattr(store, "LOCK_TIMEOUT_SECONDS", 0.05)
    with Cache(tmp_path) as cache:
        cache.store_reply("k", "{}")
    with closing(sqlite3.connect(tmp_path / "cache.db")) as other:
        other.execute("UPDATE Cache SET tag = '2020-01-01'")
        other.commit()

        with Cache(tmp_path) as cache:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(CacheBroken, match="another process held it"):
                cache.store_reply("new", "{}")
            assert cache.reply("k") == "{}"
            other.rollback()
            cache.store_reply("new", "{}")
            other.execute("BEGIN IMMEDIATE")

    with Cache(tmp_path) as cache:
        assert cache.reply("new") == "{}"


def test_what_is_stored_at_once_is_there_as_a_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    """An answer and what refers to it."""

    class Interrupted(Exception):
        pass

    def store_and_fail(cache: Cache) -> None:
        with cache.at_once():
            cache.store_reply("a", "{}")
            cache.store_reply("b", "{}")
            raise Interrupted

    with Cache(tmp_path) as cache:
        with pytest.raises(Interrupted):
            store_and_fail(cache)
        assert cache.reply("a") is cache.reply("b") is None

        with cache.at_once():
            cache.store_reply("a", "{}")
            cache.store_reply("b", "{}")

    with Cache(tmp_path) as cache:
        assert cache.reply("a") == cache.reply("b") == "{}"
