"""Enrichment adds sentences and changes nothing else, whatever becomes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from situate.config import load
from situate.pipeline.jobs import ready
from situate.pipeline.run import run
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, Heard, asking
from tests.support.mock_model import MockModel, Script, identity, speaking

if TYPE_CHECKING:
    from pathlib import Path

SENTENCE = {"statement", "reason", "model", "prompt", "view", "status"}


def corpus_of(folder: Path, model: MockModel | None, name: str = "on") -> Corpus:
    """Write the same documents; ask a server where one is given."""
    corpus = Corpus(folder=folder, name=name)
    for number in range(3):
        corpus.document(f"{number}.md", agreement(number, 6))
    if model is None:
        return corpus.configure()
    return corpus.configure(
        enrichment=asking(model.openai_url, concurrency=4, endpoint="mock"),
        cache={"directory": "cache"},
    )


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what says that a sentence was asked for, and the hash over it."""
    metadata = dict(record["metadata"])
    del metadata["enrichment"], metadata["metadata_hash"]
    return {**record, "metadata": metadata}


def without_statement(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a sentence adds to a record."""
    rest = plain(record)
    for key in ("context_prefix", "embed_text"):
        del rest[key]
    del rest["metadata"]["embed_hash"], rest["metadata"]["corpus"]
    return rest


@pytest.fixture
def off(tmp_path: Path) -> list[dict[str, Any]]:
    """Give the records of the corpus without enrichment."""
    corpus = corpus_of(tmp_path / "off", None)
    corpus.run()
    return corpus.records


def test_a_sentence_adds_to_prefix_and_embed_text_alone(
    tmp_path: Path, off: list[dict[str, Any]]
) -> None:
    """Boundaries, ids, texts, lineage and breadcrumbs stay where they are."""
    with speaking() as model:
        corpus = corpus_of(tmp_path / "on", model)
        corpus.run()

    records = corpus.records

    assert [without_statement(r) for r in records] == [
        without_statement(r) for r in off
    ]
    for record, bare in zip(records, off, strict=True):
        statement = record["metadata"]["enrichment"]["statement"]
        assert statement
        assert record["context_prefix"] == f"{bare['context_prefix']}\n{statement}"
        assert record["lexical_text"] == bare["lexical_text"]


def test_with_every_request_failing_only_enrichment_tells(
    tmp_path: Path, off: list[dict[str, Any]]
) -> None:
    """E10: the output is that of a run that never asked."""
    with speaking(Script(turns=("unavailable",))) as model:
        corpus = corpus_of(tmp_path / "failed", model)
        keys = asking(model.openai_url, max_attempts=1, max_wait_seconds=0.01)
        corpus.configure(enrichment=keys, cache={"directory": "cache"}).run()

    records = corpus.records

    assert [plain(record) for record in records] == [plain(record) for record in off]
    assert {r["metadata"]["enrichment"]["statement"] for r in records} == {None}
    assert all(set(r["metadata"]["enrichment"]) == SENTENCE for r in records)


def test_a_second_run_sends_nothing_and_writes_the_same_bytes(tmp_path: Path) -> None:
    """E3: what was paid for is there, and gives the same records."""
    with speaking() as model:
        corpus = corpus_of(tmp_path, model)
        corpus.run()
        first, asked = corpus.chunks.read_bytes(), model.statistics.calls

        corpus.run()

        assert corpus.chunks.read_bytes() == first
        assert model.statistics.calls == asked


def test_of_two_corpora_only_the_enriched_one_asks(tmp_path: Path) -> None:
    """Scene L29: The switch belongs to the corpus, not to the run."""
    with speaking() as model:
        asks = corpus_of(tmp_path / "asks", model, "asks")
        silent = corpus_of(tmp_path / "silent", None, "silent")
        configs = load([asks.config, silent.config], environment={})

        results = run(configs, Heard())

        assert [result.exit_code for result in results] == [0, 0]
        assert model.statistics.calls == len(asks.records)
    statuses = {r["metadata"]["enrichment"]["status"] for r in silent.records}
    assert statuses == {"off"}


def test_what_is_sent_is_what_was_planned(tmp_path: Path) -> None:
    """E1: with an empty cache and no failure, byte for byte."""
    with speaking() as model:
        corpus = corpus_of(tmp_path, model)
        (job,) = ready(load([corpus.config], environment={}))
        plans = job.plans(job.sources(), Heard())
        planned = [request.body for plan in plans for request in plan.requests]

        corpus.run()

        sent = model.statistics.requests
    bodies = [
        json.dumps(dict(body), ensure_ascii=False, separators=(",", ":")).encode()
        for body in planned
    ]
    assert sorted(sent) == sorted(identity(body) for body in bodies)
    assert set(sent.values()) == {1}
