"""Cut text where its clauses and points begin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from situate.readers.clauses.titles import heading_end, is_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.model import Span
    from situate.readers.clauses.choosing import Chosen

_FEWEST_POINTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """The heading of a clause: it opens a section."""

    paragraph: int
    """Which of the given paragraphs it begins in."""
    level: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A paragraph, or what a clause leaves of one."""

    paragraph: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """`(a)` and what belongs to it."""

    span: Span
    texts: tuple[Span, ...]
    """Its own text behind the mark, then paragraphs indented below it."""
    points: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Points one after the other: a list."""

    paragraph: int
    span: Span
    points: tuple[Point, ...]


Piece: TypeAlias = Clause | Text | Points


@dataclass(slots=True)
class _Stretch:
    """Part of a paragraph, from a mark or its start to the next mark or its end."""

    paragraph: int
    start: int
    end: int
    chosen: Chosen | None


@dataclass(slots=True)
class _OpenPoint:
    """A point that more may belong to."""

    stretch: _Stretch
    depth: int
    indent: int
    texts: list[Span]
    end: int
    points: list[Point] = field(default_factory=list)

    def close(self) -> Point:
        return Point(
            span=(self.stretch.start, self.end),
            texts=tuple(self.texts),
            points=tuple(self.points),
        )


class Cutter:
    """Cuts one text into pieces, in order."""

    def __init__(
        self, text: str, paragraphs: Sequence[Span], chosen: Sequence[Chosen]
    ) -> None:
        self._text = text
        self._stretches = _stretches(text, paragraphs, chosen)
        self._open: list[_OpenPoint] = []
        self._points: list[Point] = []
        self._run: list[_Stretch] = []

    def pieces(self) -> Iterator[Piece]:
        """Yield clauses, paragraphs and lists of points."""
        skipped = -1
        for place, stretch in enumerate(self._stretches):
            chosen = stretch.chosen
            if place <= skipped:
                continue
            if place and not self._touches(self._stretches[place - 1], stretch):
                yield from self._flush()
            if chosen is not None and chosen.level is None:
                self._add(stretch, chosen)
            elif chosen is None and self._belongs(stretch):
                self._run.append(stretch)
                self._extend(stretch)
            else:
                yield from self._flush()
                if chosen is None:
                    yield from self._text_piece(stretch, stretch.start)
                    continue
                end, skipped = self._heading(place)
                yield Clause(
                    paragraph=stretch.paragraph,
                    level=chosen.level or 1,
                    span=(chosen.mark.mark, end),
                )
                if skipped <= place:
                    yield from self._text_piece(stretch, end)
        yield from self._flush()

    def _text_piece(self, stretch: _Stretch, start: int) -> Iterator[Text]:
        text = self._text[start : stretch.end]
        if not text.strip():
            return
        if start > stretch.start:
            # A line of its own keeps its indentation, the rest of one has none.
            said = start + _indent(text)
            line = self._text.rfind("\n", 0, said) + 1
            start = max(start, line) if line > start else said
        end = start + len(self._text[start : stretch.end].rstrip())
        yield Text(paragraph=stretch.paragraph, span=(start, end))

    def _touches(self, before: _Stretch, after: _Stretch) -> bool:
        """Say whether nothing that is no paragraph stands between two stretches."""
        return not self._text[before.end : after.start].strip()

    # Headings

    def _heading(self, place: int) -> tuple[int, int]:
        """Give where a clause's heading ends, and the last stretch it takes up."""
        stretch = self._stretches[place]
        chosen = stretch.chosen
        if chosen is None:
            return stretch.end, place
        mark = chosen.mark
        if mark.rest(self._text) or mark.family != "word":
            below = self._text[mark.line_end : stretch.end].strip()
            end = heading_end(
                self._text,
                mark,
                stretch.end,
                closed=bool(below) or self._goes_on(place, chosen),
                introduces=chosen.introduces,
            )
            return end, place
        # `Article 1`, and its title on the next line.
        below = self._text[mark.line_end : stretch.end].strip()
        line = below.split("\n")[0].rstrip()
        if below:
            end = self._text.index(line, mark.line_end) + len(line)
            more = bool(self._text[end : stretch.end].strip())
            if is_title(line) and (more or self._goes_on(place, chosen)):
                return end, place
            return mark.end, place
        following = self._stretches[place + 1 : place + 2]
        if (
            following
            and following[0].chosen is None
            and self._touches(stretch, following[0])
        ):
            said = self._text[following[0].start : following[0].end].strip()
            if "\n" not in said and is_title(said):
                end = following[0].start + len(
                    self._text[following[0].start : following[0].end].rstrip()
                )
                if self._goes_on(place + 1, chosen):
                    return end, place + 1
        return mark.end, place

    def _goes_on(self, place: int, chosen: Chosen) -> bool:
        """Say whether something of a clause stands below its title."""
        if place + 1 >= len(self._stretches):
            return False
        following = self._stretches[place + 1].chosen
        return following is None or chosen.leads_down or following.level is None

    # Points

    def _add(self, stretch: _Stretch, chosen: Chosen) -> None:
        start = chosen.mark.end
        text = self._text[start : stretch.end]
        said = start + _indent(text)
        end = max(start, start + len(text.rstrip()))
        self._close(chosen.depth)
        self._run.append(stretch)
        self._open.append(
            _OpenPoint(
                stretch=stretch,
                depth=chosen.depth,
                indent=chosen.mark.mark - stretch.start,
                texts=[(said, end)] if said < end else [],
                end=end,
            )
        )

    def _belongs(self, stretch: _Stretch) -> bool:
        """Say whether a paragraph is indented below the point before it."""
        if not self._open:
            return False
        indent = _indent(self._text[stretch.start : stretch.end])
        return indent > self._open[-1].indent

    def _extend(self, stretch: _Stretch) -> None:
        last = self._open[-1]
        last.end = stretch.start + len(self._text[stretch.start : stretch.end].rstrip())
        last.texts.append((stretch.start, last.end))

    def _close(self, depth: int) -> None:
        """Close the points that one of this depth does not stand below."""
        while self._open and self._open[-1].depth >= depth:
            point = self._open.pop().close()
            if self._open:
                self._open[-1].points.append(point)
                self._open[-1].end = point.span[1]
            else:
                self._points.append(point)

    def _flush(self) -> Iterator[Piece]:
        """Yield the list that has come to its end; a single point is no list."""
        self._close(0)
        points, run = self._points, self._run
        self._points, self._run = [], []
        if len(points) >= _FEWEST_POINTS:
            span = (points[0].span[0], points[-1].span[1])
            yield Points(paragraph=run[0].paragraph, span=span, points=tuple(points))
            return
        for stretch in run:
            yield from self._text_piece(stretch, stretch.start)


def _stretches(
    text: str, paragraphs: Sequence[Span], chosen: Sequence[Chosen]
) -> list[_Stretch]:
    found: list[_Stretch] = []
    waiting = list(reversed(chosen))
    for number, (start, end) in enumerate(paragraphs):
        begin = start
        opener: Chosen | None = None
        while waiting and waiting[-1].mark.start < end:
            following = waiting.pop()
            if text[begin : following.mark.start].strip():
                found.append(_Stretch(number, begin, following.mark.start, opener))
            begin, opener = following.mark.start, following
        found.append(_Stretch(number, begin, end, opener))
    return found


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
