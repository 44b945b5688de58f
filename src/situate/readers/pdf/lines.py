"""Put pieces that stand side by side together to the lines of a page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from situate.readers.pdf.order import in_order
from situate.readers.pdf.pieces import distance, pieces, share_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.model import Box
    from situate.readers.pdf.characters import Run
    from situate.readers.pdf.pieces import Piece
    from situate.readers.pdf.places import Sheet

# Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms.
_RTL = re.compile("[\u0590-\u07ff\u08a0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

# Cells of a row begin further apart than words of a justified line ever do.
_CELL_GAP = 1.8


_MARKER = re.compile(r"\W{1,2}|\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text, with the edges that layout goes by."""

    text: str
    page: int
    turn: int
    """Quarter turns clockwise from upright; lines of one turn share coordinates."""
    left: float
    top: float
    right: float
    bottom: float
    baseline: float
    size: float
    is_bold: bool
    is_mono: bool
    is_rtl: bool
    """Whether it is read from the right."""
    cells: int
    """How many parts it has that stand apart like the cells of a row."""
    box: Box

    @property
    def first_word(self) -> float:
        """The width that its first word takes, about."""
        words = self.text.split(maxsplit=1)
        share = len(words[0]) / max(1, len(self.text)) if words else 0
        return share * (self.right - self.left)


def lines(runs: Iterable[Run], sheet: Sheet) -> list[Line]:
    """Give the lines of a page in reading order, those of the rarer turns last."""
    by_turn: dict[int, list[Run]] = {}
    for run in runs:
        by_turn.setdefault(run.style.turn, []).append(run)
    weight = Counter(
        {turn: sum(len(run.text) for run in own) for turn, own in by_turn.items()}
    )
    found: list[Line] = []
    for turn, _ in weight.most_common():
        found += rows(in_order(pieces(by_turn[turn])), sheet)
    return found


def rows(ordered: Iterable[Piece], sheet: Sheet) -> list[Line]:
    """Join pieces that follow each other side by side."""
    found: list[Line] = []
    row: list[Piece] = []
    for piece in ordered:
        if row and not (share_row(row[-1], piece) and _is_beside(row, piece)):
            found.append(_line(row, sheet))
            row = []
        row.append(piece)
    if row:
        found.append(_line(row, sheet))
    return [each for each in found if each.text]


def _line(row: Sequence[Piece], sheet: Sheet) -> Line:
    """Join the pieces of a row."""
    main = max(row, key=lambda piece: len(piece.text))
    left = min(piece.left for piece in row)
    right = max(piece.right for piece in row)
    cells = 1
    for before, piece in pairwise(row):
        # What stands before an item stands apart as well.
        if before is not row[0] or not _MARKER.fullmatch(before.text):
            cells += distance(before, piece) > _CELL_GAP * main.size
    runs = [run for piece in row for run in piece.runs]
    turn = runs[0].style.turn
    ink = (min(run.top for run in runs), max(run.bottom for run in runs))
    text = " ".join(" ".join(piece.text for piece in row).split())
    return Line(
        text=text,
        page=sheet.number,
        turn=turn,
        left=left,
        right=right,
        top=min(piece.top for piece in row),
        bottom=max(piece.bottom for piece in row),
        baseline=main.baseline,
        size=main.size,
        is_bold=all(piece.is_bold for piece in row),
        is_mono=all(piece.is_mono for piece in row),
        is_rtl=2 * len(_RTL.findall(text)) > sum(map(str.isalpha, text)),
        cells=cells,
        box=sheet.box(turn, left, ink[0], right, ink[1]),
    )


def _is_beside(row: list[Piece], piece: Piece) -> bool:
    """Tell whether a piece continues a row in the direction that it runs."""
    if len(row) == 1:
        return distance(row[0], piece) > -0.3 * piece.size
    if row[1].left > row[0].left:
        return piece.left > row[-1].right - 0.3 * piece.size
    return piece.right < row[-1].left + 0.3 * piece.size
