"""Find what stands at the top and bottom of page after page.

Running headers, footers and page numbers are no part of the text, but a version
or a date often stands nowhere else.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from situate.readers.pdf.lines import Line

_Edge = Literal["top", "bottom"]

# Share of the page's height in which headers and footers are looked for, and how
# many lines of it. LaTeX's article has its page number at 83 % of A4.
_BAND = 0.2
_MOST_LINES = 4

# Repeated on so many pages, or on half of a document that has few.
_FEWEST_PAGES = 3

# Share of its size that a header at least stands off from the text.
_ROOM = 0.9

_LARGER = 1.1

# Points by which a line that repeats may stand higher or lower.
_SHIFT = 3.0

_NUMBER = re.compile(r"\d+|^[ivxlc]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Furniture:
    """What was found at the edges of the pages."""

    headers: tuple[str, ...]
    """Distinct texts; numbers that count pages are `#`."""
    footers: tuple[str, ...]
    lines: frozenset[int]
    """Ids of the lines that are furniture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A line near an edge of its page."""

    line: Line
    edge: _Edge
    y: float
    outward: Line | None
    """The line between it and the edge."""
    room: float
    """Points between it and the next line towards the text."""


def furniture(
    pages: Sequence[Sequence[Line]],
    heights: Sequence[float],
    *,
    marked: Collection[int] = (),
) -> Furniture:
    """Find lines that repeat, numbers aside, at one height of several pages.

    Lines whose ids are `marked` need not repeat; where there are any, what is given
    of a page is not all of it.
    """
    groups: dict[tuple[_Edge, str], list[_Place]] = defaultdict(list)
    places: list[_Place] = []
    spare: set[int] = set()
    for lines, height in zip(pages, heights, strict=True):
        near = [*_near(lines, height, "top"), *_near(lines, height, "bottom")]
        places += near
        if not marked and len({id(place.line) for place in near}) == len(lines):
            # A page that has nothing else shows no edge to stand on.
            spare.update(id(place.line) for place in near)
        for place in near:
            groups[place.edge, _shown(place.line)].append(place)
    fewest = max(2, min(_FEWEST_PAGES, (len(pages) + 1) // 2))
    found = _repeated(groups.values(), spare, fewest)
    found |= _beside(places, found, len(pages))
    found |= {id(place.line) for place in places if id(place.line) in marked}
    found = _outermost(places, found, len(pages))
    texts: dict[_Edge, list[str]] = {"top": [], "bottom": []}
    for (edge, _), group in groups.items():
        own = [place.line for place in group if id(place.line) in found]
        said = _said(own) if own else ""
        if any(map(str.isalpha, said)):
            texts[edge].append(said)
    return Furniture(
        headers=tuple(dict.fromkeys(texts["top"])),
        footers=tuple(dict.fromkeys(texts["bottom"])),
        lines=frozenset(found),
    )


def _near(lines: Sequence[Line], height: float, edge: _Edge) -> list[_Place]:
    """Give the lines near an edge, the outermost first."""
    if edge == "top":
        near = [line for line in lines if line.box.bottom <= _BAND * height]
        near.sort(key=lambda line: line.box.top)
    else:
        near = [line for line in lines if line.box.top >= (1 - _BAND) * height]
        near.sort(key=lambda line: -line.box.bottom)
    places: list[_Place] = []
    for line in near[:_MOST_LINES]:
        outward = places[-1].line if places else None
        if outward is not None and _share_row(outward, line):
            outward = places[-1].outward
        room = min(
            (
                _room(line, other) if edge == "top" else _room(other, line)
                for other in lines
                if not _share_row(line, other) and _is_inward(line, other, edge)
            ),
            default=height,
        )
        places.append(
            _Place(line=line, edge=edge, y=line.box.bottom, outward=outward, room=room)
        )
    return places


def _room(upper: Line, lower: Line) -> float:
    return lower.box.top - upper.box.bottom


def _is_inward(line: Line, other: Line, edge: _Edge) -> bool:
    below = other.box.top > line.box.top
    return below == (edge == "top") and other is not line


def _share_row(one: Line, other: Line) -> bool:
    overlap = min(one.box.bottom, other.box.bottom) - max(one.box.top, other.box.top)
    return overlap > 0.3 * min(one.size, other.size)


def _repeated(groups: Iterable[list[_Place]], spare: set[int], fewest: int) -> set[int]:
    found: set[int] = set()
    for group in groups:
        level = statistics.median(place.y for place in group)
        same = [place for place in group if abs(place.y - level) <= _SHIFT]
        pages = {place.line.page for place in same if id(place.line) not in spare}
        if len(pages) < fewest:
            continue
        # What is furniture by its words is so where a page is laid out differently.
        has_words = any(map(str.isalpha, group[0].line.text))
        found.update(id(place.line) for place in (group if has_words else same))
        found.update(id(line) for line in _counting(group))
    return found


def _counting(group: list[_Place]) -> list[Line]:
    """Give the lines that are a number which counts the pages."""
    offsets = [
        (int(place.line.text) - place.line.page, place.line)
        for place in group
        if place.line.text.isascii() and place.line.text.isdecimal()
    ]
    if not offsets:
        return []
    usual, count = Counter(offset for offset, _ in offsets).most_common(1)[0]
    return [line for offset, line in offsets if offset == usual and count > 1]


def _beside(places: list[_Place], found: set[int], pages: int) -> set[int]:
    """Find lines where most pages have a header, though none says the same."""
    levels: dict[tuple[_Edge, int, float], set[int]] = defaultdict(set)
    for place in places:
        if id(place.line) in found:
            key = place.edge, round(place.y), place.line.size
            levels[key].add(place.line.page)
    usual = {key for key, own in levels.items() if 2 * len(own) >= max(pages, 4)}
    return {
        id(place.line)
        for place in places
        if (place.edge, round(place.y), place.line.size) in usual
    }


def _outermost(places: list[_Place], found: set[int], pages: int) -> set[int]:
    """Keep what has nothing but furniture between itself and the edge.

    What is on few pages has to stand off from the text as well, and be no larger
    than the rest: a heading that happens to begin several pages is not.
    """
    usual = Counter(
        (place.edge, _shown(place.line)) for place in places if id(place.line) in found
    )
    sizes = [place.line.size for place in places if id(place.line) in found]
    size = statistics.median(sizes) if sizes else 0.0
    kept: set[int] = set()
    for place in places:
        rare = 4 * usual[place.edge, _shown(place.line)] < pages
        if (
            id(place.line) in found
            and (place.outward is None or id(place.outward) in kept)
            and not (rare and place.room < _ROOM * place.line.size)
            and not (rare and place.line.size > _LARGER * size)
        ):
            kept.add(id(place.line))
    return kept


def _shown(line: Line) -> str:
    return _NUMBER.sub("#", line.text)


def _said(lines: Sequence[Line]) -> str:
    """Write a text once for all pages; numbers that differ are `#`."""
    numbers = [_NUMBER.findall(line.text) for line in lines]
    same = [len(set(column)) == 1 for column in zip(*numbers, strict=False)]
    first = iter(zip(numbers[0], same, strict=False))

    def shown(_: re.Match[str]) -> str:
        number, is_same = next(first, ("#", False))
        return number if is_same else "#"

    return _NUMBER.sub(shown, lines[0].text)
