"""Walk the text of a Word file and give its paragraphs and tables in order.

Every run of text is met once: the chosen form of what is there twice, text boxes
behind the paragraph that holds them, deletions never. Nothing recurses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from situate.readers.docx.grid import Grid
from situate.readers.docx.inline import Runs
from situate.readers.docx.names import child, number, value, walk
from situate.readers.docx.numbering import BULLET, Mark
from situate.readers.docx.story import Inline, Paragraph
from situate.readers.docx.styles import indent, outline_level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.etree import _Element

    from situate.readers.docx.changes import Content
    from situate.readers.docx.notes import Notes
    from situate.readers.docx.notices import Notices
    from situate.readers.docx.numbering import Numbering
    from situate.readers.docx.package import Package, Relationship
    from situate.readers.docx.story import Story, Table
    from situate.readers.docx.styles import Look, Styles

_BOXES: Final = frozenset({"w:txbxContent", "a:txBody"})
_PARAGRAPHS: Final = frozenset({"w:p", "a:p"})

_NO_NUMBER: Final = "0"
"""The numbering that takes an inherited one off."""

_INDENT: Final = 720
"""Of one level of a list in twentieths of a point, where nothing says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a document's texts share: looks, counters, and what was noticed."""

    package: Package
    content: Content
    styles: Styles
    numbering: Numbering
    notes: Notes
    notices: Notices


@dataclass(slots=True)
class _Open:
    """A paragraph whose end has not been met yet."""

    inline: Inline
    look: Look
    level: int | None = None
    mark: Mark | None = None
    left: int = 0
    joins: bool = False
    """What follows goes on in it."""
    is_stray: bool = False
    """It holds text that stands in no paragraph."""
    boxes: list[Paragraph | Table] = field(default_factory=list)

    def goes_on_in(self, held: _Open) -> None:
        """Take over what a paragraph said that has no end."""
        # The other way round a chain of these would be copied again and again.
        held.inline.pieces += self.inline.pieces
        held.boxes += self.boxes
        self.inline.pieces, self.boxes = held.inline.pieces, held.boxes

    def close(self, *, boxed: bool) -> Paragraph:
        return Paragraph(
            text=self.inline.text(code=self.look.role == "code"),
            title=self.inline.title(),
            role=self.look.role,
            level=self.level,
            mark=self.mark,
            left=self.left,
            captions=self.inline.captions,
            is_formula=self.inline.is_formula,
            references=self.inline.references,
            boxed=boxed,
        )


@dataclass(slots=True)
class _Telling:
    """A run of paragraphs and tables: the body, a cell, a box, a note."""

    is_box: bool = False
    things: list[Paragraph | Table] = field(default_factory=list)
    paragraph: _Open | None = None
    held: _Open | None = None
    """A paragraph without an end: what follows goes on in it."""


class Body:
    """Reads one part: the main document, or its notes one by one."""

    def __init__(self, scene: Scene, relationships: Mapping[str, Relationship]) -> None:
        self._scene = scene
        self._tellings: list[_Telling] = []
        self._grids: list[Grid] = []
        self._frames: list[tuple[_Element, str]] = []
        self._boxes = 0
        self._runs = Runs(scene, relationships, self._inline)

    def read(self, root: _Element) -> Story:
        """Give what stands below an element."""
        self._tellings.append(_Telling())
        for begins, called, element in walk(root, self._scene.content.skips):
            if begins:
                self._begin(called, element)
            else:
                self._end(called, element)
        self._close_paragraph()
        self._flush()
        return tuple(self._tellings.pop().things)

    @property
    def languages(self) -> Mapping[str, int]:
        """Count the characters in each language that runs name; "" is unnamed."""
        return self._runs.languages

    def _begin(self, called: str, element: _Element) -> None:
        if called in _PARAGRAPHS:
            self._settle(element)
            self._open_paragraph(element)
        elif called in _BOXES:
            self._open_box(element)
        elif called == "w:tbl":
            self._settle(element)
            self._flush()
            self._grids.append(Grid(element, self._scene.styles))
            self._frames.append((element, "table"))
        elif called == "w:tr" and self._inside("table"):
            self._grids[-1].row(element)
            self._frames.append((element, "row"))
        elif called == "w:tc" and self._inside("row"):
            self._grids[-1].cell(element)
            self._tellings.append(_Telling())
            self._frames.append((element, "cell"))
        elif called == "w:altChunk":
            self._scene.notices.add("foreign")
        elif called == "w:subDoc":
            self._scene.notices.add("elsewhere")
        else:
            self._runs.begin(called, element)

    def _end(self, called: str, element: _Element) -> None:
        self._runs.end(called, element)
        stray = self._telling.paragraph
        if stray is not None and stray.is_stray:
            # Nothing else keeps what stands there apart.
            stray.inline.pieces.append(" ")
        while self._frames and self._frames[-1][0] is element:
            match self._frames.pop()[1]:
                case "paragraph":
                    self._close_paragraph()
                case "box":
                    self._close_box()
                case "cell":
                    self._close_paragraph()
                    self._flush()
                    self._grids[-1].fill(tuple(self._tellings.pop().things))
                case "table":
                    grid = self._grids.pop()
                    self._telling.things += grid.close(boxed=self._boxes > 0)

    def _inside(self, kind: str) -> bool:
        return bool(self._frames) and self._frames[-1][1] == kind

    @property
    def _telling(self) -> _Telling:
        return self._tellings[-1]

    def _inline(self) -> Inline:
        """Give the open paragraph's text; text outside of any gets one of its own."""
        telling = self._telling
        if telling.paragraph is None:
            look = self._scene.styles.look(None)
            telling.paragraph = _Open(Inline(), look, is_stray=True)
        return telling.paragraph.inline

    def _settle(self, element: _Element) -> None:
        """Make room for a paragraph or table where a paragraph is open."""
        opened = self._telling.paragraph
        if opened is not None and opened.is_stray:
            self._close_paragraph()
        elif opened is not None:
            self._open_box(element)

    def _open_box(self, element: _Element) -> None:
        self._tellings.append(_Telling(is_box=True))
        self._boxes += 1
        self._frames.append((element, "box"))

    def _close_box(self) -> None:
        self._close_paragraph()
        self._flush()
        things = self._tellings.pop().things
        self._boxes -= 1
        around = self._telling
        if around.paragraph is not None:
            around.paragraph.boxes += things
        else:
            around.things += things

    def _open_paragraph(self, element: _Element) -> None:
        self._frames.append((element, "paragraph"))
        properties = child(element, "w:pPr")
        style_id = value(properties, "w:pStyle")
        look = self._scene.styles.look(style_id)
        joins = self._scene.content.joins(element)
        opened = _Open(Inline(), look, joins=joins)
        self._telling.paragraph = opened
        direct = outline_level(properties)
        opened.level = look.level if direct is None else direct
        if opened.level is not None and opened.level > 9:
            opened.level = None
        left = indent(properties)
        opened.left = look.left or 0 if left is None else left
        if not joins:
            opened.mark = self._mark(properties, look, style_id)
        if opened.mark is not None and left is None:
            opened.left = opened.mark.left

    def _mark(
        self, properties: _Element | None, look: Look, style_id: str | None
    ) -> Mark | None:
        """Count the paragraph where it is numbered; the place in order matters."""
        numbering = self._scene.numbering
        own = value(properties, "w:numPr", "w:numId")
        num_id = look.num_id if own is None else own
        if num_id == _NO_NUMBER:
            return None
        if num_id is None:
            if look.list_depth is None:
                return None
            left = _INDENT * (look.list_depth + 1)
            return Mark(text=BULLET, family="", level=look.list_depth, left=left)
        level = number(value(properties, "w:numPr", "w:ilvl"))
        if level is None and own is None:
            level = numbering.level_of(num_id, style_id)
        if level is None:
            level = look.list_level
        return numbering.count(num_id, level or 0)

    def _close_paragraph(self) -> None:
        telling = self._telling
        opened, telling.paragraph = telling.paragraph, None
        if opened is None:
            return
        if telling.held is not None:
            opened.goes_on_in(telling.held)
            telling.held = None
        if opened.joins:
            telling.held = opened
        else:
            self._say(opened)

    def _flush(self) -> None:
        """Close what waits for a paragraph to go on in; none came."""
        telling = self._telling
        held, telling.held = telling.held, None
        if held is not None:
            self._say(held)

    def _say(self, opened: _Open) -> None:
        things = self._telling.things
        # An empty paragraph has a number where only the number is meant.
        if not opened.inline.empty or opened.mark is not None:
            things.append(opened.close(boxed=self._boxes > 0))
        things += opened.boxes
