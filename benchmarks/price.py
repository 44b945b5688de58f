"""What statements cost: `python -m benchmarks.price [FOLDER or docs.jsonl]...`.

First at the assumptions Anthropic published for contextual retrieval (September
2024): documents of 8,000 tokens, chunks of 800, instructions of 50, Claude 3 Haiku.
Then over documents of one's own: a folder that situate reads, or JSON lines with
`doc_id`, `format` and `text`. Every way of asking is planned, and asked for against
a protocol double that counts tokens and keeps the vendor's caching rules; what is
said to be measured is what that double billed. A budget that is exceeded says so,
and is for people to judge: the exit code does not depend on it.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import tempfile
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.documents import from_folder
from benchmarks.measuring import markdown_table
from situate.chunking import Rules, chunk
from situate.enrichment import (
    Cache,
    Prompt,
    Session,
    Settings,
    Usage,
    estimate,
    load_prompt,
    plan,
)
from situate.enrichment.providers.anthropic import AnthropicProvider
from situate.pricing import ModelFacts, Prices, cost, load_models
from situate.readers import read
from situate.tokens import load_counter
from tests.support.mock_model import Script, speaking
from tests.support.mock_replies import Billing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.enrichment import Summary
    from situate.enrichment.settings import View
    from situate.model import Chunk, Document

COUNTER = load_counter("cl100k_base")
MILLION = Decimal(1_000_000)

# The budgets of the design.
MOST_USD_LIVE, MOST_USD_BATCH = Decimal("0.36"), Decimal("0.18")
MOST_PROMPT_SHARE = 1.3
FROM_TOKENS = 2_000

HAIKU_2024 = Prices(
    input=Decimal("0.25"),
    output=Decimal("1.25"),
    cache_write=Decimal("0.30"),
    cache_read=Decimal("0.03"),
    as_of=datetime.date(2024, 9, 19),
    source="Anthropic's price list for Claude 3 Haiku, as used for $1.02 in 2024",
)
PUBLISHED_USD = Decimal("1.02")
DOCUMENT_TOKENS, CHUNK_TOKENS = 8_000, 800

CLASSES = (0, 500, 1_000, 2_000, 4_000, 8_000, 10**9)
"""Bounds of the sizes that documents are told apart by, in tokens."""

SHORT = Prompt(
    name="short-v1",
    hash="0" * 32,
    system="You place passages for a search index. Answer with the sentence alone.",
    document="<$document_tag>\n$document\n</$document_tag>",
    chunk="<$chunk_tag>\n$chunk\n</$chunk_tag>\nPlace this passage in the document.",
    marked_system="You place passages for a search index. Answer in JSON.",
    marked_chunks="Place the passages $numbers behind the markers [$marker.N] in the "
    "document: a sentence each, by number.",
)
"""Instructions of about 50 tokens, as in the published assumptions."""

VIEWS: tuple[View, ...] = ("marked", "full", "window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A document and its chunks."""

    document: Document
    chunks: tuple[Chunk, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of asking."""

    view: View
    prompt: Prompt
    facts: ModelFacts
    sentence_tokens: int = 40

    @property
    def settings(self) -> Settings:
        """What a corpus would be configured with."""
        return Settings(
            provider="anthropic",
            model=self.facts.model,
            prompt=self.prompt.name,
            view=self.view,
            statement_max_tokens=self.sentence_tokens + 20,
            max_usd=Decimal(1000),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one way of asking came to."""

    planned_usd: Decimal
    usd: Decimal
    usage: Usage
    statements: int
    asked_tokens: int
    """Of the documents that were asked about."""
    schema_tokens: int
    """Of the input: what is not in our own count."""
    requests: int

    @property
    def prompt_share(self) -> float:
        """Prompt tokens for each token of a document."""
        return self.usage.input / max(1, self.asked_tokens)

    def per_million(self, usd: Decimal) -> Decimal:
        """Give a price for a million tokens of documents."""
        return usd * MILLION / max(1, self.asked_tokens)


def published(count: int) -> list[Cut]:
    """Make documents as they were published about: ten chunks of one size each."""
    return [
        cut(f"published-{number}.md", _ten_sections(number), max_tokens=CHUNK_TOKENS)
        for number in range(count)
    ]


def _ten_sections(number: int) -> str:
    parts = []
    for section in range(DOCUMENT_TOKENS // CHUNK_TOKENS):
        text = f"## Part {section + 1} of {number}\n\n"
        line = 0
        while COUNTER.count(text) < CHUNK_TOKENS - 32:
            line += 1
            text += (
                f"Rule {number}.{section}.{line} holds for every renewal of the terms, "
                "and costs of a review are shared by those who asked. "
            )
        parts.append(text.rstrip())
    return "\n\n".join(parts)


def cut(name: str, text: str, *, max_tokens: int) -> Cut:
    """Read and cut a document."""
    document = read(text.encode(), name).document
    chunks = chunk(document, Rules(max_tokens=max_tokens), COUNTER, corpus=None)
    tokens = sum(each.token_count for each in chunks)
    return Cut(document=document, chunks=chunks, tokens=tokens)


def documents_in(path: Path) -> list[Cut]:
    """Read and cut the documents of a folder or of JSON lines."""
    if path.is_dir():
        named = [(source.name, source.text) for source in from_folder(path)]
    else:
        lines = path.read_text("utf-8").splitlines()
        named = [
            (f"{record['doc_id']}.{record['format']}", record["text"])
            for record in map(json.loads, lines)
        ]
    return [cut(name, text, max_tokens=512) for name, text in named]


def outcome(way: Way, cuts: Sequence[Cut]) -> Outcome:
    """Plan and ask; the price is that of what the double billed."""
    billing = Billing(
        minimum_tokens=way.facts.cache_minimum_tokens,
        sentence_tokens=way.sentence_tokens,
    )
    with (
        speaking(Script(billing=billing), lifetime_seconds=3600) as model,
        tempfile.TemporaryDirectory() as folder,
    ):
        provider = AnthropicProvider(
            facts=way.facts, base_url=model.anthropic_url, timeout_seconds=60
        )
        plans = [
            plan(
                each.chunks,
                each.document,
                settings=way.settings,
                prompt=way.prompt,
                provider=provider,
                facts=way.facts,
                counter=COUNTER,
            )
            for each in cuts
        ]
        planned = estimate(
            plans, settings=way.settings, facts=way.facts, known=lambda _: False
        )
        asked = [each for each, its in zip(cuts, plans, strict=True) if its.requests]
        with Cache(Path(folder)) as cache:
            summary = asyncio.run(_ask(way, provider, asked, cache))
    wanted = sum(len(its.passages) for its in plans)
    assert summary.statements == wanted, (summary, wanted)
    assert planned.usd_low is not None
    assert summary.cost_usd is not None
    return Outcome(
        planned_usd=planned.usd_low,
        usd=summary.cost_usd,
        usage=summary.usage,
        statements=summary.statements,
        asked_tokens=sum(each.tokens for each in asked),
        schema_tokens=summary.usage.input - planned.input_tokens,
        requests=summary.requests,
    )


async def _ask(
    way: Way, provider: AnthropicProvider, cuts: Sequence[Cut], cache: Cache
) -> Summary:
    async with Session(
        settings=way.settings,
        prompt=way.prompt,
        provider=provider,
        cache=cache,
        ledger=None,
        counter=COUNTER,
        facts=way.facts,
    ) as session:
        async with asyncio.TaskGroup() as group:
            for each in cuts:
                group.create_task(session.enrich(each.document, each.chunks))
        return session.summary


def at_published_assumptions(count: int) -> None:
    """Compare every view with one cached call per chunk, at the prices of 2024."""
    cuts = published(count)
    facts = replace(
        load_models().facts("anthropic", "claude-haiku-5-5"),
        # Claude 3 Haiku kept prefixes from this length on.
        cache_minimum_tokens=2_048,
        prices=HAIKU_2024,
    )
    tokens = sum(each.tokens for each in cuts)
    chunks = sum(len(each.chunks) for each in cuts)
    print(
        f"{count} documents of {tokens / count:,.0f} tokens, {chunks / count:g} "
        f"chunks each of {tokens / chunks:,.0f}, Claude 3 Haiku's prices of 2024\n"
    )
    short, ours = SHORT, load_prompt("situating-v1")
    ways = {
        "one cached call per chunk, 100 tokens each": Way(
            view="full", prompt=short, facts=facts, sentence_tokens=100
        ),
        **{
            f"{view}, {name}": Way(view=view, prompt=prompt, facts=facts)
            for view in VIEWS
            for name, prompt in (("50-token instructions", short), ("ours", ours))
        },
    }
    rows = [
        [
            "as published: 10 reads, 100 tokens each",
            *("", "", f"{_as_published():.3f}", "", ""),
        ]
    ]
    for name, way in ways.items():
        found = outcome(way, cuts)
        live = found.per_million(found.usd)
        batch = live * HAIKU_2024.batch_factor
        rows.append(
            [
                name,
                f"{found.prompt_share:.3f}",
                f"{found.usage.output / found.statements:.1f}",
                f"{found.per_million(found.planned_usd):.3f}",
                f"{live:.3f}{_over(live, MOST_USD_LIVE, way.view)}",
                f"{batch:.3f}{_over(batch, MOST_USD_BATCH, way.view)}",
            ]
        )
    header = ["view, prompt", "prompt tokens per document token", "output per chunk"]
    header += ["planned $/M", f"measured $/M (at most {MOST_USD_LIVE})"]
    header += [f"in batch (at most {MOST_USD_BATCH})"]
    markdown_table(header, rows)


def _as_published() -> Decimal:
    """Rebuild the published $1.02: a write and a read for every chunk."""
    chunks = DOCUMENT_TOKENS // CHUNK_TOKENS
    usage = Usage(
        cache_write=DOCUMENT_TOKENS,
        cache_read=chunks * DOCUMENT_TOKENS,
        uncached_input=chunks * (CHUNK_TOKENS + 50),
        output=chunks * 100,
    )
    usd = cost(usage, HAIKU_2024) * MILLION / DOCUMENT_TOKENS
    assert abs(usd - PUBLISHED_USD) < Decimal("0.01"), usd
    return usd


def _over(usd: Decimal, most: Decimal, view: View) -> str:
    return " MISSED" if view == "marked" and usd > most else ""


def on_documents(path: Path) -> None:
    """Compare the views on documents of every size."""
    cuts = documents_in(path)
    facts = load_models().facts("anthropic", "claude-haiku-5-5")
    prompt = load_prompt("situating-v1")
    label = path.name if path.is_dir() else f"{path.parent.name}/{path.name}"
    print(f"{label}: {len(cuts)} documents, {facts.model}, {prompt.name}\n")
    rows = []
    for least, most in pairwise(CLASSES):
        its = [each for each in cuts if least <= each.tokens < most]
        if not its:
            continue
        found = {
            view: outcome(Way(view=view, prompt=prompt, facts=facts), its)
            for view in VIEWS
        }
        rows.append(_row(least, most, its, found))
    header = ["tokens of a document", "documents", "chunks asked about"]
    header += ["prompt tokens per document token, marked", "of that in schemas"]
    header += [f"$/M tokens, {view}" for view in VIEWS]
    markdown_table(header, rows)


def _row(
    least: int, most: int, cuts: Sequence[Cut], found: dict[View, Outcome]
) -> list[str]:
    name = f"{least:,} to {most:,}" if most < CLASSES[-1] else f"{least:,} and more"
    marked = found["marked"]
    if not marked.statements:
        return [name, f"{len(cuts)}", "0", *("",) * (2 + len(VIEWS))]
    is_missed = least >= FROM_TOKENS and marked.prompt_share > MOST_PROMPT_SHARE
    return [
        name,
        f"{len(cuts)}",
        f"{marked.statements}",
        f"{marked.prompt_share:.3f}{' MISSED' if is_missed else ''}",
        f"{marked.schema_tokens / marked.asked_tokens:.3f}",
        *_dollars(found[view] for view in VIEWS),
    ]


def _dollars(outcomes: Iterable[Outcome]) -> list[str]:
    return [f"{each.per_million(each.usd):.3f}" for each in outcomes]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=Path, nargs="*")
    parser.add_argument("--count", type=int, default=25, help="documents made: 25")
    asked = parser.parse_args()
    at_published_assumptions(asked.count)
    for path in asked.documents:
        on_documents(path)


if __name__ == "__main__":
    main()
