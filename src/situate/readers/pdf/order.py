"""Bring the pieces of a page into reading order.

The order in which a page draws its text is mostly that in which it is read: it
keeps columns and cells together, and no geometry knows better. It is left only
where it contradicts what stands above and below, or weaves columns line by line.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple

from situate.readers.pdf.pieces import share_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.readers.pdf.pieces import Piece

# Beyond it a page is a drawing rather than text, and sorting it slow.
_MOST_PIECES = 3_000
_MOST_GROUPS = 500

# The longest page of a law has 120 lines.
_MOST_LINES = 200

# Columns are told from a table by their lines: at least so many, of so many words,
# filling this share of the column.
_FEWEST_LINES = 5
_FEWEST_WORDS = 4
_FILLED = 0.6

_MOST_COLUMNS = 4

# Text below that starts further down than this many lines begins anew.
_NEAR_LINES = 2.5

# Lower parts of letters may reach into what stands below.
_TOLERANCE = 1.0


class _Group(NamedTuple):
    """Pieces that follow each other downwards, and where they stand."""

    number: int
    pieces: list[Piece]
    left: float
    top: float
    right: float
    bottom: float


def in_order(pieces: list[Piece]) -> list[Piece]:
    """Give the pieces of a page as a person reads them."""
    if not 1 < len(pieces) <= _MOST_PIECES:
        return pieces
    for _ in range(_MOST_COLUMNS):
        parted = _unwoven(pieces)
        if parted == pieces:
            break
        pieces = parted
    return [piece for group in _sorted(_groups(pieces)) for piece in group.pieces]


def _unwoven(pieces: list[Piece]) -> list[Piece]:
    """Read one column after the other where a page draws them line by line."""
    rows = _rows(pieces)
    result: list[Piece] = []
    index = 0
    while index < len(rows):
        end, gutter = _zone(rows, index)
        zone = [piece for row in rows[index:end] for piece in row]
        left = [piece for piece in zone if piece.right <= gutter]
        right = [piece for piece in zone if piece.right > gutter]
        if end > index and _is_prose(left) and _is_prose(right):
            result += left + right
            index = end
        else:
            result += rows[index]
            index += 1
    return result


def _rows(pieces: list[Piece]) -> list[list[Piece]]:
    rows = [[pieces[0]]]
    for piece in pieces[1:]:
        if piece.left > rows[-1][-1].right and share_row(piece, rows[-1][-1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _zone(rows: list[list[Piece]], start: int) -> tuple[int, float]:
    """Give the end of the rows that one gutter parts, and where it ends.

    It begins and ends with a row on both sides; between them columns may have gaps.
    """
    if len(rows[start]) < 2:
        return start, 0.0
    best = start, 0.0
    # The first gap of the first row may be inside a column: take the widest.
    first = max(
        range(1, len(rows[start])),
        key=lambda at: rows[start][at].left - rows[start][at - 1].right,
    )
    low, high = rows[start][first - 1].right, rows[start][first].left
    for index in range(start + 1, min(start + _MOST_LINES, len(rows))):
        row = rows[index]
        if row[0].top < rows[index - 1][0].top:
            break
        lefts = [piece.right for piece in row if piece.left < low]
        rights = [piece.left for piece in row if piece.left >= low]
        low, high = max([low, *lefts]), min([high, *rights])
        if low >= high:
            break
        if lefts and rights:
            best = index + 1, low
    return best


def _is_prose(column: list[Piece]) -> bool:
    """Tell whether pieces are the lines of a column."""
    if len(column) < _FEWEST_LINES:
        return False
    width = max(piece.right for piece in column) - min(piece.left for piece in column)
    filled = statistics.median(piece.right - piece.left for piece in column)
    words = statistics.median(len(piece.text.split()) for piece in column)
    return words >= _FEWEST_WORDS and filled >= _FILLED * width


def _groups(pieces: list[Piece]) -> list[_Group]:
    groups: list[_Group] = []
    current: list[Piece] = []
    for piece in pieces:
        if current and not _follows(current, piece):
            groups.append(_group(len(groups), current))
            current = []
        current.append(piece)
    groups.append(_group(len(groups), current))
    return groups


def _follows(group: list[Piece], piece: Piece) -> bool:
    last = group[-1]
    if share_row(last, piece):
        return True
    down = piece.top - last.bottom
    beside = piece.left > last.right or piece.right < last.left
    if beside:
        # Below the first cell of a row the next row begins, not the last.
        row = [each for each in group[-20:] if share_row(each, last)]
        beside = all(piece.left > each.right or piece.right < each.left for each in row)
    return not beside and -_TOLERANCE <= down <= _NEAR_LINES * piece.size


def _group(number: int, pieces: list[Piece]) -> _Group:
    return _Group(
        number,
        pieces,
        min(piece.left for piece in pieces),
        min(piece.top for piece in pieces),
        max(piece.right for piece in pieces),
        max(piece.bottom for piece in pieces),
    )


def _sorted(groups: list[_Group]) -> Iterator[_Group]:
    """Yield groups part by part, cutting along white space.

    A cut is taken first where the drawing order agrees with it.
    """
    if len(groups) > _MOST_GROUPS:
        yield from groups
        return
    stack = [groups]
    while stack:
        part = stack.pop()
        parts = [part]
        if len(part) > 1:
            parts = _agreed(part)
        if len(parts) == 1 and len(part) > 1:
            parts = _columns(part) or _halves(part)
        if len(parts) > 1:
            stack += reversed(parts)
        else:
            yield from part


def _agreed(part: list[_Group]) -> list[list[_Group]]:
    """Part groups where all drawn before stand above or beside all drawn after."""
    part = sorted(part, key=lambda group: group.number)
    tops, lefts, rights = _rest(part)
    bottom = right = float("-inf")
    left = float("inf")
    parts: list[list[_Group]] = [[]]
    for at, group in enumerate(part, start=1):
        parts[-1].append(group)
        bottom = max(bottom, group.bottom)
        right, left = max(right, group.right), min(left, group.left)
        if at < len(part) and (
            bottom <= tops[at] + _TOLERANCE
            or right <= lefts[at] + _TOLERANCE
            or left >= rights[at] - _TOLERANCE
        ):
            parts.append([])
    return parts


def _rest(groups: list[_Group]) -> tuple[list[float], list[float], list[float]]:
    """Give the uppermost top, leftmost left and rightmost right from each on."""
    tops, lefts, rights = [float("inf")], [float("inf")], [float("-inf")]
    for group in reversed(groups):
        tops.append(min(tops[-1], group.top))
        lefts.append(min(lefts[-1], group.left))
        rights.append(max(rights[-1], group.right))
    return tops[::-1], lefts[::-1], rights[::-1]


def _columns(part: list[_Group]) -> list[list[_Group]]:
    """Part groups into columns, of which two or more are prose; else none."""
    strips: list[list[_Group]] = []
    right = float("-inf")
    for group in sorted(part, key=lambda group: (group.left, group.number)):
        if group.left >= right:
            strips.append([])
        strips[-1].append(group)
        right = max(right, group.right)
    columns = [[piece for group in strip for piece in group.pieces] for strip in strips]
    prose = [_is_prose(column) for column in columns]
    others = [
        column for column, is_prose in zip(columns, prose, strict=True) if not is_prose
    ]
    if sum(prose) < 2 or any(len(column) >= _FEWEST_LINES for column in others):
        return []
    return strips


def _halves(part: list[_Group]) -> list[list[_Group]]:
    """Part groups at their widest horizontal white space, if there is any."""
    by_top = sorted(part, key=lambda group: (group.top, group.number))
    bottom = float("-inf")
    widest = -_TOLERANCE
    found = 0
    for at, group in enumerate(by_top[:-1], start=1):
        bottom = max(bottom, group.bottom)
        if by_top[at].top - bottom >= widest:
            widest = by_top[at].top - bottom
            found = at
    if not found:
        return [sorted(part, key=lambda group: group.number)]
    return [by_top[:found], by_top[found:]]
