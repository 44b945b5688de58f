"""What the scenes of this stage are played with: documents, clock, session."""

from __future__ import annotations

import asyncio
import datetime
import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from situate.enrichment.cache import Cache
from situate.enrichment.exchange import Reply, Stop
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import Session, Summary
from situate.enrichment.plan import DocumentPlan, plan
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.enrichment.settings import Settings
from situate.enrichment.throttle import Timing
from situate.model import Block, Chunk, Document, Enrichment, Metadata, Section
from situate.pricing import ModelFacts, Prices
from situate.prompts import Prompt, load_prompt
from situate.tokens import load_counter
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from situate.enrichment.exchange import Body, Provider

COUNTER = load_counter("cl100k_base")

PRICES = Prices(
    input=Decimal(1000),
    output=Decimal(1000),
    cache_write=Decimal(1000),
    cache_read=Decimal(1000),
    as_of=datetime.date(2026, 11, 30),
    source="made up: a dollar per thousand tokens",
)

GOOD = "Employees who renew their cover keep the spending caps of the first year."
"""A sentence with nothing wrong with it."""


def settings(**changes: Any) -> Settings:
    """Give settings for the scripted provider, with changes."""
    plain = Settings(provider="scripted", model="asked-model", prompt="findable-v1")
    return replace(plain, **changes)


def facts(
    prices: Prices | None = None,
    *,
    thinking_reserve: int = 0,
    **changes: Any,
) -> ModelFacts:
    """Give the facts of a model about which nothing is special, with changes."""
    return replace(_plain(prices, thinking_reserve), **changes)


def _plain(prices: Prices | None, thinking_reserve: int) -> ModelFacts:
    return ModelFacts(
        provider="scripted",
        model="asked-model",
        token_field="max_tokens",  # noqa: S106 - tokens of text
        temperature=None,
        fixed={},
        thinking_reserve=thinking_reserve,
        structured_output="none",
        cache="none",
        cache_minimum_tokens=0,
        context_window=None,
        prices=prices,
    )


def document(*texts: str, doc_id: str = "policy", **metadata: Any) -> Document:
    """Give a document with one section per text."""
    about = {"title": "Travel", "doc_type": "policy", **metadata}
    children = tuple(
        Section(
            section_id=f"part-{number}",
            title=f"Part {number}",
            level=1,
            path=(f"Part {number}",),
            blocks=(Block(block_id=f"part-{number}#0", kind="paragraph", text=text),),
        )
        for number, text in enumerate(texts)
    )
    root = Section(section_id="_doc", title="", level=0, path=(), children=children)
    return Document(doc_id=doc_id, version="1", metadata=Metadata(**about), root=root)


FIGURES = "figures"
"""The section that keeps a document of one text from being one chunk."""


def chunks_of(source: Document) -> tuple[Chunk, ...]:
    """Give one leaf per section, and one that nobody asks about to a lone one."""
    sections = source.root.children
    leaves = tuple(
        _leaf(source, section, ordinal) for ordinal, section in enumerate(sections)
    )
    if len(leaves) > 1:
        return leaves
    return tuple(
        replace(
            leaf,
            chunk_id=f"{source.doc_id}:{FIGURES}" if text else leaf.chunk_id,
            section_id=FIGURES if text else leaf.section_id,
            text=text or leaf.text,
        )
        for leaf in leaves
        for text in ("", "1 2 3")
    )


def _leaf(source: Document, section: Section, ordinal: int) -> Chunk:
    text = section.blocks[0].text
    return Chunk(
        chunk_id=f"{source.doc_id}:{section.section_id}",
        doc_id=source.doc_id,
        doc_version=source.version,
        parent_chunk_id=None,
        level="section",
        text=text,
        reading=text,
        breadcrumb_line=f"[policy] Travel > {section.title}",
        block_ids=(section.blocks[0].block_id,),
        parts={},
        spans=(None,),
        pages=(),
        corpus="tests",
        metadata=section.metadata or source.metadata,
        breadcrumb=("Travel", section.title),
        section_id=section.section_id,
        section_ids=None,
        ordinal=ordinal,
        token_count=COUNTER.count(text),
        embed=True,
        embed_form="text",
        forced_split=False,
        enrichment=Enrichment(),
    )


def texts(count: int) -> tuple[str, ...]:
    """Give texts that differ in one number."""
    return tuple(
        f"The above limits do not apply to renewals of tier {number}."
        for number in range(count)
    )


def reply(text: str, *, stop: Stop = "end", tokens: int = 500) -> Reply:
    """Give a reply whose usage is plausible."""
    usage = Usage(uncached_input=tokens, output=20)
    return Reply(text=text, stop=stop, usage=usage, model="answering-model")


def planned(  # noqa: PLR0913 - what `plan` takes, each with a default
    source: Document,
    chunks: Sequence[Chunk] | None = None,
    *,
    provider: Provider | None = None,
    prompt: str | Prompt = "findable-v1",
    about: ModelFacts | None = None,
    asked: Collection[str] | None = None,
    **changes: Any,
) -> DocumentPlan:
    """Plan a document for the scripted provider."""
    return plan(
        chunks_of(source) if chunks is None else chunks,
        source,
        settings=settings(**changes),
        prompt=load_prompt(prompt) if isinstance(prompt, str) else prompt,
        provider=provider or ScriptedProvider([]),
        facts=about or facts(),
        counter=COUNTER,
        asked=asked,
    )


@dataclass
class VirtualTime:
    """A clock that sleeping moves forward; nobody waits."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    chance: float = 0.5

    @property
    def timing(self) -> Timing:
        """What a session takes."""
        return Timing(
            clock=lambda: self.now, sleep=self._sleep, random=lambda: self.chance
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


@dataclass(frozen=True)
class Result:
    """What came of a session over some documents."""

    chunks: tuple[Chunk, ...]
    summary: Summary

    @property
    def outcomes(self) -> list[str | None]:
        """Statement or reason of every chunk."""
        return [c.statement or c.enrichment.reason for c in self.chunks]


def play(
    provider: Provider,
    directory: Path,
    /,
    *sources: Document,
    time: VirtualTime | None = None,
    prices: Prices | None = None,
    ledger: Path | None = None,
    **changes: Any,
) -> Result:
    """Enrich documents in one session, with the cache below `directory`."""
    chosen = settings(**changes)

    async def session(cache: Cache, notes: Ledger | None) -> Result:
        async with Session(
            settings=chosen,
            prompt=load_prompt(chosen.prompt),
            provider=provider,
            cache=cache,
            ledger=notes,
            counter=COUNTER,
            facts=facts(prices),
            timing=(time or VirtualTime()).timing,
        ) as open_session:
            enriched = await asyncio.gather(
                *(open_session.enrich(s, chunks_of(s)) for s in sources)
            )
            return Result(
                chunks=tuple(
                    chunk
                    for part in enriched
                    for chunk in part
                    if chunk.section_id != FIGURES
                ),
                summary=open_session.summary,
            )

    with Cache(directory / "cache") as cache:
        if ledger is None:
            return asyncio.run(session(cache, None))
        with Ledger(ledger) as notes:
            return asyncio.run(session(cache, notes))


def asked_about(body: Body) -> str:
    """Give the chunk's text out of a body, to answer by."""
    part = str(body["chunk"])
    return part.split("\n\n")[2].partition("\n</chunk-")[0]


def marked_texts(body: Body) -> dict[int, str]:
    """Give the marked chunks of a body that it asks about, by their numbers."""
    task = str(body["chunk"])
    begin = task.partition("marker [")[2].partition(".N]")[0]
    _, *parts = str(body["document"]).split(f"[{begin}.")
    shown = {}
    for part in parts:
        number, _, text = part.partition("]\n")
        text = text.partition("\n</document-")[0]
        shown[int(number)] = text.removesuffix("\n\n[...]").strip()
    return {int(key): shown[int(key)] for key in cast("list[str]", body["keys"])}


def marked_reply(sentences: Mapping[int, str], **changes: Any) -> Reply:
    """Give a reply with a sentence for every number."""
    text = json.dumps({str(key): text for key, text in sentences.items()})
    return reply(text, **changes)
