"""What drafting hands over: a question, where its answer stands, its line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from situate.model import digest

if TYPE_CHECKING:
    from situate.model import JsonValue, Span

Source = Literal["headings", "references", "definitions"]
"""What of a document questions are drafted from, as a user asks for it."""

SOURCES: Final[tuple[Source, ...]] = get_args(Source)

MODEL: Final = "model"
"""What a user asks for, and a line says, where a model drafts."""

Kind = Literal["heading", "reference", "definition", "model"]
"""What one question was drafted from, as its line says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """An answer: characters of the decoded source, else the words that stand there."""

    doc_id: str
    span: Span | None
    text: str | None
    """The evidence where the format counts no characters; None beside a span."""

    @property
    def record(self) -> dict[str, JsonValue]:
        """The passage as a question file holds it."""
        if self.span is None:
            return {"doc_id": self.doc_id, "text": self.text}
        return {"doc_id": self.doc_id, "start": self.span[0], "end": self.span[1]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question that no person has asked."""

    query: str
    kind: Kind
    gold: tuple[Passage, ...]
    section_id: str
    """Where the answer stands; sections are given so many questions and no more."""
    exclude_docs: tuple[str, ...] = ()
    """The document the words were taken from, where the answer is in another."""
    model: str | None = None
    """The model that drafted it, as it names itself; None where none was asked."""
    prompt: str | None = None
    """Name and number of the prompt it was asked with."""

    @property
    def qid(self) -> str:
        """The question's name: the same on every machine, whatever the seed."""
        said = "\0".join([self.query, self.gold[0].doc_id, self.section_id])
        return f"{self.kind}-{digest(said)[:12]}"

    @property
    def record(self) -> dict[str, JsonValue]:
        """The question's line in a question file, marked as drafted."""
        excluded: dict[str, JsonValue] = (
            {"exclude_docs": [*self.exclude_docs]} if self.exclude_docs else {}
        )
        return {
            "qid": self.qid,
            "query": self.query,
            "gold": [passage.record for passage in self.gold],
            **excluded,
            "kind": self.kind,
            "drafted": True,
            **({"model": self.model} if self.model is not None else {}),
            **({"prompt": self.prompt} if self.prompt is not None else {}),
        }
