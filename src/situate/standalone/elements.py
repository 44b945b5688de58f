"""Builds markup out of values, so that no text is ever taken for markup.

A tree of elements is written in one go; nothing here takes a piece of HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Mapping

    Child = ET.Element | str | None


def make(
    tag: str, attributes: Mapping[str, str | None] | None, *children: Child
) -> ET.Element:
    """Make an element; attributes and children that are None are left out."""
    element = ET.Element(
        tag,
        {
            name: value
            for name, value in (attributes or {}).items()
            if value is not None
        },
    )
    last = None
    for child in children:
        if child is None:
            continue
        if not isinstance(child, str):
            element.append(child)
            last = child
        elif last is None:
            element.text = (element.text or "") + child
        else:
            last.tail = (last.tail or "") + child
    return element


def breakable(text: str) -> list[Child]:
    """Let a line end after a plus, as in `breadcrumb+statement`."""
    first, *rest = text.split("+")
    children: list[Child] = [first]
    for part in rest:
        children += ["+", make("wbr", None), part]
    return children


def write(*elements: ET.Element) -> str:
    """Write elements one after the other as HTML."""
    return "\n".join(
        ET.tostring(element, encoding="unicode", method="html") for element in elements
    )
