"""Blocks as they stand in chunks, measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from situate.chunking.measure import GAP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.chunking.measure import Measure
    from situate.model import Block, Span


_GROWING = frozenset({"table", "list", "quote"})
"""Kinds that may hold a table, which grows when it is read."""


class Unit(NamedTuple):
    """A block, or a piece of one, as it stands in a chunk.

    A tuple, since there is one for every block and nothing is made as fast.
    """

    block: Block
    text: str
    joined: int
    """Tokens of the text and the blank line after it."""
    parts: Span | None = None
    """Which parts of the block; None for all of it."""
    span: Span | None = None
    forced: bool = False
    introduces: bool = False
    """True when it must not be the last of a chunk."""
    before: tuple[str, ...] = ()
    """What the text repeats above the block's own: a lead-in, a caption."""
    after: tuple[str, ...] = ()
    excess: int = 0
    """Tokens that its reading has above those of its text, about."""

    @property
    def body(self) -> str:
        """The text without what it repeats."""
        start = sum(len(text) + len(GAP) for text in self.before)
        end = sum(len(text) + len(GAP) for text in self.after)
        return self.text[start : len(self.text) - end]


def unit_of(block: Block, measure: Measure) -> Unit:
    """Measure a whole block."""
    joined = measure.joined(block.text)
    return Unit(
        block=block,
        text=block.text,
        joined=joined,
        span=block.span,
        excess=measure.excess(block, joined) if block.kind in _GROWING else 0,
    )


def tokens_of(units: Sequence[Unit], measure: Measure) -> int:
    """Count the tokens of units joined by blank lines."""
    if not measure.exact_sums:
        return measure.word(GAP.join(unit.text for unit in units))
    last = units[-1]
    before = sum(unit.joined for unit in units[:-1])
    return before + measure.alone(last.text, last.joined)
