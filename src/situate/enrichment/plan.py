"""What would be asked, decided once for dry run, live run and batch.

Pure: the same document, chunks and settings give the same requests byte for
byte. Nothing is tokenized that the chunker has counted before, and nothing as
long as the document is hashed per chunk unless its request is really needed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from situate import pricing
from situate.enrichment.exchange import Parameters, Rendered
from situate.model import digest, leaf_ids, walk
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from situate.enrichment.exchange import Body, Provider
    from situate.enrichment.settings import Settings
    from situate.model import Chunk, Document, JsonValue
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter

FOLLOW_UPS = 2
"""Requests a chunk may need beside its planned one: a re-ask and a repair."""

REPAIR_TOKENS = 1_000
"""Most that a repair adds to a request: the answer it is about, and why."""

INPUT_MARGIN = Decimal("1.3")
"""How far a vendor's own count may lie above ours. Vendors other than OpenAI
publish no tokenizer; a run raises the margin when a reply shows more."""

SECONDS_PER_REQUEST = 1.5
"""For estimates of time: hosted models answer one sentence in 0.5 to 3 s."""

_SCHEMA = 1
"""Part of every chunk key; raise it when the meaning of a key's parts changes."""

_FRAMING_TOKENS = 12
"""Role marks and separators a chat format adds around three parts."""

_SENTENCE_TOKENS = 40
"""A sentence of 35 words at most, as both shipped prompts ask for it."""


def canonical(value: JsonValue | Body) -> str:
    """Write JSON in the one form that hashes alike everywhere."""
    return json.dumps(
        value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=dict
    )


def reply_key(body: Body, *, provider: str, endpoint: str) -> str:
    """Give the key a raw reply is stored under."""
    text = canonical([dict(body), provider, endpoint])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One chunk and the request that asks for its statement."""

    index: int
    """Which of the chunks handed to `plan`."""
    chunk_id: str
    chunk_key: str
    """What the answer depends on, however it is asked for."""
    rendered: Rendered
    parameters: Parameters
    provider: Provider = field(compare=False, repr=False)
    input_tokens: int
    """Estimated; a few percent off the provider's own count."""
    output_tokens: int
    """Estimated for one sentence; `parameters` bounds it."""

    @property
    def body(self) -> Body:
        """The body to send, rendered anew: it may hold the whole document."""
        return self.provider.render(self.rendered, self.parameters)

    @property
    def reply_key(self) -> str:
        """The key its raw reply is stored under; hashes the whole body."""
        return reply_key(
            self.body, provider=self.provider.name, endpoint=self.provider.endpoint
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlan:
    """The requests of one document; they share `system` and `document` parts."""

    doc_id: str
    document_text: str
    """What stands in the document part of every request."""
    requests: tuple[PlannedRequest, ...]

    @property
    def input_tokens(self) -> int:
        """Estimated input of all requests together."""
        return sum(request.input_tokens for request in self.requests)

    @property
    def output_tokens(self) -> int:
        """Estimated output of all requests together."""
        return sum(request.output_tokens for request in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run would send, cost and take, before anything is sent."""

    chunks: int
    """Leaves that want a statement."""
    cached: int
    """Chunks whose answer is at hand already, or asked for by an equal request."""
    requests: int
    """Requests to send when nothing fails and nothing has to be repaired."""
    follow_ups: int
    """The allowance: re-asks and repairs are never more than this."""
    input_tokens: int
    output_tokens: int
    usd_low: Decimal | None
    """Every answer is one short sentence; None when no price is known."""
    usd_high: Decimal | None
    """The provider counts more tokens and every answer runs to its limit."""
    usd_follow_ups: Decimal | None
    """What the allowance would cost at most, if every chunk needed all of it."""
    hours: float
    """Under the configured limits; at least the rates' and the workers' share."""


def plan(  # noqa: PLR0913 - each is one thing a request is made of
    chunks: Sequence[Chunk],
    document: Document,
    *,
    settings: Settings,
    prompt: Prompt,
    provider: Provider,
    counter: TokenCounter,
) -> DocumentPlan:
    """Give the requests for the leaves among `chunks`, in their order.

    Containers and single blocks are not asked about.
    """
    text = document_text(document)
    # The chunks know the title of a document that names none: its only heading.
    title = next((chunk.metadata.title or "" for chunk in chunks), "")
    doc_type = document.metadata.doc_type or ""
    shown = prompt.render_document(text, title=title, doc_type=doc_type)
    parameters = parameters_for(settings)
    leaves = leaf_ids(chunks)
    wanted = [
        (index, chunk) for index, chunk in enumerate(chunks) if chunk.chunk_id in leaves
    ]
    # Leaves tile the document, so their counts are the document's.
    shared_tokens = (
        _FRAMING_TOKENS
        + counter.count(prompt.system + prompt.document + prompt.chunk)
        + counter.count(title + doc_type)
        + sum(chunk.token_count for _, chunk in wanted)
    )
    shared_key = digest(
        canonical(
            {
                "schema": _SCHEMA,
                "prompt": prompt.hash,
                "provider": provider.name,
                "endpoint": provider.endpoint,
                "model": settings.model,
                "parameters": _beside_the_prompt(provider, parameters),
                "window": digest(text),
                "title": title,
                "doc_type": doc_type,
            }
        )
    )
    seen: Counter[tuple[str, str]] = Counter()
    requests = []
    for index, chunk in wanted:
        identity = (chunk.breadcrumb_line, chunk.text)
        shown_chunk = prompt.render_chunk(chunk.text, breadcrumb=chunk.breadcrumb_line)
        requests.append(
            PlannedRequest(
                index=index,
                chunk_id=chunk.chunk_id,
                chunk_key=_chunk_key(shared_key, *identity, occurrence=seen[identity]),
                rendered=Rendered(
                    system=prompt.system, document=shown, chunk=shown_chunk
                ),
                parameters=parameters,
                provider=provider,
                input_tokens=shared_tokens
                + counter.count(chunk.breadcrumb_line)
                + chunk.token_count,
                output_tokens=min(_SENTENCE_TOKENS, settings.statement_max_tokens),
            )
        )
        seen[identity] += 1
    return DocumentPlan(
        doc_id=document.doc_id, document_text=text, requests=tuple(requests)
    )


def parameters_for(settings: Settings, *, room: int = 2) -> Parameters:
    """Give what is sent beside the prompt; `room` times the cap of a statement.

    The room is for a model's own tokenizer and for a preamble that is cut off
    later; an answer that needs more is no single sentence.
    """
    return Parameters(
        model=settings.model, max_output_tokens=room * settings.statement_max_tokens
    )


def document_text(document: Document) -> str:
    """Give the document as the model sees it: its blocks in reading order."""
    return "\n\n".join(
        block.text
        for section, _ in walk(document.root)
        for block in section.blocks
        if block.text.strip()
    )


def estimate(
    plans: Iterable[DocumentPlan],
    *,
    settings: Settings,
    facts: ModelFacts,
    cached: Callable[[PlannedRequest], bool],
) -> Estimate:
    """Price plans without sending anything; `cached` says what costs nothing.

    Equal requests are sent once and counted once. Plans may come from a
    generator: none is kept.
    """
    chunks = 0
    asked: set[str] = set()
    input_tokens = output_tokens = 0
    low = high = follow_ups = Decimal(0)
    for request in (each for document in plans for each in document.requests):
        chunks += 1
        if cached(request) or request.reply_key in asked:
            continue
        asked.add(request.reply_key)
        input_tokens += request.input_tokens
        output_tokens += request.output_tokens
        if facts.prices is not None:
            usage = Usage(
                uncached_input=request.input_tokens, output=request.output_tokens
            )
            low += pricing.cost(usage, facts.prices)
            most_in, most_out = bounds(request, facts=facts)
            high += pricing.estimate(most_in, most_out, facts.prices)
            follow_ups += FOLLOW_UPS * pricing.estimate(
                most_in + REPAIR_TOKENS, 2 * most_out, facts.prices
            )
    return Estimate(
        chunks=chunks,
        cached=chunks - len(asked),
        requests=len(asked),
        follow_ups=FOLLOW_UPS * len(asked),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        usd_low=None if facts.prices is None else low,
        usd_high=None if facts.prices is None else high,
        usd_follow_ups=None if facts.prices is None else follow_ups,
        hours=_hours(len(asked), input_tokens + output_tokens, settings),
    )


def bounds(
    request: PlannedRequest, *, facts: ModelFacts, margin: Decimal = INPUT_MARGIN
) -> tuple[int, int]:
    """Give the most input and output tokens a request may be billed for."""
    return (
        math.ceil(request.input_tokens * margin),
        request.parameters.max_output_tokens + facts.thinking_reserve,
    )


def _beside_the_prompt(provider: Provider, parameters: Parameters) -> JsonValue:
    """Give the part of a body that does not depend on what is shown.

    Two bodies are compared instead of one being taken apart, so that no
    knowledge of a provider's format is needed here, and marks a provider sets
    inside messages are left out.
    """
    one, other = (
        provider.render(Rendered(system=x, document=x, chunk=x), parameters)
        for x in ("a", "b")
    )
    return {key: value for key, value in one.items() if other.get(key) == value}


def _chunk_key(shared: str, breadcrumb: str, text: str, *, occurrence: int) -> str:
    parts: JsonValue = [shared, breadcrumb, text, occurrence]
    return hashlib.sha256(canonical(parts).encode("ascii")).hexdigest()


def _hours(requests: int, tokens: int, settings: Settings) -> float:
    minutes = [requests * SECONDS_PER_REQUEST / settings.concurrency / 60]
    if settings.requests_per_minute is not None:
        minutes.append(requests / settings.requests_per_minute)
    if settings.tokens_per_minute is not None:
        minutes.append(tokens / settings.tokens_per_minute)
    return max(minutes) / 60
