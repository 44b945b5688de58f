"""Blocks that stay beside each other: lead-ins, captions, figures (C4, C5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from situate.chunking.introductions import (
    LEAD_IN_TOKENS,
    is_caption,
    is_figure,
    is_figure_caption,
    is_lead_in,
    may_be_introduced,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.chunking.measure import Measure
    from situate.chunking.units import Unit

_WITH_COMPANY = frozenset({"paragraph", "table"})


class Group(NamedTuple):
    """A block with what must stay beside it."""

    unit: Unit
    before: tuple[Unit, ...] = ()
    after: tuple[Unit, ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """All of it, in reading order."""
        return (*self.before, self.unit, *self.after)


@dataclass(frozen=True, slots=True)
class Company:
    """Finds the lead-in and captions that belong to a block."""

    units: Sequence[Unit]
    measure: Measure
    limit: int
    language: str | None

    def groups(self) -> Iterator[Group]:
        """Put every block together with what belongs to it."""
        at = 0
        while at < len(self.units):
            if self.units[at].block.kind not in _WITH_COMPANY:
                yield Group(self.units[at])
                at += 1
                continue
            start = at
            while self._introduces(at):
                at += 1
            # A lead-in before a lead-in, or one without room beside it, is alone.
            begin = max(start, at - 2)
            while begin < at and not self._fit(self.units[begin:at]):
                begin += 1
            for alone in self.units[start:begin]:
                yield Group(alone)
            before = tuple(
                [unit._replace(introduces=True) for unit in self.units[begin:at]]
            )
            after = self._caption_below(at, before)
            yield Group(self.units[at], before, after)
            at += 1 + len(after)

    def _introduces(self, at: int) -> bool:
        """Tell whether a unit belongs to what follows, directly or over a caption."""
        unit = self.units[at]
        if unit.block.kind != "paragraph" or at + 1 == len(self.units):
            return False
        following = self.units[at + 1].block
        if following.kind == "table" and is_caption(unit.block):
            return True
        if is_figure(unit.block):
            return is_figure_caption(following)
        if is_figure(following):
            above = at > 0 and is_figure(self.units[at - 1].block)
            return is_figure_caption(unit.block) and not above
        introduced = following
        if not may_be_introduced(following) and at + 2 < len(self.units):
            introduced = self.units[at + 2].block
        if (
            unit.joined > 2 * LEAD_IN_TOKENS
            or not may_be_introduced(introduced)
            or not (introduced is following or is_caption(following))
        ):
            return False
        tokens = self.measure.alone(unit.text, unit.joined)
        return is_lead_in(unit.block, introduced, tokens, self.language)

    def _caption_below(self, at: int, before: Sequence[Unit]) -> tuple[Unit, ...]:
        """Give the caption under a table that has none above."""
        if self.units[at].block.kind != "table":
            return ()
        below = tuple(self.units[at + 1 : at + 2])
        if not below or any(is_caption(unit.block) for unit in before):
            return ()
        if not is_caption(below[0].block) or self._introduces(at + 1):
            return ()
        return below if self._fit(below) else ()

    def _fit(self, units: Sequence[Unit]) -> bool:
        return sum(unit.joined for unit in units) <= self.limit // 2
