"""The API as callers write it: type-checked, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate import (
    Chunk,
    Document,
    Read,
    Rules,
    SituateError,
    TokenCounter,
    chunk,
    from_record,
    load_counter,
    read,
    read_chunks,
    to_line,
    to_record,
    walk,
)
from situate.enrichment import (
    Cache,
    ScriptedProvider,
    Session,
    Settings,
    Summary,
    estimate,
    load_prompt,
    plan,
)
from situate.pricing import load_models

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path


def cut(path: Path) -> tuple[Chunk, ...]:
    """Read a file and cut it."""
    found: Read = read(path.read_bytes(), path.name, doc_type="policy")
    document: Document = found.document
    for warning in found.warnings:
        warning.upper()
    counter: TokenCounter = load_counter("cl100k_base")
    rules = Rules(max_tokens=256, granularity="tree")
    return chunk(document, rules, counter, corpus="policies")


def store(chunks: tuple[Chunk, ...], path: Path) -> list[str | None]:
    """Write chunks as JSON lines and read them again."""
    path.write_bytes(b"".join(to_line(to_record(chunk)) for chunk in chunks))
    found: list[str | None] = []
    for one in read_chunks(path):
        same: Chunk = from_record(to_record(one), "memory")
        found += [same.embed_text, same.statement, same.metadata.title]
        found.extend(same.breadcrumb)
    return found


def headings(document: Document) -> list[str]:
    """Walk over the sections of a document."""
    return [section.title for section, ancestors in walk(document.root) if ancestors]


def refused(path: Path) -> str | None:
    """Catch everything that is raised on purpose."""
    try:
        cut(path)
    except SituateError as error:
        return str(error)
    return None


async def enriched(
    document: Document, chunks: tuple[Chunk, ...], folder: Path
) -> tuple[tuple[Chunk, ...], Summary, Decimal | None]:
    """Price the statements of a document, then ask for them."""
    provider = ScriptedProvider(["Days of leave for people who join in May."])
    settings = Settings(provider="scripted", model="any", prompt="findable-v1")
    counter = load_counter("cl100k_base")
    prompt = load_prompt(settings.prompt)
    facts = load_models().facts("openai", settings.model)
    planned = plan(
        chunks,
        document,
        settings=settings,
        prompt=prompt,
        provider=provider,
        facts=facts,
        counter=counter,
    )
    with Cache(folder) as cache:
        price = estimate(
            [planned],
            settings=settings,
            facts=facts,
            known=cache.knows,
            stored=cache.holds,
        ).usd_high
        async with Session(
            settings=settings,
            prompt=prompt,
            provider=provider,
            cache=cache,
            ledger=None,
            counter=counter,
            facts=facts,
        ) as session:
            return await session.enrich(document, chunks), session.summary, price


class Words:
    """A counter of one's own needs no base class."""

    name = "words"
    splits_at_lines = True

    def count(self, text: str) -> int:
        """Count words."""
        return len(text.split())


counter: TokenCounter = Words()
