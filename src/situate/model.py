"""The values that travel through situate: documents, blocks and chunks.

Everything here is frozen, holds no third-party type, does no I/O and knows
nothing of files, caches or models. Ids come from the heading path and the
place inside a section, hashes from text: the same input gives the same ids on
every machine.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

JsonValue: TypeAlias = (
    "str | int | float | bool | None | list[JsonValue] | dict[str, JsonValue]"
)

Span: TypeAlias = tuple[int, int]
"""Half-open character offsets into the source, decoded and newline-normalised."""

BlockKind = Literal[
    "heading",
    "paragraph",
    "list",
    "table",
    "code",
    "quote",
    "math",
    "html",
    "footnote",
    "reference",
]
"""`reference` holds link reference definitions; `footnote` one definition."""

Level = Literal["document", "section", "block"]

EnrichmentStatus = Literal["off", "statement", "skipped", "fallback"]

TOP = "_top"
"""Id of the section that holds what stands above the first heading."""

DOCUMENT = "_doc"
"""Id of the root section, and of the document's chunk."""


# Neither a quoted document id nor a section id holds a colon.
_PARAGRAPH = re.compile(r"[^:]*:[^:]*:p[0-9]+\Z")


def digest(text: str) -> str:
    """Hash a text: the first 128 bits of its SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a document, or a section that differs from it, says about itself."""

    title: str | None = None
    doc_type: str | None = None
    effective_from: str | None = None
    """First day of validity, an ISO date."""
    effective_to: str | None = None
    """Last day of validity, an ISO date, inclusive."""
    source: str | None = None
    """Where the document came from: a path or URL, never opened."""
    language: str | None = None
    custom: Mapping[str, JsonValue] = field(default_factory=dict)
    """Every other key of the author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table; its text is the author's markup."""

    text: str
    colspan: int = 1
    rowspan: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table, with the line that shows it."""

    text: str
    cells: tuple[Cell, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Header rows, body rows and the caption the format itself carries."""

    header: tuple[Row, ...]
    rows: tuple[Row, ...]
    delimiter: str = ""
    """The line between header and body in Markdown; empty elsewhere."""
    caption: str | None = None
    """One line; where the format carries one it is the first of the block's text."""
    labels: tuple[tuple[str, ...], ...] = ()
    """Header rows that `header` shows joined, outermost first, column by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One top-level item of a list: marker, text and everything below it."""

    text: str
    blocks: tuple[Block, ...] = ()
    """The item's own blocks, without the marker; empty when it is plain text."""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The items of a list; a loose one has blank lines between them."""

    items: tuple[Item, ...]
    loose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The lines between two fences; indented code has no fences."""

    lines: tuple[str, ...]
    opening: str = ""
    closing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The blocks of a quotation or alert, quote marks removed."""

    blocks: tuple[Block, ...]


Content: TypeAlias = Table | Items | Code | Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A place on a page, in points (1/72 inch) from its upper left corner."""

    page: int
    """From 1."""
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The smallest thing a reader names: a paragraph, table, list, heading.

    `text` is Markdown. For Markdown sources it is the source slice without
    quote marks and the list indentation of what encloses the block, without
    comments and data URIs. Blocks inside an item or a quotation have ids of
    the enclosing block and are never listed on their own.
    """

    block_id: str
    kind: BlockKind
    text: str
    span: Span | None = None
    content: Content | None = None
    """The block's parts: rows, items, lines, quoted blocks."""
    boxes: tuple[Box, ...] = ()
    """Where it stands; empty where the source has no pages."""

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages it stands on, ascending."""
        return tuple(sorted({box.page for box in self.boxes}))

    @property
    def part_count(self) -> int:
        """How many parts the block may be cut into; 1 when it has none."""
        match self.content:
            case Table(rows=parts) | Items(items=parts) | Code(lines=parts):
                return max(1, len(parts))
            case Quote(blocks=blocks):
                return max(1, len(blocks))
            case None:
                return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading with its blocks and the sections below it.

    The first block of a section with a heading is that heading. The root has
    id `_doc`, level 0, no blocks and no heading.
    """

    section_id: str
    """Slugs of the heading path; `~2` for the second equal sibling."""
    title: str
    """The heading as plain text."""
    level: int
    path: tuple[str, ...]
    """Heading texts from the outermost to this section's; blank ones left out."""
    blocks: tuple[Block, ...] = ()
    children: tuple[Section, ...] = ()
    metadata: Metadata | None = None
    """What holds from here downwards; None inherits from the section above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as its tree of sections."""

    doc_id: str
    version: str
    metadata: Metadata
    root: Section
    markup: Literal["markdown", "plain"] = "markdown"
    """Whether running text holds links and code marks, or is plain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptReference:
    """Which prompt a statement was asked with."""

    name: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrichment:
    """What became of the wish for a statement; the same on every run."""

    status: EnrichmentStatus = "off"
    statement: str | None = None
    reason: str | None = None
    model: str | None = None
    prompt: PromptReference | None = None
    view: str | None = None
    overdue: bool = False
    """The statement is one of before that stays because nothing came when it was
    asked for again; in no record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage that makes sense on its own, ready to embed.

    `text` is what is shown and cited. `reading` is what is indexed of it. The
    prefix and the texts to index are derived, so that merging a statement
    changes nothing else.
    """

    chunk_id: str
    doc_id: str
    doc_version: str
    parent_chunk_id: str | None
    level: Level
    text: str
    reading: str
    breadcrumb_line: str
    block_ids: tuple[str, ...]
    """Blocks in reading order, whole or in part."""
    parts: Mapping[str, Span]
    """For blocks held in part: which parts, half-open."""
    spans: tuple[Span | None, ...]
    """Where each of `block_ids`, or its part, stands in the source."""
    pages: tuple[int, ...]
    corpus: str | None
    metadata: Metadata
    breadcrumb: tuple[str, ...]
    section_id: str
    section_ids: tuple[str, ...] | None
    """All sections of a merged chunk, in reading order; None for one section."""
    ordinal: int
    """Place among the document's records, from 0."""
    token_count: int
    """Tokens of `text`."""
    embed: bool
    embed_form: Literal["text", "reading"]
    forced_split: bool
    enrichment: Enrichment

    @property
    def statement(self) -> str | None:
        """The model's sentence, None when there is none."""
        return self.enrichment.statement

    @property
    def context_prefix(self) -> str:
        """The breadcrumb line, then the statement on a line of its own."""
        return "\n".join(
            line for line in (self.breadcrumb_line, self.statement) if line
        )

    @property
    def embed_text(self) -> str:
        """What the dense index gets: prefix, blank line, reading."""
        return _above(self.context_prefix, self.reading)

    @property
    def lexical_text(self) -> str:
        """What a lexical index gets: breadcrumb line, blank line, reading."""
        return _above(self.breadcrumb_line, self.reading)


def is_paragraph(chunk_id: str) -> bool:
    """Tell whether a record is one block of a leaf, as `multi` writes them (C9)."""
    return _PARAGRAPH.match(chunk_id) is not None


def document_of(chunk_id: str) -> str:
    """Give the id of a chunk's document, which stands in front of the first colon."""
    return unquoted(chunk_id.partition(":")[0])


def quoted(text: str, *, marks: str = ":") -> str:
    """Percent-encode what parts an id, so that a text can stand in one.

    `marks` are the ASCII characters that part it; `%` always goes with them.
    """
    for mark in f"%{marks}":
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text


def unquoted(text: str) -> str:
    """Give the text that was quoted, whichever of the marks of ids it was for."""
    return text.replace("%40", "@").replace("%3A", ":").replace("%25", "%")


def leaf_ids(chunks: Sequence[Chunk]) -> frozenset[str]:
    """Name the chunks that cover a document, embedded or not."""
    divided = {
        chunk.parent_chunk_id for chunk in chunks if is_paragraph(chunk.chunk_id)
    }
    return frozenset(
        chunk.chunk_id
        for chunk in chunks
        if chunk.chunk_id in divided
        or (chunk.embed and not is_paragraph(chunk.chunk_id))
    )


def walk(section: Section) -> Iterator[tuple[Section, tuple[Section, ...]]]:
    """Yield a section and all below it in reading order, each with its ancestors."""
    stack: list[tuple[Section, tuple[Section, ...]]] = [(section, ())]
    while stack:
        current, ancestors = stack.pop()
        yield current, ancestors
        below = (*ancestors, current)
        stack.extend((child, below) for child in reversed(current.children))


def _above(prefix: str, reading: str) -> str:
    return f"{prefix}\n\n{reading}" if prefix else reading
