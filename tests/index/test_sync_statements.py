"""Chunks never wait for statements, and lose none that is still about them (S7)."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from situate.errors import ConfigError
from tests.support.batch_corpora import SECTIONS, BatchCorpus
from tests.support.batches import batching
from tests.support.chat import Answer, chatting, statement
from tests.support.corpora import LEAVE, Corpus, asking, handbook
from tests.support.stores import (
    Store,
    built,
    config_of,
    content,
    delivered,
    synced,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat

EXCEPTIONS, DAYS = "leave.md:leave/exceptions", "leave.md:leave/days"
FREE = {"output": {"max_delete_share": 1}, "chunking": {"min_tokens": 0}}
VENDOR = {key: value for key, value in asking("").items() if key != "base_url"} | {
    "provider": "anthropic",
    "model": "claude-haiku-4-5",
}
EDITED = LEAVE.replace("twelve months", "ten months")


def configured(corpus: Corpus, chat: Chat, **keys: object) -> Corpus:
    """Have a corpus ask a server, once and no more, and be modest."""
    settings = {"max_total_tokens": 10**6, "max_attempts": 1, "concurrency": 1, **keys}
    return corpus.configure(enrichment=asking(chat.address, **settings), **FREE)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a key for the server."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-loopback")


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve sentences."""
    with chatting() as server:
        yield server


@pytest.fixture
def corpus(tmp_path: Path, chat: Chat) -> Corpus:
    """Two documents whose chunks are asked about."""
    return configured(handbook(tmp_path), chat)


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


def down(_: dict[str, Any]) -> Answer:
    """Be out of service."""
    return Answer(status=503, text="{}")


def statements(store: Store) -> dict[str, str]:
    """Give the statements that a store holds."""
    enrichments = {
        chunk_id: record["metadata"]["enrichment"]
        for chunk_id, record in store.records.items()
    }
    return {
        chunk_id: enrichment["statement"]
        for chunk_id, enrichment in enrichments.items()
        if enrichment["statement"]
    }


def embedded(store: Store) -> dict[str, str]:
    """Give the hashes of what is embedded."""
    return {
        chunk_id: record["metadata"]["embed_hash"]
        for chunk_id, record in store.records.items()
    }


def forget_answers(corpus: Corpus) -> None:
    """Lose the cache, as a machine does that is new every night."""
    shutil.rmtree(config_of(corpus).cache.directory)


def test_statements_are_sent_with_their_chunks(corpus: Corpus, store: Store) -> None:
    """As a run publishes them."""
    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert sent.stated is not None
    assert sent.stated.statements == len(statements(store)) == 5
    assert store.records == built(corpus)


def test_what_has_not_changed_is_not_asked_about(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """Not even with the cache gone: the index has it."""
    delivered(corpus, store)
    forget_answers(corpus)
    asked = len(chat.bodies)

    sent = synced(corpus)

    assert sent.run is None
    assert sent.exit_code == 0
    assert len(chat.bodies) == asked


def test_one_new_section_is_one_question(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """Sections that stay the same keep their answers (E4)."""
    delivered(corpus, store)
    before, asked = statements(store), len(chat.bodies)
    added = "\n## Illness\n\nWhoever falls ill on leave gets the days back later.\n"
    corpus.document("leave.md", LEAVE + added)

    delivered(corpus, store)

    assert len(chat.bodies) == asked + 1
    assert statements(store).items() > before.items()


@pytest.mark.parametrize("said", ["effective_to: 2027-01-31", "acl_read: [hr]"])
def test_dates_and_permissions_ask_nothing_and_embed_nothing(
    corpus: Corpus, store: Store, chat: Chat, said: str
) -> None:
    """A document that is re-dated or locked away is a matter of metadata."""
    delivered(corpus, store)
    asked, embeddings = len(chat.bodies), store.embedded
    dated = LEAVE.replace("doc_type: handbook", f"doc_type: handbook\n{said}")
    corpus.document("leave.md", dated)

    sent = delivered(corpus, store)

    assert (sent.upserts, sent.deletes) == (0, 0)
    assert sent.metadata_updates > 0
    assert len(chat.bodies) == asked
    assert store.embedded == embeddings


def test_an_outage_keeps_statements_and_sends_fresh_text(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """What could not be asked about says so, and nothing else is embedded anew."""
    delivered(corpus, store)
    before, hashes = statements(store), embedded(store)
    forget_answers(corpus)
    corpus.document("leave.md", EDITED)
    chat.answer = down

    sent = delivered(corpus, store)

    changed = {key for key, value in embedded(store).items() if hashes[key] != value}
    assert sent.exit_code == 3
    assert changed == {EXCEPTIONS}
    assert "ten months" in store.records[EXCEPTIONS]["text"]
    assert statements(store) == {k: v for k, v in before.items() if k != EXCEPTIONS}


def test_an_outage_is_named(tmp_path: Path, store: Store, chat: Chat) -> None:
    """With how many chunks have no statement for it."""
    corpus = configured(handbook(tmp_path), chat)
    for number in range(12):
        corpus.document(f"more-{number}.md", EDITED)
    chat.answer = down

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "outage" in " ".join(sent.reasons)
    assert len(store.records) == len(built_without(corpus))


def built_without(corpus: Corpus) -> list[dict[str, Any]]:
    """Give the records of a run that asks nobody."""
    corpus.configure(**FREE)
    return list(built(corpus).values())


def test_the_next_sync_asks_for_what_was_left_out(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """Though no document has changed since."""
    chat.answer = down
    assert delivered(corpus, store).exit_code == 3
    assert statements(store) == {}
    chat.answer = statement

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert len(statements(store)) == 5
    assert store.records == built(corpus)


def test_what_was_kept_for_a_night_is_asked_about_the_next(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """Another model is to write all of them; the first night it is out of service."""
    delivered(corpus, store)
    before = statements(store)
    configured(corpus, chat, model="another-model")
    chat.answer = down
    first = delivered(corpus, store)
    kept = statements(store)
    chat.answer = lambda _: Answer(text="The newer model tells how the rule is kept.")

    second = delivered(corpus, store)

    assert (first.exit_code, second.exit_code) == (3, 0)
    assert kept == before
    assert first.stated is not None
    assert first.stated.overdue == 5
    assert set(statements(store).values()) == {
        "The newer model tells how the rule is kept."
    }


def test_a_statement_that_has_become_wrong_does_not_stay(
    tmp_path: Path, store: Store, chat: Chat
) -> None:
    """It names a number of another section, which says another one now."""
    corpus = configured(handbook(tmp_path), chat)
    chat.answer = lambda _: Answer(
        text="It goes with the 25 days of everybody's leave."
    )
    delivered(corpus, store)
    assert EXCEPTIONS in statements(store)
    forget_answers(corpus)
    corpus.document("leave.md", LEAVE.replace("| 1 | 25 |", "| 1 | 26 |"))
    chat.answer = down

    delivered(corpus, store)

    assert EXCEPTIONS not in statements(store)
    assert DAYS not in statements(store)


@pytest.mark.parametrize("why", ["no key", "wrong key", "no such model"])
def test_a_key_that_is_wrong_keeps_nothing_from_being_sent(
    corpus: Corpus,
    store: Store,
    chat: Chat,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is found by the first request, and the exit code says it (E10)."""
    delivered(corpus, store)
    before = statements(store)
    forget_answers(corpus)
    corpus.document("leave.md", EDITED)
    if why == "no key":
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        corpus.configure(enrichment=VENDOR | {"max_usd": 1}, **FREE)
    status = 401 if why == "wrong key" else 404
    refusal = '{"error": {"code": "model_not_found", "message": "not here"}}'
    chat.answer = lambda _: Answer(status=status, text=refusal)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "ten months" in store.records[EXCEPTIONS]["text"]
    assert statements(store) == {k: v for k, v in before.items() if k != EXCEPTIONS}


def test_a_cache_that_cannot_be_used_keeps_nothing_from_being_sent(
    corpus: Corpus, store: Store
) -> None:
    """Statements of before stay as well."""
    delivered(corpus, store)
    before = statements(store)
    forget_answers(corpus)
    config_of(corpus).cache.directory.write_text("a file")
    corpus.document("leave.md", EDITED)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "cache" in " ".join(sent.reasons)
    assert "ten months" in store.records[EXCEPTIONS]["text"]
    assert statements(store) == {k: v for k, v in before.items() if k != EXCEPTIONS}


def test_a_ledger_that_cannot_be_written_keeps_nothing_from_being_sent(
    corpus: Corpus, store: Store
) -> None:
    """Nobody is asked for what could not be accounted for."""
    ledger = config_of(corpus).output.beside("ledger.jsonl")
    ledger.mkdir(parents=True)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "ledger" in " ".join(sent.reasons)
    assert len(store.records) == 5


def test_an_answer_that_is_refused_is_no_reason_to_keep_another(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """Another model was asked, and has answered: the chunks are fallbacks (E8)."""
    delivered(corpus, store)
    configured(corpus, chat, model="another-model")
    chat.answer = lambda _: Answer(text="See https://example.com/leave for the rule.")

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert sent.stated is not None
    assert sent.stated.fallbacks == {"url": 5}
    assert "5 of 5 chunks got no statement" in " ".join(sent.reasons)
    assert statements(store) == {}


def test_a_night_on_which_all_is_kept_says_so(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """The statements are there, and older than they should be."""
    delivered(corpus, store)
    configured(corpus, chat, model="another-model")
    chat.answer = down

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    (reason,) = sent.reasons
    assert reason.startswith(
        "5 chunks were not asked about, 5 of which keep their statement of before"
    )


def test_the_time_that_is_given_is_kept(
    tmp_path: Path, store: Store, chat: Chat
) -> None:
    """What has not been asked about by then is sent without."""
    corpus = configured(handbook(tmp_path), chat, deadline="1s")
    chat.before = lambda: time.sleep(0.6)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert "deadline" in " ".join(sent.reasons)
    assert 0 < len(statements(store)) < 5
    assert len(store.records) == len(built_without(corpus))


def test_a_delta_that_is_lost_comes_again(corpus: Corpus, store: Store) -> None:
    """With the same statements, though nobody is asked a second time."""
    delivered(corpus, store)
    corpus.document("leave.md", EDITED)
    first = synced(corpus)
    assert first.folder is not None
    files = content(first.folder)
    files.pop("summary.json")
    shutil.rmtree(first.folder)

    second = synced(corpus)

    assert second.run == first.run
    assert second.stated is not None
    assert second.stated.requests == 0
    again = content(first.folder)
    again.pop("summary.json")
    assert again == files


def test_switching_statements_off_takes_them_away(corpus: Corpus, store: Store) -> None:
    """Nothing of before stays that nobody wants any more."""
    delivered(corpus, store)
    corpus.configure(**FREE)

    sent = delivered(corpus, store)

    assert statements(store) == {}
    assert sent.stated is None


def test_limits_that_do_not_fit_are_found_before_any_work(tmp_path: Path) -> None:
    """A model with a price needs a limit in dollars."""
    corpus = handbook(tmp_path)
    corpus.configure(enrichment=VENDOR, **FREE)

    with pytest.raises(ConfigError, match="max_usd"):
        synced(corpus)


def test_a_file_that_says_the_same_in_other_bytes_is_nothing(
    corpus: Corpus, store: Store
) -> None:
    """There is nothing for a store to do, and nothing to acknowledge."""
    delivered(corpus, store)
    corpus.document("leave.md", LEAVE.replace("\n", "\r\n"))

    first, second = synced(corpus), synced(corpus)

    assert first.run is second.run is None
    assert (first.outcomes["leave.md"], second.outcomes["leave.md"]) == (
        "ok",
        "unchanged",
    )


def test_a_batch_is_waited_for_by_no_chunk(tmp_path: Path, store: Store) -> None:
    """One sync hands the questions in, and one after the batch sends the answers."""
    with batching("openai") as vendor:
        desk = BatchCorpus.of(tmp_path, vendor, mode="batch")
        first = delivered(desk.corpus, store)
        waiting = statements(store)
        vendor.end_all()
        second = delivered(desk.corpus, store)
        third = synced(desk.corpus)

    assert (first.exit_code, second.exit_code, third.exit_code) == (3, 0, 0)
    assert waiting == {}
    assert len(statements(store)) == 2 * SECTIONS
    assert len(vendor.batches) == 1
    assert set(third.outcomes.values()) == {"unchanged"}
