"""Turn a page into headings and blocks, in reading order.

One walk over the elements, which opens a sink for every part that is written as
a whole (an item, a quotation, a cell, code) and closes it behind its last child.
Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from situate.readers import compose
from situate.readers.html.elements import (
    BLOCKS,
    BOLD,
    BOXES,
    LISTS,
    VERBATIM,
    formula,
    heading_level,
    names,
    note_reference,
    value,
)
from situate.readers.html.entries import Entries
from situate.readers.html.flow import NAMED_DEPTH, Flow, Line, Listing, PageFlow
from situate.readers.html.inline import Formula, Image, flat, line, target
from situate.readers.html.listings import language
from situate.readers.html.lists import BULLET, Numbering
from situate.readers.html.survey import survey
from situate.readers.html.tables import TableRows

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from situate.model import Block
    from situate.readers.html.content import Content
    from situate.readers.html.elements import Attributes
    from situate.readers.html.flow import Sink
    from situate.readers.html.notes import Notes
    from situate.readers.tree import Outline

Close: TypeAlias = Callable[[], None]
"""What there is to do behind an element's last child."""

_Opener: TypeAlias = Callable[["LexborNode", str, "Attributes"], Close | None]

# Every level writes what is below it once more, and further indented.
_DEEPEST = 2 * NAMED_DEPTH

_HEADING_NODES = 400
_HEADING_BLOCKS = 4
"""A heading with more inside than this was never closed."""

_NO_PART_OF_HEADINGS = names(
    """
    article blockquote dl form h1 h2 h3 h4 h5 h6 hr main ol pre section table ul
    """
)


class Page:
    """Reads the elements of one page into an outline."""

    def __init__(self, outline: Outline, content: Content, notes: Notes) -> None:
        self._outline = outline
        self._content = content
        self._notes = notes
        self._flow = PageFlow(outline)
        self._sinks: list[Sink] = [self._flow]
        self._lists: list[Entries] = []
        self._numberings: list[Numbering] = []
        self._tables: list[TableRows | None] = []
        self._hgroups: list[int] = []
        self._depth = 0
        self._openers: dict[str, _Opener] = {
            **dict.fromkeys((*LISTS, "dl"), self._list),
            **dict.fromkeys(VERBATIM, self._verbatim),
            **dict.fromkeys(("thead", "tbody", "tfoot"), self._row_group),
            **dict.fromkeys(("td", "th"), self._cell),
            "blockquote": self._quote,
            "caption": self._caption,
            "dd": self._definition,
            "dt": self._term,
            "hgroup": self._hgroup,
            "li": self._item,
            "table": self._table,
            "tr": self._row,
        }

    def read(self, root: LexborNode) -> bool:
        """Read all below a node; tells whether that said anything."""
        self._survey = survey(root)
        stack: list[tuple[LexborNode | None, Close | None]] = []
        stack.append((root.first_child, None))
        while stack:
            node, close = stack.pop()
            if node is None:
                if close is not None:
                    close()
                continue
            stack.append((node.next, close))
            if node.is_text_node:
                self._text(node.text_content or "")
                continue
            tag = node.tag
            if tag is None or not node.is_element_node:
                continue
            attributes = node.attributes
            if self._content.omits(node, tag, attributes, self._survey):
                if tag in BLOCKS:
                    self._border()
                elif tag in BOXES:
                    self._pad()
            elif not self._is_leaf(node, tag, attributes):
                stack.append((node.first_child, self._open(node, tag, attributes)))
        self._flow.finish()
        return self._flow.said

    @property
    def _sink(self) -> Sink:
        return self._sinks[-1]

    def _text(self, text: str) -> None:
        sink = self._sink
        sink.add(text if isinstance(sink, Listing) else flat(text))

    def _is_leaf(self, node: LexborNode, tag: str, attributes: Attributes) -> bool:
        """Take in what has no text below it, or text of its own kind."""
        if tag == "br":
            self._sink.line_break()
        elif tag == "img":
            self._image(attributes)
        elif tag == "math":
            text, is_tex = formula(node, attributes)
            displayed = value(attributes, "display") == "block"
            self._sink.add(Formula(text=text, is_tex=is_tex, displayed=displayed))
        elif tag == "input" and value(attributes, "type") == "checkbox":
            self._sink.add("[x] " if "checked" in attributes else "[ ] ")
        elif tag == "sup" and (mark := note_reference(node)) is not None:
            self._sink.add(mark)
        else:
            return False
        return True

    def _image(self, attributes: Attributes) -> None:
        for key in ("alt", "aria-label", "title"):
            name = line([flat(attributes.get(key) or "")])
            if name:
                self._sink.add(Image(name=name, target=target(attributes.get("src"))))
                return

    def _open(self, node: LexborNode, tag: str, attributes: Attributes) -> Close | None:
        """Begin an element; gives what ends it."""
        sink = self._sink
        if tag in {"del", "s", "strike"}:
            self._notes.deleted += 1
        if isinstance(sink, Line):
            return self._open_in_line(sink, node, tag, attributes)
        if isinstance(sink, Listing):
            return self._open_in_code(sink, tag)
        level = heading_level(tag, attributes)
        if level is not None:
            return self._heading(node, level)
        if tag in BOXES:
            sink.add(" ")
            return lambda: self._sink.add(" ")
        if tag not in BLOCKS:
            return None
        sink.border()
        if tag != "li":
            sink.end_list()
        opener = self._openers.get(tag)
        close = opener(node, tag, attributes) if opener else None
        return close or self._border

    def _border(self) -> None:
        self._sink.border()

    def _pad(self) -> None:
        self._sink.add(" ")

    def _put(self, block: Block | None) -> None:
        sink = self._sink
        if block is not None and isinstance(sink, Flow):
            sink.put(block)

    def _begin(self) -> Flow:
        """Begin a flow inside the one that is open."""
        self._depth += 1
        flow = Flow(self._outline, depth=self._depth)
        self._sinks.append(flow)
        return flow

    def _end(self) -> tuple[Block, ...]:
        """End the flow that was begun last and give its blocks."""
        self._depth -= 1
        flow = self._sinks.pop()
        return flow.finish() if isinstance(flow, Flow) else ()

    def _open_in_code(self, sink: Listing, tag: str) -> Close | None:
        if tag in BLOCKS:
            sink.border()
            return sink.border
        if tag in BOXES:
            sink.add(" ")
            return self._pad
        return None

    def _open_in_line(
        self, sink: Line, node: LexborNode, tag: str, attributes: Attributes
    ) -> Close | None:
        """Begin an element inside a line, where lists and tables are running text."""
        if tag in BOLD:
            sink.bold += 1

            def unbold() -> None:
                sink.bold -= 1

            return unbold
        if tag in BOXES:
            sink.add(" ")
            return self._pad
        if tag not in BLOCKS:
            return None
        sink.border()
        if tag in LISTS:
            return self._number(node, tag, attributes)
        if tag == "li" and self._numberings:
            sink.mark(self._numberings[-1].marker(attributes) + " ")
        return sink.end_row if tag == "tr" else sink.border

    def _number(self, node: LexborNode, tag: str, attributes: Attributes) -> Close:
        """Begin a list whose items are running text."""
        self._numberings.append(Numbering(node, tag, attributes))

        def close() -> None:
            self._numberings.pop()
            sink = self._sink
            if isinstance(sink, Line):
                sink.mark("")  # of an item without text
            sink.border()

        return close

    def _heading(self, node: LexborNode, level: int) -> Close:
        sink = self._sink
        sink.border()
        if not isinstance(sink, PageFlow):
            return self._border
        if self._hgroups:
            if level != self._hgroups[-1]:
                return self._border
            self._hgroups[-1] = 0
        if not _is_closed(node):
            sink.awaited = level
            return self._border
        title = Line()
        self._sinks.append(title)

        def close() -> None:
            self._sinks.pop()
            self._flow.heading(level, title.text())

        return close

    def _hgroup(self, node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        """Begin a group of headings: the highest opens a section, others are text."""
        levels = (heading_level(below.tag or "", {}) for below in node.iter())
        self._hgroups.append(min((level for level in levels if level), default=0))

        def close() -> None:
            self._hgroups.pop()
            self._border()

        return close

    def _verbatim(self, node: LexborNode, _tag: str, attributes: Attributes) -> Close:
        listing = Listing()
        self._sinks.append(listing)
        named = language(node, attributes)

        def close() -> None:
            self._sinks.pop()
            text = listing.text()
            if text.strip():
                block_id = self._outline.block_id
                self._put(compose.code(block_id, text, language=named))

        return close

    def _quote(
        self, _node: LexborNode, _tag: str, _attributes: Attributes
    ) -> Close | None:
        if self._is_too_deep():
            return None
        self._begin()

        def close() -> None:
            blocks = self._end()
            if blocks:
                self._put(compose.quote(self._outline.block_id, blocks))

        return close

    def _is_too_deep(self) -> bool:
        too_deep = self._depth >= _DEEPEST
        self._notes.flattened += too_deep
        return too_deep

    def _list(self, node: LexborNode, tag: str, attributes: Attributes) -> Close:
        if self._is_too_deep():
            return self._number(node, tag, attributes)
        numbering = Numbering(node, tag, attributes)
        opened = Entries(numbering, self._begin(), of_terms=tag == "dl")
        self._lists.append(opened)

        def close() -> None:
            opened.end_between()
            self._end()
            self._lists.pop()
            self._put(opened.block(self._outline.block_id))

        return close

    def _item(
        self, _node: LexborNode, _tag: str, attributes: Attributes
    ) -> Close | None:
        opened = self._open_list()
        if opened is None:
            return self._stray_item(attributes)
        marker = opened.begin_item(attributes)
        # The list has counted as a level already.
        flow = Flow(self._outline, depth=self._depth)
        self._sinks.append(flow)

        def close() -> None:
            self._sinks.pop()
            opened.add(marker, flow.finish())

        return close

    def _open_list(self) -> Entries | None:
        """Give the list that is open, unless an item of it is."""
        opened = self._lists[-1] if self._lists else None
        return opened if opened and opened.between is self._sink else None

    def _stray_item(self, attributes: Attributes) -> Close | None:
        """Begin an item in no list, or in one that nests too deep."""
        if self._depth >= _DEEPEST:
            if self._numberings:
                self._sink.add(self._numberings[-1].marker(attributes) + " ")
            return None
        self._begin()

        def close() -> None:
            blocks = self._end()
            sink = self._sink
            if blocks and isinstance(sink, Flow):
                sink.stray(compose.Entry(marker=BULLET, blocks=blocks))

        return close

    def _term(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> None:
        opened = self._open_list()
        if opened is not None:
            opened.begin_term()

    def _definition(
        self, _node: LexborNode, _tag: str, _attributes: Attributes
    ) -> None:
        opened = self._open_list()
        if opened is not None:
            opened.begin_definition()

    def _table(self, node: LexborNode, _tag: str, _attributes: Attributes) -> Close:
        """Begin a table; one of layout is read as what its cells hold."""
        rows = TableRows() if self._survey.tables[node.mem_id].is_data else None
        self._tables.append(rows)

        def close() -> None:
            self._tables.pop()
            self._border()
            if rows is not None:
                self._end_table(rows)

        return close

    def _end_table(self, rows: TableRows) -> None:
        block = rows.block(self._outline.block_id)
        self._notes.spans_ignored += rows.spans_ignored
        if block is None:
            self._sink.add(rows.caption)
            self._border()
        else:
            self._put(block)

    def _rows(self) -> TableRows | None:
        return self._tables[-1] if self._tables else None

    def _row_group(self, _node: LexborNode, tag: str, _attributes: Attributes) -> None:
        rows = self._rows()
        if rows is not None:
            rows.open_group(tag)

    def _row(self, _node: LexborNode, _tag: str, _attributes: Attributes) -> None:
        rows = self._rows()
        if rows is not None:
            rows.open_row()

    def _cell(
        self, _node: LexborNode, tag: str, attributes: Attributes
    ) -> Close | None:
        rows = self._rows()
        if rows is None:
            return None
        said = Line()
        self._sinks.append(said)

        def close() -> None:
            self._sinks.pop()
            rows.add(
                said.text(),
                attributes,
                is_header=tag == "th",
                is_bold=said.is_bold,
            )

        return close

    def _caption(
        self, _node: LexborNode, _tag: str, _attributes: Attributes
    ) -> Close | None:
        rows = self._rows()
        if rows is None:
            return None
        said = Line()
        self._sinks.append(said)

        def close() -> None:
            self._sinks.pop()
            rows.caption = " ".join((rows.caption + " " + said.text()).split())

        return close


def _is_closed(heading: LexborNode) -> bool:
    """Tell whether a heading holds a title, and not the rest of the page."""
    blocks = 0
    for seen, node in enumerate(heading.traverse(include_text=True)):
        tag = node.tag
        if seen > 0 and tag in _NO_PART_OF_HEADINGS:
            return False
        blocks += tag in BLOCKS
        if seen > _HEADING_NODES or blocks > _HEADING_BLOCKS:
            return False
    return True
