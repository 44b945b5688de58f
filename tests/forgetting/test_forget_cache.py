"""What a cache has of a document can be told from what it has of others (S8)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing, suppress
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache, Located, User, rows
from situate.enrichment.cache.forgetting import Told, erase, find
from situate.enrichment.cache.store import Store
from situate.enrichment.commits import Commits
from situate.errors import CacheBroken
from situate.pipeline import upkeep
from tests.support.batch_corpora import BatchCorpus
from tests.support.batches import batching
from tests.support.chat import chatting
from tests.support.corpora import TRAVEL, Corpus, asking
from tests.support.planted import NAME, PLANTED, planted, statement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat

LEAVE = User(corpus="handbook", doc_id="leave.md")
TRIPS = User(corpus="handbook", doc_id="trips.md")
ELSEWHERE = User(corpus="contracts", doc_id="leave.md")

NOBODY = Told()


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a model that names whom it is asked about."""
    with chatting() as server:
        server.answer = statement
        yield server


def fill(directory: Path, key: str, *users: User) -> None:
    """Store a reply that names somebody, and where its answer stands."""
    with Cache(directory) as cache:
        cache.store_reply(key, json.dumps({"text": f"{NAME} {key}"}), *users)
        cache.store_answers(f"about-{key}", [Located(key)])


def asked(folder: Path, chat: Chat) -> Corpus:
    """Write a corpus whose chunks are asked about one by one."""
    return planted(
        folder,
        enrichment=asking(chat.address, view="full", max_total_tokens=10_000_000),
        cache={"directory": "cache"},
    )


def of(corpus: Corpus, doc_id: str) -> set[str]:
    """Give the replies that a document uses."""
    user = User(corpus="handbook", doc_id=doc_id)
    with closing(Store(corpus.folder / "cache")) as store:
        start = rows.uses_of(user)
        return {key.removeprefix(start) for key in store.keys(start)}


def replies(directory: Path) -> set[str]:
    """Give the keys of all replies."""
    with closing(Store(directory)) as store:
        return {key.removeprefix(rows.REPLY) for key in store.keys(rows.REPLY)}


# ------------------------------------------------------------------- noted


def test_a_reply_says_whom_it_was_asked_for(tmp_path: Path, chat: Chat) -> None:
    """Every reply of a run, repairs included."""
    corpus = asked(tmp_path, chat)

    corpus.run()

    documents = [of(corpus, each) for each in ("leave.md", "travel/abroad.md", PLANTED)]
    assert all(documents)
    assert set().union(*documents) == replies(tmp_path / "cache")


def test_a_reply_and_whose_it_is_are_written_at_once(tmp_path: Path) -> None:
    """A run that is killed leaves no reply that belongs to nobody."""
    with Cache(tmp_path) as cache, suppress(KeyError), cache.at_once():
        cache.store_reply("k", "{}", LEAVE)
        raise KeyError

    with closing(Store(tmp_path)) as store:
        assert store.keys(rows.USE) == store.keys(rows.REPLY) == set()


def test_a_document_that_is_served_by_anothers_answer_uses_it(
    tmp_path: Path, chat: Chat
) -> None:
    """Two equal documents are asked about once."""
    corpus = asked(tmp_path, chat)
    corpus.document("travel/again.md", TRAVEL)

    corpus.run()

    shared = of(corpus, "travel/abroad.md") & of(corpus, "travel/again.md")
    assert shared == of(corpus, "travel/abroad.md")


def test_a_run_that_asks_nobody_notes_what_versions_before_did_not(
    tmp_path: Path, chat: Chat
) -> None:
    """Where it finds its answers in the cache."""
    corpus = asked(tmp_path, chat)
    corpus.run()
    before = of(corpus, PLANTED)
    _forget_uses(tmp_path / "cache")

    corpus.run()

    assert of(corpus, PLANTED) == before


def test_a_reply_that_comes_with_a_price_says_so_too(tmp_path: Path) -> None:
    """Where money is set aside in the same transaction."""

    async def both(commits: Commits) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(commits.store_reply("k", "{}", LEAVE))
            group.create_task(commits.reserve(Decimal(1), most=None))

    with Cache(tmp_path) as cache:
        asyncio.run(both(Commits(cache)))

    assert find(tmp_path, LEAVE, NOBODY).replies == {f"{rows.REPLY}k"}


def test_what_a_batch_brings_says_whom_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nobody has used it yet."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-loopback")
    with batching("openai") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, mode="batch")
        desk.submit()
        vendor.end_all()
        desk.collect()

    documents = [of(desk.corpus, each) for each in ("0.md", "1.md")]
    assert all(documents)
    assert set().union(*documents) == replies(tmp_path / "cache")


def _forget_uses(directory: Path) -> None:
    """Make a cache one of a version that noted no uses."""
    with closing(sqlite3.connect(directory / "cache.db")) as database, database:
        database.execute("DELETE FROM Cache WHERE key LIKE 'used:%'")


# ----------------------------------------------------------------- removed


def test_what_nobody_else_uses_goes_and_the_rest_stays(tmp_path: Path) -> None:
    """With the rows that say what stands in it."""
    fill(tmp_path, "own", LEAVE)
    fill(tmp_path, "shared", LEAVE, TRIPS)
    fill(tmp_path, "other", TRIPS)

    traces = find(tmp_path, LEAVE, NOBODY)
    erase(tmp_path, LEAVE, traces)

    assert traces.shared == 1
    assert replies(tmp_path) == {"shared", "other"}
    assert find(tmp_path, LEAVE, NOBODY).is_empty
    assert upkeep.verify(tmp_path).findings == ()


def test_the_last_document_that_uses_a_reply_takes_it_along(tmp_path: Path) -> None:
    """In whichever order they are forgotten."""
    fill(tmp_path, "shared", LEAVE, TRIPS)

    for user in (LEAVE, TRIPS):
        erase(tmp_path, user, find(tmp_path, user, NOBODY))

    assert replies(tmp_path) == set()


def test_another_corpus_keeps_what_it_has_under_the_same_id(tmp_path: Path) -> None:
    """And is named."""
    fill(tmp_path, "theirs", ELSEWHERE)
    fill(tmp_path, "ours", LEAVE)

    traces = find(tmp_path, LEAVE, NOBODY)
    erase(tmp_path, LEAVE, traces)

    assert traces.corpora == ("contracts",)
    assert replies(tmp_path) == {"theirs"}


def test_ledgers_tell_of_replies_that_do_not_say_whose_they_are(tmp_path: Path) -> None:
    """Those of versions before; what no ledger tells of is counted."""
    for key in ("own", "shared", "other", "unknown"):
        fill(tmp_path, key)
    told = Told(own=frozenset({"own", "shared"}), others=frozenset({"shared", "other"}))

    traces = find(tmp_path, LEAVE, told)
    erase(tmp_path, LEAVE, traces)

    assert (traces.shared, traces.unattributed) == (1, 1)
    assert replies(tmp_path) == {"shared", "other", "unknown"}


def test_no_byte_is_left_while_others_have_the_cache_open(tmp_path: Path) -> None:
    """Nor in the log of changes."""
    for number in range(20):
        fill(tmp_path, f"{number}", LEAVE)
    with Cache(tmp_path) as other:
        other.store_reply("theirs", "{}", TRIPS)

        erase(tmp_path, LEAVE, find(tmp_path, LEAVE, NOBODY))

        assert _holding(tmp_path) == []
        assert (tmp_path / "cache.db-wal").exists()
        assert other.reply("theirs") == "{}"


def test_no_byte_is_left_of_what_was_removed_before(tmp_path: Path) -> None:
    """SQLite leaves it in its pages, where it is not built to overwrite it."""
    with Cache(tmp_path) as cache:
        for number in range(20):
            cache.store_reply(f"{number}", NAME)
            cache.store_reply(f"between-{number}", "x" * 1_000, TRIPS)
    fill(tmp_path, "last", LEAVE)
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("DELETE FROM Cache WHERE key < 'reply:b' AND key > 'reply:'")
    assert _holding(tmp_path) == ["cache.db"]

    erase(tmp_path, LEAVE, find(tmp_path, LEAVE, NOBODY))

    assert _holding(tmp_path) == []


def _holding(directory: Path) -> list[str]:
    """Name the files that hold the name."""
    return [
        path.name for path in directory.iterdir() if NAME.encode() in path.read_bytes()
    ]


def test_bytes_that_somebody_still_reads_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And are found again, for the rows that tell of them go last."""
    monkeypatch.setattr("situate.enrichment.cache.store.LOCK_TIMEOUT_SECONDS", 0.1)
    fill(tmp_path, "own", LEAVE)
    traces = find(tmp_path, LEAVE, NOBODY)
    with closing(sqlite3.connect(tmp_path / "cache.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM Cache").fetchone()

        with pytest.raises(CacheBroken, match="another process reads"):
            erase(tmp_path, LEAVE, traces)

    assert not find(tmp_path, LEAVE, NOBODY).is_empty
    erase(tmp_path, LEAVE, find(tmp_path, LEAVE, NOBODY))
    assert find(tmp_path, LEAVE, NOBODY).is_empty


# ------------------------------------------------------------------ upkeep


def test_uses_are_counted_carried_over_and_pruned(tmp_path: Path) -> None:
    """With the replies they are about."""
    here, there = tmp_path / "here", tmp_path / "there"
    fill(here, "own", LEAVE, TRIPS)
    fill(here, "nobodys")

    upkeep.export(here, tmp_path / "x.jsonl")
    upkeep.take_in(there, tmp_path / "x.jsonl")
    found = upkeep.statistics(there)

    assert (found.documents, found.unattributed_replies) == (2, 1)
    assert find(there, LEAVE, NOBODY) == find(here, LEAVE, NOBODY)
    _age(there)
    upkeep.prune(there, "2026-01-01", rehearsal=False)
    assert upkeep.verify(there).rows == 0


def _age(directory: Path) -> None:
    with closing(sqlite3.connect(directory / "cache.db")) as database, database:
        database.execute("UPDATE Cache SET tag = '2025-01-01' WHERE tag IS NOT NULL")


def test_a_use_without_its_reply_is_not_taken_in(tmp_path: Path) -> None:
    """A line whose reply is neither here nor above is refused, as answers are."""
    fill(tmp_path / "here", "own", LEAVE)
    upkeep.export(tmp_path / "here", tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "use.jsonl").write_text(lines[-1], "utf-8")

    taken = upkeep.take_in(tmp_path / "there", tmp_path / "use.jsonl")

    assert '"used:' in lines[-1]
    assert len(taken.refused) == 1


def test_a_use_that_contradicts_its_key_is_named(tmp_path: Path) -> None:
    """`cache verify` looks at it as at all rows."""
    fill(tmp_path, "own", LEAVE)
    with closing(Store(tmp_path)) as store, store.transaction():
        (key,) = store.keys(rows.USE)
        store.put(key, rows.of_use("another corpus"), day=None)

    (finding,) = upkeep.verify(tmp_path).findings

    assert finding.subject == key
