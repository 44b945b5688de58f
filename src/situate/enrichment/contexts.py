"""What the answers about one document are judged against, made when needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.enrichment.gate import Context, forms_of, known_words
from situate.enrichment.grounding import evidence_of
from situate.enrichment.language import script_of

if TYPE_CHECKING:
    from situate.enrichment.gate import Gate, Verdict
    from situate.enrichment.plan import DocumentPlan, Part
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.model import Document
    from situate.tokens import TokenCounter

_SCRIPT_SAMPLE = 20_000
"""Characters of a document that decide on its script."""


@dataclass(slots=True, kw_only=True)
class _OfPart:
    """What is the same for all requests about chunks that are shown together (S6)."""

    script: str | None
    known: str
    hidden: tuple[str, ...]
    """What none of them holds, as `gate.forms_of` gives it."""
    contexts: dict[str, Context] = field(default_factory=dict)
    """By what was shown."""


@dataclass(slots=True, kw_only=True)
class Contexts:
    """Gives the context of every request of one document."""

    document: Document
    planned: DocumentPlan
    counter: TokenCounter
    max_tokens: int
    """Of a statement."""
    instructions: frozenset[tuple[str, ...]]
    """What the prompt says, as `gate.instructions_of` gives it."""
    _of_parts: dict[int, _OfPart] = field(default_factory=dict, init=False)
    """By where a part stands in the plan."""

    def of(self, request: PlannedRequest) -> Context:
        """Give what the answers to a request are judged against."""
        place = self.planned.place_of(request)
        if place not in self._of_parts:
            self._of_parts[place] = self._said(self.planned.parts[place])
        part, shown = self._of_parts[place], request.shown
        if shown not in part.contexts:
            part.contexts[shown] = Context(
                counter=self.counter,
                max_tokens=self.max_tokens,
                language=self.document.metadata.language,
                script=part.script,
                known=part.known,
                evidence=evidence_of(shown),
                instructions=self.instructions,
                hidden=part.hidden,
            )
        return part.contexts[shown]

    def judge(
        self, gate: Gate, statement: str, request: PlannedRequest, passage: Passage
    ) -> Verdict:
        """Say whether a statement may stand as an answer about a chunk."""
        return gate.judge(
            statement, self.planned.chunks[passage.index], self.of(request)
        )

    def _said(self, part: Part) -> _OfPart:
        """Give the script of what may be seen together, and what it says already."""
        asked = (self.planned.chunks[passage.index] for passage in part.passages)
        return _OfPart(
            script=script_of(part.document_text[:_SCRIPT_SAMPLE]),
            known=known_words(asked),
            hidden=forms_of(self.planned.hidden),
        )
