"""Asks for statements and merges them, document by document.

    async with Session(settings=..., prompt=..., provider=..., cache=...,
                       ledger=..., counter=..., facts=...) as session:
        chunks = await session.enrich(document, chunks)
    session.summary

One session serves a corpus: documents may be enriched at the same time and
share its limits. What goes wrong with a chunk is a value in that chunk.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.enrichment.gate import Context, Verdict, judge, known_words, repair
from situate.enrichment.language import script_of
from situate.enrichment.plan import parameters_for, plan
from situate.enrichment.statement import clean
from situate.enrichment.throttle import Timing
from situate.enrichment.wire import Answer, Question, Stopped, Wire
from situate.errors import (
    ContextTooLong,
    ProviderUnusable,
    RateLimited,
    RequestRejected,
    TransientError,
)
from situate.model import Enrichment, is_paragraph, leaf_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from decimal import Decimal
    from types import TracebackType
    from typing import Self

    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider, Reply
    from situate.enrichment.ledger import Ledger
    from situate.enrichment.plan import DocumentPlan, PlannedRequest
    from situate.enrichment.reasons import FallbackReason, StopReason
    from situate.enrichment.settings import Settings
    from situate.model import Chunk, Document, EnrichmentStatus
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter
    from situate.usage import Usage

_ROOM_AFTER_TRUNCATION = 4
"""Output limit of the second try, as a multiple of `statement_max_tokens`."""

_SCRIPT_SAMPLE = 20_000
"""Characters of a document that decide on its script."""

_LONGEST_NAME = 200
"""Characters of a model's name."""

_FEWEST_TO_COMPARE = 4
"""Statements of a document below which equal ones say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a session has done so far."""

    chunks: int
    """Leaves that wanted a statement."""
    statements: int
    distinct_statements: int
    """Different ones within each document, added up."""
    trimmed: int
    """Statements whose answer had more sentences."""
    fallbacks: Mapping[str, int]
    """Chunks whose own question failed, by reason."""
    skipped: Mapping[str, int]
    """Chunks that were not settled when enrichment stopped, by reason."""
    cache_hits: int
    """Chunks whose answer was at hand, from before or from an equal request."""
    requests: int
    """Sent to the provider, re-asks and repairs included."""
    attempts: int
    """Times a request was put on the wire."""
    usage: Usage
    cost_usd: Decimal | None
    """None when the price is unknown; a replayed run costs 0. Requests whose
    usage is not known are in it with the most they may have cost."""
    stopped: StopReason | None
    stop_message: str | None
    """What the provider, the cache or the budget said when enrichment stopped."""
    warnings: tuple[str, ...]


class Session:
    """Enriches the documents of one corpus."""

    def __init__(  # noqa: PLR0913 - each is owned by somebody else
        self,
        *,
        settings: Settings,
        prompt: Prompt,
        provider: Provider,
        cache: Cache,
        ledger: Ledger | None,
        counter: TokenCounter,
        facts: ModelFacts,
        timing: Timing | None = None,
    ) -> None:
        """Take what a session works with; it closes the provider and no other.

        Raises:
            ConfigError: `max_usd` is missing for a model with a price, or given
                for one without.
        """
        self._settings = settings
        self._prompt = prompt
        self._prompt_reference = prompt.reference
        self._provider = provider
        self._counter = counter
        self._wire = Wire(
            settings=settings,
            provider=provider,
            cache=cache,
            ledger=ledger,
            facts=facts,
            timing=timing or Timing(),
        )
        self._chunks = 0
        self._statements = 0
        self._distinct = 0
        self._trimmed = 0
        self._cache_hits = 0
        self._fallbacks: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._warnings: list[str] = list(cache.warnings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._provider.close()

    async def enrich(
        self, document: Document, chunks: Sequence[Chunk]
    ) -> tuple[Chunk, ...]:
        """Give the same chunks, leaves with their statement or why they have none.

        Raises:
            ProviderUnusable: the first request of the session found that the
                key, the model or the address is wrong.
        """
        planned = plan(
            chunks,
            document,
            settings=self._settings,
            prompt=self._prompt,
            provider=self._provider,
            counter=self._counter,
        )
        context = self._context(document, planned, chunks)
        merged = list(chunks)

        async def merge(request: PlannedRequest) -> None:
            chunk = chunks[request.index]
            outcome = await self._enrichment(request, chunk, context)
            if outcome is not None:
                merged[request.index] = replace(chunk, enrichment=outcome)

        async with asyncio.TaskGroup() as group:
            for request in planned.requests:
                group.create_task(merge(request))
        if self._wire.fatal is not None:
            raise self._wire.fatal
        self._tally(document.doc_id, (merged[r.index] for r in planned.requests))
        return passed_on(merged)

    @property
    def summary(self) -> Summary:
        """What has been done so far; documents under way count once done."""
        wire = self._wire
        return Summary(
            chunks=self._chunks,
            statements=self._statements,
            distinct_statements=self._distinct,
            trimmed=self._trimmed,
            fallbacks=dict(sorted(self._fallbacks.items())),
            skipped=dict(sorted(self._skipped.items())),
            cache_hits=self._cache_hits,
            requests=wire.accounts.counts.requests,
            attempts=wire.accounts.counts.attempts,
            usage=wire.accounts.counts.usage,
            cost_usd=wire.accounts.counts.cost_usd if wire.has_price else None,
            stopped=wire.stop_reason,
            stop_message=wire.stop_message,
            warnings=(*self._warnings, *wire.accounts.warnings.values()),
        )

    async def _enrichment(
        self, request: PlannedRequest, chunk: Chunk, context: Context
    ) -> Enrichment | None:
        """Give what became of one chunk, None when the whole run has failed."""
        try:
            return await self._settle(request, chunk, context)
        except Stopped as stop:
            return self._outcome("skipped", reason=stop.reason)
        except (RequestRejected, TransientError) as error:
            return self._fallback(self._why(error))
        except ProviderUnusable:
            return None  # Raised once, by `enrich`, not once per chunk.

    async def _settle(
        self, request: PlannedRequest, chunk: Chunk, context: Context
    ) -> Enrichment:
        """Get an answer and judge it; one that fails is repaired once."""
        known = self._known(request)
        first = known[0] if known else await self._first_answer(request)
        if isinstance(first, str):
            return self._fallback(first)
        if first.source == "cache":
            self._cache_hits += 1
            self._wire.note_at_hand(first, request.chunk_id)
        if not known:
            self._wire.remember(request.chunk_key, (first.key,))
        verdict = _judged(first.reply, chunk, context)
        if not verdict.reasons:
            return self._accepted(first.reply, verdict)
        second = known[1] if len(known) > 1 else None
        second = second or await self._repaired(request, first.reply, verdict)
        if second is None:
            return self._fallback(verdict.reasons[0], first.reply)
        if len(known) < 2:
            self._wire.remember(request.chunk_key, (first.key, second.key))
        verdict = _judged(second.reply, chunk, context)
        if verdict.reasons:
            return self._fallback(verdict.reasons[0], second.reply)
        return self._accepted(second.reply, verdict)

    def _known(self, request: PlannedRequest) -> list[Answer]:
        """Give the answers there are, the first and its repair."""
        known: list[Answer] = []
        for key in self._wire.answers(request.chunk_key)[:2]:
            reply = self._wire.stored(key)
            if reply is None or _fault(reply) is not None:
                break
            known.append(Answer(key=key, reply=reply, source="cache"))
        return known

    async def _first_answer(self, request: PlannedRequest) -> Answer | FallbackReason:
        """Ask, and once more when nothing usable came back.

        An answer that was cut off is asked for with more room.
        """
        question = Question(
            rendered=request.rendered,
            parameters=request.parameters,
            chunk_id=request.chunk_id,
            input_tokens=request.input_tokens,
        )
        answer = await self._wire.ask(question)
        fault = _fault(answer.reply)
        if fault is None:
            return answer
        if fault == "truncated":
            roomier = parameters_for(self._settings, room=_ROOM_AFTER_TRUNCATION)
            question = replace(question, parameters=roomier)
        answer = await self._wire.ask(question)
        return _fault(answer.reply) or answer

    async def _repaired(
        self, request: PlannedRequest, reply: Reply, verdict: Verdict
    ) -> Answer | None:
        """Ask for a repair; None when that brings no answer to judge."""
        rendered = repair(request.rendered, reply.text, verdict.reasons)
        added = self._counter.count(rendered.chunk[len(request.rendered.chunk) :])
        question = Question(
            rendered=rendered,
            parameters=request.parameters,
            chunk_id=request.chunk_id,
            input_tokens=request.input_tokens + added,
        )
        try:
            answer = await self._wire.ask(question)
        except RequestRejected:
            return None
        return None if _fault(answer.reply) else answer

    def _accepted(self, reply: Reply, verdict: Verdict) -> Enrichment:
        if verdict.statement is None:
            return self._fallback("refusal", reply)
        self._trimmed += verdict.trimmed
        return self._outcome(
            "statement", statement=verdict.statement, model=self._model(reply)
        )

    def _fallback(
        self, reason: FallbackReason, reply: Reply | None = None
    ) -> Enrichment:
        model = None if reply is None else self._model(reply)
        return self._outcome("fallback", reason=reason, model=model)

    def _why(self, error: RequestRejected | TransientError) -> FallbackReason:
        match error:
            case ContextTooLong():
                return "context_too_long"
            case RateLimited():
                return "rate_limited"
            case TransientError():
                return "unavailable"
            case _:
                return "not_recorded" if self._settings.replayed else "rejected"

    def _model(self, reply: Reply) -> str:
        """Name who answered; what is no name to write down is not repeated."""
        name = reply.model
        is_name = name.isprintable() and 0 < len(name) <= _LONGEST_NAME
        return name if is_name else self._settings.model

    def _outcome(
        self,
        status: EnrichmentStatus,
        *,
        statement: str | None = None,
        reason: str | None = None,
        model: str | None = None,
    ) -> Enrichment:
        return Enrichment(
            status=status,
            statement=statement,
            reason=reason,
            model=model,
            prompt=self._prompt_reference,
            view=self._settings.view,
        )

    def _context(
        self, document: Document, planned: DocumentPlan, chunks: Sequence[Chunk]
    ) -> Context:
        return Context(
            counter=self._counter,
            max_tokens=self._settings.statement_max_tokens,
            language=document.metadata.language,
            script=script_of(planned.document_text[:_SCRIPT_SAMPLE]),
            known=known_words(chunks[request.index] for request in planned.requests),
        )

    def _tally(self, doc_id: str, chunks: Iterable[Chunk]) -> None:
        statements: Counter[str] = Counter()
        for chunk in chunks:
            self._chunks += 1
            outcome = chunk.enrichment
            if outcome.statement is not None:
                statements[outcome.statement] += 1
            elif outcome.status == "skipped":
                self._skipped[str(outcome.reason)] += 1
            else:
                self._fallbacks[str(outcome.reason)] += 1
        self._statements += statements.total()
        self._distinct += len(statements)
        most = max(statements.values(), default=0)
        if statements.total() >= _FEWEST_TO_COMPARE and 2 * most > statements.total():
            self._warnings.append(
                f"document {doc_id!r}: {most} of {statements.total()} chunks got the "
                "same sentence; it tells them from nothing"
            )


def skipped(
    chunks: Iterable[Chunk], settings: Settings, prompt: Prompt, reason: StopReason
) -> tuple[Chunk, ...]:
    """Give the chunks of a run that could ask for nothing, with the reason."""
    outcome = Enrichment(
        status="skipped", reason=reason, prompt=prompt.reference, view=settings.view
    )
    chunks = list(chunks)
    leaves = leaf_ids(chunks)
    return passed_on(
        [
            replace(chunk, enrichment=outcome) if chunk.chunk_id in leaves else chunk
            for chunk in chunks
        ]
    )


def passed_on(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Give the single blocks of every leaf what became of it (C9)."""
    outcomes = {chunk.chunk_id: chunk.enrichment for chunk in chunks}
    return tuple(
        replace(chunk, enrichment=outcomes[chunk.parent_chunk_id])
        if chunk.parent_chunk_id is not None and is_paragraph(chunk.chunk_id)
        else chunk
        for chunk in chunks
    )


def _judged(reply: Reply, chunk: Chunk, context: Context) -> Verdict:
    """Judge a reply; a refusal the provider marks needs no reading."""
    if reply.stop == "refusal":
        return Verdict(refused=True)
    return judge(reply.text, chunk, context)


def _fault(reply: Reply) -> FallbackReason | None:
    """Say why a reply is no answer; the stop reason is read, not guessed."""
    if reply.stop == "length":
        return "truncated"
    if reply.stop == "end" and not clean(reply.text):
        return "empty"
    return None
