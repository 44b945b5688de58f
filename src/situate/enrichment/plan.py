"""What would be asked, decided once for dry run, live run and batch.

Pure: the same document, chunks and settings give the same requests byte for
byte. Nothing is tokenized that the chunker has counted before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.enrichment import questions, views
from situate.enrichment.keys import (
    ChunkKeys,
    SectionKeys,
    asked_with,
    identity_of,
)
from situate.enrichment.questions import Brief, Overhead, Passage
from situate.enrichment.redaction import RedactionFailed, redacted
from situate.enrichment.worth import unasked
from situate.model import leaf_ids

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from situate.enrichment.exchange import Provider
    from situate.enrichment.questions import PlannedRequest
    from situate.enrichment.reasons import SkipReason
    from situate.enrichment.settings import Settings, View
    from situate.model import Chunk, Document
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlan:
    """The requests of one document."""

    doc_id: str
    view: View
    requests: tuple[PlannedRequest, ...]
    skipped: Mapping[int, SkipReason]
    """Chunks that are not asked about, by their index (E13)."""
    document_text: str = field(repr=False)
    """The document as a model may see it."""
    chunks: Sequence[Chunk] = field(default=(), repr=False)
    """The chunks handed to `plan`, as a model may see them."""
    hidden: frozenset[str] = field(default=frozenset(), repr=False)
    """What a model may not see of the document."""
    trouble: str | None = None
    """Why nothing of the document is asked about; names it."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All chunks that are asked about, in their order."""
        return tuple(each for request in self.requests for each in request.passages)

    @property
    def input_tokens(self) -> int:
        """Estimated input of all requests together."""
        return sum(request.input_tokens for request in self.requests)

    @property
    def output_tokens(self) -> int:
        """Estimated output of all requests together."""
        return sum(request.output_tokens for request in self.requests)


def plan(  # noqa: PLR0913 - each is one thing a request is made of
    chunks: Sequence[Chunk],
    document: Document,
    *,
    settings: Settings,
    prompt: Prompt,
    provider: Provider,
    facts: ModelFacts,
    counter: TokenCounter,
    asked: Collection[str] | None = None,
) -> DocumentPlan:
    """Give the requests for the leaves among `chunks`, in their order.

    Containers and single blocks are not asked about, nor what no sentence helps.
    Where `asked` names chunks, these leaves are asked about and no others. What
    `settings.redaction` hides is in no request; where it fails there is none.
    """
    try:
        shown = redacted(document, chunks, settings.redaction, counter)
    except RedactionFailed as error:
        return _withheld(chunks, document, settings, asked, str(error))
    document, chunks = shown.document, shown.chunks
    ids = leaf_ids(chunks)
    places = [index for index, chunk in enumerate(chunks) if chunk.chunk_id in ids]
    leaves = tuple(chunks[index] for index in places)
    text = views.whole(document)
    # Leaves tile the document, so their counts are the document's.
    tokens = sum(leaf.token_count for leaf in leaves)
    view = views.view_of(settings, prompt, facts, tokens)
    # The chunks know the title of a document that names none.
    title = next((leaf.metadata.title or "" for leaf in leaves), "")
    doc_type = document.metadata.doc_type or ""
    outline = "" if view == "full" else views.outline_of(document, counter)
    brief = Brief(
        document=document,
        leaves=leaves,
        settings=settings,
        prompt=prompt,
        provider=provider,
        facts=facts,
        counter=counter,
        title=title,
        doc_type=doc_type,
        outline=outline,
        overhead=Overhead.of(prompt, title + doc_type, outline, counter),
    )
    if asked is None:
        skipped = unasked(leaves)
        left_out = set(skipped)
    else:
        skipped = {}
        left_out = {n for n, leaf in enumerate(leaves) if leaf.chunk_id not in asked}
    requests = _Requests(brief, places, left_out, text)
    return DocumentPlan(
        doc_id=document.doc_id,
        view=view,
        requests=tuple(requests.of(view)),
        skipped={places[leaf]: reason for leaf, reason in skipped.items()},
        document_text=text,
        chunks=chunks,
        hidden=shown.hidden,
    )


def _withheld(
    chunks: Sequence[Chunk],
    document: Document,
    settings: Settings,
    asked: Collection[str] | None,
    why: str,
) -> DocumentPlan:
    """Plan nothing for a document of which nobody knows what to hide."""
    ids = leaf_ids(chunks) if asked is None else asked
    return DocumentPlan(
        doc_id=document.doc_id,
        view="window" if settings.view == "auto" else settings.view,
        requests=(),
        skipped={
            index: "redaction_failed"
            for index, chunk in enumerate(chunks)
            if chunk.chunk_id in ids
        },
        document_text="",
        chunks=chunks,
        trouble=f"document {document.doc_id!r}: {why}; nothing of it is sent",
    )


class _Requests:
    """Writes the requests of one document down."""

    def __init__(
        self,
        brief: Brief,
        places: Sequence[int],
        skipped: Iterable[int],
        text: str,
    ) -> None:
        self._brief = brief
        self._places = places
        self._skipped = frozenset(skipped)
        self._text = text
        self._asked = asked_with(brief)
        self._section_keys = SectionKeys(brief)

    def of(self, view: View) -> list[PlannedRequest]:
        """Give them in reading order."""
        brief = self._brief
        if view == "marked":
            ranges = views.windows(brief.leaves, brief.facts)
            return [found for each in ranges if (found := self._marked(each))]
        return self._single(view)

    def _marked(self, window: range) -> PlannedRequest | None:
        text = self._text
        if len(window) < len(self._brief.leaves):
            text = views.stretch(self._brief.leaves, window, self._brief.outline)
        keys = ChunkKeys(self._asked, text)
        passages = tuple(
            self._passage(leaf, keys, number)
            for number, leaf in enumerate(window, 1)
            if leaf not in self._skipped
        )
        return (
            questions.marked(self._brief, window, passages, text) if passages else None
        )

    def _single(self, view: View) -> list[PlannedRequest]:
        brief, found = self._brief, []
        asked = [n for n in range(len(brief.leaves)) if n not in self._skipped]
        keys = ChunkKeys(self._asked, self._text)
        everything = range(len(brief.leaves))
        for leaf in asked:
            if view == "window":
                text, tokens = views.around(
                    brief.leaves, leaf, everything, brief.outline
                )
                passage = self._passage(leaf, ChunkKeys(self._asked, text), None)
                found.append(questions.around(brief, passage, text, tokens))
            else:
                found.append(
                    questions.full(
                        brief,
                        self._passage(leaf, keys, None),
                        self._text,
                        shared=len(asked) > 1,
                    )
                )
        return found

    def _passage(self, leaf: int, keys: ChunkKeys, number: int | None) -> Passage:
        brief, chunk = self._brief, self._brief.leaves[leaf]
        identity = identity_of(chunk)
        is_kept = brief.settings.reuse == "section"
        return Passage(
            index=self._places[leaf],
            leaf=leaf,
            chunk_id=chunk.chunk_id,
            chunk_key=keys.of(identity),
            identity=identity,
            section_keys=self._section_keys.of(chunk, identity) if is_kept else (),
            number=number,
        )
