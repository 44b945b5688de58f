"""Put runs together to pieces: what stands on one line without a wide gap."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from situate.readers.pdf.characters import WIDE_GAP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.readers.pdf.characters import Run

# Letters reach up to about eight tenths of their size above the baseline, and two
# below; with these edges lines set without leading do not overlap.
_ASCENT = 0.8
_DESCENT = 0.2

# pdfium sees a space from about this share of the size on; so for what it parted.
_SPACE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Runs of one line, with the edges that layout goes by."""

    runs: tuple[Run, ...]
    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    """That of most of its characters."""
    is_bold: bool
    """Whether nearly all of its characters are."""
    is_mono: bool

    @property
    def baseline(self) -> float:
        """The line its letters stand on."""
        return self.bottom - _DESCENT * self.size


def pieces(runs: Iterable[Run]) -> list[Piece]:
    """Give the pieces of runs that have one turn, in the order of the runs."""
    found: list[Piece] = []
    current: list[Run] = []
    for run in runs:
        if current and not _continues(current[-1], run):
            found.append(piece(current))
            current = []
        current.append(run)
    if current:
        found.append(piece(current))
    return found


def piece(runs: Sequence[Run]) -> Piece:
    """Join runs that stand on one line."""
    text = runs[0].text
    for before, run in pairwise(runs):
        text += space(before, run) + run.text
    sizes: Counter[float] = Counter()
    bold = mono = total = 0
    for run in runs:
        sizes[run.style.size] += len(run.text)
        total += len(run.text)
        bold += len(run.text) * run.style.bold
        mono += len(run.text) * run.style.is_mono
    # The larger of two that are equally frequent: figures raised above few letters.
    size = max(sizes, key=lambda each: (sizes[each], each))
    baseline = next(run.baseline for run in runs if run.style.size == size)
    return Piece(
        runs=tuple(runs),
        text=text,
        left=min(run.left for run in runs),
        right=max(run.right for run in runs),
        top=baseline - _ASCENT * size,
        bottom=baseline + _DESCENT * size,
        size=size,
        is_bold=bold >= 0.95 * total,
        is_mono=mono >= 0.9 * total,
    )


def space(before: Run, run: Run) -> str:
    """Give what stands between two runs of one line."""
    if run.gap == " ":
        return " "
    size = max(before.style.size, run.style.size)
    # pdfium knows how wide a space of the font is; a whole em it never is.
    least = _SPACE if run.gap else WIDE_GAP
    return " " if distance(before, run) > least * size else ""


def distance(before: Run | Piece, after: Run | Piece) -> float:
    """Give how far apart two stand side by side; below 0 when they overlap."""
    return max(after.left - before.right, before.left - after.right)


def share_row(one: Piece, other: Piece) -> bool:
    """Tell whether two pieces stand side by side."""
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap > 0.5 * min(one.size, other.size)


def _continues(before: Run, run: Run) -> bool:
    size = max(before.style.size, run.style.size)
    low = min(before.style.size, run.style.size)
    if before.style.turn != run.style.turn:
        return False
    # Raised and lowered figures keep within the height of the letters beside them.
    near = abs(run.baseline - before.baseline) <= 0.5 * size
    if run.gap == "\n":
        near = near and run.baseline - before.baseline < 0.5 * low
        return near and -0.3 * size < distance(before, run) <= 0.5 * size
    return near and distance(before, run) <= WIDE_GAP * size
