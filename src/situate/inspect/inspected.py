"""What is known of a chunking before it is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.model import Chunk, Document, Span

Role = Literal["leaf", "parent", "paragraph"]
"""Leaves cover the document once; the others say the same again (C9)."""

_PARAGRAPH = re.compile(r"[^:]*:[^:]*:p[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the chunks alone do not say of a block."""

    kind: str
    parts: int
    span: Span | None
    """With what every chunk repeats of it: a table's header, a code's fences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A document's chunks, and what else is at hand."""

    doc_id: str
    chunks: tuple[Chunk, ...]
    document: Document | None = None
    """Its tree; None where the document was not read."""
    blocks: Mapping[str, Facts] | None = None
    """By block id, in reading order; None where nothing lists them."""
    text: str | None = None
    """The source that spans count; None where it is not at hand, or they count none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A sentence about a document, or about all of them."""

    doc_id: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All that one page shows."""

    name: str
    """The file it was made from, without its folder."""
    documents: tuple[Inspected, ...]
    warnings: tuple[Warned, ...] = ()
    max_tokens: int | None = None
    """What the chunks were cut to; None when nothing says so."""
    min_tokens: int | None = None


def roles(chunks: Sequence[Chunk]) -> tuple[Role, ...]:
    """Tell the chunks of the cover from those that repeat it."""
    paragraphs = {
        chunk.chunk_id
        for chunk in chunks
        if chunk.level == "block" and _PARAGRAPH.fullmatch(chunk.chunk_id)
    }
    # Where paragraphs are embedded, leaves are not, but they hold paragraphs.
    above = {chunk.parent_chunk_id for chunk in chunks if chunk.chunk_id in paragraphs}
    return tuple(
        "paragraph"
        if chunk.chunk_id in paragraphs
        else "leaf"
        if chunk.embed or chunk.chunk_id in above
        else "parent"
        for chunk in chunks
    )
