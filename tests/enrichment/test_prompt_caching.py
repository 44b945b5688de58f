"""E6: warm with one request, see the next one read, then ask all the rest at once.

Vendors play their caching rules in simulated time: a prefix is found only once the
answer that wrote it has come and, where a test says so, has settled.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

from situate.enrichment.cache import Cache
from situate.enrichment.live import Session
from situate.enrichment.providers.connection import on_the_wire
from situate.enrichment.settings import Settings
from situate.model import Metadata
from situate.pricing import load_models
from situate.prompts import load_prompt
from tests.enrichment.scenes import COUNTER, chunks_of, document, texts
from tests.support.mock_replies import Billing
from tests.support.simulated import (
    SimulatedClaude,
    SimulatedGPT,
    simulate,
    timing,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from situate.enrichment.exchange import Body
    from situate.enrichment.live import Summary
    from situate.enrichment.settings import View
    from situate.model import Chunk, Document

    Vendor = SimulatedClaude | SimulatedGPT

CHUNKS = 10
MODELS = {
    "claude-haiku-5-5": "anthropic",
    "gpt-5.4-mini": "openai",
    "gpt-6-luna": "openai",
}

MARKED = ("claude-haiku-5-5", "gpt-6-luna")
"""Those that keep what ends at a mark, and say and bill what they have written;
OpenAI bills nothing for it before GPT-5.6."""

REPORTED = Billing(settling_seconds=2.0)
"""What public reports saw at worst."""

FACTS = load_models().facts("anthropic", "claude-haiku-5-5")

NEVER = Billing(settling_seconds=math.inf)


def _vendor(model: str, billing: Billing, **changes: Any) -> Vendor:
    facts = load_models().facts(MODELS[model], model)
    kind = SimulatedClaude if MODELS[model] == "anthropic" else SimulatedGPT
    return kind(facts, billing, **changes)


def _document(number: int, *, chunks: int = CHUNKS, length: int = 12) -> Document:
    """Give a document that no other shares a prefix with; length is in lines."""
    parts = (
        " ".join(line.replace("tier", f"tier {number}.{n}") for line in texts(length))
        for n in range(chunks)
    )
    return document(*parts, doc_id=f"policy-{number}")


@dataclass(frozen=True)
class Played:
    """What came of enriching documents with a vendor."""

    seconds: float
    summary: Summary
    chunks: tuple[Chunk, ...]


def _play(
    vendor: Vendor,
    directory: Path,
    sources: Sequence[Document],
    *,
    view: View = "full",
    **changes: Any,
) -> Played:
    """Enrich all of them at once; changes are to the facts of the model."""
    chosen = Settings(
        provider=vendor.name,
        model=vendor.facts.model,
        prompt="situating-v1",
        view=view,
        max_usd=Decimal(100),
    )

    async def session(cache: Cache) -> tuple[Summary, tuple[Chunk, ...]]:
        async with Session(
            settings=chosen,
            prompt=load_prompt(chosen.prompt),
            provider=vendor,
            cache=cache,
            ledger=None,
            counter=COUNTER,
            facts=replace(vendor.facts, **changes),
            timing=timing(),
        ) as open_session:
            enriched = await asyncio.gather(
                *(open_session.enrich(each, chunks_of(each)) for each in sources)
            )
            chunks = tuple(chunk for part in enriched for chunk in part)
            return open_session.summary, chunks

    with Cache(directory / "cache") as cache:
        seconds, (summary, chunks) = simulate(session(cache))
    return Played(seconds=seconds, summary=summary, chunks=chunks)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "billing", [Billing(), REPORTED], ids=["found at once", "found after two seconds"]
)
def test_a_document_is_written_to_the_cache_once(
    tmp_path: Path, model: str, billing: Billing
) -> None:
    """Scene L19: one write for each document, and everything else reads it."""
    vendor = _vendor(model, billing)
    sources = [_document(number) for number in range(5)]

    played = _play(vendor, tmp_path, sources)

    assert list(vendor.desk.writes.values()) == [1] * len(sources)
    assert list(vendor.desk.reads.values()) == [CHUNKS - 1] * len(sources)
    summary = played.summary
    assert summary.statements == summary.requests == CHUNKS * len(sources)
    assert summary.prefix_writes == (len(sources) if model in MARKED else 0)
    assert summary.prefix_reads == (CHUNKS - 1) * len(sources)
    assert summary.wasted_writes == 0
    assert summary.warnings == ()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "billing", [Billing(), REPORTED], ids=["found at once", "found after two seconds"]
)
def test_parts_for_different_people_are_each_written_once(
    tmp_path: Path, model: str, billing: Billing
) -> None:
    """S6: two beginnings are no waste, and neither waits for the other."""
    vendor = _vendor(model, billing)
    for_some = Metadata(custom={"acl_read": "hr"})
    source = _document(0, length=30)
    sections = tuple(
        replace(section, metadata=for_some if number % 2 else None)
        for number, section in enumerate(source.root.children)
    )
    divided = replace(source, root=replace(source.root, children=sections))
    half = replace(source, root=replace(source.root, children=sections[::2]))
    alone = _play(_vendor(model, billing), tmp_path / "alone", [half])

    played = _play(vendor, tmp_path, [divided])

    assert list(vendor.desk.writes.values()) == [1, 1]
    assert list(vendor.desk.reads.values()) == [CHUNKS // 2 - 1] * 2
    assert played.summary.statements == played.summary.requests == CHUNKS
    assert played.summary.wasted_writes == 0
    assert played.summary.warnings == ()
    assert played.seconds < alone.seconds * 1.5


@pytest.mark.parametrize("model", MODELS)
def test_nobody_else_asks_before_the_cache_was_read(tmp_path: Path, model: str) -> None:
    """A first reread that misses whatever the time wastes one write, not many."""
    vendor = _vendor(model, Billing(first_reread_misses=True))

    played = _play(vendor, tmp_path, [_document(0)])

    assert list(vendor.desk.writes.values()) == [2]
    assert list(vendor.desk.reads.values()) == [CHUNKS - 2]
    assert played.summary.wasted_writes == (1 if model in MARKED else 0)
    assert played.summary.warnings == ()


@pytest.mark.parametrize("model", MARKED)
def test_a_cache_that_is_never_read_is_not_paid_for_on_and_on(
    tmp_path: Path, model: str
) -> None:
    """Scene L21: after three writes nothing is marked, and a warning says why."""
    vendor = _vendor(model, NEVER)

    played = _play(vendor, tmp_path, [_document(0), _document(1)])

    assert list(vendor.desk.writes.values()) == [3, 3]
    assert vendor.desk.marks == 6
    assert played.summary.statements == 2 * CHUNKS
    assert played.summary.wasted_writes == 4
    (warning,) = played.summary.warnings
    assert "read nothing from its cache for 2 documents" in warning
    assert "'policy-0'" in warning


@pytest.mark.parametrize("model", MODELS)
def test_a_document_below_the_minimum_is_neither_marked_nor_waited_for(
    tmp_path: Path, model: str
) -> None:
    """Scene L20: vendors keep no short prefix, and say nothing when asked to."""
    vendor = _vendor(model, REPORTED)
    source = document(*texts(3))
    # Claude keeps prefixes from 512 tokens on, which the instructions have alone.
    if isinstance(vendor, SimulatedClaude):
        instructions = COUNTER.count(load_prompt("situating-v1").system)
        assert instructions < vendor.facts.cache_minimum_tokens

    played = _play(vendor, tmp_path, [source])

    assert vendor.desk.marks == 0
    assert not vendor.desk.writes
    assert played.seconds < 3
    assert played.summary.warnings == ()


@pytest.mark.parametrize("model", MARKED)
def test_what_nobody_reads_again_is_not_written(tmp_path: Path, model: str) -> None:
    """A document that is sent once is sent at the plain price, however long."""
    vendor = _vendor(model, Billing())

    played = _play(vendor, tmp_path, [_document(0), _document(1)], view="marked")

    assert played.summary.requests == 2
    assert vendor.desk.input_tokens > 2 * 1_024
    assert vendor.desk.marks == 0
    assert not vendor.desk.writes
    assert played.summary.usage.uncached_input == vendor.desk.input_tokens


class _Uneven(SimulatedClaude):
    """Takes between one second and one and a half, each request its own time."""

    async def send(self, body: Body) -> str:
        self.latency_seconds = 1 + crc32(on_the_wire(body)) / 2**33
        return await super().send(body)


class _Linking(SimulatedClaude):
    """Begins with a sentence that cannot be used."""

    answered = 0

    async def send(self, body: Body) -> str:
        raw = await super().send(body)
        self.answered += 1
        return raw.replace("It", "https://a.example", 1 if self.answered == 1 else 0)


def test_a_repair_is_not_sent_before_its_prefix_can_be_read(tmp_path: Path) -> None:
    """The first answer's repair shares its prefix like any other request."""
    vendor = _Linking(FACTS, REPORTED)

    played = _play(vendor, tmp_path, [_document(0)])

    assert played.summary.requests == CHUNKS + 1
    assert list(vendor.desk.writes.values()) == [1]


def test_what_is_at_hand_is_not_waited_for(tmp_path: Path) -> None:
    """A second run sends nothing, and takes no time."""
    sources = [_document(number) for number in range(2)]
    first = _play(_vendor("claude-haiku-5-5", REPORTED), tmp_path, sources)
    vendor = _vendor("claude-haiku-5-5", REPORTED)

    again = _play(vendor, tmp_path, sources)

    assert again.chunks == first.chunks
    assert again.seconds == 0
    assert vendor.desk.input_tokens == 0


def test_warming_costs_next_to_no_time_where_there_are_many_documents(
    tmp_path: Path,
) -> None:
    """Within 5 % of asking everything at once, at 32 in flight and a second each."""
    documents, chunks = 40, 30
    sources = [_document(n, chunks=chunks, length=2) for n in range(documents)]
    warmed, cold = (_Uneven(FACTS, REPORTED) for _ in range(2))

    ordered = _play(warmed, tmp_path / "ordered", sources)
    at_once = _play(cold, tmp_path / "at once", sources, cache="none")

    assert list(warmed.desk.writes.values()) == [1] * documents
    assert ordered.summary.prefix_reads == documents * (chunks - 1)
    assert cold.desk.marks == 0
    assert at_once.seconds <= ordered.seconds <= 1.05 * at_once.seconds
