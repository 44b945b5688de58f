"""Name the elements of a Word file the same whichever standard it follows.

Word writes two sets of namespaces, the usual transitional and the rare strict
one. Here `w:p` is a paragraph in both.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml.etree import _Element

_OPEN = "http://schemas.openxmlformats.org/"
_STRICT = "http://purl.oclc.org/ooxml/"

_PREFIXES = {
    f"{_OPEN}wordprocessingml/2006/main": "w",
    f"{_STRICT}wordprocessingml/main": "w",
    f"{_OPEN}officeDocument/2006/math": "m",
    f"{_STRICT}officeDocument/math": "m",
    f"{_OPEN}officeDocument/2006/relationships": "r",
    f"{_STRICT}officeDocument/relationships": "r",
    f"{_OPEN}drawingml/2006/main": "a",
    f"{_STRICT}drawingml/main": "a",
    f"{_OPEN}drawingml/2006/wordprocessingDrawing": "wp",
    f"{_STRICT}drawingml/wordprocessingDrawing": "wp",
    f"{_OPEN}drawingml/2006/picture": "pic",
    f"{_STRICT}drawingml/picture": "pic",
    f"{_OPEN}drawingml/2006/chart": "c",
    f"{_STRICT}drawingml/chart": "c",
    f"{_OPEN}drawingml/2006/diagram": "dgm",
    f"{_STRICT}drawingml/diagram": "dgm",
    f"{_OPEN}markup-compatibility/2006": "mc",
    "http://schemas.microsoft.com/office/drawing/2014/chartex": "c",
    "http://schemas.microsoft.com/office/drawing/2017/decorative": "adec",
    "http://schemas.microsoft.com/office/word/2010/wordml": "w14",
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
}

_NUMBER = re.compile(r"[-+]?[0-9]{1,9}")

_OFF = frozenset({"0", "false", "off", "none"})


@lru_cache(maxsize=4096)
def short(tag: str) -> str:
    """Give a name as `w:p`; those of unknown namespaces begin with a colon."""
    namespace, _, local = tag.rpartition("}")
    return f"{_PREFIXES.get(namespace[1:], '')}:{local}"


def name(element: _Element) -> str:
    """Give an element's name as `w:p`."""
    return short(str(element.tag))


def local(element: _Element) -> str:
    """Give an element's name without its namespace."""
    return short(str(element.tag)).rpartition(":")[2]


@lru_cache(maxsize=256)
def _keys(wanted: str) -> tuple[str, ...]:
    prefix, _, plain = wanted.rpartition(":")
    spaces = [space for space, known in _PREFIXES.items() if known == prefix]
    return (*(f"{{{space}}}{plain}" for space in spaces), plain)


def attribute(element: _Element | None, wanted: str) -> str | None:
    """Give an attribute by name (`w:val`); one without a namespace counts too."""
    if element is None:
        return None
    # Asking for all attributes takes lxml the square of their number.
    for key in _keys(wanted):
        value = element.get(key)
        if value is not None:
            return value
    return None


def child(element: _Element | None, *path: str) -> _Element | None:
    """Give the first child of a name, or what a path of names leads to."""
    for wanted in path:
        if element is None:
            return None
        element = next((below for below in element if name(below) == wanted), None)
    return element


def value(element: _Element | None, *path: str) -> str | None:
    """Give `w:val` of what a path of names leads to."""
    return attribute(child(element, *path), "w:val")


def number(text: str | None) -> int | None:
    """Read a number of at most nine digits; None for anything else."""
    if text is None or _NUMBER.fullmatch(text.strip()) is None:
        return None
    return int(text)


def flag(element: _Element | None, *path: str) -> bool:
    """Tell whether a switch is there and on."""
    found = child(element, *path)
    return found is not None and attribute(found, "w:val") not in _OFF


def walk(
    root: _Element, skipped: Callable[[_Element, str], bool]
) -> Iterator[tuple[bool, str, _Element]]:
    """Yield every element when it begins (True) and when it ends (False).

    `skipped` is asked for each below the root; what it names is passed over with
    all it holds.
    """
    yield True, name(root), root
    path = [(root, iter(root))]
    while path:
        element, below = path[-1]
        following = next(below, None)
        if following is None:
            path.pop()
            yield False, name(element), element
            continue
        called = name(following)
        if skipped(following, called):
            continue
        yield True, called, following
        if len(following):
            path.append((following, iter(following)))
        else:
            yield False, called, following
