"""What is known of a chunking before it is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from situate.validity import in_force

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

    def as_of(self, day: str) -> Inspection:
        """Leave out what is not in force on a day, an ISO date."""
        documents = tuple(map(partial(_as_of, day=day), self.documents))
        return replace(self, documents=tuple(each for each in documents if each.chunks))


def _as_of(inspected: Inspected, day: str) -> Inspected:
    """Leave out chunks that are not in force, and blocks that only those hold."""
    chunks = tuple(one for one in inspected.chunks if in_force(one.metadata, day))
    held, kept = (
        {block_id for chunk in some for block_id in chunk.block_ids}
        for some in (inspected.chunks, chunks)
    )
    blocks = inspected.blocks
    if blocks is not None:
        gone = held - kept
        blocks = {key: facts for key, facts in blocks.items() if key not in gone}
    return replace(inspected, chunks=chunks, blocks=blocks)


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
