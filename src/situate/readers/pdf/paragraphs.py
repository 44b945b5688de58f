"""Join the lines of a document to paragraphs.

A paragraph ends where the next line stands off, is set back, looks different, or
where its first word would have fitted onto the line before. Lines whose ends mean
something, as in an address or the rows of a table, stay lines of one paragraph.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from situate.readers.pdf.characters import HYPHEN
from situate.readers.pdf.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.model import Box
    from situate.readers.pdf.lines import Line
    from situate.readers.pdf.words import Joiner

BULLETS = "•‣◦●○■□▪▫◆◇►▶➢➤✓✔❖∙⚫"
"""Signs that stand before items and nowhere else."""

# Wingdings keeps its bullets and check boxes among the private characters.
_BULLET = re.compile(rf"([{BULLETS}]|[-–—*·\uf000-\uf0ff](?=\s))\s*(?=\S|$)")
_NUMBER = re.compile(r"(\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])\s+(?=\S)")

# Shares of the size: how far lines stand apart where a document says nothing, how
# much more parts paragraphs, and what is an indentation.
_LEADING = 1.2
_WIDER = 1.25
_INDENT = 0.7

# Share of a column's width that is left empty only where a line ends on purpose.
_MUCH = 0.25

# Lines of one column are of one size, in points, and begin within so many sizes of
# each other and no further below.
_SIZE_STEP = 0.4
_SAME_START = 4.0
_COLUMN_GAP = 3.0

# Sizes of one paragraph differ by what raised figures and small capitals do.
_SAME_SIZE = 1.12

_SENTENCE_END = re.compile(r"[.!?:;。！？：；؟।][\"'”’»)\]]*$")

# Dots that lead from an entry of a table of contents to its page.
_LEADERS = re.compile(r"(?:\. ?){5}|…{2}|_{5}")

# A word that goes on in the next line.
_CUT = re.compile(rf"\w[-\u2010\u00ad{HYPHEN}]$")

# How far around a line the edge of its column is looked for.
_NEIGHBOURS = 12

# Footnotes and captions below a paragraph that goes on, on the next page.
_MOST_BETWEEN = 6

# Lines in which the second item of a list begins, if it is one.
_LOOK_AHEAD = 8

Joint = Literal["soft", "hard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Lines that belong together."""

    text: str
    lines: tuple[Line, ...]
    marker: str | None = None
    """What stands before an item; it is part of the text as well."""
    is_code: bool = False

    @property
    def code(self) -> str:
        """Its lines, each set in as far as on the page."""
        left = min(line.left for line in self.lines)
        width = max(
            (line.right - line.left) / max(1, len(line.text)) for line in self.lines
        )
        return "\n".join(
            " " * round((line.left - left) / max(width, 1)) + plain(line.text)
            for line in self.lines
        )

    @property
    def size(self) -> float:
        """The size of its first line."""
        return self.lines[0].size

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Where it stands: one box for each column and page."""
        return boxes(self.lines)


def boxes(lines: Iterable[Line]) -> tuple[Box, ...]:
    """Give the places of lines, those below each other as one."""
    found: list[Box] = []
    last: Line | None = None
    for line in lines:
        if (
            last is not None
            and line.page == last.page
            and line.turn == last.turn
            and line.top >= last.top
        ):
            found[-1] = _union(found[-1], line.box)
        else:
            found.append(line.box)
        last = line
    return tuple(found)


def marker(line: Line) -> str | None:
    """Give the sign or number that an item begins with."""
    return sign(line.text) if line.cells == 1 else None


def is_bullet(marker: str) -> bool:
    """Tell whether a marker stands before items and nowhere else."""
    return marker in BULLETS or "\uf000" <= marker <= "\uf0ff"


def sign(text: str) -> str | None:
    """Give the sign or number that a text begins with as an item does."""
    found = _BULLET.match(text) or _NUMBER.match(text)
    return None if found is None else found[1]


@dataclass(slots=True)
class _Open:
    """A paragraph whose end has not been met yet."""

    lines: list[Line]
    hard: list[bool] = field(default_factory=list)
    marker: str | None = None


class Paragraphs:
    """Joins lines by what is usual in their document."""

    def __init__(self, lines: Sequence[Line], joiner: Joiner) -> None:
        self._joiner = joiner
        self._leading = _leading(lines)
        mono = sum(len(line.text) for line in lines if line.is_mono)
        # Where all is typewritten, nothing is code.
        self._has_code = 2 * mono < sum(len(line.text) for line in lines)

    def of(self, lines: Sequence[Line]) -> list[Paragraph]:
        """Give the paragraphs of some of the document's lines."""
        ends = _ends(lines)
        found: list[_Open] = []
        for index, line in enumerate(lines):
            joint: Joint | None = None
            onto: _Open | None = found[-1] if found else None
            if onto is not None:
                last_end = ends[index - 1]
                if _is_jump(onto.lines[-1], line):
                    onto = self._continued(found, line, last_end)
                    joint = None if onto is None else "soft"
                else:
                    joint = self._joint(onto, line, last_end)
                    if joint and _opens_list(lines[index : index + _LOOK_AHEAD]):
                        joint = None
            if onto is None or joint is None:
                found.append(_Open([line], [], marker(line)))
            else:
                onto.lines.append(line)
                onto.hard.append(joint == "hard")
        return [self._close(each) for each in found]

    def one(self, lines: Sequence[Line]) -> Paragraph:
        """Give lines that are known to be one paragraph."""
        return self._close(_Open([*lines], [False] * (len(lines) - 1)))

    def _is_code(self, line: Line) -> bool:
        return line.is_mono and self._has_code

    def _close(self, paragraph: _Open) -> Paragraph:
        rows: list[list[str]] = [[paragraph.lines[0].text]]
        for line, hard in zip(paragraph.lines[1:], paragraph.hard, strict=True):
            if hard:
                rows.append([])
            rows[-1].append(line.text)
        return Paragraph(
            text="\n".join(map(self._joiner.join, rows)),
            lines=tuple(paragraph.lines),
            marker=paragraph.marker,
            is_code=len(paragraph.lines) > 1
            and all(map(self._is_code, paragraph.lines)),
        )

    def _joint(self, paragraph: _Open, line: Line, edge: float) -> Joint | None:
        """Say how a line continues the paragraph above it; None: not at all.

        `edge` is where the column ends, in the direction of reading.
        """
        last = paragraph.lines[-1]
        size = last.size
        if (
            not _look_alike(last, line)
            or line.baseline - last.baseline > self._limit(size)
            or _overlap(last, line) <= 0
        ):
            return None
        if self._is_code(last) and self._is_code(line):
            return "hard"
        rows = _is_row(last, edge), _is_row(line, edge)
        if any(rows):
            return "hard" if all(rows) else None
        if self._is_code(last) != self._is_code(line) and _is_short(last, line, edge):
            return None
        return _prose_joint(paragraph, line, edge)

    def _limit(self, size: float) -> float:
        usual = self._leading.get(size) or self._leading.get(0.0, _LEADING)
        return _WIDER * max(usual, 1.0) * size

    def _continued(self, found: list[_Open], line: Line, edge: float) -> _Open | None:
        """Find the paragraph that goes on at the top of a column or page."""
        for paragraph in reversed(found[-_MOST_BETWEEN:]):
            last = paragraph.lines[-1]
            if _look_alike(last, line):
                goes_on = _goes_on(last, line, edge if paragraph is found[-1] else None)
                return paragraph if goes_on else None
            if last.size >= line.size or last.page != found[-1].lines[-1].page:
                return None
        return None


def _prose_joint(paragraph: _Open, line: Line, edge: float) -> Joint | None:
    last = paragraph.lines[-1]
    size = last.size
    if _CUT.search(last.text):
        return "soft"
    ended = _SENTENCE_END.search(last.text) is not None
    short = _is_short(last, line, edge)
    if _begins_item(paragraph, line, ended=ended or short):
        return None
    indent = _start(line) - _start(last)
    if abs(indent) > _INDENT * size and not _is_centred(last, line):
        return _indented(paragraph, indent, ended=ended, short=short)
    if short and ended:
        return None
    if not short:
        return "soft"
    # Justified lines end early before what cannot be broken, but not that early.
    width = edge - min(_start(last), _start(line))
    much = edge - _end(last) - line.first_word > _MUCH * width
    return "hard" if much or not line.text[:1].islower() else "soft"


def _leading(lines: Sequence[Line]) -> dict[float, float]:
    """Give the usual distance of lines as a share of their size; 0 for any size."""
    seen: dict[float, Counter[float]] = defaultdict(Counter)
    for last, line in pairwise(lines):
        if last.size == line.size and last.turn == line.turn and last.size > 0:
            share = round((line.baseline - last.baseline) / last.size, 1)
            if last.page == line.page and 0.8 <= share <= 2.5:
                seen[last.size][share] += 1
                seen[0.0][share] += 1
    # The closer of two that are equally frequent.
    return {
        size: max(shares, key=lambda share: (shares[share], -share))
        for size, shares in seen.items()
        if shares.total() > 2
    }


def _ends(lines: Sequence[Line]) -> list[float]:
    """Give where the column of each line ends, in the direction of reading.

    That is as far as the lines around reach, or most lines of the page that begin
    alike.
    """
    usual = _usual_ends(lines)
    ends = []
    for index, line in enumerate(lines):
        end = max(_end(line), usual[_alike(line)])
        for step in (-1, 1):
            last = line
            for at in range(index + step, index + step * _NEIGHBOURS, step):
                if not 0 <= at < len(lines) or not _is_column(last, lines[at]):
                    break
                last = lines[at]
                if last.cells == 1:
                    end = max(end, _end(last))
        ends.append(end)
    return ends


def _usual_ends(lines: Sequence[Line]) -> dict[tuple[float, ...], float]:
    groups: dict[tuple[float, ...], list[float]] = defaultdict(list)
    for line in lines:
        groups[_alike(line)].append(_end(line))
    # Three quarters: among many lines of a column a few of a wider one may begin.
    return {key: sorted(ends)[len(ends) * 3 // 4] for key, ends in groups.items()}


def _alike(line: Line) -> tuple[float, ...]:
    start = round(_start(line) / max(1.0, 2 * line.size))
    return line.page, line.turn, line.size, start


def _is_column(last: Line, line: Line) -> bool:
    """Tell whether two lines that follow each other are of one column."""
    return (
        line.page == last.page
        and line.turn == last.turn
        and abs(line.size - last.size) < _SIZE_STEP
        and abs(line.baseline - last.baseline) <= _COLUMN_GAP * line.size
        and abs(_start(line) - _start(last)) <= _SAME_START * line.size
    )


def _start(line: Line) -> float:
    return -line.right if line.is_rtl else line.left


def _end(line: Line) -> float:
    return -line.left if line.is_rtl else line.right


def _overlap(one: Line, other: Line) -> float:
    return min(one.right, other.right) - max(one.left, other.left)


def _is_jump(last: Line, line: Line) -> bool:
    """Tell whether a line does not stand below the one before."""
    return (
        line.page != last.page
        or line.turn != last.turn
        or line.baseline - last.baseline < 0.5 * min(line.size, last.size)
    )


def _look_alike(last: Line, line: Line) -> bool:
    low, high = sorted((last.size, line.size))
    return high <= _SAME_SIZE * low and last.is_bold == line.is_bold


def _is_row(line: Line, edge: float) -> bool:
    """Tell cells apart from words that justification has spread."""
    if _LEADERS.search(line.text):
        return True
    if line.cells == 1:
        return False
    filled = _end(line) >= edge - line.size and len(line.text.split()) >= 8
    return line.cells > 2 or not filled


def _is_centred(last: Line, line: Line) -> bool:
    middle = (last.left + last.right) / 2
    return abs(middle - (line.left + line.right) / 2) < 0.5 * line.size


def _is_short(last: Line, line: Line, edge: float) -> bool:
    """Tell whether the first word of a line would have fitted onto the last."""
    return _end(last) + line.first_word + 0.8 * last.size < edge


def _begins_item(paragraph: _Open, line: Line, *, ended: bool) -> bool:
    own = marker(line)
    if own is None:
        return False
    if is_bullet(own):
        return True
    return ended or paragraph.marker is not None


def _opens_list(lines: Sequence[Line]) -> bool:
    """Tell whether a line is the first item of several, and not a number in a text."""
    first = marker(lines[0])
    if first is None or first.strip("(.)") not in {"1", "a", "A", "i", "I"}:
        return False
    number = first.strip("(.)")
    second = first.replace(number, "ii" if number in "iI" else chr(ord(number) + 1))
    return any(
        (marker(line) or "").lower() == second.lower()
        for line in lines[1:]
        if not _is_jump(lines[0], line)
    )


def _indented(
    paragraph: _Open, indent: float, *, ended: bool, short: bool
) -> Joint | None:
    """Say how a line that begins further in or out continues a paragraph."""
    is_second = len(paragraph.lines) == 1
    if is_second and indent < 0:
        return None if ended and short else "soft"
    if is_second and paragraph.marker is not None:
        return "hard" if short else "soft"
    return None if ended or short else "soft"


def _goes_on(last: Line, line: Line, edge: float | None) -> bool:
    """Tell whether a line at the top goes on with a sentence begun at the bottom."""
    if last.cells > 1 or line.cells > 1 or _SENTENCE_END.search(last.text):
        return False
    first = line.text[:1]
    if first.islower():
        return True
    # Scripts without capitals show no beginning; a line that is full goes on.
    caseless = first.isalpha() and not first.isupper()
    return caseless and edge is not None and _end(last) >= edge - last.size


def _union(one: Box, other: Box) -> Box:
    return type(one)(
        page=one.page,
        left=min(one.left, other.left),
        top=min(one.top, other.top),
        right=max(one.right, other.right),
        bottom=max(one.bottom, other.bottom),
    )
