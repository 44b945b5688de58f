"""A run turns a corpus into chunks, whatever happens on the way."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import pytest

from situate.check import check
from situate.config import load
from situate.enrichment.cache import Cache
from situate.errors import ConfigError
from situate.model import is_paragraph
from situate.pipeline.jobs import ready
from situate.pipeline.run import exit_code, run
from tests.support.chat import Answer, chatting, statement
from tests.support.corpora import LEAVE, Corpus, Heard, asking, handbook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.chat import Chat


@pytest.fixture
def chat() -> Iterator[Chat]:
    """Serve a chat model that answers every question."""
    with chatting() as server:
        yield server


def without_enrichment(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give records without what enrichment may change."""
    bare = []
    for record in records:
        metadata = {
            key: value
            for key, value in record["metadata"].items()
            if key not in {"enrichment", "embed_hash", "metadata_hash"}
        }
        kept = {"context_prefix", "embed_text", "metadata"}
        rest = {key: value for key, value in record.items() if key not in kept}
        bare.append(rest | {"metadata": metadata})
    return bare


# ------------------------------------------------------------- documents to chunks


def test_a_run_writes_chunks_blocks_and_a_manifest(tmp_path: Path) -> None:
    """And nothing else; what it wrote holds to the contract."""
    corpus = handbook(tmp_path)

    result = corpus.run()

    assert result.exit_code == 0
    assert {path.name for path in corpus.chunks.parent.iterdir()} == {
        ".handbook.lock",
        "handbook.jsonl",
        "handbook.blocks.jsonl",
        "handbook.manifest.json",
    }
    assert check(corpus.chunks).findings == []


def test_documents_stand_in_the_order_of_their_ids(tmp_path: Path) -> None:
    """Chunks and blocks alike."""
    corpus = handbook(tmp_path)

    corpus.run()

    blocks = corpus.chunks.with_name("handbook.blocks.jsonl").read_text("utf-8")
    in_order = ["leave.md", "travel/abroad.md"]
    assert list(dict.fromkeys(r["doc_id"] for r in corpus.records)) == in_order
    assert [json.loads(line)["doc_id"] for line in blocks.splitlines()] == in_order


def test_a_second_run_writes_the_same_bytes(tmp_path: Path) -> None:
    """So does one in another folder: nothing of the machine is in them."""
    first, second = handbook(tmp_path / "first"), handbook(tmp_path / "second")

    first.run()
    once = {path.name: path.read_bytes() for path in first.chunks.parent.iterdir()}
    first.run()
    second.run()

    again = {path.name: path.read_bytes() for path in first.chunks.parent.iterdir()}
    elsewhere = {
        path.name: path.read_bytes() for path in second.chunks.parent.iterdir()
    }
    assert once == again == elsewhere


def test_the_manifest_says_what_was_made_and_of_what(tmp_path: Path) -> None:
    """Version, config, sizes, files and counts."""
    corpus = handbook(tmp_path, chunking={"max_tokens": 100})
    (config,) = load([corpus.config], environment={})

    corpus.run()

    manifest = corpus.manifest
    assert manifest["corpus"] == "handbook"
    assert manifest["config"] == config.hash
    assert manifest["sizes"]["max_tokens"] == 100
    assert manifest["sizes"]["container_max_tokens"] == 400
    assert manifest["counts"]["documents"] == 2
    assert sum(manifest["counts"]["chunks"].values()) == len(corpus.records)
    assert manifest["files"][0]["bytes"] == corpus.chunks.stat().st_size
    assert manifest["spent"]["requests"] == 0


def test_the_corpus_gives_its_type_to_documents_without_one(tmp_path: Path) -> None:
    """Front matter wins."""
    corpus = handbook(tmp_path, corpus={"doc_type": "policy"})

    corpus.run()

    types = {r["doc_id"]: r["metadata"]["doc_type"] for r in corpus.records}
    assert types == {"leave.md": "handbook", "travel/abroad.md": "policy"}
    assert {r["metadata"]["corpus"] for r in corpus.records} == {"handbook"}


def test_an_empty_document_gives_no_chunks_and_is_no_failure(tmp_path: Path) -> None:
    """It stands in the blocks file all the same."""
    corpus = handbook(tmp_path)
    corpus.document("empty.md", "\n")

    result = corpus.run()

    assert result.exit_code == 0
    assert "empty.md" not in {record["doc_id"] for record in corpus.records}
    assert check(corpus.chunks).findings == []


def test_what_a_run_wrote_is_not_read_by_the_next(tmp_path: Path) -> None:
    """A glob may be wide enough to hold the output."""
    corpus = handbook(tmp_path / "below", corpus={"documents": ["**/*"]})
    config = corpus.config.rename(tmp_path / "handbook.toml")
    config.write_text(
        config.read_text("utf-8")
        .replace('"**/*"', '"below/**/*"')
        .replace("out/", "below/out/"),
        "utf-8",
    )
    configs = load([config], environment={})

    run(configs, Heard())
    (second,) = run(configs, Heard())

    assert second.counts is not None
    assert second.counts.documents == 2


# ------------------------------------------------------------- documents that fail


def test_a_bad_document_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    """One line for people, one entry in the manifest."""
    corpus = handbook(tmp_path, corpus={"max_failed_share": 0.5})
    corpus.document("bad.md", b"%PDF-1.7 ...")
    heard = Heard()

    result = corpus.run(heard)

    assert result.exit_code == 0
    assert [note for note in heard.notes if "bad.md" in note] == [
        "failed: bad.md: found a PDF, expected text; name it for what it is"
    ]
    assert [note["doc_id"] for note in corpus.manifest["failed"]] == ["bad.md"]
    assert corpus.manifest["counts"]["failed"] == 1
    assert {r["doc_id"] for r in corpus.records} == {"leave.md", "travel/abroad.md"}


def test_too_many_bad_documents_are_published_and_told(tmp_path: Path) -> None:
    """Above the share the run is incomplete."""
    corpus = handbook(tmp_path)
    corpus.document("bad.md", b"%PDF-1.7 ...")

    result = corpus.run()

    assert result.exit_code == 3
    assert result.reason is not None
    assert "1 of 3 documents failed, above corpus.max_failed_share = 0.01" in (
        result.reason
    )
    assert corpus.chunks.exists()


def test_where_no_document_can_be_read_nothing_is_published(tmp_path: Path) -> None:
    """The chunks of the last good run stay."""
    corpus = handbook(tmp_path)
    corpus.run()
    before = corpus.chunks.read_bytes()
    for path in (tmp_path / "docs").rglob("*.md"):
        path.write_bytes(b"%PDF-1.7 ...")

    result = corpus.run()

    assert (result.exit_code, result.counts) == (1, None)
    assert result.reason == "none of 2 documents could be read"
    assert corpus.chunks.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
@pytest.mark.parametrize("kind", ["pipe", "broken link", "link to itself"])
def test_what_is_no_file_fails_and_blocks_nobody(tmp_path: Path, kind: str) -> None:
    """Opening a pipe would wait for ever."""
    corpus = handbook(tmp_path)
    path = tmp_path / "docs" / "odd.md"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "nowhere" if kind == "broken link" else path)

    result = corpus.run()

    assert result.exit_code == 3
    assert [note["doc_id"] for note in corpus.manifest["failed"]] == ["odd.md"]


@pytest.mark.parametrize("kind", ["link to itself", "a file", "no database"])
def test_a_cache_that_cannot_be_opened_stops_asking_and_nothing_else(
    tmp_path: Path, chat: Chat, kind: str
) -> None:
    """E10: answers could not be kept; chunks are published and say why."""
    cache = tmp_path / "cache"
    if kind == "link to itself":
        cache.symlink_to(cache)
    elif kind == "a file":
        cache.write_text("not a folder")
    else:
        cache.mkdir()
        (cache / "cache.db").write_text("not a database, but long enough to look at")
    corpus = handbook(
        tmp_path, enrichment=asking(chat.address), cache={"directory": "cache"}
    )

    result = corpus.run()

    assert result.exit_code == 3
    assert "cannot be opened" in str(result.reason)
    outcomes = [record["metadata"]["enrichment"] for record in corpus.records]
    assert outcomes
    assert {each["status"] for each in outcomes} == {"skipped"}
    assert {each["reason"] for each in outcomes} == {"cache"}
    assert not chat.bodies


def test_a_key_is_asked_for_only_when_something_is_left_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replies that came by file are enough for a run."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    keys = {
        "enabled": True,
        "provider": "anthropic",
        "model": "claude-haiku-5-5",
        "prompt": "findable-v1",
        "view": "full",
        "max_usd": 1,
    }
    corpus = handbook(tmp_path, enrichment=keys, cache={"directory": "cache"})
    without = corpus.run()
    reply = {
        "model": "claude-haiku-5-5",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "How leave works for newcomers."}],
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
    (job,) = ready(load([corpus.config], environment={}))
    with Cache(tmp_path / "cache") as cache:
        for plan in job.plans(job.sources(), Heard()):
            for request in plan.requests:
                cache.store_reply(request.reply_key, json.dumps(reply))

    answered = corpus.run()

    assert without.exit_code == 1
    assert "ANTHROPIC_API_KEY" in str(without.reason)
    assert answered.exit_code == 0
    assert answered.spent is not None
    assert answered.spent.requests == 0


def test_two_documents_with_one_id_are_an_error_naming_both(tmp_path: Path) -> None:
    """Front matter may name an id that another has."""
    corpus = handbook(tmp_path)
    corpus.document("other.md", "---\ndoc_id: leave.md\n---\nText.\n")

    result = corpus.run()

    assert result.exit_code == 1
    assert result.reason is not None
    for name in ("leave.md", "other.md"):
        assert repr(str(tmp_path / "docs" / name)) in result.reason
    assert not corpus.chunks.exists()


def test_two_documents_with_one_id_cost_nothing(tmp_path: Path, chat: Chat) -> None:
    """They are found before anything is asked."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    corpus.document("zzz.md", "---\ndoc_id: leave.md\n---\nText.\n")

    result = corpus.run()

    assert result.exit_code == 1
    assert chat.bodies == []


def test_warnings_of_readers_are_told_and_kept(tmp_path: Path) -> None:
    """What was doubted about a document stands in the manifest."""
    corpus = handbook(tmp_path)
    corpus.document(
        "latin.md", "# Caf\u00e9\n\nText of a caf\u00e9.\n".encode("cp1252")
    )
    heard = Heard()

    corpus.run(heard)

    (warning,) = corpus.manifest["warnings"]
    assert warning["doc_id"] == "latin.md"
    assert heard.notes == [f"latin.md: {warning['message']}"]


# ------------------------------------------------------------- several corpora


def test_a_failing_corpus_does_not_stop_the_others(tmp_path: Path) -> None:
    """Each ends by itself; the worst decides the exit code."""
    bad = handbook(tmp_path / "bad", corpus={"name": "bad", "documents": ["no/*"]})
    good = handbook(tmp_path / "good")

    results = run(load([bad.config, good.config], environment={}), Heard())

    assert [result.exit_code for result in results] == [1, 0]
    assert exit_code(results) == 1
    assert good.chunks.exists()


def test_what_cannot_be_used_is_found_before_any_work(tmp_path: Path) -> None:
    """An unknown prompt in the last config stops the first."""
    good = handbook(tmp_path / "good")
    bad = handbook(
        tmp_path / "bad",
        corpus={"name": "bad"},
        enrichment=asking("http://127.0.0.1:9/v1", prompt="findable"),
    )

    with pytest.raises(ConfigError, match="names no version"):
        run(load([good.config, bad.config], environment={}), Heard())

    assert not good.chunks.exists()


def test_only_the_corpus_that_wants_statements_asks(tmp_path: Path, chat: Chat) -> None:
    """The switch is per corpus."""
    on = handbook(tmp_path / "on", enrichment=asking(chat.address))
    off = handbook(
        tmp_path / "off",
        corpus={"name": "off"},
        output={"path": "out/handbook.jsonl"},
        enrichment=asking(chat.address, enabled=False),
    )

    results = run(load([on.config, off.config], environment={}), Heard())

    assert len(chat.bodies) == len(on.records)
    assert [result.spent.requests for result in results if result.spent] == [
        len(on.records),
        0,
    ]
    assert {r["metadata"]["enrichment"]["status"] for r in off.records} == {"off"}


# ------------------------------------------------------------- statements


def test_statements_are_merged_and_counted(tmp_path: Path, chat: Chat) -> None:
    """Every leaf gets its own, and the manifest says what that took."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    result = corpus.run()

    assert result.exit_code == 0
    for record in corpus.records:
        sentence = record["metadata"]["enrichment"]["statement"]
        assert record["context_prefix"].endswith(f"\n{sentence}")
    count = len(corpus.records)
    assert corpus.manifest["counts"]["statements"] == count
    assert corpus.manifest["spent"]["requests"] == count
    assert corpus.manifest["spent"]["usage"]["output"] == 12 * count
    assert corpus.manifest["spent"]["cost_usd"] is None
    ledger = corpus.chunks.with_name("handbook.ledger.jsonl").read_text("utf-8")
    assert len(ledger.splitlines()) == count


def test_a_second_run_asks_nothing_and_writes_the_same(
    tmp_path: Path, chat: Chat
) -> None:
    """Every answer is in the cache, whatever the run it came from."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    corpus.run()
    first, asked = corpus.chunks.read_bytes(), len(chat.bodies)

    corpus.run()

    assert corpus.chunks.read_bytes() == first
    assert len(chat.bodies) == asked
    assert corpus.manifest["spent"]["cache_hits"] == asked


@pytest.mark.parametrize(
    "sizes",
    [
        {"granularity": "leaves"},
        {"granularity": "tree"},
        {"granularity": "multi"},
        {"granularity": "multi", "embed": "paragraph"},
    ],
    ids=["leaves", "tree", "multi", "paragraphs"],
)
def test_enrichment_moves_no_boundary_id_or_text(
    tmp_path: Path, chat: Chat, sizes: dict[str, object]
) -> None:
    """Off, on, cached and failed differ in prefix and enrichment alone."""
    sizes = sizes | {"max_tokens": 64}
    off = handbook(tmp_path / "off", chunking=sizes)
    on = handbook(tmp_path / "on", chunking=sizes, enrichment=asking(chat.address))
    failed = handbook(
        tmp_path / "failed",
        chunking=sizes,
        enrichment=asking(f"{chat.address}/nowhere", max_attempts=1),
    )
    off.run()
    on.run()
    chat.answer = lambda _: Answer(status=400, text='{"error": {"message": "no"}}')

    result = failed.run()

    assert result.exit_code == 3
    assert without_enrichment(on.records) == without_enrichment(off.records)
    assert without_enrichment(failed.records) == without_enrichment(off.records)
    assert [r["embed_text"] for r in failed.records] == [
        r["embed_text"] for r in off.records
    ]
    for corpus in (off, on, failed):
        assert check(corpus.chunks).findings == []


def test_single_blocks_take_the_statement_of_their_leaf(
    tmp_path: Path, chat: Chat
) -> None:
    """Nobody is asked twice about the same text (C9)."""
    sizes = {"granularity": "multi", "embed": "paragraph"}
    corpus = handbook(tmp_path, chunking=sizes, enrichment=asking(chat.address))

    corpus.run()

    records = {record["chunk_id"]: record for record in corpus.records}
    single = [record for key, record in records.items() if is_paragraph(key)]
    asked = {key for key, each in records.items() if not is_paragraph(key)}
    assert single
    for record in single:
        leaf = records[record["parent_chunk_id"]]
        assert record["metadata"]["enrichment"] == leaf["metadata"]["enrichment"]
        assert record["metadata"]["enrichment"]["status"] == "statement"
        assert record["embed_text"].startswith(record["context_prefix"])
    assert len(chat.bodies) <= len(asked)


def test_what_it_will_cost_is_said_before_it_costs(tmp_path: Path, chat: Chat) -> None:
    """The forecast counts what is not answered yet."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address))
    asked_when_told: list[int] = []
    heard = Heard(when_told=lambda: asked_when_told.append(len(chat.bodies)))

    corpus.run(heard)
    corpus.run(heard)

    first, second = [forecast.estimate for forecast in heard.forecasts]
    assert asked_when_told[0] == 0
    assert first is not None
    assert second is not None
    assert first.requests == len(chat.bodies)
    assert (second.requests, second.cached) == (0, first.requests)


def test_a_limit_on_spending_leaves_the_rest_and_tells(
    tmp_path: Path, chat: Chat
) -> None:
    """Chunks are published, answers kept, and the next run goes on."""
    corpus = handbook(
        tmp_path, enrichment=asking(chat.address, max_total_tokens=1500, concurrency=1)
    )

    result = corpus.run()

    skipped = corpus.manifest["counts"]["skipped"]
    assert result.exit_code == 3
    assert result.reason is not None
    assert f"{skipped['budget']} chunks were not asked about; budget" in result.reason
    assert 0 < len(chat.bodies) < len(corpus.records)
    assert check(corpus.chunks).findings == []


def test_one_refused_chunk_costs_no_other(tmp_path: Path, chat: Chat) -> None:
    """It keeps its breadcrumb and says why; the share decides the exit code."""

    def refuse_one(body: dict[str, Any]) -> Answer:
        *_, passage = body["messages"][-1]["content"].split("The passage stands")
        if "Book the train" in passage:
            return Answer(status=400, text='{"error": {"message": "not this one"}}')
        return statement(body)

    chat.answer = refuse_one
    corpus = handbook(tmp_path, enrichment=asking(chat.address, max_fallback_share=0.5))

    result = corpus.run()

    assert result.exit_code == 0
    assert corpus.manifest["counts"]["fallbacks"] == {"rejected": 1}
    assert corpus.manifest["counts"]["statements"] == len(corpus.records) - 1


def test_a_wrong_key_publishes_nothing(tmp_path: Path, chat: Chat) -> None:
    """The first request finds it; what was published before stays."""
    chat.answer = lambda _: Answer(status=401, text='{"error": {"message": "key"}}')
    corpus = handbook(tmp_path, enrichment=asking(chat.address))

    result = corpus.run()

    assert result.exit_code == 1
    assert len(chat.bodies) == 1
    assert not corpus.chunks.exists()


def test_documents_are_asked_about_side_by_side(tmp_path: Path, chat: Chat) -> None:
    """Many small documents fill the concurrency, and still come out in order."""
    corpus = handbook(tmp_path, enrichment=asking(chat.address, concurrency=8))
    for number in range(40):
        rules = "\n".join(f"# Rule {number}.{n}\n\n{LEAVE[-150:]}" for n in (1, 2))
        corpus.document(f"n{number:02}.md", rules)

    corpus.run()

    in_order = [record["doc_id"] for record in corpus.records]
    assert in_order == sorted(in_order)
    assert len(set(in_order)) == 42
    assert corpus.manifest["counts"]["statements"] == len(in_order)


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_the_cache_is_for_its_owner_alone(tmp_path: Path, chat: Chat) -> None:
    """Answers tell of documents."""
    corpus = handbook(
        tmp_path, enrichment=asking(chat.address), cache={"directory": "cache"}
    )

    corpus.run()

    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert Corpus(folder=tmp_path).manifest["spent"]["attempts"] == len(chat.bodies)
