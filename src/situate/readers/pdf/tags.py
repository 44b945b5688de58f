"""Take the structure tree of a tagged document from pdfium.

pdfium gives the tree page by page, each time whole but without what is on other
pages. An element keeps its place among its siblings, so the trees of all pages are
laid over each other by these places.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from situate.errors import ReadError
from situate.readers.pdf.opening import text_of

if TYPE_CHECKING:
    from situate.readers.options import Limits

Mark = tuple[int, int]
"""A page, from 1, and the id of marked content on it."""

# pdfium itself stops at 32.
_MAX_DEPTH = 100


@dataclass(slots=True, eq=False)
class Element:
    """An element of the tree; by the place of each, elements or marks below it."""

    kind: str
    """Its type, after the document's role map."""
    alt: str = ""
    actual: str = ""
    rowspan: int = 1
    colspan: int = 1
    below: dict[int, Element | Mark] = field(default_factory=dict)

    @property
    def children(self) -> list[Element | Mark]:
        """What is below it, in order."""
        return [self.below[place] for place in sorted(self.below)]


class Tags:
    """The structure tree, which grows page by page."""

    def __init__(self, source: str, limits: Limits) -> None:
        from pypdfium2 import raw

        self._raw: Any = raw
        self._source = source
        self._limits = limits
        self._count = 0
        self.root = Element("Document")

    def add(self, page: Any, number: int) -> None:
        """Lay the tree of a page over what is there.

        Raises:
            ReadError: it has more elements than a document can have.
        """
        raw = self._raw
        tree = raw.FPDF_StructTree_GetForPage(page)
        if not tree:
            return
        try:
            stack: list[tuple[Any, Element, int]] = []
            for place in range(raw.FPDF_StructTree_CountChildren(tree)):
                child = raw.FPDF_StructTree_GetChildAtIndex(tree, place)
                if child:
                    stack.append((child, self._element(self.root, place, child), 1))
            while stack:
                handle, element, depth = stack.pop()
                stack += self._below(handle, element, depth, number)
        finally:
            raw.FPDF_StructTree_Close(tree)

    def _below(
        self, handle: Any, element: Element, depth: int, number: int
    ) -> list[tuple[Any, Element, int]]:
        """Add what is below an element on a page, and give the elements of it."""
        raw = self._raw
        found = []
        for place in range(raw.FPDF_StructElement_CountChildren(handle)):
            self._count += 1
            if self._count > self._limits.max_elements:
                message = (
                    f"{self._source}: has more than {self._limits.max_elements:,} "
                    "tags; split it"
                )
                raise ReadError(message, refusal="limit")
            child = raw.FPDF_StructElement_GetChildAtIndex(handle, place)
            if child and depth < _MAX_DEPTH:
                found.append((child, self._element(element, place, child), depth + 1))
                continue
            mark = raw.FPDF_StructElement_GetChildMarkedContentID(handle, place)
            if mark >= 0 and place not in element.below:
                element.below[place] = (number, mark)
        return found

    def _element(self, above: Element, place: int, handle: Any) -> Element:
        known = above.below.get(place)
        if isinstance(known, Element):
            return known
        raw = self._raw
        element = Element(
            kind=text_of(raw.FPDF_StructElement_GetType, handle),
            alt=" ".join(text_of(raw.FPDF_StructElement_GetAltText, handle).split()),
            actual=text_of(raw.FPDF_StructElement_GetActualText, handle),
        )
        if element.kind in {"TH", "TD"}:
            element.rowspan = self._number(handle, b"RowSpan\0")
            element.colspan = self._number(handle, b"ColSpan\0")
        above.below[place] = element
        return element

    def _number(self, handle: Any, name: bytes) -> int:
        """Give a number among an element's attributes, 1 without it."""
        raw = self._raw
        number = ctypes.c_float()
        for place in range(raw.FPDF_StructElement_GetAttributeCount(handle)):
            attribute = raw.FPDF_StructElement_GetAttributeAtIndex(handle, place)
            value = raw.FPDF_StructElement_Attr_GetValue(attribute, name)
            if value and raw.FPDF_StructElement_Attr_GetNumberValue(value, number):
                return max(1, min(int(number.value), 1000))
        return 1
