"""Gets an answer for every chunk of a planned request, and judges each by itself.

What is at hand is used first. What has to be asked is asked for together; what
comes back without doubt is kept, and the rest is asked again one by one. A group
that is too much for the model is halved until it is not.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from situate.enrichment.answers import Known, Said, Settled, whole
from situate.enrichment.budget import NOTHING
from situate.enrichment.cache import Kept
from situate.enrichment.exchange import fault
from situate.enrichment.gate import holds
from situate.enrichment.outcomes import Stopped, outcome_of
from situate.enrichment.questions import parameters_for
from situate.enrichment.redaction import MARK, quotable
from situate.enrichment.wire import Question
from situate.errors import (
    ContextTooLong,
    RateLimited,
    RequestRejected,
    TransientError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from situate.enrichment.answers import Answers
    from situate.enrichment.budget import Committed
    from situate.enrichment.cache import User
    from situate.enrichment.exchange import Rendered
    from situate.enrichment.gate import Context, Gate, Verdict
    from situate.enrichment.prefix import Prefix
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.enrichment.reasons import FallbackReason, SkipReason, StopReason
    from situate.enrichment.settings import Settings
    from situate.enrichment.wire import Answer, Note, Wire
    from situate.model import Chunk
    from situate.tokens import TokenCounter

_ROOM_AFTER_TRUNCATION = 4
"""Output limit of the second try, as a multiple of `statement_max_tokens`."""

_Result = TypeVar("_Result")


_Answered: TypeAlias = "Said | FallbackReason | Stopped"


@dataclass(slots=True)
class Sorted:
    """The chunks of a request by what is still to be done about them."""

    settled: dict[int, Settled] = field(default_factory=dict)
    open: list[Passage] = field(default_factory=list)
    """To be asked about."""
    faulty: list[tuple[Passage, Said, Verdict]] = field(default_factory=list)
    """To be repaired."""

    @property
    def is_settled(self) -> bool:
        """True when nothing is left to be asked."""
        return not self.open and not self.faulty

    def put(
        self, passage: Passage, said: _Answered, outcome: Settled | Verdict
    ) -> None:
        """Sort a chunk by what judging its answer gave."""
        if isinstance(outcome, Settled):
            self.settled[passage.index] = outcome
        elif isinstance(said, Said):
            self.faulty.append((passage, said, outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Chunks that a vendor's batch system has been asked about."""

    outlook: Callable[[str], Literal["none", "pending", "ask_live"]]
    """Says by its key what has become of a chunk: in no batch, in one that has not
    ended, or in one that brought no answer."""
    otherwise: StopReason | SkipReason | None = None
    """Why chunks in no batch are not asked about; None where they are, live."""
    committed: Committed = NOTHING
    """What this run has set aside for batches."""


@dataclass(slots=True)
class Asker:
    """Asks about the chunks of one document."""

    settings: Settings
    wire: Wire
    counter: TokenCounter
    chunks: Sequence[Chunk]
    prefix: Prefix
    answers: Answers
    gate: Gate
    judged_by: str
    """Hash of what answers are judged by, beside what the model was shown."""
    user: User
    """The document."""
    held: Held | None = None
    """None where everything is asked live."""
    _notes: dict[str, Note] = field(default_factory=dict)
    """Where answers stand that nobody has written down yet."""
    _replies: set[str] = field(default_factory=set)
    """Those that answers were taken from."""

    async def settle(
        self, request: PlannedRequest, sorted_: Sorted, context: Callable[[], Context]
    ) -> dict[int, Settled]:
        """Give what became of every chunk of a request, by its index.

        `sorted_` is what `at_hand` gave for it; `context` gives what answers are
        judged by, where any has to be judged.

        Raises:
            ProviderUnusable: no request can succeed.
        """
        if sorted_.open:
            answers = await self._answers(request, sorted_.open)
            for passage in sorted_.open:
                said = answers[passage.index]
                outcome = self._judged(said, passage, context())
                sorted_.put(passage, said, outcome)
                if isinstance(said, Said):
                    self._note(passage, (said,), outcome)
        if not sorted_.faulty:
            return sorted_.settled
        repairs = (
            self._repaired(request, *faulty, context()) for faulty in sorted_.faulty
        )
        outcomes = await _together(repairs)
        for (passage, *_), outcome in zip(sorted_.faulty, outcomes, strict=True):
            sorted_.settled[passage.index] = outcome
        return sorted_.settled

    def at_hand(
        self, request: PlannedRequest, context: Callable[[], Context]
    ) -> Sorted:
        """Settle what was answered before, and say what has to be asked."""
        sorted_ = Sorted()
        used: dict[tuple[str, str, str], list[str]] = {}
        for passage in request.passages:
            try:
                kept = self._kept(passage)
                known = None if kept else self.answers.known(passage)
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
        self._replies.update(key for key, *_ in used)
        for (key, model, what), chunk_ids in used.items():
            self.wire.note_at_hand(
                key, model=model, outcome=what, chunk_ids=tuple(chunk_ids)
            )
        return sorted_

    def _kept(self, passage: Passage) -> Kept | None:
        """Give the statement of before where the same judge would find it again."""
        kept = self.wire.kept(passage.chunk_key)
        return kept if kept and kept.judged_by == self.judged_by else None

    def _from(
        self, known: Known, passage: Passage, context: Context
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
        if isinstance(said, Stopped):
            return Settled(stopped=said.reason)
        if isinstance(said, str):
            return Settled(reason=said)
        if said.refused:
            return Settled(reason="refusal", model=said.model)
        verdict = self.gate.judge(said.text, self.chunks[passage.index], context)
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
        try:
            if len(passages) < len(request.passages):
                # A run may have ended between storing a reply and noting whose it is.
                key = request.reply_key
                answers |= self.answers.matched(request, key, passages, at_hand=True)
            for passage in passages:
                reason = self._waits(passage)
                if reason is not None and passage.index not in answers:
                    answers[passage.index] = Stopped(reason)
        except Stopped as stop:
            return {passage.index: stop for passage in passages}
        rest = [each for each in passages if each.index not in answers]
        if not rest:
            return answers
        return answers | await self._asked(request.about(rest))

    def _waits(self, passage: Passage) -> StopReason | SkipReason | None:
        """Say why a chunk is not asked about now; None when it is."""
        if self.held is None:
            return None
        # An edit elsewhere changes the key of a chunk, but not that of its section.
        keys = (passage.chunk_key, *passage.section_keys)
        outlooks = set(map(self.held.outlook, keys))
        if "pending" in outlooks:
            return "pending"
        # What a batch did not answer, or answered to no use, is asked live.
        if "ask_live" in outlooks or self.wire.knows(passage):
            return None
        return self.held.otherwise

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
        if fault(answer.reply) == "truncated":
            return await self._in_parts(request)
        self.answers.take(answer.key, answer.reply)
        is_at_hand = self._is_at_hand(answer, request)
        found = self.answers.matched(request, answer.key, passages, at_hand=is_at_hand)
        missing = [each for each in passages if each.index not in found]
        return found | await self._singly(request, missing)

    async def _in_parts(self, request: PlannedRequest) -> dict[int, _Answered]:
        """Ask with half of the window each; about a single chunk by itself."""
        if len(request.passages) == 1:
            return await self._singly(request, request.passages)
        parts = await _together(map(self._asked, request.halves()))
        return {index: said for part in parts for index, said in part.items()}

    async def _singly(
        self, request: PlannedRequest, passages: Iterable[Passage]
    ) -> dict[int, _Answered]:
        passages = list(passages)
        answers = await _together(
            self._first_answer(request.alone(passage)) for passage in passages
        )
        return {
            passage.index: answer
            for passage, answer in zip(passages, answers, strict=True)
        }

    async def _first_answer(self, request: PlannedRequest) -> _Answered:
        """Ask about one chunk, and once more when nothing usable came back.

        An answer that was cut off is asked for with more room.
        """
        try:
            answer = await self._ask(request)
            found = fault(answer.reply)
            if found is not None:
                if found == "truncated":
                    roomier = parameters_for(
                        self.settings,
                        room=_ROOM_AFTER_TRUNCATION,
                        cached=request.parameters.cached,
                    )
                    request = replace(request, parameters=roomier)
                answer = await self._ask(request)
                found = fault(answer.reply)
        except Stopped as stop:
            return stop
        except (RequestRejected, TransientError) as error:
            return self._why(error)
        if found is not None:
            return found
        self.answers.take(answer.key, answer.reply)
        said = whole(answer.reply, answer.key)
        return replace(said, at_hand=self._is_at_hand(answer, request))

    async def _repaired(
        self,
        request: PlannedRequest,
        passage: Passage,
        first: Said,
        verdict: Verdict,
        context: Context,
    ) -> Settled:
        """Ask for a repair, which is judged like the first answer.

        An answer that holds what is hidden from the model is not shown to it.
        """
        alone = request.alone(passage)
        quoted = quotable(first.text, self.settings.redaction)
        if holds(quoted, context.hidden):
            quoted = MARK
        shown = verdict if quoted == first.text else replace(verdict, offenders=())
        rendered = self.gate.repair(alone.rendered, quoted, shown)
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
        if fault(answer.reply) is not None:
            return failed
        second = whole(answer.reply, answer.key)
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
                user=self.user,
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
        notes, self._notes = self._notes, {}
        replies, self._replies = self._replies, set()
        self.wire.remember(notes, self.user, replies)

    def _note(
        self, passage: Passage, said: Sequence[Said], outcome: Settled | Verdict
    ) -> None:
        """Take note of a chunk's answers, and of the statement found in the last."""
        located = tuple(each.located for each in said)
        self._replies.update(each.reply for each in located)
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


async def _together(work: Iterable[Coroutine[None, None, _Result]]) -> list[_Result]:
    """Do several things at the same time; when one fails the others are called off."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in work]
    return [task.result() for task in tasks]
