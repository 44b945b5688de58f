"""The whole stage against a real model server: asked, judged, kept, found again.

The model has 135 million weights. It answers fluently and knows nothing, which is
what the gate is for.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from situate.chunking import Rules, chunk
from situate.enrichment.cache import Cache
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import Session
from situate.enrichment.providers import open_provider
from situate.enrichment.reasons import REASONS
from situate.enrichment.settings import Settings, View
from situate.pricing import load_models
from situate.prompts import load_prompt
from situate.readers import read
from situate.tokens import load_counter
from tests.support.server import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from situate.enrichment.live import Summary
    from situate.model import Chunk

pytestmark = pytest.mark.xdist_group("model server")

# The server's context is 512 tokens, so that the shipped prompts do not fit.
PROMPT = """\
<!-- system -->
Write one sentence that says what the passage is about.
<!-- document -->
<$document_tag>
$title $doc_type
$document
</$document_tag>
<!-- chunk -->
<$chunk_tag>
$breadcrumb
$chunk
</$chunk_tag>
<!-- marked-system -->
Write one sentence for every passage. Answer with a JSON object of sentences.
<!-- marked-chunks -->
Passages begin behind [$marker.N]. Write the sentences $numbers as {"1": "..."}.
"""

SOURCE = """\
# Cover

The insurer pays for repairs of roofs that were damaged by storms.

# Excess

The member bears the first part of each claim, also after a renewal.
"""

COUNTER = load_counter("cl100k_base")


@pytest.mark.parametrize(
    ("provider", "view"),
    [("openai", "marked"), ("anthropic", "full")],
)
def test_a_small_model_runs_the_whole_stage(
    tmp_path: Path, llama_server: str, provider: str, view: View
) -> None:
    """Every chunk ends with a statement or a reason, and the next run agrees."""
    (tmp_path / "short-v1.md").write_text(PROMPT, "utf-8")
    document = read(SOURCE.encode(), "cover.md").document
    chunks = chunk(document, Rules(min_tokens=0), COUNTER)
    address = f"{llama_server}/v1" if provider == "openai" else llama_server
    settings = Settings(
        provider=provider,
        model=MODEL,
        prompt="short-v1",
        base_url=address,
        view=view,
        statement_max_tokens=12,
        concurrency=1,
    )

    async def stage(cache: Cache, ledger: Ledger) -> tuple[tuple[Chunk, ...], Summary]:
        async with Session(
            settings=settings,
            prompt=load_prompt("short-v1", directory=tmp_path),
            provider=open_provider(
                provider,
                model=MODEL,
                base_url=address,
                endpoint="local",
                timeout_seconds=60,
                replay=None,
            ),
            cache=cache,
            ledger=ledger,
            counter=COUNTER,
            facts=load_models().facts(provider, MODEL),
        ) as session:
            return await session.enrich(document, chunks), session.summary

    with Cache(tmp_path / "cache") as cache, Ledger(tmp_path / "ledger") as ledger:
        first, summary = asyncio.run(stage(cache, ledger))
        second, again = asyncio.run(stage(cache, ledger))

    lines = [
        json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()
    ]
    outcomes = [each.enrichment for each in first]
    assert len(outcomes) == 2
    assert {outcome.status for outcome in outcomes} <= {"statement", "fallback"}
    assert all(outcome.statement or outcome.reason in REASONS for outcome in outcomes)
    assert sum(summary.fallbacks.values()) >= summary.statements
    assert summary.usage.input > 0
    assert {line["outcome"] for line in lines} <= {"answered", "truncated", "empty"}
    assert second == first
    assert again.requests <= summary.requests
