"""What would be asked, decided once for dry run, live run and batch.

Pure: the same document, chunks and settings give the same requests byte for
byte. Nothing is tokenized that the chunker has counted before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from situate.enrichment import questions, views
from situate.enrichment.audience import audiences, hidden_from
from situate.enrichment.keys import (
    ChunkKeys,
    SectionKeys,
    asked_with,
    identity_of,
)
from situate.enrichment.questions import Brief, Overhead, Passage
from situate.enrichment.redaction import RedactionFailed, redacted
from situate.enrichment.worth import unasked
from situate.model import leaf_ids, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from situate.enrichment.audience import Audience
    from situate.enrichment.exchange import Provider
    from situate.enrichment.questions import PlannedRequest
    from situate.enrichment.reasons import SkipReason
    from situate.enrichment.settings import Settings, View
    from situate.model import Chunk, Document
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is asked about the chunks that may be seen together (S6)."""

    view: View
    requests: tuple[PlannedRequest, ...]
    skipped: Mapping[int, SkipReason]
    """Chunks that are not asked about, by their index (E13)."""
    document_text: str = field(repr=False)
    """All of the document that their models may see."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All chunks that are asked about, in their order."""
        return tuple(each for request in self.requests for each in request.passages)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlan:
    """The requests of one document."""

    doc_id: str
    parts: tuple[Part, ...]
    """One for nearly every document; more where sections are for different people
    or days."""
    chunks: Sequence[Chunk] = field(repr=False)
    """The chunks handed to `plan`, as a model may see them: what is asked about is
    judged by them alone."""
    hidden: frozenset[str] = field(default=frozenset(), repr=False)
    """What no model may see of the document."""
    trouble: str | None = None
    """Why nothing of the document is asked about; names it."""

    @property
    def requests(self) -> tuple[PlannedRequest, ...]:
        """The requests of all parts."""
        return tuple(request for part in self.parts for request in part.requests)

    @property
    def skipped(self) -> Mapping[int, SkipReason]:
        """All chunks that are not asked about, by their index."""
        return {
            index: reason
            for part in self.parts
            for index, reason in part.skipped.items()
        }

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All chunks that are asked about, part by part, in their order."""
        return tuple(each for part in self.parts for each in part.passages)

    def place_of(self, request: PlannedRequest) -> int:
        """Say of which of its parts a request is, or the one it was made from."""
        return next(
            place
            for place, part in enumerate(self.parts)
            if part.requests and part.requests[0].brief is request.brief
        )

    def only(self, requests: Iterable[PlannedRequest]) -> DocumentPlan:
        """Give the plan with these requests, made from its own, in their places."""
        asked: list[list[PlannedRequest]] = [[] for _ in self.parts]
        for request in requests:
            asked[self.place_of(request)].append(request)
        parts = (
            replace(part, requests=tuple(own))
            for part, own in zip(self.parts, asked, strict=True)
        )
        return replace(self, parts=tuple(parts))

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
    Where `asked` names chunks, these leaves are asked about and no others. Leaves
    that may not be seen together are planned for as if they were documents of
    their own. What `settings.redaction` hides is in no request; where it fails there
    is none.
    """
    try:
        shown = redacted(document, chunks, settings.redaction, counter)
    except RedactionFailed as error:
        return _withheld(chunks, document, settings, asked, str(error))
    ids = leaf_ids(chunks)
    places = [index for index, chunk in enumerate(chunks) if chunk.chunk_id in ids]
    # What is said of permission, not what is shown of it.
    found = audiences(
        document, [chunks[index] for index in places], settings.enrich_when
    )
    if shown.document is not document:
        found = _as_shown(found, shown.document)
    document, chunks = shown.document, shown.chunks
    leaves = tuple(chunks[index] for index in places)
    # The chunks know the title of a document that names none.
    title = next((leaf.metadata.title or "" for leaf in leaves), "")
    doc_type = document.metadata.doc_type or ""
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
        outline="",
        overhead=Overhead.of(prompt, title + doc_type, counter),
    )
    unasked = _Unasked(leaves, found, asked)
    keys = _section_keys(brief, unasked, hidden_from(document, found))
    return DocumentPlan(
        doc_id=document.doc_id,
        parts=tuple(_Part(brief, places, each, unasked, keys).plan() for each in found),
        chunks=chunks,
        hidden=shown.hidden,
    )


def _as_shown(found: Iterable[Audience], document: Document) -> tuple[Audience, ...]:
    """Give audiences the sections of a document as a model may see it."""
    sections = {section.section_id: section for section, _ in walk(document.root)}
    return tuple(
        replace(
            each,
            sections=tuple(sections[one.section_id] for one in each.sections),
        )
        for each in found
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
    nothing = Part(
        view="window" if settings.view == "auto" else settings.view,
        requests=(),
        skipped={
            index: "redaction_failed"
            for index, chunk in enumerate(chunks)
            if chunk.chunk_id in ids
        },
        document_text="",
    )
    return DocumentPlan(
        doc_id=document.doc_id,
        parts=(nothing,),
        chunks=chunks,
        trouble=f"document {document.doc_id!r}: {why}; nothing of it is sent",
    )


class _Unasked:
    """The leaves that are not asked about, by their number, and why."""

    def __init__(
        self,
        leaves: Sequence[Chunk],
        found: Sequence[Audience],
        asked: Collection[str] | None,
    ) -> None:
        self.reasons: dict[int, SkipReason] = {}
        """Empty where others are asked about by name."""
        self.numbers: Collection[int] = self.reasons
        for audience in found if asked is None else ():
            self.reasons.update(_reasons(leaves, audience))
        if asked is not None:
            allowed = {n for each in found if each.allowed for n in each.leaves}
            self.numbers = {
                number
                for number, leaf in enumerate(leaves)
                if leaf.chunk_id not in asked or number not in allowed
            }


def _reasons(leaves: Sequence[Chunk], audience: Audience) -> dict[int, SkipReason]:
    if not audience.allowed:
        return dict.fromkeys(audience.leaves, "not_allowed")
    reasons = unasked([leaves[number] for number in audience.leaves])
    return {audience.leaves[place]: reason for place, reason in reasons.items()}


def _section_keys(
    brief: Brief, unasked: _Unasked, hidden: Mapping[int, str]
) -> Mapping[int, tuple[str, ...]]:
    """Give what leaves are found by while their sections stay the same (E4).

    Equal ones count in reading order, whoever may see them: an answer does not pass
    from one to another when permissions change.
    """
    if brief.settings.reuse != "section":
        return {}
    keys = SectionKeys(brief, hidden)
    return {
        number: keys.of(number, leaf, identity_of(leaf))
        for number, leaf in enumerate(brief.leaves)
        if number not in unasked.numbers
    }


class _Part:
    """Writes down the requests about one audience's leaves."""

    def __init__(
        self,
        brief: Brief,
        places: Sequence[int],
        audience: Audience,
        unasked: _Unasked,
        section_keys: Mapping[int, tuple[str, ...]],
    ) -> None:
        self._brief = brief = replace(
            brief, leaves=tuple(brief.leaves[number] for number in audience.leaves)
        )
        self._audience = audience
        self._places = places
        self._unasked = unasked
        self._section_keys = section_keys
        self._text = views.whole(audience.sections)
        self._asked = asked_with(brief)
        # Leaves tile the document, so their counts are the document's.
        tokens = sum(leaf.token_count for leaf in brief.leaves)
        self._view = views.view_of(brief.settings, brief.prompt, brief.facts, tokens)

    def plan(self) -> Part:
        """Give them in reading order, with what is not asked about."""
        if self._view != "full":
            outline = views.outline_of(self._audience.sections, self._brief.counter)
            self._brief = self._brief.outlined(outline)
        requests = self._by_window() if self._view == "marked" else self._single()
        return Part(
            view=self._view,
            requests=tuple(requests),
            skipped={
                self._places[number]: self._unasked.reasons[number]
                for number in self._audience.leaves
                if number in self._unasked.reasons
            },
            document_text=self._text,
        )

    def _by_window(self) -> list[PlannedRequest]:
        ranges = views.windows(self._brief.leaves, self._brief.facts)
        return [found for each in ranges if (found := self._marked(each))]

    def _is_asked(self, leaf: int) -> bool:
        return self._audience.leaves[leaf] not in self._unasked.numbers

    def _marked(self, window: range) -> PlannedRequest | None:
        text = self._text
        if len(window) < len(self._brief.leaves):
            text = views.stretch(self._brief.leaves, window, self._brief.outline)
        keys = ChunkKeys(self._asked, text)
        passages = tuple(
            self._passage(leaf, keys, number)
            for number, leaf in enumerate(window, 1)
            if self._is_asked(leaf)
        )
        return (
            questions.marked(self._brief, window, passages, text) if passages else None
        )

    def _single(self) -> list[PlannedRequest]:
        brief, found = self._brief, []
        everything = range(len(brief.leaves))
        asked = [leaf for leaf in everything if self._is_asked(leaf)]
        keys = ChunkKeys(self._asked, self._text)
        for leaf in asked:
            if self._view == "window":
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
        chunk = self._brief.leaves[leaf]
        identity = identity_of(chunk)
        place = self._audience.leaves[leaf]
        return Passage(
            index=self._places[place],
            leaf=leaf,
            chunk_id=chunk.chunk_id,
            chunk_key=keys.of(identity),
            identity=identity,
            section_keys=self._section_keys.get(place, ()),
            number=number,
        )
