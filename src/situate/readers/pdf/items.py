"""Make lists of paragraphs that begin with a sign or count on."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from situate.model import Block
from situate.readers.compose import Entry, bullets
from situate.readers.pdf.paragraphs import is_bullet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.readers.pdf.paragraphs import Paragraph

# Items this much further in, as a share of their size, are items of the item above.
_DEEPER = 0.8

_MOST_DEPTH = 20
"""Depth to which lists nest; no page is wide enough for more."""


@dataclass(slots=True)
class _Level:
    """A list whose end has not been met yet."""

    left: float
    entries: list[Entry] = field(default_factory=list)


def begin(paragraphs: Sequence[Paragraph]) -> int:
    """Say from which of some paragraphs with markers on they are a list.

    A bullet begins one; dashes and numbers do where another counts on from them.
    """
    own = [paragraph.marker for paragraph in paragraphs]
    if any(counts_on(one, other) for one, other in pairwise(own)):
        return 0
    return next(
        (at for at, sign in enumerate(own) if sign and is_bullet(sign)), len(own)
    )


def write(block_id: str, paragraphs: Sequence[Paragraph]) -> Block:
    """Write a list; items further in stand below the item above them."""
    stack = [_Level(left(paragraphs[0]))]
    for paragraph in paragraphs:
        own = left(paragraph)
        slack = _DEEPER * paragraph.size
        while len(stack) > 1 and own < stack[-1].left - slack:
            _close(block_id, stack)
        if own > stack[-1].left + slack and len(stack) < _MOST_DEPTH:
            stack.append(_Level(own))
        marker = paragraph.marker or ""
        block = Block(
            block_id=block_id,
            kind="paragraph",
            text=paragraph.text[len(marker) :].strip(),
            boxes=paragraph.boxes,
        )
        shown = marker if any(map(str.isalnum, marker)) else "-"
        stack[-1].entries.append(Entry(marker=shown, blocks=(block,)))
    while len(stack) > 1:
        _close(block_id, stack)
    boxes = tuple(box for paragraph in paragraphs for box in paragraph.boxes)
    return bullets(block_id, stack[0].entries, boxes=boxes)


def _close(block_id: str, stack: list[_Level]) -> None:
    """Put the innermost list below the last item of the one around it."""
    inner = bullets(block_id, stack.pop().entries)
    entries = stack[-1].entries
    entries[-1] = Entry(marker=entries[-1].marker, blocks=(*entries[-1].blocks, inner))


def left(paragraph: Paragraph) -> float:
    """Give where an item begins, in the direction of reading."""
    line = paragraph.lines[0]
    return -line.right if line.is_rtl else line.left


def counts_on(one: str | None, other: str | None) -> bool:
    """Tell whether a marker counts on from another, or is the same sign."""
    if one is None or other is None:
        return False
    first, second = one.strip("(.)"), other.strip("(.)")
    if not first.isalnum() or not second.isalnum():
        return one == other
    if first.isdigit() and second.isdigit():
        return int(second) - int(first) == 1
    letters = len(first) == len(second) == 1 and ord(second) - ord(first) == 1
    return letters or (_is_roman(first) and _is_roman(second))


def _is_roman(text: str) -> bool:
    return not text.lower().strip("ivx")
