"""Find the structure of legal plain text: numbered clauses and their points.

`1.`, `1.1`, `Article 5`, `§ 5`, `第一条` and their like become sections where they
number without a gap; `(a)`, `(i)` below them become lists. Every piece is a stretch
of the source, in order, and together they are all of it. Text whose numbers are not
consistent has no pieces: it stays as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.readers.clauses.choosing import candidates, choose
from situate.readers.clauses.marks import find_marks
from situate.readers.clauses.pieces import Clause, Cutter, Piece, Point, Points, Text
from situate.readers.clauses.sequences import consistent
from situate.readers.clauses.writing import write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.model import Span

__all__ = ["Clause", "Piece", "Point", "Points", "Text", "find", "write"]


def find(text: str, paragraphs: Sequence[Span]) -> tuple[Piece, ...]:
    """Give the pieces of a text by its clauses; none when it has no such structure.

    `paragraphs` are the stretches of it that may hold clauses, in order, and each
    piece names the one it begins in. What stands between them is not looked at.
    """
    found = candidates(text, list(find_marks(text, paragraphs)))
    opened = {mark.paragraph for mark in found if mark.opens}
    texts = set(range(len(paragraphs))) - opened
    chosen = choose(text, paragraphs, consistent(found, texts))
    return tuple(Cutter(text, paragraphs, chosen).pieces()) if chosen else ()
