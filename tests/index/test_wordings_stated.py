"""A new wording costs what is new about it (S5, S7)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.chat import Answer, chatting
from tests.support.corpora import LEAVE, Corpus, asking
from tests.support.stores import Store, config_of, delivered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat

DAYS, EXCEPTIONS = "leave.md:leave/days", "leave.md:leave/exceptions"


def wording(year: int, text: str = LEAVE) -> str:
    """Write a wording that is in force from a year on."""
    said = f"---\nversion: '{year}'\neffective_from: {year}-01-01\n"
    return text.replace("---\n", said, 1)


EDITED = wording(2025, LEAVE.replace("twelve months", "ten months"))


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    """Serve sentences."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-loopback")
    with chatting() as server:
        yield server


@pytest.fixture
def corpus(tmp_path: Path, chat: Chat) -> Corpus:
    """A document of which every wording is kept, and whose chunks are asked about."""
    corpus = Corpus(folder=tmp_path).configure(
        versions={"keep": "all"},
        chunking={"min_tokens": 0},
        enrichment=asking(
            chat.address, max_total_tokens=10**6, max_attempts=1, concurrency=1
        ),
    )
    corpus.document("leave.md", wording(2024))
    return corpus


@pytest.fixture
def store(corpus: Corpus) -> Store:
    """A store that has the first wording."""
    store = Store()
    delivered(corpus, store)
    return store


def hashes(store: Store, chunk_id: str) -> set[str]:
    """Give what is embedded of the wordings of a chunk."""
    return {
        record["metadata"]["embed_hash"]
        for record in store.records.values()
        if record["chunk_id"] == chunk_id
    }


def test_a_new_wording_asks_only_about_what_it_changes(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """The others are neither asked about nor embedded again."""
    asked, embedded = len(chat.bodies), store.embedded
    corpus.document("leave.md", EDITED)

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert len(chat.bodies) == asked + 1
    assert len(hashes(store, DAYS)) == 1
    assert len(hashes(store, EXCEPTIONS)) == 2
    assert store.embedded > embedded


def test_a_new_wording_keeps_statements_of_before_while_nobody_answers(
    corpus: Corpus, store: Store, chat: Chat
) -> None:
    """Those of the wording before it, where the section is the same."""

    def down(_: dict[str, Any]) -> Answer:
        return Answer(status=503, text="{}")

    shutil.rmtree(config_of(corpus).cache.directory)
    chat.answer = down
    corpus.document("leave.md", EDITED)

    sent = delivered(corpus, store)

    assert sent.exit_code == 3
    assert len(hashes(store, DAYS)) == 1
    new = store.records[f"{EXCEPTIONS}@2025"]["metadata"]["enrichment"]
    assert new["statement"] is None


def test_files_side_by_side_are_asked_about_in_one_sync(
    corpus: Corpus, chat: Chat
) -> None:
    """They are wordings of one document, and no two documents of one id."""
    for year, text in ((2025, EDITED), (2024, wording(2024))):
        named = text.replace("---\n", "---\ndoc_id: leave\n", 1)
        corpus.document(f"{year}/leave.md", named)
    (corpus.folder / "docs" / "leave.md").unlink()
    store = Store()

    sent = delivered(corpus, store)

    assert sent.exit_code == 0
    assert {record["record_id"] for record in store.records.values()} >= {
        "leave:leave/days@2024",
        "leave:leave/days@2025",
    }
    assert all(
        record["metadata"]["enrichment"]["statement"]
        for record in store.records.values()
    )
    assert chat.bodies


def test_a_wording_that_nobody_can_ask_about_any_more_is_no_shortfall(
    corpus: Corpus, chat: Chat
) -> None:
    """Its file holds another one, which has its statements."""
    answer = chat.answer

    def down(_: dict[str, Any]) -> Answer:
        return Answer(status=503, text="{}")

    chat.answer = down
    store = Store()
    first = delivered(corpus, store)
    chat.answer = answer
    corpus.document("leave.md", EDITED)

    second = delivered(corpus, store)

    assert (first.exit_code, second.exit_code) == (3, 0)
