"""Tag soup, and what html5lib finds in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import html5lib
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_NAME = re.compile(r"\w+")

_INLINE = ("a", "b", "i", "span", "em", "code", "sub", "font", "small", "u")
_BLOCKS = tuple(
    _NAME.findall(
        "article blockquote center dd details div dl dt fieldset figcaption figure "
        "form h1 h2 h3 h4 header hgroup li main p pre section summary table tbody td "
        "th tr ul"
    )
)

_BORDERS = frozenset({*_BLOCKS, "br", "hr", "body"})
_UNSEEN = frozenset({"head", "script", "style", "template", "noscript"})

_WORDS = st.integers(1, 999).map("w{}".format)
_TEXT = st.lists(_WORDS, min_size=1, max_size=3).map(" ".join)
_SPACED = st.tuples(
    st.sampled_from(["", " ", "\n"]), _TEXT, st.sampled_from(["", " ", "\n\n"])
).map("".join)
_OPEN = st.sampled_from([*_INLINE, *_BLOCKS, "br", "hr", "script", "style"]).map(
    "<{}>".format
)
_CLOSE = st.sampled_from([*_INLINE, *_BLOCKS, "br"]).map("</{}>".format)
_WHOLE = st.tuples(st.sampled_from([*_INLINE, *_BLOCKS]), _SPACED).map(
    lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0]}>"
)
_ROWS = st.lists(
    st.lists(_SPACED.map("<td>{}".format), min_size=1, max_size=3).map("".join),
    min_size=1,
    max_size=3,
).map(lambda rows: "<table>" + "".join(f"<tr>{row}" for row in rows) + "</table>")
_COMMENT = _TEXT.map("<!-- {} -->".format)
_HIDDEN = st.sampled_from(["script", "style", "noscript"]).flatmap(
    lambda tag: _TEXT.map(lambda text: f"<{tag}>{text}</{tag}>")
)

SOUP = st.lists(
    st.one_of(_SPACED, _SPACED, _OPEN, _CLOSE, _WHOLE, _ROWS, _COMMENT, _HIDDEN),
    max_size=40,
).map("".join)
"""Markup in which any tag may stand anywhere, closed or not."""


def words(soup: str) -> list[str]:
    """Give the visible words of tag soup, as html5lib builds the tree."""
    root = html5lib.parse(soup, treebuilder="etree", namespaceHTMLElements=False)
    return "".join(_texts(root)).split()


def _texts(root: Element) -> Iterator[str]:
    waiting: list[Element | str] = [root]
    while waiting:
        element = waiting.pop()
        if isinstance(element, str):
            yield element
            continue
        tag = element.tag if isinstance(element.tag, str) else "script"
        border = "\n" if tag in _BORDERS else ""
        waiting += (element.tail or "", border)
        if tag not in _UNSEEN:
            waiting += reversed(list(element))
            waiting.append(element.text or "")
        waiting.append(border)
