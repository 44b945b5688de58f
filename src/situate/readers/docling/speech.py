"""Say in one line what stands in and below a part of a document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from situate.readers.docling import graphs, tables
from situate.readers.docling.places import distinct
from situate.readers.docling.values import (
    mapping,
    reference,
    references,
    sequence,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.model import Box, JsonValue
    from situate.readers.docling.export import Export, Node
    from situate.readers.docling.places import Places

LISTS = frozenset({"list", "ordered_list"})

_BLOCKS = frozenset({"tables", "pictures", "key_value_items", "form_items"})
_CHECKBOXES = {"checkbox_selected": "[x]", "checkbox_unselected": "[ ]"}

# How far up a page's header or footer is looked for: Word's stand in a group.
_MOST_ANCESTORS = 8

# Docling keeps no white space between pieces of a line. Those that close what
# stands before them, or follow what opens, had none.
_CLOSES = re.compile(r"[.,;:!?)\]}»”’…。，、；：！？）」』】]+(?:\s|$)|['’]s\b")
_OPENS = re.compile(r"(?:^|\s)[(\[{«“‘（「『【]+$")
_NO_SPACES = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


class Said(NamedTuple):
    """What was said, and where it stands."""

    text: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class _Words:
    """Words that wait for their turn among references."""

    text: str


class Speech:
    """Speaks every part of a document once."""

    def __init__(self, export: Export, places: Places) -> None:
        self._export = export
        self._places = places
        self._taken: set[str] = set()
        self.owned: set[str] = set()
        """What others speak for: captions, footnotes, text of cells."""
        self.page_headers: dict[str, None] = {}
        self.page_footers: dict[str, None] = {}

    def is_open(self, ref: str) -> bool:
        """Say whether a part is there and has not been spoken."""
        return ref in self._export.nodes and ref not in self._taken

    def take(self, ref: str) -> Node | None:
        """Give a part the first time it is asked for, None ever after."""
        node = self._export.nodes.get(ref)
        if node is None:
            self._export.doubts["dangling"] += 1
            return None
        if ref in self._taken:
            if ref not in self.owned:
                self._export.doubts["repeated"] += 1
            return None
        self._taken.add(ref)
        return node

    def said(self, refs: Sequence[str], aside: list[str] | None = None) -> Said:
        """Say parts and all below them, in order.

        With `aside` tables, pictures and lists are put there instead, unspoken.
        """
        pieces: list[str] = []
        boxes: list[Box] = []
        waiting: list[str | _Words] = list(reversed(refs))
        while waiting:
            current = waiting.pop()
            if isinstance(current, _Words):
                pieces.append(current.text)
                continue
            if aside is not None and self._is_block(current):
                aside.append(current)
                continue
            node = self.take(current)
            if node is None:
                continue
            waiting += reversed(node.children)
            if not node.is_shown:
                self.leave_out(node)
                continue
            boxes += self._places.boxes(node)
            waiting += reversed(list(self._own(node)))
        return Said(joined(pieces), distinct(boxes))

    def cell(self, cell: Mapping[str, JsonValue]) -> str:
        """Say a cell of a table; a rich one refers to its text."""
        ref = reference(cell.get("ref"))
        if ref and not self.is_open(ref):
            # Without its part, or after it was said elsewhere, the cell has a copy.
            self._export.doubts["dangling"] += ref not in self._export.nodes
            ref = ""
        said = self.said((ref,)).text if ref else ""
        return said or words(cell.get("text"))

    def leave_out(self, node: Node) -> None:
        """Note what is no content; what runs along the pages is kept apart."""
        if not node.is_furniture:
            self._export.doubts["hidden"] += node.array != "groups"
            return
        text = text_of(node)
        where = self._edge(node)
        if where is not None:
            if text:
                where[text] = None
        elif text or node.array not in {"groups", "texts"}:
            self._export.doubts["furniture"] += 1

    def _is_block(self, ref: str) -> bool:
        node = self._export.nodes.get(ref)
        return node is not None and (node.array in _BLOCKS or node.label in LISTS)

    def _own(self, node: Node) -> Iterator[str | _Words]:
        """Yield what a part itself has to say, and what it speaks for."""
        yield from references(node.values.get("captions"))
        if node.array == "texts":
            yield _Words(inline(node))
        elif node.array == "tables":
            yield from self._cells(mapping(node.values.get("data")))
        elif node.array == "pictures":
            yield from map(_Words, descriptions(node))
            for chart in charts(node):
                yield _Words(words(chart.get("title")))
                yield from self._cells(mapping(chart.get("chart_data")))
        elif node.array in _BLOCKS:
            yield from map(_Words, graphs.lines(node, self._export.nodes))
        yield from references(node.values.get("footnotes"))

    def _cells(self, data: Mapping[str, JsonValue]) -> Iterator[str | _Words]:
        for cell, _, _ in tables.cells(data):
            ref = reference(cell.get("ref"))
            yield ref if self.is_open(ref) else _Words(words(cell.get("text")))

    def _edge(self, node: Node) -> dict[str, None] | None:
        """Give where the text of a page's header or footer is collected."""
        above: Node | None = node
        for _ in range(_MOST_ANCESTORS):
            if above is None:
                break
            kind = above.label if above.array == "texts" else above.name
            if kind in {"page_header", "page header"}:
                return self.page_headers
            if kind in {"page_footer", "page footer"}:
                return self.page_footers
            above = self._export.nodes.get(above.parent)
        return None


def text_of(node: Node) -> str:
    """Give the text of a part itself, as it was seen when nothing else is said."""
    text = words(node.values.get("text"))
    return text if text or node.children else words(node.values.get("orig"))


def inline(node: Node) -> str:
    """Give the text of a part as it stands inside a line."""
    text = text_of(node)
    if node.label in _CHECKBOXES:
        return f"{_CHECKBOXES[node.label]} {text}".rstrip()
    if node.label == "field_key" and text[-1:].isalnum():
        return text + ":"
    if is_formula(node) and text and "$" not in text:
        return f"${text}$"
    if node.label == "list_item":
        return with_marker(words(node.values.get("marker")), text)
    return text


def with_marker(marker: str, text: str) -> str:
    """Give an item's text behind its marker, where that says something."""
    if not any(character.isalnum() for character in marker):
        return text
    return text if text.startswith(marker) else f"{marker} {text}".rstrip()


def is_formula(node: Node) -> bool:
    """Say whether a part is a formula that was decoded to LaTeX."""
    return node.label == "formula" and bool(words(node.values.get("text")))


def descriptions(node: Node) -> tuple[str, ...]:
    """Give what a picture or table shows, in the words of who described it."""
    meta = mapping(node.values.get("meta"))
    found = [words(mapping(meta.get("description")).get("text"))]
    found.append(words(mapping(meta.get("molecule")).get("smi")))
    for annotation in map(mapping, sequence(node.values.get("annotations"))):
        found.append(words(annotation.get("text")))
        found.append(words(annotation.get("smi")))
    return tuple(dict.fromkeys(text for text in found if text))


def charts(node: Node) -> tuple[Mapping[str, JsonValue], ...]:
    """Give the charts of a picture that were read as tables."""
    chart = mapping(mapping(node.values.get("meta")).get("tabular_chart"))
    if chart:
        return (chart,)
    annotations = map(mapping, sequence(node.values.get("annotations")))
    return tuple(each for each in annotations if mapping(each.get("chart_data")))


def joined(pieces: Sequence[str]) -> str:
    """Join the pieces of a line with the spaces a reader expects."""
    parts: list[str] = []
    last = ""
    for piece in pieces:
        if not piece:
            continue
        if last and not _CLOSES.match(piece) and not _OPENS.search(last[-8:]):
            glued = _NO_SPACES.match(last[-1]) and _NO_SPACES.match(piece[0])
            parts.append("" if glued else " ")
        parts.append(piece)
        last = piece
    return "".join(parts)
