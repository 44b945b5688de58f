"""Gets an answer for every chunk of a planned request, and judges each by itself.

What is at hand is used first. What has to be asked is asked for together; what
comes back without doubt is kept, and the rest is asked again one by one. A group
that is too much for the model is halved until it is not.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from situate.enrichment.cache import Kept, Located
from situate.enrichment.gate import judge, repair
from situate.enrichment.marked import sentences
from situate.enrichment.questions import parameters_for
from situate.enrichment.statement import clean
from situate.enrichment.wire import Question, Stopped, outcome_of
from situate.errors import (
    ContextTooLong,
    RateLimited,
    RequestRejected,
    TransientError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from situate.enrichment.exchange import Rendered, Reply
    from situate.enrichment.gate import Context, Verdict
    from situate.enrichment.prefix import Prefix
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.enrichment.reasons import FallbackReason, SkipReason, StopReason
    from situate.enrichment.settings import Settings
    from situate.enrichment.wire import Answer, Note, Wire
    from situate.model import Chunk
    from situate.tokens import TokenCounter

_ROOM_AFTER_TRUNCATION = 4
"""Output limit of the second try, as a multiple of `statement_max_tokens`."""

_NUMBERS = range(1, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of one chunk."""

    statement: str | None = None
    reason: FallbackReason | None = None
    stopped: StopReason | SkipReason | None = None
    model: str | None = None
    trimmed: bool = False
    at_hand: bool = False
    """Its answer was there before anything was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a model said about one chunk, and where that stands."""

    text: str
    model: str
    located: Located
    refused: bool = False
    at_hand: bool = False
    """An equal request had brought it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What was answered about a chunk before."""

    first: _Said
    second: _Said | None
    is_exact: bool
    """The same question was answered; else its section is the same."""

    @property
    def said(self) -> tuple[_Said, ...]:
        """The answer and, where there was one, its repair."""
        return (self.first,) if self.second is None else (self.first, self.second)


_Answered: TypeAlias = "_Said | FallbackReason | Stopped | Held"


@dataclass(slots=True)
class _Sorted:
    """The chunks of a request by what is still to be done about them."""

    settled: dict[int, Settled] = field(default_factory=dict)
    open: list[Passage] = field(default_factory=list)
    """To be asked about."""
    faulty: list[tuple[Passage, _Said, Verdict]] = field(default_factory=list)
    """To be repaired."""

    def put(
        self, passage: Passage, said: _Answered, outcome: Settled | Verdict
    ) -> None:
        """Sort a chunk by what judging its answer gave."""
        if isinstance(outcome, Settled):
            self.settled[passage.index] = outcome
        elif isinstance(said, _Said):
            self.faulty.append((passage, said, outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Requests that somebody else has been asked: a vendor's batch system."""

    ask_live: Callable[[str], bool]
    """Tells, by its key, of a request that a batch brought no answer to."""
    reason: StopReason | SkipReason = "pending"
    """Why the others have no answer yet."""


@dataclass(slots=True)
class Asker:
    """Asks about the chunks of one document."""

    settings: Settings
    wire: Wire
    counter: TokenCounter
    chunks: Sequence[Chunk]
    prefix: Prefix
    judged_by: str
    """Hash of what answers are judged by, beside what the model was shown."""
    held: Held | None = None
    """None where everything is asked live."""
    _notes: dict[str, Note] = field(default_factory=dict)
    """Where answers stand that nobody has written down yet."""
    _replies: dict[str, Reply | None] = field(default_factory=dict)
    """What is stored, read once for all chunks it answers for."""
    _sentences: dict[str, dict[int, str]] = field(default_factory=dict)

    async def settle(
        self, request: PlannedRequest, context: Callable[[], Context]
    ) -> dict[int, Settled]:
        """Give what became of every chunk of a request, by its index.

        `context` gives what answers are judged by, where any has to be judged.

        Raises:
            ProviderUnusable: no request can succeed.
        """
        sorted_ = self._at_hand(request, context)
        if sorted_.open:
            answers = await self._answers(request, sorted_.open)
            for passage in sorted_.open:
                said = answers[passage.index]
                outcome = self._judged(said, passage, context())
                sorted_.put(passage, said, outcome)
                if isinstance(said, _Said):
                    self._note(passage, (said,), outcome)
        repairs = (
            self._repaired(request, *faulty, context()) for faulty in sorted_.faulty
        )
        outcomes = await asyncio.gather(*repairs)
        for (passage, *_), outcome in zip(sorted_.faulty, outcomes, strict=True):
            sorted_.settled[passage.index] = outcome
        return sorted_.settled

    def _at_hand(
        self, request: PlannedRequest, context: Callable[[], Context]
    ) -> _Sorted:
        """Settle what was answered before, and say what has to be asked."""
        sorted_ = _Sorted()
        used: dict[tuple[str, str, str], list[str]] = {}
        for passage in request.passages:
            try:
                kept = self._kept(passage)
                known = None if kept else self._known(passage)
            except Stopped as stop:
                sorted_.settled[passage.index] = Settled(stopped=stop.reason)
                continue
            if kept is not None:
                sorted_.settled[passage.index] = _again(kept)
                by = (kept.reply, kept.model, "answered")
                used.setdefault(by, []).append(passage.chunk_id)
                continue
            outcome = None if known is None else self._from(known, passage, context())
            if known is None or outcome is None:
                sorted_.open.append(passage)
                continue
            first = known.first
            what = "refusal" if first.refused else "answered"
            by = (first.located.reply, first.model, what)
            used.setdefault(by, []).append(passage.chunk_id)
            sorted_.put(passage, first, outcome)
            self._note(passage, known.said, outcome)
        for (key, model, what), chunk_ids in used.items():
            self.wire.note_at_hand(
                key, model=model, outcome=what, chunk_ids=tuple(chunk_ids)
            )
        return sorted_

    def _kept(self, passage: Passage) -> Kept | None:
        """Give the statement of before where the same judge would find it again."""
        kept = self.wire.kept(passage.chunk_key)
        return kept if kept and kept.judged_by == self.judged_by else None

    def _known(self, passage: Passage) -> _Known | None:
        """Find what was answered before: to this question, or about this section."""
        for key in (passage.chunk_key, *passage.section_keys):
            said: list[_Said] = []
            for located in self.wire.answers(key)[:2]:
                text = self._stored(located)
                if text is None:
                    break
                said.append(text)
            if said:
                return _Known(
                    first=said[0],
                    second=said[1] if len(said) > 1 else None,
                    is_exact=key == passage.chunk_key,
                )
        return None

    def _stored(self, located: Located) -> _Said | None:
        """Read an answer that is at hand; None where there is no usable one."""
        key = located.reply
        if key not in self._replies:
            self._replies[key] = self.wire.stored(key)
        reply = self._replies[key]
        if reply is None or _fault(reply) is not None:
            return None
        if located.marker is None:
            return _said(reply, key)
        if not located.marker.isdigit():
            return None
        number = int(located.marker)
        if key not in self._sentences:
            self._sentences[key] = sentences(reply.text, _NUMBERS)
        text = self._sentences[key].get(number)
        if text is None:
            return None
        return _Said(text=text, model=reply.model, located=located)

    def _from(
        self, known: _Known, passage: Passage, context: Context
    ) -> Settled | Verdict | None:
        """Judge what was known: settled, to be repaired, or None to be asked anew."""
        outcome = self._judged(known.first, passage, context)
        if isinstance(outcome, Settled):
            return replace(outcome, at_hand=True)
        if known.second is None:
            return outcome if known.is_exact else None
        second = self._judged(known.second, passage, context)
        if isinstance(second, Settled):
            return replace(second, at_hand=True)
        if not known.is_exact:
            return None
        return Settled(reason=second.reasons[0], model=known.second.model, at_hand=True)

    def _judged(
        self, said: _Answered, passage: Passage, context: Context
    ) -> Settled | Verdict:
        """Settle a chunk by its answer; a verdict where that has to be repaired."""
        if isinstance(said, Stopped | Held):
            return Settled(stopped=said.reason)
        if isinstance(said, str):
            return Settled(reason=said)
        if said.refused:
            return Settled(reason="refusal", model=said.model)
        verdict = judge(said.text, self.chunks[passage.index], context)
        if verdict.refused:
            return Settled(reason="refusal", model=said.model)
        if verdict.statement is None:
            return verdict
        return Settled(
            statement=verdict.statement,
            model=said.model,
            trimmed=verdict.trimmed,
            at_hand=said.at_hand,
        )

    async def _answers(
        self, request: PlannedRequest, passages: Sequence[Passage]
    ) -> dict[int, _Answered]:
        """Ask about some chunks of a request, with what its reply says already."""
        answers: dict[int, _Answered] = {}
        rest = list(passages)
        if len(passages) < len(request.passages):
            # A run may have ended between storing a reply and noting whose it is.
            try:
                answers = self._matched(request.reply_key, passages, at_hand=True)
            except Stopped as stop:
                return {passage.index: stop for passage in passages}
            rest = [each for each in passages if each.index not in answers]
        if not rest:
            return answers
        asked = request.about(rest)
        if self.held is not None:
            key = asked.reply_key
            if self.wire.stored(key) is None and not self.held.ask_live(key):
                return answers | dict.fromkeys((p.index for p in rest), self.held)
        return answers | await self._asked(asked)

    async def _asked(self, request: PlannedRequest) -> dict[int, _Answered]:
        """Ask, and once more singly or in halves for what did not come."""
        if request.view != "marked":
            return {
                passage.index: await self._first_answer(request)
                for passage in request.passages
            }
        passages = request.passages
        try:
            answer = await self._ask(request)
        except Stopped as stop:
            return {passage.index: stop for passage in passages}
        except RequestRejected:
            return await self._in_parts(request)
        except TransientError as error:
            return {passage.index: self._why(error) for passage in passages}
        if _fault(answer.reply) == "truncated":
            return await self._in_parts(request)
        self._replies[answer.key] = answer.reply
        found = self._matched(
            answer.key, passages, at_hand=self._is_at_hand(answer, request)
        )
        missing = [each for each in passages if each.index not in found]
        return found | await self._singly(request, missing)

    async def _in_parts(self, request: PlannedRequest) -> dict[int, _Answered]:
        """Ask with half of the window each; about a single chunk by itself."""
        if len(request.passages) == 1:
            return await self._singly(request, request.passages)
        parts = await asyncio.gather(*map(self._asked, request.halves()))
        return {index: said for part in parts for index, said in part.items()}

    async def _singly(
        self, request: PlannedRequest, passages: Iterable[Passage]
    ) -> dict[int, _Answered]:
        passages = list(passages)
        answers = await asyncio.gather(
            *(self._first_answer(request.alone(passage)) for passage in passages)
        )
        return {
            passage.index: answer
            for passage, answer in zip(passages, answers, strict=True)
        }

    def _matched(
        self, key: str, passages: Sequence[Passage], *, at_hand: bool
    ) -> dict[int, _Answered]:
        """Give what a reply says about chunks, each found by its marker."""
        found: dict[int, _Answered] = {}
        for passage in passages:
            marker = None if passage.number is None else str(passage.number)
            said = self._stored(Located(reply=key, marker=marker))
            if said is not None:
                found[passage.index] = replace(said, at_hand=at_hand)
        return found

    async def _first_answer(self, request: PlannedRequest) -> _Answered:
        """Ask about one chunk, and once more when nothing usable came back.

        An answer that was cut off is asked for with more room.
        """
        try:
            answer = await self._ask(request)
            fault = _fault(answer.reply)
            if fault is not None:
                if fault == "truncated":
                    roomier = parameters_for(
                        self.settings,
                        room=_ROOM_AFTER_TRUNCATION,
                        cached=request.parameters.cached,
                    )
                    request = replace(request, parameters=roomier)
                answer = await self._ask(request)
                fault = _fault(answer.reply)
        except Stopped as stop:
            return stop
        except (RequestRejected, TransientError) as error:
            return self._why(error)
        if fault is not None:
            return fault
        self._replies[answer.key] = answer.reply
        said = _said(answer.reply, answer.key)
        return replace(said, at_hand=self._is_at_hand(answer, request))

    async def _repaired(
        self,
        request: PlannedRequest,
        passage: Passage,
        first: _Said,
        verdict: Verdict,
        context: Context,
    ) -> Settled:
        """Ask for a repair, which is judged like the first answer."""
        alone = request.alone(passage)
        rendered = repair(alone.rendered, first.text, verdict)
        added = self.counter.count(rendered.chunk[len(alone.rendered.chunk) :])
        failed = Settled(reason=verdict.reasons[0], model=first.model)
        try:
            answer = await self._ask(alone, rendered=rendered, added=added)
        except Stopped as stop:
            return Settled(stopped=stop.reason)
        except TransientError as error:
            return Settled(reason=self._why(error))
        except RequestRejected:
            return failed
        if _fault(answer.reply) is not None:
            return failed
        second = _said(answer.reply, answer.key)
        outcome = self._judged(second, passage, context)
        self._note(passage, (first, second), outcome)
        if isinstance(outcome, Settled):
            return outcome
        return Settled(reason=outcome.reasons[0], model=second.model)

    async def _ask(
        self,
        request: PlannedRequest,
        *,
        rendered: Rendered | None = None,
        added: int = 0,
    ) -> Answer:
        """Put a request on the wire; `added` are the tokens of what was added."""
        is_cached = request.parameters.cached
        asked_at = await self.prefix.settled() if is_cached else 0.0
        answer = await self.wire.ask(
            Question(
                rendered=rendered or request.rendered,
                parameters=request.parameters,
                chunk_ids=request.chunk_ids,
                view=request.view,
                input_tokens=request.input_tokens + added,
            )
        )
        if is_cached and answer.source == "wire":
            self.prefix.note(answer.reply.usage, asked_at=asked_at)
        return answer

    def _is_at_hand(self, answer: Answer, request: PlannedRequest) -> bool:
        """Tell whether nothing had to be sent, and write that down."""
        if answer.source != "cache":
            return False
        reply = answer.reply
        self.wire.note_at_hand(
            answer.key,
            model=reply.model,
            outcome=outcome_of(reply),
            chunk_ids=request.chunk_ids,
        )
        return True

    def write_down(self) -> None:
        """Note where answers stand, all at once.

        What a run that is killed has not written down is found again by the
        requests it sent, whose replies are stored.
        """
        if self._notes:
            notes, self._notes = self._notes, {}
            self.wire.remember(notes)

    def _note(
        self, passage: Passage, said: Sequence[_Said], outcome: Settled | Verdict
    ) -> None:
        """Take note of a chunk's answers, and of the statement found in the last."""
        located = tuple(each.located for each in said)
        kept = None
        if isinstance(outcome, Settled) and outcome.statement is not None:
            kept = Kept(
                statement=outcome.statement,
                trimmed=outcome.trimmed,
                model=outcome.model or "",
                reply=located[-1].reply,
                judged_by=self.judged_by,
            )
        self._notes[passage.chunk_key] = (located, kept)
        # Under the section of the model that is asked, whoever answered.
        for key in passage.section_keys[:1]:
            self._notes[key] = (located, None)

    def _why(self, error: RequestRejected | TransientError) -> FallbackReason:
        match error:
            case ContextTooLong():
                return "context_too_long"
            case RateLimited():
                return "rate_limited"
            case TransientError():
                return "unavailable"
            case _:
                return "not_recorded" if self.settings.replayed else "rejected"


def _again(kept: Kept) -> Settled:
    return Settled(
        statement=kept.statement, model=kept.model, trimmed=kept.trimmed, at_hand=True
    )


def _said(reply: Reply, key: str) -> _Said:
    """Take a whole reply for what was said about one chunk."""
    return _Said(
        text=reply.text,
        model=reply.model,
        located=Located(reply=key),
        refused=reply.stop == "refusal",
    )


def _fault(reply: Reply) -> FallbackReason | None:
    """Say why a reply is no answer; the stop reason is read, not guessed."""
    if reply.stop == "length":
        return "truncated"
    if reply.stop == "end" and not clean(reply.text):
        return "empty"
    return None
