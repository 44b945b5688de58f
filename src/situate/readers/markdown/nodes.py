"""Turn the parser's events into the blocks of a document and their ranges.

pulldown-cmark (through pyromark) reads a copy of the text in which every
character is one ASCII character: its byte ranges are then offsets into the text
itself. The events are walked once; what stands deeper than `MAX_DEPTH`
containers is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from situate.readers.decoding import blank_controls
from situate.readers.markdown.hidden import COMMENT, Hidden
from situate.readers.markdown.titles import Titles, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyromark import Markdown

    from situate.model import BlockKind, Span

_Event: TypeAlias = "str | Mapping[str, Any]"
"""A bare name, or one key: Start, End, or the kind of a piece of text."""

MAX_DEPTH = 8
"""Quotations and lists inside each other whose parts are named."""

NodeKind: TypeAlias = "BlockKind | Literal['item', 'rule']"

_KINDS: Mapping[str, NodeKind] = {
    "Heading": "heading",
    "List": "list",
    "Item": "item",
    "Table": "table",
    "CodeBlock": "code",
    "BlockQuote": "quote",
    "HtmlBlock": "html",
    "FootnoteDefinition": "footnote",
}
# A control character: there are none left in a text to be copied.
_QUESTION = "\x01"

_PARAGRAPH = {"Start": "Paragraph"}
_PARAGRAPH_END = {"End": "Paragraph"}
_ITEM = {"Start": "Item"}
_ITEM_END = {"End": "Item"}

_CONTAINERS = frozenset({"list", "item", "quote"})
_WITH_BLOCKS = _CONTAINERS | {"footnote"}


@dataclass(slots=True)
class Node:
    """A block the parser found, with its range in the text."""

    kind: NodeKind
    start: int
    end: int
    children: Sequence[Node] = ()
    level: int = 0
    """Of a heading."""
    title: str = ""
    """Of a heading: its plain text."""
    attributes: Mapping[str, tuple[str, ...]] | None = None
    """Of a heading: `{key=value}` behind its text, every value of a key."""
    fenced: bool = False
    """Of code."""
    unseen: bool = False
    """It stands too deep for its parts to be named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A document's blocks and the ranges of what is not to be shown."""

    children: list[Node]
    hidden: list[Span]
    """Comments and data URIs, in order, none touching another."""
    unclosed: int | None
    """Where a comment begins that never ends; it is shown."""


def parse(text: str, body: int, *, controls: bool) -> Parsed:
    """Find the blocks of `text` from offset `body` on.

    `controls` says whether there are control characters in it.
    """
    copy = _ascii(blank_controls(text, " ") if controls else text, body)
    events = _parser().events_with_range(copy)
    walk = _Walk(text, copy, cast("Iterator[tuple[_Event, Mapping[str, int]]]", events))
    walk.run()
    return Parsed(
        children=walk.children,
        hidden=walk.hidden.ranges(),
        unclosed=walk.hidden.unclosed,
    )


@cache
def _parser() -> Markdown:
    from pyromark import Markdown, Options

    # Alerts and task lists stay off: their markers are then text like any other,
    # and no event hides them.
    return Markdown(
        options=Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_STRIKETHROUGH
        | Options.ENABLE_MATH
    )


def _ascii(text: str, body: int) -> str:
    """Give a copy of the same length that holds ASCII alone.

    Letters of other scripts become `x`, front matter line breaks: CommonMark
    gives no character beyond ASCII a meaning.
    """
    copy = text
    if not text.isascii():
        # Every character that ASCII lacks is encoded as one question mark.
        data = text.replace("?", _QUESTION).encode("ascii", "replace")
        copy = data.replace(b"?", b"x").decode("ascii").replace(_QUESTION, "?")
    return "\n" * body + copy[body:] if body else copy


class _Walk:
    """One pass over the events of one document."""

    def __init__(
        self, text: str, copy: str, events: Iterator[tuple[_Event, Mapping[str, int]]]
    ) -> None:
        self._text = text
        self._titles = Titles(text, copy)
        self._events = events
        # The same iterator, seen as events alone.
        self._names = map(itemgetter(0), events)
        self.children: list[Node] = []
        self.hidden = Hidden(text)

    def run(self) -> None:
        """Open a node for each block, close it at its end."""
        above: list[list[Node]] = []
        siblings = self.children
        # A tight item holds its text without a paragraph around it.
        tight: Node | None = None
        depth = 0
        for event, span in self._events:
            start, end = span["start"], span["end"]
            node: Node | None = None
            if event == _PARAGRAPH:
                self._skip(_PARAGRAPH_END, start, end)
                node = Node("paragraph", start, end)
            elif event == _ITEM:
                node = Node("item", self._begin(start, end), end)
            elif event == _ITEM_END:
                siblings = above.pop()
                tight = None
                continue
            elif isinstance(event, str):
                node = Node("rule", start, end) if event == "Rule" else None
            elif "Start" in event:
                node = self._open(event["Start"], start, end, depth)
            elif "End" in event and _name(event["End"]) in _KINDS:
                siblings = above.pop()
                depth -= 1
                tight = None
                continue
            if node is None:
                tight = self._inline(event, span, tight, siblings)
                continue
            tight = None
            siblings.append(node)
            if node.kind in _CONTAINERS and not node.unseen:
                above.append(siblings)
                node.children = siblings = []
                depth += node.kind != "item"

    def _inline(
        self,
        event: _Event,
        span: Mapping[str, int],
        tight: Node | None,
        siblings: list[Node],
    ) -> Node:
        """Take a piece of a tight item's text; give the paragraph it belongs to."""
        start, end = span["start"], span["end"]
        if tight is None:
            tight = Node("paragraph", start, end)
            siblings.append(tight)
        elif end > tight.end:
            tight.end = end
        if self.hidden.ahead < end:
            self._note(event, start, end)
        return tight

    def _open(
        self, tag: str | Mapping[str, Any], start: int, end: int, depth: int
    ) -> Node | None:
        """Give the node of a block, None for what begins inside a line.

        The events inside are consumed unless it is a container.
        """
        name = _name(tag)
        kind = _KINDS.get(name)
        if kind is None:
            return None
        if kind == "heading" and not isinstance(tag, str):
            return self._heading(tag["Heading"]["level"], start, end)
        start = self._begin(start, end)
        node = Node(kind, start, end)
        if kind == "table":
            self._skip({"End": name}, start, end)
        elif kind == "code":
            node.fenced = tag != {"CodeBlock": "Indented"}
            self._skip({"End": name}, start, start)
            self.hidden.code(start, end)
        elif kind == "html":
            self._skip({"End": name}, start, start)
            self.hidden.html(start, end)
        elif kind == "footnote":
            self._pass_over()
        elif depth >= MAX_DEPTH:
            node.unseen = True
            self._pass_over()
        return node

    def _begin(self, start: int, end: int) -> int:
        """Give where a block begins: a tab before it may be in its range."""
        while start < end and self._text[start] in " \t\n":
            start += 1
        return start

    def _skip(self, closing: _Event, start: int, end: int) -> None:
        """Consume the events up to `closing`, noting what is not to be shown."""
        # Few blocks hold anything to hide.
        if self.hidden.ahead < end and self.hidden.possible(start, end):
            for event, span in self._events:
                if event == closing:
                    return
                self._note(event, span["start"], span["end"])
        # Containment takes what it compares, in C.
        _ = closing in self._names

    def _pass_over(self) -> None:
        """Consume the events of the container that was just opened."""
        open_containers = 1
        for event, span in self._events:
            if isinstance(event, str):
                continue
            start, end = span["start"], span["end"]
            if "Start" in event:
                tag = event["Start"]
                kind = _KINDS.get(_name(tag))
                if kind == "html":
                    self.hidden.html(start, end)
                elif kind == "code":
                    self.hidden.code(start, end)
                else:
                    open_containers += kind in _WITH_BLOCKS
            elif "End" in event:
                if _KINDS.get(_name(event["End"])) in _WITH_BLOCKS:
                    open_containers -= 1
                    if open_containers == 0:
                        return
            else:
                self._note(event, start, end)

    def _heading(self, level: str, start: int, end: int) -> Node:
        closing = {"End": {"Heading": level}}
        pieces = []
        for event, span in self._events:
            if event == closing:
                break
            first, last = span["start"], span["end"]
            pieces.append(self._titles.piece(event, first, last))
            if self.hidden.ahead < last:
                self._note(event, first, last)
        title, attributes = plain("".join(pieces))
        return Node("heading", start, end, (), int(level[1]), title, attributes)

    def _note(self, event: _Event, start: int, end: int) -> None:
        if isinstance(event, str):
            return
        if "Code" in event:
            self.hidden.code(start, end)
        elif "InlineHtml" in event and self._text.startswith(COMMENT, start):
            self.hidden.comment(start, end)


def _name(tag: str | Mapping[str, Any]) -> str:
    return tag if isinstance(tag, str) else next(iter(tag))
