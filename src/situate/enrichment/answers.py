"""What was answered about chunks, here and before, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.enrichment.cache import Located
from situate.enrichment.exchange import fault
from situate.enrichment.marked import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.enrichment.exchange import Reply
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.enrichment.reasons import FallbackReason, SkipReason, StopReason
    from situate.enrichment.wire import Wire

_NUMBERS = range(1, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of one chunk."""

    statement: str | None = None
    """The sentence that was asked for: of `queries make`, a question."""
    reason: FallbackReason | None = None
    stopped: StopReason | SkipReason | None = None
    model: str | None = None
    trimmed: bool = False
    at_hand: bool = False
    """Its answer was there before anything was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a model said about one chunk, and where that stands."""

    text: str
    model: str
    located: Located
    refused: bool = False
    at_hand: bool = False
    """An equal request had brought it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What was answered about a chunk before."""

    first: Said
    second: Said | None
    is_exact: bool
    """The same question was answered; else its section is the same."""

    @property
    def said(self) -> tuple[Said, ...]:
        """The answer and, where there was one, its repair."""
        return (self.first,) if self.second is None else (self.first, self.second)


@dataclass(slots=True)
class Answers:
    """The replies that are at hand for one document, each read once."""

    wire: Wire
    _replies: dict[str, Reply | None] = field(default_factory=dict)
    _sentences: dict[str, dict[int, str]] = field(default_factory=dict)

    def take(self, key: str, reply: Reply) -> None:
        """Take in a reply that has just come."""
        self._replies[key] = reply

    def known(self, passage: Passage) -> Known | None:
        """Find what was answered before: to this question, or about this section."""
        for key in (passage.chunk_key, *passage.section_keys):
            said: list[Said] = []
            for located in self.wire.answers(key)[:2]:
                text = self.stored(located)
                if text is None:
                    break
                said.append(text)
            if said:
                return Known(
                    first=said[0],
                    second=said[1] if len(said) > 1 else None,
                    is_exact=key == passage.chunk_key,
                )
        return None

    def stored(self, located: Located) -> Said | None:
        """Read an answer that is at hand; None where there is no usable one."""
        reply = self._reply(located.reply)
        if reply is None:
            return None
        if located.marker is None:
            return whole(reply, located.reply)
        if not located.marker.isdecimal():
            return None
        if located.reply not in self._sentences:
            self._sentences[located.reply] = sentences(reply.text, _NUMBERS, None)
        text = self._sentences[located.reply].get(int(located.marker))
        if text is None:
            return None
        return Said(text=text, model=reply.model, located=located)

    def matched(
        self,
        request: PlannedRequest,
        key: str,
        passages: Sequence[Passage],
        *,
        at_hand: bool,
    ) -> dict[int, Said]:
        """Give what a reply says about chunks, each found by its marker."""
        reply = self._reply(key)
        if reply is None or reply.stop == "refusal":
            return {}
        numbers = {each.number: each for each in passages if each.number is not None}
        return {
            numbers[number].index: Said(
                text=text,
                model=reply.model,
                located=Located(reply=key, marker=str(number)),
                at_hand=at_hand,
            )
            for number, text in sentences(
                reply.text, numbers.keys(), request.begin
            ).items()
        }

    def _reply(self, key: str) -> Reply | None:
        """Give a reply that is at hand; None where there is no usable one."""
        if key not in self._replies:
            self._replies[key] = self.wire.stored(key)
        reply = self._replies[key]
        return None if reply is None or fault(reply) is not None else reply


def whole(reply: Reply, key: str) -> Said:
    """Take a whole reply for what was said about one chunk."""
    return Said(
        text=reply.text,
        model=reply.model,
        located=Located(reply=key),
        refused=reply.stop == "refusal",
    )
