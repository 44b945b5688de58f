"""What the answers about one document are judged against, made when needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.enrichment.gate import Context, forms_of, known_words
from situate.enrichment.grounding import evidence_of
from situate.enrichment.language import script_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.enrichment.gate import Gate, Verdict
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import Passage, PlannedRequest
    from situate.model import Chunk, Document
    from situate.tokens import TokenCounter

_SCRIPT_SAMPLE = 20_000
"""Characters of a document that decide on its script."""


@dataclass(slots=True, kw_only=True)
class Contexts:
    """Gives the context of every request of one document."""

    document: Document
    planned: DocumentPlan
    chunks: Sequence[Chunk]
    counter: TokenCounter
    max_tokens: int
    """Of a statement."""
    instructions: frozenset[tuple[str, ...]]
    """What the prompt says, as `gate.instructions_of` gives it."""
    _of_document: tuple[str | None, str, tuple[str, ...]] | None = field(
        default=None, init=False
    )
    _of_shown: dict[str, Context] = field(default_factory=dict, init=False)

    def of(self, request: PlannedRequest) -> Context:
        """Give what the answers to a request are judged against."""
        shown = request.shown
        if shown not in self._of_shown:
            script, known, hidden = self._said()
            self._of_shown[shown] = Context(
                counter=self.counter,
                max_tokens=self.max_tokens,
                language=self.document.metadata.language,
                script=script,
                known=known,
                evidence=evidence_of(shown),
                instructions=self.instructions,
                hidden=hidden,
            )
        return self._of_shown[shown]

    def judge(
        self, gate: Gate, statement: str, request: PlannedRequest, passage: Passage
    ) -> Verdict:
        """Say whether a statement may stand as an answer about a chunk."""
        return gate.judge(statement, self._shown[passage.index], self.of(request))

    @property
    def _shown(self) -> Sequence[Chunk]:
        """The chunks as a model may see them."""
        return self.planned.chunks or self.chunks

    def _said(self) -> tuple[str | None, str, tuple[str, ...]]:
        """Give the script of the document, what it says already and what is hidden."""
        if self._of_document is None:
            asked = (self._shown[passage.index] for passage in self.planned.passages)
            script = script_of(self.planned.document_text[:_SCRIPT_SAMPLE])
            hidden = forms_of(self.planned.hidden)
            self._of_document = script, known_words(asked), hidden
        return self._of_document
