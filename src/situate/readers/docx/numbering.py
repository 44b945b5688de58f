"""Compute the numbers and bullets that Word shows but does not write.

A paragraph names a numbering and a level; the numbering points to an abstract
one, whose levels say how they count. Counters belong to the abstract numbering,
so that lists go on where they were interrupted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.readers.docx.names import attribute, child, flag, name, number, value
from situate.readers.docx.numerals import numeral
from situate.readers.docx.styles import indent

if TYPE_CHECKING:
    from lxml.etree import _Element

    from situate.readers.docx.styles import Styles

LEVELS = 9
"""Word's lists have this many; deeper ones count as the last."""

BULLET = "-"

# `Article %1.%2` is long already; a marker stands before every paragraph.
_LONGEST = 100

# One link leads to a definition; in a circle none does.
_MOST_LINKS = 10

_PLACE = re.compile("%([1-9])")

_INDENT = 720
"""Of one level in twentieths of a point, where nothing says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What stands before a numbered paragraph."""

    text: str
    """`-` for a bullet; empty where the number is not shown."""
    family: str
    """Which counters it belongs to."""
    level: int
    """From 0."""
    left: int
    """Indent in twentieths of a point."""
    restarted: bool = False
    """It begins a count of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    pattern: str = BULLET
    restart: int | None = None
    """The level, from 1, whose use starts this one anew; 0 for none."""
    legal: bool = False
    """All numbers in the pattern are written as decimals."""
    style: str | None = None
    left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbering:
    family: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class Numbering:
    """The numberings of a document and how far each has counted."""

    def __init__(self, root: _Element | None, styles: Styles) -> None:
        self._styles = styles
        self._abstract: dict[str, _Element] = {}
        self._links: dict[str, str | None] = {}
        """The styles that abstract numberings leave their definition to."""
        self._nums: dict[str, _Element] = {}
        self._levels: dict[str, dict[int, _Level]] = {}
        self._known: dict[str, _Numbering | None] = {}
        self._counters: dict[str, list[int | None]] = {}
        self._begun: set[tuple[str, int]] = set()
        for element in () if root is None else root:
            if name(element) == "w:abstractNum":
                own = attribute(element, "w:abstractNumId") or ""
                self._abstract.setdefault(own, element)
                self._links[own] = value(element, "w:numStyleLink")
            elif name(element) == "w:num":
                self._nums.setdefault(attribute(element, "w:numId") or "", element)

    def level_of(self, num_id: str, style_id: str | None) -> int | None:
        """Give the level that a style is tied to in a numbering."""
        numbering = self._numbering(num_id)
        if numbering is None or style_id is None:
            return None
        return next(
            (at for at, level in numbering.levels.items() if level.style == style_id),
            None,
        )

    def count(self, num_id: str, level: int) -> Mark:
        """Count one paragraph and give what stands before it."""
        level = min(max(level, 0), LEVELS - 1)
        numbering = self._numbering(num_id)
        if numbering is None:
            # Somebody meant a list; the definition is lost.
            left = _INDENT * (level + 1)
            return Mark(text=BULLET, family=num_id, level=level, left=left)
        counters = self._counters.setdefault(numbering.family, [None] * LEVELS)
        restarted = self._step(num_id, numbering, level, counters)
        for below in range(level + 1, LEVELS):
            restart = numbering.levels.get(below, _Level()).restart
            if restart is None or level < restart:
                counters[below] = None
        found = numbering.levels.get(level, _Level())
        return Mark(
            text=_shown(numbering.levels, level, counters),
            family=numbering.family,
            level=level,
            left=_INDENT * (level + 1) if found.left is None else found.left,
            restarted=restarted,
        )

    def _step(
        self,
        num_id: str,
        numbering: _Numbering,
        level: int,
        counters: list[int | None],
    ) -> bool:
        """Move one counter on; tell whether the numbering starts it anew."""
        first = (num_id, level) not in self._begun
        self._begun.add((num_id, level))
        start = numbering.starts.get(level)
        before = counters[level]
        if first and start is not None:
            counters[level] = start
            return True
        if before is None:
            start = (
                numbering.levels.get(level, _Level()).start if start is None else start
            )
            counters[level] = start
        else:
            counters[level] = before + 1
        return False

    def _numbering(self, num_id: str) -> _Numbering | None:
        if num_id not in self._known:
            self._known[num_id] = self._resolved(num_id)
        return self._known[num_id]

    def _resolved(self, num_id: str) -> _Numbering | None:
        num = self._nums.get(num_id)
        abstract = self._abstract_of(num)
        if num is None or abstract is None:
            return None
        family = attribute(abstract, "w:abstractNumId") or ""
        if family not in self._levels:
            self._levels[family] = _levels(abstract)
        levels = dict(self._levels[family])
        starts: dict[int, int] = {}
        for override in num:
            at = number(attribute(override, "w:ilvl"))
            if name(override) != "w:lvlOverride" or at is None:
                continue
            start = number(value(override, "w:startOverride"))
            if start is not None:
                starts[at] = start
            levels |= _levels(override)
        return _Numbering(family=family, levels=levels, starts=starts)

    def _abstract_of(self, num: _Element | None) -> _Element | None:
        """Follow a numbering to its definition, through numbering styles too."""
        abstract: _Element | None = None
        for _ in range(_MOST_LINKS):
            own = value(num, "w:abstractNumId") or ""
            abstract = self._abstract.get(own)
            style = self._links.get(own)
            linked = None if style is None else self._styles.num_id(style)
            if linked is None or linked not in self._nums:
                break
            num = self._nums[linked]
        return abstract


def _levels(parent: _Element) -> dict[int, _Level]:
    found: dict[int, _Level] = {}
    for element in parent:
        at = number(attribute(element, "w:ilvl"))
        if name(element) != "w:lvl" or at is None or not 0 <= at < LEVELS:
            continue
        start = number(value(element, "w:start"))
        pattern = value(element, "w:lvlText")
        form = child(element, "w:numFmt")
        if form is None:
            # Word 2010 puts its newer forms where older versions do not look.
            form = child(element, "mc:AlternateContent", "mc:Fallback", "w:numFmt")
        found[at] = _Level(
            # The standard says 0 where nothing is said, but nobody means that.
            start=1 if start is None else start,
            form=attribute(form, "w:val") or "decimal",
            pattern=BULLET if pattern is None else pattern[:_LONGEST],
            restart=number(value(element, "w:lvlRestart")),
            legal=flag(element, "w:isLgl"),
            style=value(element, "w:pStyle"),
            left=indent(child(element, "w:pPr")),
        )
    return found


def _shown(levels: dict[int, _Level], at: int, counters: list[int | None]) -> str:
    level = levels.get(at, _Level())
    if level.form == "bullet":
        # A blank one belongs to text that goes on below the bullet above it.
        return BULLET if level.pattern.strip() else ""

    def written(place: re.Match[str]) -> str:
        other = int(place[1]) - 1
        asked = levels.get(other, _Level())
        count = counters[other]
        if asked.form in {"none", "bullet"}:
            return ""
        return numeral(
            asked.start if count is None else count,
            "decimal" if level.legal else asked.form,
        )

    return " ".join(_PLACE.sub(written, level.pattern).split())
