"""Number the items of lists the way browsers do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from situate.readers.html.elements import value
from situate.readers.roman import roman

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from situate.readers.html.elements import Attributes

BULLET = "-"

_NUMBER = re.compile(r"\s*([+-]?[0-9]{1,9})")

_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(lower|upper)-(\w+)", re.ASCII)

_LETTERS = 26


class Numbering:
    """Gives the marker of each item of one list."""

    def __init__(self, node: LexborNode, tag: str, attributes: Attributes) -> None:
        self._ordered = tag == "ol"
        self._style = _style(attributes)
        self._step = 1
        start = number(attributes, "start")
        if self._ordered and "reversed" in attributes:
            self._step = -1
            if start is None:
                start = sum(child.tag == "li" for child in node.iter())
        self._next = 1 if start is None else start

    def marker(self, attributes: Attributes) -> str:
        """Give the marker of the next item."""
        if not self._ordered:
            return BULLET
        own = number(attributes, "value")
        current = self._next if own is None else own
        self._next = current + self._step
        return f"{_written(current, _style(attributes) or self._style)}."


def number(attributes: Attributes, name: str) -> int | None:
    """Give the whole number that an attribute begins with."""
    found = _NUMBER.match(attributes.get(name) or "")
    return None if found is None else int(found[1])


def _style(attributes: Attributes) -> str:
    """Give how numbers are written: 1, a, A, i or I."""
    written = (attributes.get("type") or "").strip()
    if written in {"1", "a", "A", "i", "I"}:
        return written
    found = _STYLE.search(value(attributes, "style"))
    if found is None:
        return ""
    letter = {"alpha": "a", "latin": "a", "roman": "i"}.get(found[2], "")
    return letter.upper() if found[1] == "upper" else letter


def _written(count: int, style: str) -> str:
    letter = style.lower()
    if letter == "a" and count > 0:
        text = _alphabetic(count)
    elif letter == "i" and count > 0:
        text = roman(count)
    else:
        return str(count)
    return text.upper() if style.isupper() else text


def _alphabetic(count: int) -> str:
    text = ""
    while count > 0:
        count, rest = divmod(count - 1, _LETTERS)
        text = chr(ord("a") + rest) + text
    return text
