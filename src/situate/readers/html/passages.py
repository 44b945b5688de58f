"""Take the text out of a page, without any idea of blocks.

The measure of what `read` loses: the characters between tags in the order of the
source, cut wherever an element begins or ends that is not inline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.readers.decoding import clean
from situate.readers.html.elements import BLOCKS, BOXES, formula, note_reference
from situate.readers.html.survey import survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from situate.readers.html.content import Content

_BORDERS = BLOCKS | BOXES | {"br"}
_NAMES = ("alt", "aria-label", "title")


def lines(root: LexborNode, content: Content) -> Iterator[str]:
    """Yield the text of all that is content, one line at a time."""
    line: list[str] = []
    for text in _texts(root, content):
        if text is not None:
            line.append(text)
        elif line:
            yield _joined(line)
            line = []
    yield _joined(line)


def _texts(root: LexborNode, content: Content) -> Iterator[str | None]:
    """Yield texts, and None for every border between them."""
    found = survey(root)
    waiting: list[LexborNode | None] = [*reversed(list(root.iter(include_text=True)))]
    while waiting:
        node = waiting.pop()
        if node is None:
            yield None
            continue
        if node.is_text_node:
            yield node.text_content or ""
            continue
        tag, attributes = node.tag or "", node.attributes
        if tag in _BORDERS:
            yield None
            waiting.append(None)
        if content.omits(node, tag, attributes, found):
            continue
        if tag == "math":
            yield formula(node, attributes)[0]
        elif tag == "img":
            names = (attributes.get(name) or "" for name in _NAMES)
            yield next((name for name in names if name.strip()), "")
        elif tag == "sup" and (mark := note_reference(node)) is not None:
            yield mark
        else:
            waiting += reversed(list(node.iter(include_text=True)))


def _joined(texts: list[str]) -> str:
    return clean(" ".join("".join(texts).replace("\xad", "").split()))
