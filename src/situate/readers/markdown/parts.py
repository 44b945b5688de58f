"""Build blocks and their parts from the nodes of a document.

The parser says nothing of link reference definitions and misses some tables;
both are put right here, so that every character belongs to a block.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from situate.model import Block, Cell, Code, Item, Items, Quote, Row, Table
from situate.readers.markdown.nodes import Node
from situate.readers.markdown.passages import (
    HOLE,
    Passage,
    Source,
    columns,
    inside_item,
    inside_quote,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from situate.model import Span
    from situate.readers.markdown.nodes import NodeKind
    from situate.readers.markdown.passages import Line

_Around: TypeAlias = Source | Passage

_DEFINITION = re.compile(r" {0,3}\[")
_MARKER = re.compile(r"\s*(?:[-+*]|[0-9]{1,9}[.)])\s*")
# Quote marks may stand before it.
_RULE_LINE = re.compile(r"\n[ \t>|:-]+(?=\n|\Z)")
_RULE_CELL = re.compile(r":?-+:?")

# A formula that runs on for more blocks than this is a stray `$$`.
_MAX_FORMULA_BLOCKS = 32
_ALIGNED = frozenset({"list", "code"})
_FORMULA_KINDS = frozenset({"paragraph", "heading", "list", "quote", "table"})


def complete(
    children: Iterable[Node], around: _Around, start: int, end: int
) -> Iterator[Node]:
    """Yield the blocks of a container, with those the parser left out or broke up.

    Thematic breaks are left out.
    """
    shown = around.shown
    position = start
    for node in _formulas(list(children), shown) if around.has_formulas else children:
        kind, begin = node.kind, node.start
        if position < begin and not shown[position:begin].isspace():
            if kind == "paragraph":
                # The range of a tight item's text begins behind a backslash.
                lead = max(position, around.lead(begin))
                if shown[lead:begin].strip():
                    node.start = begin = lead
            yield from _definitions(around, position, begin)
        if kind == "paragraph" and shown.find("|", begin, node.end) >= 0:
            yield from _tables(node, around)
        elif kind != "rule":
            yield node
        last = _end(node) if kind == "list" else node.end
        position = max(position, last)
    if position < end and not shown[position:end].isspace():
        yield from _definitions(around, position, end)


def build(node: Node, around: _Around, block_id: str) -> Block | None:
    """Give the block of a node; None when there is nothing to show.

    Its parts carry the same id.
    """
    divide = None if node.unseen else _DIVIDED.get(node.kind)
    if divide is not None:
        return divide(node, around, block_id)
    kind = node.kind
    text, span = written(node, around)
    if not text or kind == "item" or kind == "rule":  # noqa: PLR1714 - mypy narrows only this form
        return None
    if kind == "paragraph" and around.has_formulas and _is_formula(text):
        kind = "math"
    return Block(block_id=block_id, kind=kind, text=text, span=span)


def written(node: Node, around: _Around) -> tuple[str, Span]:
    """Give what a node shows, and where it stands."""
    start = node.start
    if node.kind in _ALIGNED:
        start = around.lead(start)
        text, end = around.cut(start, _end(node))
        return text, (start, end)
    text, end = around.cut(start, node.end)
    # A tab cut in two by an item's indentation leaves blanks.
    return text.lstrip(" \t\n"), (start, end)


def _end(node: Node) -> int:
    """Give where a node ends; a list's own range runs on into what follows."""
    if node.kind == "list" and node.children:
        return node.children[-1].end
    return node.end


def _list(node: Node, around: _Around, block_id: str) -> Block | None:
    text, span = written(node, around)
    if not text:
        return None
    items = _items(node, around, block_id)
    return Block(block_id=block_id, kind="list", text=text, span=span, content=items)


def _quote(node: Node, around: _Around, block_id: str) -> Block | None:
    text, span = written(node, around)
    if not text:
        return None
    blocks = _blocks(node, inside_quote(around, (node.start, span[1])), block_id)
    if not blocks:
        return None
    return Block(
        block_id=block_id,
        kind="quote",
        text="\n\n".join([block.text for block in blocks]),
        span=span,
        content=Quote(blocks=blocks),
    )


def _table(node: Node, around: _Around, block_id: str) -> Block | None:
    text, span = written(node, around)
    lines = around.lines(*span)
    if len(lines) < 2:
        # A comment hid its first or last rows.
        return build(Node("paragraph", node.start, node.end), around, block_id)
    header, (start, end, _, _), *body = lines
    table = Table(
        header=(_row(around, header),),
        rows=tuple([_row(around, line) for line in body]),
        delimiter=around.shown[start:end].strip(),
    )
    return Block(block_id=block_id, kind="table", text=text, span=span, content=table)


def _code(node: Node, around: _Around, block_id: str) -> Block | None:
    text, span = written(node, around)
    if not text:
        return None
    lines = _lines(text, fenced=node.fenced)
    return Block(block_id=block_id, kind="code", text=text, span=span, content=lines)


def _blocks(node: Node, passage: Passage, block_id: str) -> tuple[Block, ...]:
    nodes = complete(node.children, passage, passage.start, node.end)
    blocks = (build(child, passage, block_id) for child in nodes)
    return tuple(block for block in blocks if block is not None)


def _items(node: Node, around: _Around, block_id: str) -> Items:
    shown = around.shown
    items = []
    loose = False
    last_end = node.start
    for child in node.children:
        start = around.lead(child.start)
        text, end = around.cut(start, child.end)
        loose = loose or shown.count("\n", last_end, child.start) > 1
        last_end = end
        blocks: tuple[Block, ...] = ()
        if text and not _is_plain(child, shown, end):
            blocks = _blocks(child, inside_item(around, (child.start, end)), block_id)
        items.append(Item(text=text, blocks=blocks, span=(start, end)))
    return Items(items=tuple(items), loose=loose)


def _is_plain(item: Node, shown: str, end: int) -> bool:
    """Say whether an item is its marker and one paragraph."""
    children = item.children
    if len(children) > 1 or (marker := _MARKER.match(shown, item.start, end)) is None:
        return False
    if not children:
        return marker.end() == end
    text = children[0]
    return (
        text.kind == "paragraph"
        # A backslash is no part of the range, a definition fills its lines.
        and shown.find("\n", marker.end(), text.start) < 0
        and (text.end >= end or not shown[text.end : end].strip())
        and shown.find("|", text.start, text.end) < 0
    )


def _row(around: _Around, line: Line) -> Row:
    start, end, _, _ = line
    text = around.shown[start:end].rstrip()
    end = start + len(text)
    text = text.lstrip()
    start = end - len(text)
    if around.has_holes:
        text = text.replace(HOLE, "").strip()
    cells = tuple([Cell(text=cell) for cell in columns(text)])
    return Row(text=text, cells=cells, span=(start, end))


def _lines(text: str, *, fenced: bool) -> Code:
    lines = tuple(text.split("\n"))
    if not fenced:
        return Code(lines=lines)
    fence = lines[0].lstrip()
    length = len(fence) - len(fence.lstrip(fence[:1]))
    last = lines[-1].strip() if len(lines) > 1 else ""
    if len(last) >= length and not last.strip(fence[:1]):
        return Code(lines=lines[1:-1], opening=lines[0], closing=lines[-1])
    return Code(lines=lines[1:], opening=lines[0])


def _definitions(around: _Around, start: int, end: int) -> Iterator[Node]:
    """Yield what stands between two blocks: link reference definitions.

    A definition may run over several lines, but not over a blank one.
    """
    current: Node | None = None
    for first, stop, _, _ in around.lines(start, end):
        begin = max(first, start)
        said = around.shown[begin:stop].replace(HOLE, "")
        begins = bool(said.strip()) and (
            current is None or _DEFINITION.match(said) is not None
        )
        if current is not None and (begins or not said.strip()):
            yield current
            current = None
        if begins:
            begin += len(said) - len(said.lstrip())
            current = Node("reference", begin, stop)
        elif current is not None:
            current.end = stop
    if current is not None:
        yield current


def _tables(paragraph: Node, around: _Around) -> Iterator[Node]:
    """Yield a paragraph, split where a table begins below its first lines.

    pulldown-cmark lets a header row without an outer pipe, or a tab in the
    delimiter row, pass as text (its pull request 672); GitHub sees a table.
    """
    if _RULE_LINE.search(around.shown, paragraph.start, paragraph.end) is None:
        yield paragraph
        return
    lines = around.lines(paragraph.start, paragraph.end)
    for number, ((begin, stop, _, _), (rule_begin, rule_stop, _, _)) in enumerate(
        pairwise(lines)
    ):
        shown = around.shown
        if _heads_table(shown[begin:stop], shown[rule_begin:rule_stop]):
            if number > 0:
                yield Node("paragraph", paragraph.start, lines[number - 1][1])
            yield Node("table", max(begin, paragraph.start), paragraph.end)
            return
    yield paragraph


def _heads_table(header: str, rule: str) -> bool:
    if "-" not in rule or not ("|" in header and ("|" in rule or ":" in rule)):
        return False
    if rule.strip(" \t|:-") or header[:4].isspace() or rule[:4].isspace():
        return False
    rules = columns(rule)
    return all(map(_RULE_CELL.fullmatch, rules)) and len(rules) == len(columns(header))


def _formulas(nodes: list[Node], shown: str) -> Iterator[Node]:
    """Yield nodes, those between two `$$` lines as one formula.

    Inside it `=`, `-`, `+` or `>` at the start of a line are no Markdown.
    """
    index = 0
    while index < len(nodes):
        node = nodes[index]
        if node.kind in {"paragraph", "heading"} and shown.startswith(
            "$$\n", node.start
        ):
            last = _formula_end(nodes, index, shown)
            if last > index or (last == index and node.kind == "heading"):
                yield Node("math", node.start, nodes[last].end)
                index = last + 1
                continue
        yield node
        index += 1


def _formula_end(nodes: list[Node], first: int, shown: str) -> int:
    """Give the index of the node whose last line closes a formula; -1 for none."""
    for index in range(first, min(first + _MAX_FORMULA_BLOCKS, len(nodes))):
        node = nodes[index]
        if node.kind not in _FORMULA_KINDS or shown.startswith("#", node.start):
            break
        begin = node.start + 2 if index == first else node.start
        if "$$" in shown[begin : node.end]:
            last = shown[begin : node.end].rstrip().rpartition("\n")[2]
            alone = last.strip() == "$$" and shown.count("$$", begin, node.end) == 1
            return index if alone else -1
    return -1


def _is_formula(text: str) -> bool:
    return (
        len(text) > 4
        and text.startswith("$$")
        and text.endswith("$$")
        and text.count("$$") == 2
    )


_DIVIDED: Mapping[NodeKind, Callable[[Node, _Around, str], Block | None]] = {
    "list": _list,
    "quote": _quote,
    "table": _table,
    "code": _code,
}
"""How blocks are built that have parts."""
