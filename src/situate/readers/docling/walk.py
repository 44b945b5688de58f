"""Walk a DoclingDocument in reading order and write its tree.

Every part is written once. Nothing recurses: what is open stands in a list, and
so does what is still to be done.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from situate.model import Block
from situate.readers import compose
from situate.readers.docling import graphs, tables
from situate.readers.docling.places import Places, distinct
from situate.readers.docling.speech import (
    LISTS,
    Speech,
    charts,
    descriptions,
    inline,
    is_formula,
    text_of,
)
from situate.readers.docling.values import (
    mapping,
    reference,
    references,
    string,
    whole,
    words,
)
from situate.readers.docling.writing import Pen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from situate.model import Box, JsonValue
    from situate.readers.docling.export import Export, Node
    from situate.readers.docling.speech import Said
    from situate.readers.tree import Outline

    _Step: TypeAlias = str | Callable[[], None]

_HEADINGS = frozenset({"title", "section_header"})
_OWN_BLOCKS = frozenset({"list_item", "code", "formula", "page_header", "page_footer"})
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_SLIDE = re.compile(r"slide-(\d{1,6})")
_MACHINE_NAME = re.compile(
    r"(?:_root_|group|chapter|slide)(?:[-_ ]\d+)?", re.IGNORECASE
)
_SHEET_NAME = "sheet: "

_LONGEST_LINE = 200
"""Longest text in a picture that is one of its lines rather than a paragraph."""


class Walk:
    """One pass over one document."""

    def __init__(self, export: Export, outline: Outline) -> None:
        self._export = export
        self._pen = Pen(outline)
        self._places = Places(export)
        self.speech = Speech(export, self._places)
        self.title: str | None = None
        self._steps: list[_Step] = []
        self._sweeping = False
        self._pairs: dict[str, list[str]] = {}
        shown = [node for node in export.nodes.values() if node.is_shown]
        # A title stands above the first level of section headers.
        self._titled = int(any(node.label == "title" for node in shown))
        self._shift = 0
        self._level = self._titled
        for node in shown:
            self._claim(node)

    def run(self) -> None:
        """Write the body, then what cannot be reached from it."""
        self._push(self._export.body)
        self._run()
        self._sweeping = True
        # Those that stand below nothing first, then what refers to itself, and
        # last what somebody should have spoken for who is not there.
        self._sweep(roots=True)
        self._sweep(roots=False)
        self.speech.owned.clear()
        self._sweep(roots=False)

    def _sweep(self, *, roots: bool) -> None:
        speech = self.speech
        left = [
            node
            for ref, node in self._export.nodes.items()
            if speech.is_open(ref)
            and ref not in speech.owned
            and not (roots and speech.is_open(node.parent))
        ]
        self._export.doubts["unreachable"] += sum(
            node.is_shown and node.array != "groups" for node in left
        )
        self._push([node.ref for node in left])
        self._run()

    def _claim(self, node: Node) -> None:
        """Note what a part speaks for, so that nobody else does."""
        for key in ("captions", "footnotes"):
            self.speech.owned.update(references(node.values.get(key)))
        if node.array == "tables":
            for cell, _, _ in tables.cells(mapping(node.values.get("data"))):
                self.speech.owned.add(reference(cell.get("ref")))
        for key_ref, value in graphs.pairs(node) if "graph" in node.values else ():
            self._pairs.setdefault(key_ref, []).append(value)

    def _run(self) -> None:
        while self._steps:
            step = self._steps.pop()
            if not isinstance(step, str):
                step()
            elif step not in self.speech.owned:
                self._visit(step)

    def _push(
        self,
        refs: Sequence[str],
        *,
        then: Callable[[], None] | None = None,
        in_list: bool = False,
    ) -> None:
        """Do `refs` next, in order; list items without a list get one."""
        steps: list[_Step] = []
        open_list = False
        for ref in refs:
            node = self._export.nodes.get(ref)
            is_item = node is not None and node.label == "list_item"
            if not in_list and is_item != open_list:
                steps.append(self._pen.begin_list if is_item else self._pen.end_list)
                open_list = is_item
            steps.append(ref)
        if open_list:
            steps.append(self._pen.end_list)
        if then is not None:
            steps.append(then)
        self._steps += reversed(steps)

    def _visit(self, ref: str) -> None:
        if self._sweeping and not self.speech.is_open(ref):
            return
        node = self.speech.take(ref)
        if node is None:
            return
        if not node.is_shown:
            self.speech.leave_out(node)
            self._push(node.children)
            return
        match node.array:
            case "groups":
                self._group(node)
            case "texts":
                self._text(node)
            case "tables":
                self._table(node)
            case "pictures":
                self._picture(node)
            case "field_items":
                self._line(node.children, self._places.boxes(node))
            case _:
                self._form(node)

    # Groups

    def _group(self, node: Node) -> None:
        if node.label in LISTS:
            self._pen.begin_list(ordered=node.label == "ordered_list")
            self._push(node.children, then=self._pen.end_list, in_list=True)
        elif node.label == "inline":
            self._line(node.children, ())
        elif node.label == "comment_section":
            self._comments(node)
        else:
            name = self._name(node)
            if not name or self._pen.in_list:
                self._push(node.children)
                return
            shift = self._shift
            if _SLIDE.fullmatch(node.name):
                self._pen.heading(1 + shift, name)
                self._shift += not self._titled
            else:
                self._shift += self._titled + 1
                self._pen.heading(self._shift, name)
            self._push(node.children, then=partial(self._leave, shift))

    def _leave(self, shift: int) -> None:
        self._shift = shift

    def _name(self, node: Node) -> str:
        """Give the heading that a group's name is, empty when it is none.

        A slide without a title would else stand below the title of another.
        """
        name = node.name
        if node.label == "sheet" or name.startswith(_SHEET_NAME):
            return name.removeprefix(_SHEET_NAME)
        if node.label not in {"chapter", "slide"}:
            return ""
        slide = _SLIDE.fullmatch(name)
        for ref in node.children:
            child = self._export.nodes.get(ref)
            if child is not None and child.is_shown:
                wanted = {"title"} if slide and self._titled else _HEADINGS
                if child.label in wanted:
                    return ""
                break
        if slide is not None:
            return f"Slide {int(slide[1]) + 1}"
        return "" if _MACHINE_NAME.fullmatch(name) else name

    def _comments(self, node: Node) -> None:
        """Leave out what reviewers wrote beside the text."""
        waiting = list(node.children)
        while waiting:
            comment = self.speech.take(waiting.pop())
            if comment is not None:
                self._export.doubts["comments"] += comment.array == "texts"
                waiting += comment.children

    # Text

    def _text(self, node: Node) -> None:
        boxes = self._places.boxes(node)
        rest = node.children
        text = text_of(node) if node.label == "list_item" else inline(node)
        first = self._export.nodes.get(rest[0]) if rest else None
        if not text and first is not None and first.label == "inline":
            # Text in more than one format stands in a group below.
            aside: list[str] = []
            said = self.speech.said(rest[:1], aside)
            text = said.text
            boxes = distinct((*boxes, *said.boxes))
            rest = (*aside, *rest[1:])
        self._captions(node)
        if node.label == "list_item":
            item = self._with_values(node, text)
            marker = words(node.values.get("marker"))
            enumerated = node.values.get("enumerated") is True
            if self._pen.begin_item(marker, item, boxes, enumerated=enumerated):
                self._push(rest, then=self._pen.end_item)
            else:
                self._export.doubts["deep"] += 1
                self._push(rest)
            return
        if node.label in _HEADINGS or node.label == "field_heading":
            self._header(node, text, boxes)
        elif node.label == "code":
            self._code(node, boxes)
        elif is_formula(node) and "$$" not in text:
            block_id = self._pen.block_id
            formula = f"$${text_of(node)}$$"
            self._pen.add(
                Block(block_id=block_id, kind="math", text=formula, boxes=boxes)
            )
        elif node.label == "footnote":
            self._pen.paragraph(text, boxes, kind="footnote")
        else:
            self._pen.paragraph(self._with_values(node, text), boxes)
        self._footnotes(node)
        self._push(rest)

    def _header(self, node: Node, text: str, boxes: tuple[Box, ...]) -> None:
        level = whole(node.values.get("level")) or 1
        if node.label == "title":
            level = 1 + self._shift
            self.title = self.title or text or None
        elif node.label == "section_header":
            level += self._titled + self._shift
        else:
            # Of a form: it stands below the headings of the text around.
            level += self._level
        if self._pen.in_list:
            self._pen.paragraph(text, boxes)
        elif text:
            self._pen.heading(level, text, boxes)
            if node.label != "field_heading":
                self._level = level

    def _code(self, node: Node, boxes: tuple[Box, ...]) -> None:
        text = string(node.values.get("text")) or string(node.values.get("orig"))
        language = words(node.values.get("code_language")).lower()
        if language == "unknown" or not _LANGUAGE.fullmatch(language):
            language = ""
        if text.strip():
            block_id = self._pen.block_id
            text = text.strip("\n")
            self._pen.add(compose.code(block_id, text, language=language, boxes=boxes))

    def _with_values(self, node: Node, text: str) -> str:
        """Say the values of a key of a form beside it."""
        values = []
        for ref in self._pairs.get(node.ref, ()):
            value = self._export.nodes.get(ref)
            if value is None or value.array != "texts" or value.label in _HEADINGS:
                continue
            if self.speech.is_open(ref) and not value.children:
                values.append(self.speech.said((ref,)).text)
                self.speech.owned.add(ref)
        said = ", ".join(filter(None, values))
        return f"{text.rstrip(' :')}: {said}" if text and said else text or said

    def _line(self, refs: Sequence[str], boxes: tuple[Box, ...]) -> None:
        """Write parts as one paragraph; what is no text follows."""
        aside: list[str] = []
        said = self.speech.said(refs, aside)
        self._pen.paragraph(said.text, distinct((*boxes, *said.boxes)))
        self._push(aside)

    # Tables, pictures, forms

    def _table(self, node: Node) -> None:
        boxes = self._places.boxes(node)
        caption = self._said(node, "captions").text
        data = mapping(node.values.get("data"))
        self._grid(data, self.speech.cell, caption, boxes)
        for text in descriptions(node):
            self._pen.paragraph(text, boxes)
        self._footnotes(node)
        self._push([ref for ref in node.children if self.speech.is_open(ref)])

    def _grid(
        self,
        data: Mapping[str, JsonValue],
        say: Callable[[Mapping[str, JsonValue]], str],
        caption: str,
        boxes: tuple[Box, ...],
    ) -> None:
        grid = tables.lay_out(data, say)
        self._export.doubts["overlapping"] += grid.overlapping
        self._export.doubts["sparse"] += grid.sparse
        if grid.is_blank:
            self._pen.paragraph(caption, boxes)
            return
        block = compose.table(
            self._pen.block_id,
            grid.rows,
            header_rows=grid.header_rows,
            caption=caption or None,
            boxes=boxes,
        )
        self._pen.add(block)

    def _picture(self, node: Node) -> None:
        boxes = self._places.boxes(node)
        self._captions(node)
        said = descriptions(node)
        for text in said:
            self._pen.paragraph(text, boxes)
        for chart in charts(node):
            title = words(chart.get("title"))
            data = mapping(chart.get("chart_data"))
            self._grid(data, self.speech.cell, title, boxes)
        self._footnotes(node)
        has_text = said or charts(node) or node.children or node.values.get("captions")
        self._export.doubts["pictures"] += not has_text
        self._inside(node.children)

    def _inside(self, refs: Sequence[str]) -> None:
        """Write what stands in a picture, its words line by line."""
        runs: list[tuple[bool, list[str]]] = []
        for ref in refs:
            node = self._export.nodes.get(ref)
            is_text = node is not None and (
                node.array == "texts" and node.label not in _OWN_BLOCKS
            )
            if not runs or runs[-1][0] != is_text:
                runs.append((is_text, []))
            runs[-1][1].append(ref)
        for is_text, run in reversed(runs):
            if is_text:
                self._steps.append(partial(self._lines, run))
            else:
                self._push(run)

    def _lines(self, refs: Sequence[str]) -> None:
        lines: list[str] = []
        boxes: list[Box] = []
        for ref in refs:
            if ref in self.speech.owned or not self.speech.is_open(ref):
                continue
            aside: list[str] = []
            said = self.speech.said((ref,), aside)
            if len(said.text) > _LONGEST_LINE:
                self._pen.paragraph("\n".join(lines), distinct(boxes))
                self._pen.paragraph(said.text, said.boxes)
                lines, boxes = [], []
            elif said.text:
                lines.append(said.text)
                boxes += said.boxes
            self._push(aside)
        self._pen.paragraph("\n".join(lines), distinct(boxes))

    def _form(self, node: Node) -> None:
        self._captions(node)
        boxes = self._places.boxes(node)
        for line in graphs.lines(node, self._export.nodes):
            self._pen.paragraph(line, boxes)
        self._footnotes(node)
        self._push(node.children)

    def _said(self, node: Node, key: str) -> Said:
        return self.speech.said(references(node.values.get(key)))

    def _captions(self, node: Node) -> None:
        said = self._said(node, "captions")
        self._pen.paragraph(said.text, said.boxes)

    def _footnotes(self, node: Node) -> None:
        for ref in references(node.values.get("footnotes")):
            said = self.speech.said((ref,))
            self._pen.paragraph(said.text, said.boxes, kind="footnote")
