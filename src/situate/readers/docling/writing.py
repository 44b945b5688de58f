"""Write blocks into what is open: the section, or a list and its items.

Lists hold items and items hold lists; what is open stands in a stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.model import Block
from situate.readers import compose
from situate.readers.docling.places import distinct

if TYPE_CHECKING:
    from situate.model import BlockKind, Box
    from situate.readers.tree import Outline

_DEEPEST_LIST = 9
"""Lists inside each other; Word has no more either."""

_LONGEST_MARKER = 12

_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(slots=True)
class _List:
    """A list whose end has not been met yet."""

    ordered: bool
    entries: list[compose.Entry] = field(default_factory=list)
    number: int = 0


@dataclass(slots=True)
class _Item:
    """An item whose end has not been met yet."""

    marker: str
    blocks: list[Block] = field(default_factory=list)


class Pen:
    """Writes one document, block by block."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._open: list[_List | _Item] = []
        self._too_deep = 0

    @property
    def block_id(self) -> str:
        """The id of the block that is written next."""
        return self._outline.block_id

    @property
    def in_list(self) -> bool:
        """Whether a list is open."""
        return bool(self._open)

    def heading(self, level: int, text: str, boxes: tuple[Box, ...] = ()) -> None:
        """Open a section."""
        self._outline.heading(level=level, title=text, boxes=boxes)

    def paragraph(
        self, text: str, boxes: tuple[Box, ...], *, kind: BlockKind = "paragraph"
    ) -> None:
        """Write a block without parts, if it says anything."""
        if text:
            self.add(Block(block_id=self.block_id, kind=kind, text=text, boxes=boxes))

    def add(self, block: Block) -> None:
        """Put a block into what is open."""
        if not self._open:
            self._outline.add(block)
            return
        around = self._open[-1]
        if isinstance(around, _Item):
            around.blocks.append(block)
        elif block.kind == "list" and around.entries:
            # A list directly in a list belongs to the item before it.
            last = around.entries.pop()
            blocks = (*last.blocks, block)
            around.entries.append(compose.Entry(marker=last.marker, blocks=blocks))
        else:
            around.entries.append(compose.Entry(marker="-", blocks=(block,)))

    def begin_list(self, *, ordered: bool = False) -> None:
        """Open a list; too deep inside others it stays part of the item around."""
        depth = sum(isinstance(each, _List) for each in self._open)
        if depth < _DEEPEST_LIST:
            self._open.append(_List(ordered))
        else:
            self._too_deep += 1

    def end_list(self) -> None:
        """Close and write the list that was opened last."""
        if self._too_deep:
            self._too_deep -= 1
            return
        last = self._open.pop()
        if isinstance(last, _List) and last.entries:
            boxes = distinct(
                box
                for entry in last.entries
                for block in entry.blocks
                for box in block.boxes
            )
            self.add(compose.bullets(self.block_id, last.entries, boxes=boxes))

    def begin_item(
        self, marker: str, text: str, boxes: tuple[Box, ...], *, enumerated: bool
    ) -> bool:
        """Open an item; False where its list was not opened: it is a paragraph."""
        around = self._open[-1] if self._open else None
        if not isinstance(around, _List):
            around = None
        marker, text = _marked(around, marker, text, enumerated=enumerated)
        if around is None or self._too_deep:
            self.paragraph(f"{marker} {text}" if text else "", boxes)
            return False
        self._open.append(_Item(marker))
        self.paragraph(text, boxes)
        return True

    def end_item(self) -> None:
        """Close the item that was opened last."""
        item, around = self._open.pop(), self._open[-1]
        if isinstance(item, _Item) and isinstance(around, _List) and item.blocks:
            entry = compose.Entry(marker=item.marker, blocks=tuple(item.blocks))
            around.entries.append(entry)


def _marked(
    around: _List | None, marker: str, text: str, *, enumerated: bool
) -> tuple[str, str]:
    """Give an item's marker and its text, which may begin with the same."""
    ordered = enumerated or (around is not None and around.ordered)
    if not any(character.isalnum() for character in marker):
        if around is None or not ordered:
            return "-", text
        around.number += 1
        return f"{around.number}.", text
    if text.startswith(marker + " "):
        text = text[len(marker) :].lstrip()
    if len(marker) > _LONGEST_MARKER or " " in marker:
        return "-", f"{marker} {text}".rstrip()
    if around is not None:
        number = _NUMBER.fullmatch(marker.strip(".()[]"))
        around.number = int(number[0]) if number else around.number + 1
    return marker, text
