"""The step that asks gives what a run gives, for whole documents, and pays once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from situate.config import load
from situate.enrichment.budget import Committed
from situate.errors import AuthenticationFailed, ConfigError
from situate.ray import Enricher
from situate.ray.spending import from_json
from tests.support.chat import Answer, Chat, chatting
from tests.support.corpora import LEAVE, TRAVEL, Corpus, asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.config import Config

TEXTS = {"leave.md": LEAVE, "travel.md": TRAVEL}


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a model."""
    with chatting() as served:
        yield served


@pytest.fixture
def corpus(tmp_path: Path, chat: Chat) -> Corpus:
    """Two documents, about which the model is asked."""
    made = Corpus(folder=tmp_path)
    for name, text in TEXTS.items():
        made.document(name, text)
    return asked_of(made, chat)


def asked_of(corpus: Corpus, chat: Chat, **keys: object) -> Corpus:
    """Configure a corpus to be asked about."""
    cache = {"directory": str(corpus.folder / "cache")}
    return corpus.configure(enrichment=asking(chat.address, **keys), cache=cache)


def config_of(corpus: Corpus) -> Config:
    """Give the config of a corpus, with its ledger in its folder."""
    (config,) = load([corpus.config], environment={})
    return config


def batch(*names: str) -> dict[str, list[Any]]:
    """Hand documents over."""
    contents = [TEXTS[name].encode() for name in names]
    return {"name": [*names], "content": contents}


def lines(rows: list[dict[str, Any]]) -> bytes:
    """Give the chunks' lines."""
    return b"".join(row["line"] for row in rows if row["status"] == "chunk")


def test_the_step_gives_what_a_run_writes_and_asks_nothing_again(
    corpus: Corpus, chat: Chat
) -> None:
    """Whatever was answered for one is answered for the other."""
    with Enricher(config_of(corpus)) as enrich:
        rows = enrich(batch("leave.md", "travel.md")).to_pylist()
    asked = len(chat.bodies)

    result = corpus.run()

    assert asked > 0
    assert len(chat.bodies) == asked
    assert lines(rows) == corpus.chunks.read_bytes()
    assert result.counts is not None
    assert result.counts.statements == asked


def test_two_threads_share_one_worker(corpus: Corpus, chat: Chat) -> None:
    """Batches are asked about at once, and each thing that was spent is told once."""
    tables: dict[str, Any] = {}

    with Enricher(config_of(corpus)) as enrich:

        def work(name: str) -> None:
            tables[name] = enrich(batch(name))

        threads = [threading.Thread(target=work, args=(name,)) for name in TEXTS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent = enrich.spent

    corpus.run()
    rows = [row for name in TEXTS for row in tables[name].to_pylist()]
    told = [from_json(row["details"]) for row in rows if row["status"] == "spent"]
    assert lines(rows) == corpus.chunks.read_bytes()
    assert sum(each.requests for each in told) == spent.requests == len(chat.bodies)


def test_a_bad_document_keeps_nobody_from_being_asked_about(corpus: Corpus) -> None:
    """Rows that are none included."""
    given = batch("leave.md", "travel.md")
    given["name"].extend(["broken.md", None])
    given["content"].extend([b"\x00\x01" * 50, b"Text."])

    with Enricher(config_of(corpus)) as enrich:
        rows = enrich(given).to_pylist()

    statuses = [row["status"] for row in rows if row["status"] != "chunk"]
    assert statuses == ["document", "document", "error", "error", "spent"]


def test_a_wrong_key_is_an_error_and_no_row(corpus: Corpus, chat: Chat) -> None:
    """No document is the cause, and no other can succeed."""
    chat.answer = lambda _: Answer(status=401, text='{"error": {"message": "no"}}')

    with (
        Enricher(config_of(corpus)) as enrich,
        pytest.raises(AuthenticationFailed),
    ):
        enrich(batch("leave.md"))


def test_a_corpus_that_asks_nobody_is_refused(tmp_path: Path) -> None:
    """It wants the other step."""
    corpus = Corpus(folder=tmp_path).configure()

    with pytest.raises(ConfigError, match="nothing is asked"):
        Enricher(config_of(corpus))


def test_what_is_committed_is_gone_of_the_budget(corpus: Corpus, chat: Chat) -> None:
    """A worker in the place of a dead one starts where that one ended."""
    config = config_of(asked_of(corpus, chat, max_total_tokens=50_000))

    with Enricher(config, committed=Committed(tokens=49_990)) as enrich:
        rows = enrich(batch("leave.md")).to_pylist()

    assert chat.bodies == []
    assert "budget" in rows[-1]["details"]
