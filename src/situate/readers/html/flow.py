"""Take in what a page says, and make paragraphs of it.

A sink is where text goes while a part of the page is read: a flow makes blocks,
a line is the text of a heading or a cell, a listing keeps every character.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from situate.model import Block, Item, Items, Quote
from situate.readers import compose
from situate.readers.decoding import clean
from situate.readers.html import inline
from situate.readers.html.inline import BREAK, Formula, Image

if TYPE_CHECKING:
    from situate.readers.html.inline import Part
    from situate.readers.tree import Outline


NAMED_DEPTH = 8
"""Lists and quotations inside each other whose parts are named, as in Markdown."""


class Flow:
    """Blocks one below the other, and the paragraph that is still open."""

    def __init__(self, outline: Outline, *, depth: int = 0) -> None:
        self.outline = outline
        self._depth = depth
        self.blocks: list[Block] = []
        self._parts: list[Part] = []
        self._stray: list[compose.Entry] = []

    def add(self, part: Part) -> None:
        """Add to the open paragraph."""
        self._parts.append(part)

    def line_break(self) -> None:
        """Begin another line."""
        self._parts.append(BREAK)

    def border(self) -> None:
        """End the open paragraph."""
        if not self._parts:
            return
        parts, self._parts = self._parts, []
        for said in inline.paragraphs(parts):
            self.end_list()
            block = self._block(said)
            if block is not None:
                self.put(block)

    def put(self, block: Block) -> None:
        """Add a block."""
        if self._depth >= NAMED_DEPTH:
            block = _without_names(block)
        self.blocks.append(block)

    def stray(self, entry: compose.Entry) -> None:
        """Add an item that stands in no list to those just before it."""
        self._stray.append(entry)

    def end_list(self) -> None:
        """Make a list of the items that stand in none."""
        if self._stray:
            entries, self._stray = self._stray, []
            self.put(compose.bullets(self.outline.block_id, entries))

    def finish(self) -> tuple[Block, ...]:
        """End what is open and give the blocks."""
        self.border()
        self.end_list()
        return tuple(self.blocks)

    def _block(self, said: Part) -> Block | None:
        kind: Literal["math", "paragraph"] = "paragraph"
        text = said if isinstance(said, str) else said.markdown
        if isinstance(said, Formula) and said.is_tex and said.displayed:
            kind, text = "math", f"$$\n{said.text}\n$$"
        if not text:
            return None
        return Block(block_id=self.outline.block_id, kind=kind, text=text)


class PageFlow(Flow):
    """The flow of a page itself, in which headings open sections."""

    def __init__(self, outline: Outline) -> None:
        super().__init__(outline)
        self.awaited: int | None = None
        """Level of a heading whose text is the next paragraph."""
        self.said = False
        """A heading or a block was added."""

    def heading(self, level: int, title: str) -> None:
        """Open a section, unless the heading says nothing."""
        self.border()
        self.end_list()
        self.awaited = None
        if title:
            self.said = True
            self.outline.heading(level=level, title=title)

    def put(self, block: Block) -> None:
        """Add a block to the document, or make it the heading that is awaited."""
        level, self.awaited = self.awaited, None
        if level is not None and block.kind == "paragraph":
            self.heading(level, " ".join(block.text.split()))
        else:
            self.said = True
            self.outline.add(block)


class Line:
    """The text of a heading, a caption or a cell of data, in one line."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.bold = 0
        """How many bold elements are open."""
        self._is_bold = True
        self._mark = ""

    def add(self, part: Part) -> None:
        """Add to the line."""
        if not isinstance(part, str) or not part.isspace():
            self.parts.append(self._mark)
            self._mark = ""
            self._is_bold = self._is_bold and self.bold > 0
        self.parts.append(part)

    def line_break(self) -> None:
        """Keep words apart."""
        self.border()

    def border(self) -> None:
        """Keep words apart, which a mark that waits does anyway."""
        if not self._mark:
            self.parts.append(BREAK)

    def mark(self, marker: str) -> None:
        """Set a marker before what comes next."""
        self._mark = marker

    def end_row(self) -> None:
        """Set off the row of a table inside from what comes after it."""
        while self.parts and isinstance(last := self.parts[-1], str):
            self.parts.pop()
            if last.rstrip():
                self.parts.append(last.rstrip())
                break
        if self.parts:
            self._mark = "; "

    @property
    def is_bold(self) -> bool:
        """Tell whether it says something, all of it in bold."""
        return self._is_bold and bool(self.text())

    def text(self) -> str:
        """Give the line."""
        return inline.line(self.parts)


class Listing:
    """Preformatted text."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def add(self, part: Part) -> None:
        """Add text as it stands, and the names of images."""
        if isinstance(part, Image):
            part = f" {part.name} "
        self._parts.append(part if isinstance(part, str) else part.markdown)

    def line_break(self) -> None:
        """Begin another line."""
        self._parts.append("\n")

    def border(self) -> None:
        """Begin another line, unless one has just begun."""
        if self._parts and not self._parts[-1].endswith("\n"):
            self._parts.append("\n")

    def text(self) -> str:
        """Give the lines without blank ones at the end and without soft hyphens."""
        return clean("".join(self._parts).replace("\xad", "")).rstrip()


def _without_names(block: Block) -> Block:
    """Give a block of which parts are told apart, but not what is inside them."""
    match block.content:
        case Items(items=items):
            plain = tuple(Item(text=item.text) for item in items)
            return replace(block, content=Items(items=plain))
        case Quote():
            return replace(block, content=None)
        case _:
            return block


Sink: TypeAlias = "Flow | Line | Listing"
