"""Write the pieces of a text into its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.model import Block, Item, Items
from situate.readers.clauses.pieces import Clause, Points, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from situate.model import Span
    from situate.readers.clauses.pieces import Piece, Point
    from situate.readers.tree import Outline


def write(outline: Outline, piece: Piece, cut: Callable[[int, int], str]) -> None:
    """Add a piece to the document; `cut` gives the text of a range of the source.

    What `cut` leaves nothing of is not written.
    """
    text = cut(*piece.span)
    if not text.strip():
        return
    match piece:
        case Clause():
            outline.heading(
                level=piece.level,
                title=" ".join(text.split()),
                text=text,
                span=piece.span,
            )
        case Text():
            block_id = outline.block_id
            outline.add(_paragraph(block_id, piece.span, cut))
        case Points():
            outline.add(_list(outline.block_id, piece.points, cut))


def _paragraph(block_id: str, span: Span, cut: Callable[[int, int], str]) -> Block:
    return Block(block_id=block_id, kind="paragraph", text=cut(*span), span=span)


def _list(
    block_id: str, points: Sequence[Point], cut: Callable[[int, int], str]
) -> Block:
    """Write points as a list; there are no more levels than forms of marks."""
    span = (points[0].span[0], points[-1].span[1])
    return Block(
        block_id=block_id,
        kind="list",
        text=cut(*span),
        span=span,
        content=Items(
            items=tuple(_item(block_id, point, cut) for point in points),
            loose="\n\n" in cut(*span),
        ),
    )


def _item(block_id: str, point: Point, cut: Callable[[int, int], str]) -> Item:
    blocks: tuple[Block, ...] = ()
    if point.points or len(point.texts) > 1:
        blocks = tuple(_paragraph(block_id, span, cut) for span in point.texts)
        if point.points:
            blocks = (*blocks, _list(block_id, point.points, cut))
    return Item(text=cut(*point.span), blocks=blocks, span=point.span)
