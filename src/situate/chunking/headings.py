"""Headings without text move to the chunk next to them (C8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.chunking.measure import GAP
from situate.chunking.units import Held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.chunking.measure import Measure
    from situate.chunking.places import Place


def is_long(place: Place, measure: Measure, max_tokens: int) -> bool:
    """Tell whether a heading without text is above a quarter of a chunk (C7)."""
    if place.shortened:
        return True
    own = place.own
    return not measure.fits(own.text, own.joined, max_tokens // 4)


def move_headings(
    places: Sequence[Place], measure: Measure, *, max_tokens: int
) -> None:
    """Move every heading without text to where it is read, if there is room.

    First to the section below it or the next sibling, from the end of the
    document to its start, so that a chain of headings arrives in order; what
    found no place then goes to what stands before it, from start to end.
    """
    moves = _Moves(places, measure, max_tokens)
    headings = [
        index
        for index, place in enumerate(places)
        if place.heading_only and not moves.is_too_long(index)
    ]
    for index in reversed(headings):
        moves.forward(index)
    for index in sorted(moves.waiting):
        moves.waiting.discard(index)
        moves.backward(index)


@dataclass(slots=True)
class _Moves:
    places: Sequence[Place]
    measure: Measure
    max_tokens: int
    waiting: set[int] = field(default_factory=set)
    """Headings that found no chunk after them; nothing may move past one."""
    taken_by: dict[int, int] = field(default_factory=dict)
    moved_back: set[int] = field(default_factory=set)

    def is_too_long(self, index: int) -> bool:
        """Tell whether a heading with nothing below it stays a chunk of its own."""
        place = self.places[index]
        return not place.children and is_long(place, self.measure, self.max_tokens)

    def forward(self, index: int) -> None:
        """Move a heading to the first chunk below it, else of the next sibling."""
        place = self.places[index]
        if place.children:
            taker = self._first(index + 1, place.end)
            if taker is None or not self._take(index, taker, first=True):
                self.waiting.add(index)
            return
        taker = None
        following = self._sibling(index, 1)
        if following is not None:
            taker = self._first(following, self.places[following].end)
            if taker is None and following not in self.waiting:
                taker = self.taken_by.get(following)
        if taker is None or not self._take(index, taker, first=True):
            self.waiting.add(index)

    def backward(self, index: int) -> None:
        """Move a heading to the last chunk of the previous sibling, or the parent."""
        place = self.places[index]
        if place.shortened:
            return  # Whole it stands in breadcrumbs below it alone.
        previous = self._sibling(index, -1)
        if previous is None:
            taker = place.parent if self.places[place.parent].held.blocks else None
            if taker is None and place.parent in self.moved_back:
                taker = self.taken_by[place.parent]
        else:
            taker = self._last(previous, self.places[previous].end)
            if taker is None:
                taker = self.taken_by.get(previous)
        if taker is not None and self._take(index, taker, first=False):
            self.moved_back.add(index)

    def _sibling(self, index: int, step: int) -> int | None:
        place = self.places[index]
        above = self.places[place.parent].children
        at = place.rank + step
        return above[at] if 0 <= at < len(above) else None

    def _first(self, start: int, end: int) -> int | None:
        for index in range(start, end):
            if index in self.waiting:
                return None
            if self.places[index].held.blocks:
                return index
        return None

    def _last(self, start: int, end: int) -> int | None:
        for index in reversed(range(start, end)):
            if self.places[index].held.blocks:
                return index
        return None

    def _take(self, index: int, taker: int, *, first: bool) -> bool:
        """Move a heading if its taker's metadata agree and it has room."""
        place, target = self.places[index], self.places[taker]
        if not place.agrees(target):
            return False
        heading, text = place.held, target.held
        if not self._has_room(text, heading):
            return False
        target.held = heading.followed_by(text) if first else text.followed_by(heading)
        place.held = Held()
        self.taken_by[index] = taker
        return True

    def _has_room(self, taker: Held, heading: Held) -> bool:
        """Tell whether both fit a chunk, or the taker is cut in parts anyway.

        Where counts do not add up the sums decide: to count what a taker holds anew
        with every heading would take the square of their number.
        """
        # A chunk's text has no blank line after it.
        if taker.joined > self.max_tokens + len(GAP):
            return True
        if not self.measure.fits(taker.text, taker.joined, self.max_tokens):
            return True
        both = taker.followed_by(heading)
        return self.measure.fits(both.text, both.joined, self.max_tokens)
