"""Makes copies of a document and its chunks as a model may see them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.enrichment.redaction.fragments import SHORTENED, Fragments
from situate.enrichment.redaction.halves import torn
from situate.enrichment.redaction.hiding import GAP, Hiding, blocks_of
from situate.enrichment.redaction.hook import MARK
from situate.model import leaf_ids, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.enrichment.redaction.hook import Redaction
    from situate.model import Block, Chunk, Document, Section
    from situate.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A document as a model may see it."""

    document: Document
    chunks: Sequence[Chunk]
    hidden: frozenset[str] = frozenset()
    """What stood where the marks stand, each in the author's spelling."""


def redacted(
    document: Document,
    chunks: Sequence[Chunk],
    redaction: Redaction | None,
    counter: TokenCounter,
) -> Shown:
    """Give a document and its chunks without what is to be hidden.

    Both are the same objects where nothing is. Of the chunks, leaves alone are
    changed: no other is shown.

    Raises:
        RedactionFailed: nobody could say what to hide.
    """
    if redaction is None:
        return Shown(document=document, chunks=chunks)
    ids = leaf_ids(chunks)
    leaves = [chunk for chunk in chunks if chunk.chunk_id in ids]
    hiding = Hiding(redaction)
    hiding.look_through(document)
    for text in _texts(document, leaves):
        hiding.look(text)
    if not hiding.settle():
        return Shown(document=document, chunks=chunks)
    blocks = list(blocks_of(document))
    cut = torn(blocks, leaves, hiding.counts)
    cut |= _with_fragments(blocks, leaves, hiding)
    copies = {leaf.chunk_id: _leaf(leaf, hiding, cut, counter) for leaf in leaves}
    return Shown(
        document=_document(document, hiding),
        chunks=tuple(copies.get(chunk.chunk_id, chunk) for chunk in chunks),
        hidden=hiding.told,
    )


def _texts(document: Document, leaves: Sequence[Chunk]) -> Iterator[str]:
    """Give all of a document that a model is shown, but for its blocks."""
    about = document.metadata
    yield from filter(None, (about.title, about.doc_type))
    for section, _ in walk(document.root):
        yield section.title
    for leaf in leaves:
        yield leaf.text
        yield leaf.breadcrumb_line
        yield from leaf.breadcrumb
        yield from (leaf.metadata.title or "", leaf.metadata.doc_type or "")


def _with_fragments(
    blocks: Sequence[Block], leaves: Sequence[Chunk], hiding: Hiding
) -> frozenset[str]:
    """Name the leaves that may hold a part of something hidden, cut or shortened.

    Those made of whole blocks hold none.
    """
    texts = {block.block_id: block.text for block in blocks}
    fragments = Fragments(hiding.everything)
    return frozenset(
        leaf.chunk_id
        for leaf in leaves
        if leaf.text != GAP.join(texts.get(each, "") for each in leaf.block_ids)
        and fragments.stay_in(hiding.hide(leaf.text))
    )


def _leaf(
    leaf: Chunk, hiding: Hiding, cut: frozenset[str], counter: TokenCounter
) -> Chunk:
    """Give a leaf as a model may see it."""
    text = MARK if leaf.chunk_id in cut else hiding.hide(leaf.text)
    line = hiding.hide(leaf.breadcrumb_line)
    crumbs = (*leaf.breadcrumb, leaf.metadata.title or "", leaf.metadata.doc_type or "")
    # A heading may be shortened in the middle of what is hidden of it.
    hidden = {words for crumb in crumbs for words in hiding.words(crumb)}
    if any(words not in leaf.breadcrumb_line for words in hidden) or (
        SHORTENED in line and Fragments(hidden).stay_in(line)
    ):
        line = MARK
    title = leaf.metadata.title
    return replace(
        leaf,
        text=text,
        token_count=leaf.token_count if text == leaf.text else counter.count(text),
        breadcrumb_line=line,
        breadcrumb=tuple(map(hiding.hide, leaf.breadcrumb)),
        metadata=replace(leaf.metadata, title=title and hiding.hide(title)),
    )


def _document(document: Document, hiding: Hiding) -> Document:
    """Give a document as a model may see it; its blocks have no parts any more."""
    made: dict[str, Section] = {}
    for section, _ in reversed(list(walk(document.root))):
        made[section.section_id] = replace(
            section,
            title=hiding.hide(section.title),
            path=tuple(map(hiding.hide, section.path)),
            blocks=tuple(
                replace(block, text=hiding.hide(block.text), content=None)
                for block in section.blocks
            ),
            children=tuple(made[child.section_id] for child in section.children),
        )
    about = document.metadata
    return replace(
        document,
        metadata=replace(
            about,
            title=about.title and hiding.hide(about.title),
            doc_type=about.doc_type and hiding.hide(about.doc_type),
        ),
        root=made[document.root.section_id],
    )
