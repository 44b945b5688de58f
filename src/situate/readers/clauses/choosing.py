"""Choose among numbered lines those that are clauses, and give them levels.

A list in prose numbers as well as a contract does. What tells them apart is that
clauses have titles, or clauses of their own, or are called by a name.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from situate.readers.clauses.marks import ATTACHMENT, has_page
from situate.readers.clauses.titles import heading_end, is_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.model import Span
    from situate.readers.clauses.marks import Mark
    from situate.readers.clauses.sequences import Key, Numbered

_FEWEST_CLAUSES = 2
_FEWEST_LINES_OF_CONTENTS = 3
_LONGEST_ENTRY = 200
"""Characters of a line that are compared with others."""
_TRAILING_PAGE = re.compile(r"[\s.·…_]+[0-9]{1,4}$")
_TITLED = (2, 3)
"""The share of clauses that have a title; the last item of a list may seem to."""
_BARE: Key = ("decimal", "1", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A mark that opens a clause, or a point below one."""

    mark: Mark
    level: int | None
    """Of a clause, from 1; None for a point."""
    depth: int
    """Of a point: how many points it stands below."""
    leads_down: bool
    """Whether the next clause stands below it."""
    introduces: bool
    """Whether points stand below it next."""


def candidates(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Leave out lists of contents, and bare numbers that no clause follows."""
    last = {_normal(text, mark): place for place, mark in enumerate(marks)}
    listed = [
        has_page(text, mark) or last[_normal(text, mark)] > place
        for place, mark in enumerate(marks)
    ]
    kept: list[Mark] = []
    begin = 0
    for place, mark in enumerate(marks):
        end = place + 1
        if end < len(marks) and not text[mark.line_end : marks[end].start].strip():
            continue
        kept += _without_contents(text, marks[begin:end], listed[begin:end])
        begin = end
    return [
        mark
        for place, mark in enumerate(kept)
        if mark.readings[0].key != _BARE or _is_confirmed(text, kept, place)
    ]


def choose(
    text: str, paragraphs: Sequence[Span], numbered: Sequence[Numbered]
) -> list[Chosen]:
    """Give the clauses and their points in order; none when there is no structure."""
    groups = _Groups(text, paragraphs, numbered)
    chosen = []
    for place, each in enumerate(numbered):
        level = groups.level(each)
        is_point = each.mark.family == "point"
        if level is None or (is_point and level == 1):
            continue
        chosen.append(
            Chosen(
                mark=each.mark,
                level=None if is_point else level,
                depth=sum(_is_point(key) for key in each.above),
                leads_down=_below(numbered, place) == "clause",
                introduces=_below(numbered, place) == "point",
            )
        )
    clauses = sum(each.level is not None for each in chosen)
    return chosen if clauses >= _FEWEST_CLAUSES else []


class _Groups:
    """Sequences by their name and what they stand below."""

    def __init__(
        self, text: str, paragraphs: Sequence[Span], numbered: Sequence[Numbered]
    ) -> None:
        self._totals: Counter[Key] = Counter()
        self._ranks: dict[Key, int | None] = {}
        self._titled: Counter[tuple[Key, ...]] = Counter()
        self._sizes: Counter[tuple[Key, ...]] = Counter()
        for place, each in enumerate(numbered):
            if each.mark.family == "point":
                continue
            path = (*each.above, each.reading.key)
            self._totals[each.reading.key] += 1
            self._ranks[each.reading.key] = each.mark.rank
            self._sizes[path] += 1
            self._titled[path] += _is_titled(text, paragraphs, numbered, place)
        self._accepted: dict[tuple[Key, ...], bool] = {}
        for path in sorted(self._sizes, key=len):
            self._accepted[path] = self._is_accepted(path)

    def level(self, each: Numbered) -> int | None:
        """Give the level of a clause, of a point the level of a clause there."""
        path = (*each.above, each.reading.key)
        if each.mark.family == "point":
            path = tuple(key for key in each.above if not _is_point(key))
            return 1 + self._depth(path)
        return self._depth(path) if self._accepted[path] else None

    def _depth(self, path: tuple[Key, ...]) -> int:
        return sum(
            self._accepted.get(path[:end], False) for end in range(1, len(path) + 1)
        )

    def _is_accepted(self, path: tuple[Key, ...]) -> bool:
        *above, key = path
        if any(map(_is_point, above)):
            return False
        if key[0] not in {"decimal", "roman"}:
            return (
                self._totals[key] >= _FEWEST_CLAUSES or self._ranks[key] == ATTACHMENT
            )
        if _is_dotted(key):
            # Below a list that is no clause there are none.
            around = path[:-1]
            is_list = bool(around) and around[-1][0] == "decimal"
            several = self._totals[key] >= _FEWEST_CLAUSES
            return several and (not is_list or self._accepted[around])
        below = sum(
            size
            for other, size in self._sizes.items()
            if other[:-1] == path and _is_dotted(other[-1])
        )
        size = self._sizes[path]
        mostly = self._titled[path] * _TITLED[1] >= size * _TITLED[0]
        return below >= _FEWEST_CLAUSES or (
            self._totals[key] >= _FEWEST_CLAUSES and mostly
        )


def _is_titled(
    text: str,
    paragraphs: Sequence[Span],
    numbered: Sequence[Numbered],
    place: int,
) -> bool:
    """Say whether a clause has a title, and something below it."""
    mark = numbered[place].mark
    limit = len(text)
    if place + 1 < len(numbered):
        limit = numbered[place + 1].mark.start
    below = _below(numbered, place)
    end = heading_end(
        text,
        mark,
        min(limit, paragraphs[mark.paragraph][1]),
        closed=below == "clause" or bool(text[mark.line_end : limit].strip()),
        introduces=below == "point",
    )
    return end > mark.end and (below is not None or bool(text[end:limit].strip()))


def _below(
    numbered: Sequence[Numbered], place: int
) -> Literal["clause", "point"] | None:
    """Say what stands directly below a clause, if anything numbered does."""
    if place + 1 == len(numbered):
        return None
    following = numbered[place + 1]
    if len(following.above) <= len(numbered[place].above):
        return None
    return "point" if following.mark.family == "point" else "clause"


def _is_dotted(key: Key) -> bool:
    """Say whether a key is that of 1.1 or deeper."""
    return key[0] == "decimal" and key[1] != "1"


def _is_point(key: Key) -> bool:
    return key[0] in {"()", ")"}


def _without_contents(
    text: str, run: Sequence[Mark], listed: Sequence[bool]
) -> list[Mark]:
    """Leave out those of lines below each other that are a list of contents.

    They end in pages, or come again below.
    """
    places = [place for place, is_listed in enumerate(listed) if is_listed]
    # Clauses that begin together, chapter, article, paragraph, are no list.
    keys = Counter(run[place].readings[0].key for place in places)
    kept = list(run)
    if places and max(keys.values()) >= _FEWEST_LINES_OF_CONTENTS:
        first, end = places[0], places[-1] + 1
        if len(places) * 5 >= (end - first) * 3:
            kept = [*run[:first], *run[end:]]
    return [mark for mark in kept if not has_page(text, mark)]


def _normal(text: str, mark: Mark) -> tuple[Key, str]:
    rest = text[mark.end : min(mark.line_end, mark.end + _LONGEST_ENTRY)].strip()
    rest = _TRAILING_PAGE.sub("", rest).casefold()
    reading = mark.readings[0]
    words = "".join(character for character in rest if character.isalnum())
    return reading.key, f"{reading.values} {words}"


def _is_confirmed(text: str, marks: Sequence[Mark], place: int) -> bool:
    """Say whether a number without a dot is a title with `N.1` below it."""
    mark = marks[place]
    if not is_title(mark.rest(text)):
        return False
    number = mark.readings[0].values[0]
    for after in marks[place + 1 :]:
        values = after.readings[0].values
        if after.family == "decimal" and len(values) == 2:
            return values == (number, 1)
        if after.family == "decimal" and after.readings[0].key == _BARE:
            return False
    return False
