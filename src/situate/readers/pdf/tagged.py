"""Make blocks of what the structure tree says.

Elements are taken for what their author made them; their text is that of the marked
content they hold. Only headings outside of lists, tables and quotations open
sections.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from situate.model import Block, Cell
from situate.readers.compose import Entry, bullets, code, quote, table
from situate.readers.pdf.content import below
from situate.readers.pdf.paragraphs import boxes, sign
from situate.readers.pdf.tags import Element

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.model import Box
    from situate.readers.pdf.content import Content
    from situate.readers.pdf.paragraphs import Paragraph
    from situate.readers.pdf.tags import Mark

_HEADING = re.compile(r"H(?:eading[ _]?)?([1-9])", re.IGNORECASE)

_SECTIONS = {"Sect", "Part", "Art"}

# What holds lines of text; figures and notes inside wait until it ends.
_TEXTS = {"P", "Caption", "TOCI", "H", "Title"}

# What stands inside a line of text.
_INLINE = {
    "Span",
    "Quote",
    "Reference",
    "BibEntry",
    "Link",
    "Annot",
    "Em",
    "Strong",
    "Sub",
    "Formula",
    "Lbl",
    "Ruby",
    "RB",
    "RT",
    "RP",
    "Warichu",
    "WT",
    "WP",
}

# What is built as a whole.
_COMPOUND = {"L", "Table", "Figure", "Code", "BlockQuote", "Note", "FENote", "TOC"}

# The longest label of an item that is no text of its own: "Article 12(3)".
_LONGEST_LABEL = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A paragraph or heading, an element to be built as a whole, or a block."""

    paragraph: Paragraph | None = None
    level: int | None = None
    """A heading's level."""
    element: Element | None = None
    block: Block | None = None
    page: int = 0
    """The page it begins on; 0 when it shows no text."""


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """Where an element on the stack ends."""

    element: Element


class Tagged:
    """Reads the elements of a tree, whose text `content` gives."""

    def __init__(self, content: Content, root: Element) -> None:
        self._content = content
        # A title stands above headings of the first level.
        self._shift = int(_has_title(root))

    def parts(
        self, top: Sequence[Element | Mark], *, is_flat: bool = False
    ) -> Iterator[Part]:
        """Yield what elements hold in reading order.

        A flat reading has no headings and nothing built as a whole.
        """
        stack: list[Element | Mark | _End] = [*reversed(top)]
        marks: list[Mark] = []
        held: list[Part] = []
        texts = depth = 0
        while stack:
            each = stack.pop()
            if isinstance(each, _End):
                kind = each.element.kind
                level = None if is_flat else self._level(each.element, depth)
                yield from self._paragraph(marks, level)
                texts -= _holds_text(each.element)
                depth -= kind in _SECTIONS
                if not texts:
                    yield from held
                    held = []
            elif not isinstance(each, Element):
                marks.append(each)
            elif each.kind == "Artifact":
                continue
            elif not is_flat and _is_compound(each):
                part = Part(element=each, page=self._content.page(each))
                if texts:
                    held.append(part)
                else:
                    yield from self._paragraph(marks, None)
                    yield part
            elif each.kind in _INLINE:
                stack += reversed(each.children)
            else:
                yield from self._paragraph(marks, None)
                texts += _holds_text(each)
                depth += each.kind in _SECTIONS
                stack += (_End(each), *reversed(each.children))
        yield from self._paragraph(marks, None)
        yield from held

    def build(self, block_id: str, element: Element) -> list[Block]:
        """Build an element as a whole: a block, and what has no place inside it."""
        order = [element]
        for each in order:
            order += _compounds(each)
        built: dict[Element, list[Block]] = {}
        for each in reversed(order):
            built[each] = list(self._made(block_id, each, built))
        return built[element]

    def _paragraph(self, marks: list[Mark], level: int | None) -> Iterator[Part]:
        if marks:
            found = self._content.paragraph(marks)
            marks.clear()
            if found is not None:
                yield Part(paragraph=found, level=level, page=found.lines[0].page)

    def _level(self, element: Element, depth: int) -> int | None:
        if element.kind == "Title":
            return 1
        found = _HEADING.fullmatch(element.kind)
        if found is not None:
            return int(found[1]) + self._shift
        return max(1, depth) + self._shift if element.kind == "H" else None

    def _made(
        self, block_id: str, element: Element, built: Mapping[Element, list[Block]]
    ) -> Iterator[Block]:
        match element.kind:
            case "L":
                yield from self._list(block_id, element, built)
            case "Table":
                yield from self._table(block_id, element)
            case "Code":
                lines = self._content.lines(below(element))
                if lines:
                    text = "\n".join(line.text for line in lines)
                    yield code(block_id, text, boxes=boxes(lines))
            case "BlockQuote":
                inside = self._blocks(block_id, element.children, built)
                if inside:
                    yield quote(block_id, inside)
            case "Note" | "FENote":
                yield from self._lines(block_id, element, "footnote", " ")
            case "TOC":
                yield from self._lines(block_id, element, "paragraph", "\n")
            case _:
                if element.alt:
                    text = f"![{element.alt}]()" if element.kind == "Figure" else ""
                    yield Block(
                        block_id=block_id, kind="paragraph", text=text or element.alt
                    )
                yield from self._lines(block_id, element, "paragraph", "\n")

    def _blocks(
        self,
        block_id: str,
        elements: Sequence[Element | Mark],
        built: Mapping[Element, list[Block]],
    ) -> list[Block]:
        """Give the blocks inside a list's item or a quotation."""
        found: list[Block] = []
        for part in self.parts(elements):
            if part.element is not None:
                found += built[part.element]
            elif part.paragraph is not None:
                found.append(_block(block_id, part.paragraph))
        return found

    def _lines(
        self,
        block_id: str,
        element: Element,
        kind: Literal["paragraph", "footnote"],
        border: str,
    ) -> Iterator[Block]:
        """Give all that an element says as one block."""
        found = self._flat([element])
        if found:
            yield Block(
                block_id=block_id,
                kind=kind,
                text=border.join(paragraph.text for paragraph in found),
                boxes=_boxes(found),
            )

    def _flat(self, elements: Sequence[Element | Mark]) -> list[Paragraph]:
        """Give all paragraphs of elements, whatever they are in."""
        parts = self.parts(elements, is_flat=True)
        return [part.paragraph for part in parts if part.paragraph is not None]

    def _list(
        self, block_id: str, element: Element, built: Mapping[Element, list[Block]]
    ) -> Iterator[Block]:
        """Write a list, and after it what stands in no item."""
        entries: list[Entry] = []
        around: list[Block] = []
        for each in _inner(element, {"LI", "L", "Caption"}):
            if not isinstance(each, Element):
                found = self._content.paragraph([each])
                around += [] if found is None else [_block(block_id, found)]
            elif each.kind == "Caption":
                around += self._lines(block_id, each, "paragraph", " ")
            elif each.kind == "L":
                # Some programs put the lists of an item beside it.
                marker_above = "-"
                above: tuple[Block, ...] = ()
                if entries:
                    last = entries.pop()
                    marker_above, above = last.marker, last.blocks
                entries.append(
                    Entry(marker=marker_above, blocks=(*above, *built[each]))
                )
            else:
                entries += self._entry(block_id, each, built)
        if entries:
            places = [block.boxes for entry in entries for block in entry.blocks]
            yield bullets(block_id, entries, boxes=tuple(chain.from_iterable(places)))
        yield from around

    def _entry(
        self, block_id: str, item: Element, built: Mapping[Element, list[Block]]
    ) -> Iterator[Entry]:
        labels = [
            each
            for each in item.children
            if isinstance(each, Element) and each.kind == "Lbl"
        ]
        label = self._content.paragraph(m for each in labels for m in below(each))
        others = [each for each in item.children if each not in labels]
        blocks = self._blocks(block_id, others, built)
        said = label.text if label is not None else ""
        if len(said) > _LONGEST_LABEL and label is not None:
            blocks.insert(0, _block(block_id, label))
            said = ""
        if not said and blocks and blocks[0].kind == "paragraph":
            said = sign(blocks[0].text) or ""
            text = blocks[0].text[len(said) :].strip()
            blocks[0] = replace(blocks[0], text=text)
        if not blocks and label is not None:
            blocks, said = [_block(block_id, label)], ""
        if blocks:
            shown = said if any(map(str.isalnum, said)) else "-"
            yield Entry(marker=shown, blocks=tuple(blocks))

    def _table(self, block_id: str, element: Element) -> Iterator[Block]:
        """Write a table, and after it what of it stands in no cell."""
        heads = {id(row) for head in _inner(element, {"THead"}) for row in _rows(head)}
        grid: list[list[Cell]] = []
        said: list[Paragraph] = []
        captions: list[Paragraph] = []
        header = 0
        for row in _inner(element, {"TR", "Caption"}):
            if isinstance(row, Element) and row.kind == "Caption":
                captions += self._flat([row])
                continue
            inside = _inner(row, {"TH", "TD"}) if isinstance(row, Element) else [row]
            cells: list[Cell] = []
            for each in inside:
                found = self._flat([each])
                said += found
                cells.append(_cell(each, found))
            names = all(
                isinstance(each, Element) and each.kind == "TH" for each in inside
            )
            if header == len(grid) and (id(row) in heads or (cells and names)):
                header += 1
            grid.append(cells)
        caption = " ".join(paragraph.text for paragraph in captions)
        if said:
            yield table(
                block_id,
                grid,
                header_rows=header,
                caption=caption,
                boxes=_boxes(captions + said),
            )
        elif captions:
            yield Block(
                block_id=block_id,
                kind="paragraph",
                text=caption,
                boxes=_boxes(captions),
            )


def _cell(each: Element | Mark, found: Sequence[Paragraph]) -> Cell:
    text = " ".join(paragraph.text for paragraph in found)
    if not isinstance(each, Element):
        return Cell(text=text)
    return Cell(text=text or each.alt, colspan=each.colspan, rowspan=each.rowspan)


def _inner(top: Element, kinds: set[str]) -> list[Element | Mark]:
    """Give the nearest elements of some kinds below one, and marks beside them."""
    found: list[Element | Mark] = []
    stack = [*reversed(top.children)]
    while stack:
        each = stack.pop()
        if not isinstance(each, Element) or each.kind in kinds:
            found.append(each)
        elif each.kind != "Artifact":
            stack += reversed(each.children)
    return found


def _rows(head: Element | Mark) -> list[Element | Mark]:
    return _inner(head, {"TR"}) if isinstance(head, Element) else []


def _compounds(element: Element) -> list[Element]:
    """Give the nearest elements below one that are built as a whole."""
    return [each for each in _inner(element, _COMPOUND) if isinstance(each, Element)]


def _is_compound(element: Element) -> bool:
    # A formula without letters is a picture of one.
    return element.kind in _COMPOUND or (
        element.kind == "Formula" and bool(element.alt) and not below(element)
    )


def _holds_text(element: Element) -> bool:
    return element.kind in _TEXTS or _HEADING.fullmatch(element.kind) is not None


def _has_title(root: Element) -> bool:
    stack = [root]
    while stack:
        each = stack.pop()
        if each.kind == "Title":
            return True
        stack += [inner for inner in each.children if isinstance(inner, Element)]
    return False


def _block(block_id: str, paragraph: Paragraph) -> Block:
    return Block(
        block_id=block_id,
        kind="paragraph",
        text=paragraph.text,
        boxes=paragraph.boxes,
    )


def _boxes(paragraphs: Sequence[Paragraph]) -> tuple[Box, ...]:
    return boxes(line for paragraph in paragraphs for line in paragraph.lines)
