"""A document's source, cut where its chunks are cut.

Pieces carry their text, so that whoever shows them counts no characters: what is
an offset in Python is none in a browser.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.inspect.inspected import Inspected, Role
    from situate.model import Chunk

OUTSIDE = -1
"""Marks a piece of the source that is in no leaf."""

Piece: TypeAlias = tuple[str, int | None]
"""A text, and the paragraph chunk it is, `OUTSIDE`, or None for neither."""


@dataclass(slots=True)
class Segment:
    """A stretch of the source that one chunk holds, or none."""

    chunk: int | None
    """Index among the document's chunks; None for what is in no leaf."""
    pieces: list[Piece] = field(default_factory=list)
    """Empty for chunks that stand at no certain place of the source."""


def flow(inspected: Inspected, text: str, roles: Sequence[Role]) -> tuple[Segment, ...]:
    """Give the whole source in its own order, chunk by chunk.

    White space between chunks is left out. A chunk that stands in several places
    has several segments; one without a place follows the leaf before it, and a
    parent comes before the first leaf below it.
    """
    placed = _placed(inspected, text, roles)
    last = {
        segment.chunk: number
        for number, segment in enumerate(placed)
        if segment.chunk is not None
    }
    unplaced: dict[int, list[int]] = {}
    anchor = -1
    for index, role in enumerate(roles):
        if index in last:
            anchor = last[index]
        elif role == "leaf":
            unplaced.setdefault(anchor, []).append(index)
    ordered = [Segment(index) for index in unplaced.get(-1, ())]
    for number, segment in enumerate(placed):
        ordered.append(segment)
        ordered.extend(Segment(index) for index in unplaced.get(number, ()))
    return _with_parents(ordered, roles)


def _placed(inspected: Inspected, text: str, roles: Sequence[Role]) -> list[Segment]:
    """Give what spans name, in the order of the source, and what lies between."""
    cuts = _cuts(inspected.chunks, roles)
    segments: list[Segment] = []
    reached = 0
    for first, end, index in _spans(inspected, roles):
        start = max(first, reached)
        if end <= start:
            continue
        between = text[reached:start]
        same = bool(segments) and segments[-1].chunk == index
        if between.strip():
            if same:
                segments[-1].pieces.append((between, OUTSIDE))
            else:
                segments.append(Segment(None, [(between.strip("\n"), OUTSIDE)]))
        elif same:
            # The blank line between two blocks of one chunk shows that they are two.
            start = reached
        if not same:
            segments.append(Segment(index))
        _extend(segments[-1].pieces, _pieces(text, start, end, cuts.get(index, [])))
        reached = end
    if text[reached:].strip():
        segments.append(Segment(None, [(text[reached:].strip("\n"), OUTSIDE)]))
    return segments


def _spans(inspected: Inspected, roles: Sequence[Role]) -> list[tuple[int, int, int]]:
    """Give the spans of leaves, each with its leaf, in the order of the source.

    What the pieces of a block repeat, like the header of a table, is in no span:
    it goes to the first piece, and what follows the last one to the last.
    """
    spans: list[tuple[int, int, int]] = []
    of_block: dict[str, list[int]] = {}
    for index, (chunk, role) in enumerate(zip(inspected.chunks, roles, strict=True)):
        for block_id, span in zip(chunk.block_ids, chunk.spans, strict=True):
            if role == "leaf" and span is not None:
                of_block.setdefault(block_id, []).append(len(spans))
                spans.append((*span, index))
    for block_id, places in of_block.items():
        known = (inspected.blocks or {}).get(block_id)
        if known is not None and known.span is not None:
            place = min(places, key=lambda each: spans[each][0])
            start, end, index = spans[place]
            spans[place] = (min(start, known.span[0]), end, index)
            place = max(places, key=lambda each: spans[each][1])
            start, end, index = spans[place]
            spans[place] = (start, max(end, known.span[1]), index)
    return sorted(spans)


def _cuts(
    chunks: Sequence[Chunk], roles: Sequence[Role]
) -> dict[int, list[tuple[int, int]]]:
    """Give where paragraph chunks begin inside each leaf, and which."""
    index_of = {chunk.chunk_id: index for index, chunk in enumerate(chunks)}
    cuts: dict[int, list[tuple[int, int]]] = {}
    for index, (chunk, role) in enumerate(zip(chunks, roles, strict=True)):
        starts = [span[0] for span in chunk.spans if span is not None]
        leaf = index_of.get(chunk.parent_chunk_id or "")
        if role == "paragraph" and leaf is not None and starts:
            cuts.setdefault(leaf, []).append((min(starts), index))
    return {leaf: sorted(found) for leaf, found in cuts.items()}


def _pieces(
    text: str, start: int, end: int, cuts: Sequence[tuple[int, int]]
) -> list[Piece]:
    """Cut a stretch where a paragraph begins."""
    opened = bisect_right(cuts, start, key=itemgetter(0))
    inside = [cut for cut in cuts[opened:] if cut[0] < end]
    owners = [cuts[opened - 1][1] if opened else None, *(owner for _, owner in inside)]
    edges = pairwise([start, *(offset for offset, _ in inside), end])
    return [
        (text[first:last], owner)
        for (first, last), owner in zip(edges, owners, strict=True)
    ]


def _extend(pieces: list[Piece], more: Sequence[Piece]) -> None:
    """Add pieces; what belongs to the last one goes on in it."""
    for text, owner in more:
        if pieces and pieces[-1][1] == owner:
            pieces[-1] = (pieces[-1][0] + text, owner)
        else:
            pieces.append((text, owner))


def _with_parents(
    segments: Sequence[Segment], roles: Sequence[Role]
) -> tuple[Segment, ...]:
    """Put parents, which records list before what they hold, before it here too."""
    above: dict[int, list[int]] = {}
    waiting: list[int] = []
    for index, role in enumerate(roles):
        if role == "parent":
            waiting.append(index)
        elif role == "leaf":
            above[index], waiting = waiting, []
    ordered: list[Segment] = []
    for segment in segments:
        if segment.chunk is not None:
            ordered += [Segment(parent) for parent in above.pop(segment.chunk, ())]
        ordered.append(segment)
    ordered += [Segment(parent) for parent in waiting]
    return tuple(ordered)
