"""Draws the chunks that a model is asked about, and says where each one stands.

The place of a chunk is the answer to its question, in one piece: recall is the share
of the pieces that are found, so that two pieces would count a question as half
answered that one of them answers. It is as long as the chunk. Questions of this sort
tell arms over the same chunks apart; a chunking with other boundaries has to find
most of the place again, and is at a disadvantage.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from situate.compare.drafting.values import Passage
from situate.compare.grounds import lay, size, union
from situate.enrichment.worth import has_prose
from situate.model import leaf_ids, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from situate.compare.grounds import Ground
    from situate.model import Chunk, Document, Span

_FILLED: Final = 0.9
"""Least share of a place that its chunk itself holds. An answer counts as found where
80 % of it is; what is left out in between must not decide that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A chunk to ask about, and where the answer to its question stands."""

    chunk: Chunk
    gold: Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many chunks are drawn at most."""

    chunks: int
    per_document: int
    per_section: int


def draw(
    documents: Sequence[tuple[Document, Sequence[Chunk]]],
    limits: Limits,
    *,
    seed: int,
    withheld: Collection[str] = (),
) -> tuple[Drawn, ...]:
    """Draw leaves of documents, in the order of these, then of reading.

    A hash of the seed and of a chunk's id says which: a document that is added takes
    the place of some and moves no other. Left out are leaves without prose (E13),
    those `withheld` from any model, by their ids, those whose words stand in two
    places, and those that do not stand in one piece.
    """
    standing = [_Standing(document, chunks) for document, chunks in documents]
    said = Counter(_plain(leaf) for each in standing for leaf in each.leaves)
    ranked = sorted(
        (
            (_rank(leaf, seed), number, at)
            for number, each in enumerate(standing)
            for at, leaf in enumerate(each.leaves)
            if has_prose(leaf)
            and said[_plain(leaf)] == 1
            and leaf.chunk_id not in withheld
        ),
    )
    drawn: dict[tuple[int, int], Drawn] = {}
    per_document: Counter[int] = Counter()
    per_section: Counter[tuple[int, str]] = Counter()
    for _, number, at in ranked:
        if len(drawn) >= limits.chunks:
            break
        leaf = standing[number].leaves[at]
        section = number, leaf.section_id
        if (
            per_document[number] >= limits.per_document
            or per_section[section] >= limits.per_section
        ):
            continue
        gold = standing[number].gold(leaf)
        if gold is not None:
            drawn[number, at] = Drawn(chunk=leaf, gold=gold)
            per_document[number] += 1
            per_section[section] += 1
    return tuple(drawn[place] for place in sorted(drawn))


def _rank(leaf: Chunk, seed: int) -> bytes:
    said = f"{seed}\0{leaf.chunk_id}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()


def _plain(leaf: Chunk) -> str:
    return " ".join(leaf.text.split())


class _Standing:
    """A document's leaves and where they stand in it."""

    def __init__(self, document: Document, chunks: Sequence[Chunk]) -> None:
        ids = leaf_ids(chunks)
        self._document = document
        self.leaves = [chunk for chunk in chunks if chunk.chunk_id in ids]

    def gold(self, leaf: Chunk) -> Passage | None:
        """Give the place of a leaf without the headings around it, None without one."""
        body = self._body(leaf)
        if not body.block_ids:
            return None
        doc_id = self._document.doc_id
        if self._counts_characters:
            spans = union(span for span in body.spans if span is not None)
            if None in body.spans or not _is_one_piece(spans):
                return None
            return Passage(doc_id=doc_id, span=_reach(spans), text=None)
        spans = self._ground.place(body)
        if not _is_one_piece(spans):
            return None
        text = self._ground.text[slice(*_reach(spans))]
        # Evidence in words is looked for, and the first that is found counts.
        if self._ground.text.count(text) != 1:
            return None
        return Passage(doc_id=doc_id, span=None, text=text)

    def _body(self, leaf: Chunk) -> Chunk:
        """Leave out the headings that a leaf begins or ends with."""
        inner = [
            index
            for index, block_id in enumerate(leaf.block_ids)
            if block_id not in self._headings
        ]
        kept = slice(inner[0], inner[-1] + 1) if inner else slice(0)
        return replace(leaf, block_ids=leaf.block_ids[kept], spans=leaf.spans[kept])

    @cached_property
    def _headings(self) -> frozenset[str]:
        return frozenset(
            block.block_id
            for section, _ in walk(self._document.root)
            for block in section.blocks
            if block.kind == "heading"
        )

    @cached_property
    def _counts_characters(self) -> bool:
        return any(span is not None for leaf in self.leaves for span in leaf.spans)

    @cached_property
    def _ground(self) -> Ground:
        return lay(self._document, None)


def _reach(spans: Sequence[Span]) -> Span:
    return spans[0][0], spans[-1][1]


def _is_one_piece(spans: Sequence[Span]) -> bool:
    """Tell whether hardly anything else stands between the first and the last."""
    if not spans:
        return False
    start, end = _reach(spans)
    return size(spans) >= _FILLED * (end - start)
