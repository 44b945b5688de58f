"""What markdown-it-py sees in a document, to hold our own reader against."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from situate.model import walk

if TYPE_CHECKING:
    from situate.model import Document

_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "html",
    "footnote_reference_open": "footnote",
    "definition": "reference",
}

# A quotation of nothing but marks and breaks is dropped.
_WORD = re.compile(r"[^\s>*_+-]")

_COMMENT = re.compile(r"<!--(?:-?>|.*?-->)", re.DOTALL)


class Place(NamedTuple):
    """A block: what it is, its first line and the line behind its last."""

    kind: str
    start: int
    end: int


def expected(text: str) -> list[Place]:
    """Give the top-level blocks that markdown-it-py's block rules find."""
    parser = MarkdownIt(
        "commonmark", {"maxNesting": 10_000, "inline_definitions": True}
    )
    parser.enable("table").use(footnote_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    lines = text.split("\n")
    places = []
    for token in parser.parse(text):
        kind = _KINDS.get(token.type)
        if kind is None or token.level > 0 or token.map is None:
            continue
        start, end = token.map
        while end > start and not lines[end - 1].strip():
            end -= 1
        if kind == "quote" and not _WORD.search("".join(lines[start:end])):
            continue
        if kind == "html" and not _COMMENT.sub("", token.content).strip():
            continue
        places.append(Place(kind, start, end))
    return places


def found(document: Document, text: str) -> list[Place]:
    """Give the blocks of a document that we read from the same text."""
    places = []
    for section, _ in walk(document.root):
        for block in section.blocks:
            assert block.span is not None
            if block.kind == "quote" and not _WORD.search(block.text):
                continue
            start, end = block.span
            kind = "paragraph" if block.kind == "math" else block.kind
            first = text.count("\n", 0, start)
            last = first + text.count("\n", start, end)
            places.append(Place(kind, first, last + 1))
    return places
