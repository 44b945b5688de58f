"""Nest numbered and bulleted paragraphs as the lists they look like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from situate.model import Block
from situate.readers import compose
from situate.readers.docx.numbering import BULLET

if TYPE_CHECKING:
    from situate.readers.docx.numbering import Mark
    from situate.readers.docx.story import Paragraph

_DEEPEST: Final = 20
"""Lists deeper than this are flat: Word has nine levels of one numbering."""

_SAME_INDENT: Final = 100
"""Twentieths of a point by which neighbours of one level may differ."""


@dataclass(slots=True)
class _Item:
    """A point whose end has not been met yet."""

    mark: Mark
    left: int
    blocks: list[Block] = field(default_factory=list)

    def close(self) -> compose.Entry:
        return compose.Entry(marker=self.mark.text, blocks=tuple(self.blocks))


@dataclass(slots=True)
class _List:
    item: _Item
    entries: list[compose.Entry] = field(default_factory=list)

    def close(self, block_id: str) -> Block:
        return compose.bullets(block_id, [*self.entries, self.item.close()])


class Lists:
    """Collects one list with the lists inside it."""

    def __init__(self, block_id: str) -> None:
        self._block_id = block_id
        self._open: list[_List] = []
        """From the outermost list to the one whose item was last."""

    def takes(self, paragraph: Paragraph) -> bool:
        """Tell whether a paragraph belongs to this list: as item, or inside one."""
        mark = paragraph.mark
        if paragraph.boxed:
            return False
        if mark is None or not mark.text:
            continued = mark is not None or paragraph.role == "continued"
            return continued and self._goes_on(paragraph) > 0
        outermost = self._open[0].item
        if self._place(paragraph, mark) > 0:
            return True
        return _is_same_list(mark, outermost.mark)

    def add(self, paragraph: Paragraph) -> None:
        """Add a paragraph that belongs to this list."""
        block = Block(block_id=self._block_id, kind="paragraph", text=paragraph.text)
        mark = paragraph.mark
        if mark is None or not mark.text:
            self._close_to(self._goes_on(paragraph))
            self._open[-1].item.blocks.append(block)
            return
        item = _Item(mark, paragraph.left, [block])
        place = self._place(paragraph, mark)
        self._close_to(place + 1)
        if place == len(self._open):
            self._open.append(_List(item))
            return
        beside = self._open[-1]
        if place > 0 and not _is_same_list(mark, beside.item.mark):
            self._close_to(place)
            self._open.append(_List(item))
            return
        beside.entries.append(beside.item.close())
        beside.item = item

    def close(self) -> Block:
        """Give the list as a block."""
        self._close_to(1)
        return self._open[0].close(self._block_id)

    def _place(self, paragraph: Paragraph, mark: Mark) -> int:
        """Count the open items that a paragraph with a mark stands below."""
        place = min(len(self._open), _DEEPEST - 1)
        while place and not _is_below(paragraph, mark, self._open[place - 1].item):
            place -= 1
        return place

    def _goes_on(self, paragraph: Paragraph) -> int:
        """Count the open items down to the one a paragraph goes on in; 0 for none."""
        place = len(self._open)
        while place and paragraph.left + _SAME_INDENT < self._open[place - 1].item.left:
            place -= 1
        return place if paragraph.left > 0 else 0

    def _close_to(self, count: int) -> None:
        """Close inner lists until so many are open."""
        while len(self._open) > count:
            inner = self._open.pop()
            self._open[-1].item.blocks.append(inner.close(self._block_id))


def _is_below(paragraph: Paragraph, mark: Mark, item: _Item) -> bool:
    if mark.family == item.mark.family:
        return mark.level > item.mark.level
    return paragraph.left > item.left + _SAME_INDENT


def _is_same_list(mark: Mark, other: Mark) -> bool:
    """Tell neighbours of one list; bullets are, whichever numbering they come from."""
    if mark.text == BULLET == other.text:
        return True
    return mark.family == other.family and not mark.restarted
