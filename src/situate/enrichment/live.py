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
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from situate.enrichment.answers import Answers, Settled
from situate.enrichment.asking import Asker
from situate.enrichment.budget import NOTHING
from situate.enrichment.cache import User
from situate.enrichment.contexts import Contexts
from situate.enrichment.exchange import model_name
from situate.enrichment.former import kept, merged, unasked
from situate.enrichment.gate import STATEMENTS, instructions_of
from situate.enrichment.keys import canonical
from situate.enrichment.plan import plan
from situate.enrichment.prefix import Prefix
from situate.enrichment.throttle import Timing
from situate.enrichment.wire import Wire
from situate.errors import CacheBroken, ProviderUnusable
from situate.model import Enrichment, digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal
    from types import TracebackType
    from typing import Self

    from situate.enrichment.asking import Held, Sorted
    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider
    from situate.enrichment.gate import Gate
    from situate.enrichment.ledger import Ledger
    from situate.enrichment.plan import DocumentPlan, Part
    from situate.enrichment.questions import PlannedRequest
    from situate.enrichment.reasons import StopReason
    from situate.enrichment.settings import Settings, View
    from situate.enrichment.throttle import Throttle
    from situate.model import Chunk, Document, EnrichmentStatus, JsonValue
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter
    from situate.usage import Usage

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
    prefix_writes: int
    """Requests that put their document into the vendor's cache."""
    prefix_reads: int
    """Requests that read it there."""
    wasted_writes: int
    """Writes beyond one for each document, or part of one that is shown by itself."""
    cost_usd: Decimal | None
    """None when the price is unknown; a replayed run costs 0. Requests whose
    usage is not known are in it with the most they may have cost."""
    saved_usd: Decimal | None
    """What the vendor's prompt cache saved; None when the price is unknown."""
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
        held: Held | None = None,
        gate: Gate | None = None,
        publishes_anyway: bool = False,
        throttle: Throttle | None = None,
    ) -> None:
        """Take what a session works with; it closes the provider and no other.

        What is `held` waits for a vendor's batch and is not asked about. Answers
        have to pass the `gate`, that of statements where none is given. Where chunks
        are published anyway, a wrong key or model stops the asking and raises nothing.
        Sessions that share a `throttle`, in one loop, keep its pace together.

        Raises:
            ConfigError: `max_usd` is missing for a model with a price, or given
                for one without.
        """
        self._settings = settings
        self._prompt = prompt
        self._prompt_reference = prompt.reference
        self._provider = provider
        self._cache = cache
        self._counter = counter
        self._facts = facts
        self._held = held
        self._gate = STATEMENTS if gate is None else gate
        self._timing = timing or Timing()
        self._wire = Wire(
            settings=settings,
            provider=provider,
            cache=cache,
            ledger=ledger,
            facts=facts,
            timing=self._timing,
            committed=NOTHING if held is None else held.committed,
            publishes_anyway=publishes_anyway,
            throttle=throttle,
        )
        self._instructions = instructions_of(*prompt.parts)
        self._chunks = 0
        self._statements = 0
        self._distinct = 0
        self._trimmed = 0
        self._cache_hits = 0
        self._fallbacks: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._prefix_writes = self._prefix_reads = self._wasted_writes = 0
        self._unread: list[str] = []
        self._warnings: list[str] = list(cache.warnings)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wire.close()
        await self._provider.close()

    def plan(self, document: Document, chunks: Sequence[Chunk]) -> DocumentPlan:
        """Give the requests that `enrich` will ask, answers at hand aside. Pure."""
        return plan(
            chunks,
            document,
            settings=self._settings,
            prompt=self._prompt,
            provider=self._provider,
            facts=self._facts,
            counter=self._counter,
        )

    async def enrich(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        planned: DocumentPlan | None = None,
        former: Mapping[str, Enrichment] | None = None,
    ) -> tuple[Chunk, ...]:
        """Give the same chunks, leaves with their statement or why they have none.

        `planned` is what `plan` gave for them, where that is there already. `former`
        has statements of before by the ids of chunks that are as they were: they stay
        where no new one comes.

        Raises:
            ProviderUnusable: the first request of the session found that the
                key, the model or the address is wrong.
        """
        if planned is None:
            planned = self.plan(document, chunks)
        settled = await self.settle(document, planned)
        outcomes = unasked(planned, self._prompt, None)
        for part in planned.parts:
            for passage in part.passages:
                outcome = settled[passage.index]
                outcomes[passage.index] = self._enrichment(outcome, part.view)
        if former:
            contexts = self._contexts(document, planned)
            outcomes = kept(outcomes, former, contexts, self._gate)
        return merged(chunks, outcomes)

    async def settle(
        self, document: Document, planned: DocumentPlan
    ) -> dict[int, Settled]:
        """Give what became of every chunk that a plan asks about, by its index.

        Raises:
            ProviderUnusable: as `enrich` does.
        """
        # What is shown together is warmed and judged together (S6).
        askers = [self._asker(document, planned, each) for each in planned.parts]
        contexts = self._contexts(document, planned)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._asked(part, asker, contexts))
                    for part, asker in zip(planned.parts, askers, strict=True)
                ]
        finally:
            for asker in askers:
                asker.write_down()
        if self._wire.fatal is not None:
            raise self._wire.fatal
        self._note_cache(document.doc_id, [asker.prefix for asker in askers])
        settled = {
            index: outcome for task in tasks for index, outcome in task.result().items()
        }
        self._tally(document.doc_id, settled)
        if planned.trouble is not None:
            self._warnings.append(planned.trouble)
            self._chunks += len(planned.skipped)
            self._skipped.update(planned.skipped.values())
        return {index: self._named(outcome) for index, outcome in settled.items()}

    def _asker(self, document: Document, planned: DocumentPlan, part: Part) -> Asker:
        return Asker(
            settings=self._settings,
            wire=self._wire,
            counter=self._counter,
            chunks=planned.chunks,
            prefix=Prefix(timing=self._timing),
            answers=Answers(self._wire),
            held=self._held,
            gate=self._gate,
            judged_by=self._judged_by(planned, part, document),
            user=User(corpus=_corpus_of(planned.chunks), doc_id=document.doc_id),
        )

    async def _asked(
        self, part: Part, asker: Asker, contexts: Contexts
    ) -> dict[int, Settled]:
        """Settle all requests of a part, those that share a prefix warm."""
        settled: dict[int, Settled] = {}
        judged = contexts.of

        async def settle(request: PlannedRequest, found: Sorted) -> None:
            # Without an answer here the whole run has failed, which is raised once.
            try:
                context = partial(judged, request)
                settled.update(await asker.settle(request, found, context))
            except* ProviderUnusable:
                pass

        rest: deque[tuple[PlannedRequest, Sorted]] = deque()
        # Whoever reads next will hear of a failure.
        with suppress(CacheBroken):
            self._cache.read_ahead(each.chunk_key for each in part.passages)
        for request in part.requests:
            found = asker.at_hand(request, partial(judged, request))
            if found.is_settled:
                settled |= found.settled
            else:
                rest.append((request, found))
        prefix = asker.prefix
        while rest and rest[0][0].parameters.cached and prefix.is_warming:
            await settle(*rest.popleft())
        is_lost = prefix.is_lost and self._facts.cache == "marked"
        async with asyncio.TaskGroup() as group:
            for request, found in rest:
                # Every further mark would pay for one more write.
                asked = _unmarked(request) if is_lost else request
                group.create_task(settle(asked, found))
        return settled

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
            prefix_writes=self._prefix_writes,
            prefix_reads=self._prefix_reads,
            wasted_writes=self._wasted_writes,
            cost_usd=wire.accounts.counts.cost_usd if wire.has_price else None,
            saved_usd=wire.accounts.counts.saved_usd if wire.has_price else None,
            stopped=wire.stop_reason,
            stop_message=wire.stop_message,
            warnings=(
                *self._warnings,
                *self._about_cache(),
                *wire.accounts.warnings.values(),
            ),
        )

    def _enrichment(self, settled: Settled, view: View) -> Enrichment:
        """Say what became of one chunk."""
        if settled.stopped is not None:
            return self._outcome("skipped", view, reason=settled.stopped)
        if settled.statement is None:
            return self._outcome(
                "fallback", view, reason=settled.reason, model=settled.model
            )
        return self._outcome(
            "statement", view, statement=settled.statement, model=settled.model
        )

    def _named(self, settled: Settled) -> Settled:
        """Name who answered; what is no name to write down is not repeated."""
        if settled.model is None:
            return settled
        name = model_name(settled.model) or self._settings.model
        return replace(settled, model=name)

    def _outcome(
        self,
        status: EnrichmentStatus,
        view: View,
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
            view=view,
        )

    def _judged_by(self, planned: DocumentPlan, part: Part, document: Document) -> str:
        """Hash what answers are judged by, beside what is in the keys of chunks."""
        language = document.metadata.language
        cap = self._settings.statement_max_tokens
        rules, text = self._gate.rules, digest(part.document_text)
        hidden: list[JsonValue] = [*sorted(planned.hidden)]
        beside = [hidden] if hidden else []
        return digest(canonical([rules, language, cap, text, *beside]))

    def _contexts(self, document: Document, planned: DocumentPlan) -> Contexts:
        return Contexts(
            document=document,
            planned=planned,
            counter=self._counter,
            max_tokens=self._settings.statement_max_tokens,
            instructions=self._instructions,
        )

    def _about_cache(self) -> tuple[str, ...]:
        if not self._unread:
            return ()
        return (
            f"{self._provider.name} read nothing from its cache for "
            f"{len(self._unread)} documents that it should have kept, the first "
            f"{self._unread[0]!r}; their prefix was paid for again and again",
        )

    def _note_cache(self, doc_id: str, prefixes: Sequence[Prefix]) -> None:
        """Warn where a vendor's cache that should have been read was not."""
        for prefix in prefixes:
            self._prefix_writes += prefix.writes
            self._prefix_reads += prefix.reads
            self._wasted_writes += max(0, prefix.writes - 1)
        if any(prefix.was_unread for prefix in prefixes):
            self._unread.append(doc_id)

    def _tally(self, doc_id: str, settled: Mapping[int, Settled]) -> None:
        statements: Counter[str] = Counter()
        for outcome in settled.values():
            self._chunks += 1
            self._trimmed += outcome.trimmed
            self._cache_hits += outcome.at_hand
            if outcome.statement is not None:
                statements[outcome.statement] += 1
            elif outcome.stopped is not None:
                self._skipped[outcome.stopped] += 1
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


def _corpus_of(chunks: Sequence[Chunk]) -> str:
    """Name the corpus of a document; "" for what belongs to none."""
    return next((chunk.corpus for chunk in chunks if chunk.corpus), "")


def _unmarked(request: PlannedRequest) -> PlannedRequest:
    """Give a request that asks the vendor to keep nothing."""
    return replace(request, parameters=replace(request.parameters, cached=False))
