"""Questions to a model: what a request asks, about which chunks, written on demand.

A request may hold a whole document, so that none is written down before somebody
wants to see it; its size is known without.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from situate.enrichment import views
from situate.enrichment.exchange import Parameters, Rendered
from situate.enrichment.keys import canonical, reply_key
from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.enrichment.exchange import Body, Provider
    from situate.enrichment.settings import Settings, View
    from situate.model import Chunk, Document, JsonValue
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter

_FRAMING_TOKENS = 12
"""Role marks and separators a chat format adds around three parts."""

SENTENCE_TOKENS = 40
"""A sentence of 35 words at most, as the shipped prompts ask for it."""

ENTRY_TOKENS = 6
"""Key, quotes and comma of one entry of a JSON object."""

_SCHEMA_TOKENS, _KEY_TOKENS = 40, 9
"""Of a JSON schema and of each key in it, counted as text (2026-11). Vendors do not
say how they bill it."""

_SPARE_TOKENS = 100
"""Output allowed on top where many sentences are asked for at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk that is asked about, and what its answer is found by."""

    index: int
    """Which of the chunks handed to `plan`."""
    leaf: int
    """Which of the document's leaves."""
    chunk_id: str
    chunk_key: str
    """What the answer depends on, however it is asked for (E3)."""
    section_keys: tuple[str, ...]
    """What it is found by while its section stays the same, one for every model
    whose answers are welcome (E4)."""
    identity: str
    """Hash of what of the chunk itself a model sees."""
    number: int | None
    """Of its marker; None where it is asked about alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Tokens of what stands around texts."""

    single: int
    """Instructions and the document part, about one chunk."""
    task: int
    marked: int
    """Instructions and the document part, about marked chunks."""
    marked_task: int
    outline: int = 0

    @classmethod
    def of(cls, prompt: Prompt, about: str, counter: TokenCounter) -> Overhead:
        """Count them, once for a document; its outline is not among them yet."""
        count = counter.count
        beside = _FRAMING_TOKENS + count(prompt.document) + count(about)
        return cls(
            single=beside + count(prompt.system),
            task=count(prompt.chunk),
            marked=beside + count(prompt.marked_system),
            marked_task=count(prompt.marked_chunks),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What all requests of a document, or of a part of it, are made from."""

    document: Document
    """All of it, which answers are found by; what is shown are `leaves`."""
    leaves: tuple[Chunk, ...]
    """Those that may be shown together."""
    settings: Settings
    prompt: Prompt
    provider: Provider
    facts: ModelFacts
    counter: TokenCounter
    title: str
    doc_type: str
    outline: str
    overhead: Overhead

    def outlined(self, outline: str) -> Brief:
        """Give the same with an outline, counted."""
        overhead = replace(self.overhead, outline=self.counter.count(outline))
        return replace(self, outline=outline, overhead=overhead)

    def shown(self, text: str) -> str:
        """Put a text in the document part of the prompt."""
        return self.prompt.render_document(
            text, title=self.title, doc_type=self.doc_type
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One request, and the chunks whose statements it asks for."""

    passages: tuple[Passage, ...]
    view: View
    brief: Brief = field(compare=False, repr=False)
    text: str = field(repr=False)
    """What stands in the document part, markers left out: all that is shown."""
    window: range
    """Which leaves are marked; of one chunk alone, that one."""
    parameters: Parameters
    input_tokens: int
    """Estimated; a few percent off the provider's own count."""
    prefix_tokens: int
    """Of `input_tokens`: instructions and document, equal for all that share them."""
    output_tokens: int
    """Estimated for sentences; `parameters` bounds it."""

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """The chunks it asks about."""
        return tuple(passage.chunk_id for passage in self.passages)

    @property
    def provider(self) -> Provider:
        """Whom it is for."""
        return self.brief.provider

    @property
    def shown(self) -> str:
        """All that a model is shown to answer it, instructions and markers left out."""
        brief = self.brief
        leaves = [brief.leaves[index] for index in self.window]
        # The view `window` has a gap where the chunk itself stands.
        own = [leaf.text for leaf in leaves] if self.view == "window" else []
        crumbs = dict.fromkeys(leaf.breadcrumb_line for leaf in leaves)
        if self.view == "full":
            crumbs = dict.fromkeys(leaf.breadcrumb_line for leaf in brief.leaves)
        return "\n".join([self.text, *own, brief.title, brief.doc_type, *crumbs])

    @property
    def begin(self) -> str | None:
        """What its markers begin with; None where nothing is marked."""
        if self.view != "marked":
            return None
        return views.marked(self.brief.leaves, self.window, self.brief.outline)[1]

    @property
    def rendered(self) -> Rendered:
        """The prompt with everything filled in, made anew each time."""
        brief, prompt = self.brief, self.brief.prompt
        if self.view == "marked":
            text, begin = views.marked(brief.leaves, self.window, brief.outline)
            chosen = [passage.number or 0 for passage in self.passages]
            return Rendered(
                system=prompt.marked_system,
                document=brief.shown(text),
                chunk=prompt.render_marked(begin, views.numbers(chosen)),
            )
        leaf = brief.leaves[self.passages[0].leaf]
        return Rendered(
            system=prompt.system,
            document=brief.shown(self.text),
            chunk=prompt.render_chunk(leaf.text, breadcrumb=leaf.breadcrumb_line),
        )

    @property
    def body(self) -> Body:
        """The body to send, rendered anew: it may hold the whole document."""
        return self.provider.render(self.rendered, self.parameters)

    @property
    def reply_key(self) -> str:
        """The key its raw reply is stored under; hashes the whole body."""
        return reply_key(
            self.body, provider=self.provider.name, endpoint=self.provider.endpoint
        )

    @property
    def identity(self) -> str:
        """What equal requests have in common, found without writing them down."""
        asked: JsonValue = [[each.identity, each.number] for each in self.passages]
        return digest(canonical([self.brief.title, self.view, self.text, asked]))

    @property
    def most_alone_tokens(self) -> int:
        """Most input of a request about one of its passages by itself."""
        if self.view != "marked":
            return self.input_tokens
        brief, leaves = self.brief, self.brief.leaves
        around = min(
            2 * views.NEIGHBOUR_TOKENS, sum(leaf.token_count for leaf in leaves)
        )
        own = max(leaves[passage.leaf].token_count for passage in self.passages)
        overhead = brief.overhead
        return (
            overhead.single
            + overhead.task
            + overhead.outline
            + around
            + own
            + views.MOST_CRUMBS_TOKENS
        )

    def about(self, passages: Sequence[Passage]) -> PlannedRequest:
        """Give the request that asks about some of its passages alone."""
        if len(passages) == len(self.passages):
            return self
        return marked(self.brief, self.window, tuple(passages), self.text)

    def halves(self) -> tuple[PlannedRequest, ...]:
        """Give two requests in its place, each with half of the window."""
        middle = self.passages[len(self.passages) // 2].leaf
        parts = (
            range(self.window.start, middle),
            range(middle, self.window.stop),
        )
        return tuple(
            marked(
                self.brief,
                part,
                tuple(
                    _renumbered(passage, part)
                    for passage in self.passages
                    if passage.leaf in part
                ),
                views.stretch(self.brief.leaves, part, self.brief.outline),
            )
            for part in parts
        )

    def alone(self, passage: Passage) -> PlannedRequest:
        """Give the request that asks about one of its passages by itself.

        It shows what is around the chunk, not the whole window again.
        """
        if self.view != "marked":
            return self
        brief = self.brief
        shown = views.around(brief.leaves, passage.leaf, self.window, brief.outline)
        return around(brief, passage, *shown)


def marked(
    brief: Brief, window: range, passages: tuple[Passage, ...], text: str
) -> PlannedRequest:
    """Ask about chunks that are marked in a window of the document."""
    settings, count = brief.settings, len(passages)
    tokens = sum(brief.leaves[leaf].token_count for leaf in window)
    prefix = brief.overhead.marked + tokens + len(window) * views.MARKER_TOKENS
    if len(window) < len(brief.leaves):
        prefix += brief.overhead.outline
    keys = tuple(str(passage.number) for passage in passages)
    sentence = min(SENTENCE_TOKENS, settings.statement_max_tokens)
    return PlannedRequest(
        passages=passages,
        view="marked",
        brief=brief,
        text=text,
        window=window,
        parameters=Parameters(
            model=settings.model,
            max_output_tokens=_SPARE_TOKENS
            + count * (settings.statement_max_tokens + 2 * ENTRY_TOKENS),
            keys=keys,
        ),
        input_tokens=prefix + brief.overhead.marked_task + _schema_tokens(brief, keys),
        prefix_tokens=prefix,
        output_tokens=count * (sentence + ENTRY_TOKENS),
    )


def _schema_tokens(brief: Brief, keys: Sequence[str]) -> int:
    """Say what naming the keys costs, where the provider takes a schema."""
    if brief.facts.structured_output == "none":
        return 0
    return _SCHEMA_TOKENS + _KEY_TOKENS * len(keys)


def around(brief: Brief, passage: Passage, text: str, tokens: int) -> PlannedRequest:
    """Ask about one chunk, showing headings and so many tokens of neighbours."""
    tokens += brief.overhead.outline + views.GAP_TOKENS
    return _single(brief, passage, text, tokens, view="window")


def full(brief: Brief, passage: Passage, text: str, *, shared: bool) -> PlannedRequest:
    """Ask about one chunk, showing the whole document.

    `shared` says that others show it, too.
    """
    tokens = sum(leaf.token_count for leaf in brief.leaves)
    return _single(brief, passage, text, tokens, view="full", shared=shared)


def _single(  # noqa: PLR0913 - the two views that ask about one chunk
    brief: Brief,
    passage: Passage,
    text: str,
    tokens: int,
    *,
    view: View,
    shared: bool = False,
) -> PlannedRequest:
    leaf = brief.leaves[passage.leaf]
    prefix = brief.overhead.single + tokens
    is_cached = (
        shared
        and brief.facts.cache != "none"
        and prefix >= brief.facts.cache_minimum_tokens
    )
    return PlannedRequest(
        passages=(passage,),
        view=view,
        brief=brief,
        text=text,
        window=range(passage.leaf, passage.leaf + 1),
        parameters=parameters_for(brief.settings, cached=is_cached),
        input_tokens=prefix
        + brief.overhead.task
        + brief.counter.count(leaf.breadcrumb_line)
        + leaf.token_count,
        prefix_tokens=prefix,
        output_tokens=min(SENTENCE_TOKENS, brief.settings.statement_max_tokens),
    )


def parameters_for(
    settings: Settings, *, room: int = 2, cached: bool = False
) -> Parameters:
    """Give what is sent beside a prompt about one chunk.

    The output may be `room` times the cap of a statement: for a model's own
    tokenizer and for a preamble that is cut off later; an answer that needs more
    is no single sentence.
    """
    return Parameters(
        model=settings.model,
        max_output_tokens=room * settings.statement_max_tokens,
        cached=cached,
    )


def _renumbered(passage: Passage, window: range) -> Passage:
    return replace(passage, number=passage.leaf - window.start + 1)
