"""Tell headings by their look: larger than the text, or bold on a line alone.

A guess that must not hurt: sentences, cells and labels of drawings stand out, too,
so where much does, nothing is a heading.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from situate.readers.pdf.items import counts_on
from situate.readers.pdf.paragraphs import is_bullet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.readers.pdf.lines import Line
    from situate.readers.pdf.paragraphs import Paragraph

# A heading is larger than the text by a tenth, as the smallest steps of templates.
_LARGER = 1.09
_CLEARLY_LARGER = 1.25
_MUCH_LARGER = 1.5

_LONGEST_HEADING = 200
_MOST_WORDS = 25
_MOST_LINES = 3

# Where more than this share of a text stands out, size does not mean heading.
_MOST_SHARE = 0.35

# Text of which there must be some for anything to stand out from.
_FEWEST_BODY = 60
_FEWEST_WORDS = 4

NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,8})\.?\s+(?=\S)")

# A word: three letters of a script that spaces words, or two of one that does not.
_LETTERS = re.compile(
    r"[^\W\d_]{3}|[\u0e00-\u0eff\u1100-\u11ff\u3040-\ud7af\uf900-\ufaff]{2}"
)
# "IV. RESULTS": capitals alone are a label, numbered they are a heading.
_CAPITALS = re.compile(r"(?:[IVX]{1,5}|\d{1,2})\.\s+[^\W\d_].{2,60}")

_CLOSED = re.compile(r"[.,;:]$")


def headings(paragraphs: Sequence[Paragraph]) -> dict[int, int]:
    """Give the level of each paragraph that is a heading, by its index."""
    body = _body(paragraphs)
    if body is None:
        return {}
    found = [
        index
        for index, paragraph in enumerate(paragraphs)
        if _stands_out(paragraph, body) and _stands_alone(paragraphs, index)
    ]
    found = _without_items(paragraphs, found)
    while found and found[-1] == len(paragraphs) - 1:
        found.pop()
    chosen = set(found)
    total = sum(len(paragraph.text) for paragraph in paragraphs)
    share = sum(len(paragraphs[index].text) for index in found)
    body_text = sum(
        len(paragraph.text)
        for index, paragraph in enumerate(paragraphs)
        if index not in chosen and _is_text(paragraph.text)
    )
    distinct = len({paragraphs[index].text for index in found})
    if (
        share > _MOST_SHARE * total
        or body_text < max(share / 2, _FEWEST_BODY)
        or 2 * distinct < len(found)
    ):
        return {}
    return _levels([(index, paragraphs[index]) for index in found])


def _is_text(text: str) -> bool:
    """Tell phrases from the numbers and labels of tables and drawings."""
    words = text.split()
    letters = sum(word.strip("(.,;:!?)\"'").isalpha() for word in words)
    return len(words) >= _FEWEST_WORDS and 10 * letters >= 6 * len(words)


def _without_items(paragraphs: Sequence[Paragraph], found: list[int]) -> list[int]:
    """Leave out the items of a list, which count on with no text between them."""
    items: set[int] = set()
    for index, following in pairwise(found):
        one, other = paragraphs[index], paragraphs[following]
        if following == index + 1 and (
            counts_on(one.marker, other.marker)
            or (_depth(one) == _depth(other) > 0 and _look(one) == _look(other))
        ):
            items |= {index, following}
    return [index for index in found if index not in items]


def _depth(paragraph: Paragraph) -> int:
    """Give how many parts the number of a heading has; 0 without one."""
    found = NUMBER.match(paragraph.text)
    return 0 if found is None else found[1].count(".") + 1


class _Body(NamedTuple):
    """How most characters look."""

    size: float
    is_bold: bool
    turn: int


def _body(paragraphs: Sequence[Paragraph]) -> _Body | None:
    sizes: Counter[float] = Counter()
    bold: Counter[float] = Counter()
    turns: Counter[int] = Counter()
    for paragraph in paragraphs:
        for line in paragraph.lines:
            sizes[line.size] += len(line.text)
            turns[line.turn] += len(line.text)
            bold[line.size] += len(line.text) * line.is_bold
    if not sizes:
        return None
    size = max(sizes, key=lambda each: (sizes[each], each))
    (turn, _), *_ = turns.most_common(1)
    return _Body(size, 2 * bold[size] > sizes[size], turn)


def _stands_out(paragraph: Paragraph, body: _Body) -> bool:
    text, lines = paragraph.text, paragraph.lines
    larger = min(line.size for line in lines) / body.size
    number = NUMBER.match(text)
    if not (
        len(text) <= _LONGEST_HEADING
        and len(text.split()) <= _MOST_WORDS
        and len(lines) <= _MOST_LINES
        and "\n" not in text
        and lines[0].turn == body.turn
        and lines[0].cells <= (2 if number else 1)
        and all(line.cells == 1 for line in lines[1:])
        and _LETTERS.search(text)
        and (paragraph.marker is None or not is_bullet(paragraph.marker))
    ):
        return False
    bold = not body.is_bold and larger > 0.95 and all(line.is_bold for line in lines)
    capitals = _CAPITALS.fullmatch(text) is not None and text == text.upper()
    if larger < _LARGER and not bold and not capitals:
        return False
    clear = larger >= _CLEARLY_LARGER
    if _CLOSED.search(text) and not (clear or (number and len(text.split()) <= 8)):
        return False
    begins = not text[:1].islower() or larger >= _MUCH_LARGER
    return number is not None or begins


def _stands_alone(paragraphs: Sequence[Paragraph], index: int) -> bool:
    """Tell a heading from a cell or label: nothing is written beside it."""
    own = paragraphs[index].lines
    before = paragraphs[index - 1].lines[-1] if index else None
    after = paragraphs[index + 1].lines[0] if index + 1 < len(paragraphs) else None
    return not (_are_beside(before, own[0]) or _are_beside(own[-1], after))


def _are_beside(one: Line | None, other: Line | None) -> bool:
    if one is None or other is None:
        return False
    if one.page != other.page or one.turn != other.turn:
        return False
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap > 0.3 * min(one.size, other.size)


def _levels(found: Sequence[tuple[int, Paragraph]]) -> dict[int, int]:
    """Rank headings by their look; a number below another's goes below it."""
    looks = sorted(
        {_look(paragraph) for _, paragraph in found}, key=lambda look: (-look[0], look)
    )
    rank = {look: at for at, look in enumerate(looks, start=1)}
    # A title that is no larger than the headings below it stands above them.
    title = _look(found[0][1]) if found else None
    if (
        found
        and found[0][0] == 0
        and rank[_look(found[0][1])] > 1
        and sum(_look(paragraph) == title for _, paragraph in found) == 1
    ):
        rank = {look: 1 if look == title else at + 1 for look, at in rank.items()}
    levels: dict[int, int] = {}
    numbered: dict[str, int] = {}
    for index, paragraph in found:
        level = rank[_look(paragraph)]
        number = NUMBER.match(paragraph.text)
        if number is not None:
            above, _, _ = number[1].rpartition(".")
            level = numbered[above] + 1 if above in numbered else level
            numbered[number[1]] = level
        levels[index] = level
    return levels


def _look(paragraph: Paragraph) -> tuple[float, bool]:
    # Half points: what one template calls a size comes out a little different.
    return round(paragraph.size * 2) / 2, not all(
        line.is_bold for line in paragraph.lines
    )
