"""Decide which marks count: those that number without a gap.

A sequence starts at its first value and counts up; it starts again only below a
higher clause. What does not is no clause, and all its marks stay text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from situate.readers.clauses.marks import ATTACHMENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from situate.readers.clauses.marks import Mark, Reading

Key: TypeAlias = tuple[str, ...]

Mode = Literal["all", "openers", "none"]
"""Which of a sequence's marks are looked at: those inside paragraphs too or not."""

_NEXT_MODE: Mapping[Mode, Mode] = {"all": "openers", "openers": "none", "none": "none"}

# Lines that happen to begin with a number that was already there, or that is far
# from the next, are few in a document whose clauses are numbered.
_CLAUSES_PER_REPEAT = 10
_CLAUSES_PER_STRAY = 2
_FARTHEST_GAP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A mark that counts, with the sequences it stands in."""

    mark: Mark
    reading: Reading
    above: tuple[Key, ...]
    """Keys of the open clauses and points above it, outermost first."""


@dataclass(slots=True)
class _Open:
    """A sequence that may go on."""

    key: Key
    values: tuple[int, ...]
    is_point: bool
    rank: int | None


@dataclass(slots=True)
class _Trial:
    """One pass over the marks of a document."""

    marks: Sequence[Mark]
    modes: Mapping[Key, Mode]
    texts: frozenset[int]
    """Paragraphs that begin without a mark."""
    numbered: list[Numbered] = field(default_factory=list)
    wrong: set[Key] = field(default_factory=set)
    _stack: list[_Open] = field(default_factory=list)
    _last: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    _skipped: set[Key] = field(default_factory=set)
    _repeats: Counter[Key] = field(default_factory=Counter)
    _strays: Counter[Key] = field(default_factory=Counter)
    _counts: Counter[Key] = field(default_factory=Counter)
    _paragraph: int = -1

    def run(self) -> None:
        """Take every mark that is the next of its sequence."""
        for mark in self.marks:
            readings = [
                reading
                for reading in mark.readings
                if self.modes.get(reading.key, "all") == "all"
                or (self.modes[reading.key] == "openers" and mark.opens)
            ]
            if readings and not self._take(mark, readings) and mark.opens:
                self._doubt(mark, readings[0])
        # What was passed over and came later was no gap.
        self.wrong |= self._skipped
        for key, count in self._counts.items():
            if (
                self._repeats[key] * _CLAUSES_PER_REPEAT > count
                or self._strays[key] * _CLAUSES_PER_STRAY > count
            ):
                self.wrong.add(key)

    def _take(self, mark: Mark, readings: Sequence[Reading]) -> bool:
        for depth in range(len(self._stack) - 1, -1, -1):
            for reading in readings:
                if self._goes_on(self._stack[depth], reading):
                    del self._stack[depth:]
                    self._open(mark, reading)
                    return True
        for reading in readings:
            if self._begins(mark, reading):
                self._open(mark, reading)
                return True
        return False

    def _goes_on(self, last: _Open, reading: Reading) -> bool:
        if last.key != reading.key:
            return False
        if _follows(last.values, reading.values):
            return True
        # 1.9, then 2.1, where no clause 2 stands between.
        return (
            len(reading.values) > 1
            and last.key[0] == "decimal"
            and reading.values == (*_up(last.values[:-1]), 1)
            and not any(_is_above(each, reading.values) for each in self._stack)
        )

    def _begins(self, mark: Mark, reading: Reading) -> bool:
        """Say whether a mark may open a sequence, and make room for it."""
        key, values = reading
        if key[0] == "decimal" and len(values) > 1:
            return self._begins_below(values)
        if mark.family == "point":
            return self._begins_points(mark, reading)
        on_stack = any(each.key == key for each in self._stack)
        # Some licences begin with 0.
        first = values == (1,) or (values == (0,) and key[0] == "decimal")
        if mark.rank == ATTACHMENT:
            if first or _follows(self._last.get(key, ()), values):
                self._stack.clear()
                return True
            return False
        goes_on = not on_stack and _follows(self._last.get(key, ()), values)
        if on_stack or not (first or goes_on):
            return False
        if mark.rank is not None:
            self._make_room(mark.rank)
        return True

    def _begins_below(self, values: tuple[int, ...]) -> bool:
        """Open `1.1` below `1`, below `Article 1`, or at the very start."""
        if values[-1] != 1:
            return False
        for depth in range(len(self._stack) - 1, -1, -1):
            around = self._stack[depth]
            if _is_above(around, values):
                del self._stack[depth + 1 :]
                return True
            if around.key[0] == "decimal" and not around.is_point:
                return False
            if not around.is_point and around.values == values[:-1]:
                del self._stack[depth + 1 :]
                return True
        return set(values) == {1}

    def _begins_points(self, mark: Mark, reading: Reading) -> bool:
        if reading.values != (1,) or not self._stack:
            return False
        inside = self._stack[-1].is_point
        if reading.key[1] == "1" and not (mark.after_colon or inside):
            return False
        for depth, each in enumerate(self._stack):
            if each.key == reading.key:
                # A second list in one clause, after text of its own.
                if not self._text_since(mark):
                    return False
                del self._stack[depth:]
                return True
        if inside and self._text_since(mark):
            while self._stack and self._stack[-1].is_point:
                self._stack.pop()
        return True

    def _text_since(self, mark: Mark) -> bool:
        between = range(self._paragraph + 1, mark.paragraph + 1)
        return any(number in self.texts for number in between)

    def _make_room(self, rank: int) -> None:
        """Close what cannot hold a clause of this rank."""
        while self._stack:
            last = self._stack[-1]
            lower = last.rank is not None and last.rank > rank
            unranked = last.rank is None and last.key[0] in {"decimal", "roman"}
            if not (last.is_point or lower or (unranked and rank < 5)):
                return
            self._stack.pop()

    def _open(self, mark: Mark, reading: Reading) -> None:
        above = tuple(each.key for each in self._stack)
        is_point = mark.family == "point"
        self._counts[reading.key] += 1
        self._stack.append(_Open(reading.key, reading.values, is_point, mark.rank))
        self._last[reading.key] = reading.values
        self._skipped.discard(reading.key)
        self._paragraph = mark.paragraph
        self.numbered.append(Numbered(mark=mark, reading=reading, above=above))

    def _doubt(self, mark: Mark, reading: Reading) -> None:
        """Note a mark that is not the next of any sequence."""
        key, values = reading
        last = self._last.get(key)
        if mark.family == "point" or last is None:
            return
        if values <= last:
            self._repeats[key] += 1
        elif _is_near(last, values):
            self._skipped.add(key)
        else:
            self._strays[key] += 1


def consistent(marks: Sequence[Mark], texts: Iterable[int]) -> list[Numbered]:
    """Give the marks that number without a gap, in order."""
    modes: dict[Key, Mode] = {
        reading.key: "all" for mark in marks for reading in mark.readings
    }
    frozen = frozenset(texts)
    while True:
        trial = _Trial(marks, modes, frozen)
        trial.run()
        wrong = {key for key in trial.wrong if modes[key] != "none"}
        if not wrong:
            return trial.numbered
        for key in wrong:
            modes[key] = _NEXT_MODE[modes[key]]


def _follows(last: tuple[int, ...], values: tuple[int, ...]) -> bool:
    """Say whether a number is the next: 2 or 1a after 1, 3 or 2b after 2a."""
    if not last:
        return False
    if values == _up(last):
        return True
    if len(last) == 1 and values == (last[0], 1) and last[0] > 0:
        return True
    return len(last) == 2 and values == (last[0] + 1,)


def _is_near(last: tuple[int, ...], values: tuple[int, ...]) -> bool:
    """Say whether a number is so close to the last that some are missing."""
    steps = [after - before for before, after in zip(last, values, strict=False)]
    first = next((step for step in steps if step), 0)
    return first <= _FARTHEST_GAP


def _up(values: tuple[int, ...]) -> tuple[int, ...]:
    return (*values[:-1], values[-1] + 1)


def _is_above(around: _Open, values: tuple[int, ...]) -> bool:
    return around.key[0] == "decimal" and around.values == values[:-1]
