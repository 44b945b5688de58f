"""Turn Docling's provenance into boxes in points from a page's upper left corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.model import Box
from situate.readers.docling.values import mapping, number, sequence, string, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from situate.model import JsonValue
    from situate.readers.docling.export import Export, Node

# PDF knows no page of more than 200 inches (PDF 1.7, annex C); a slide's size
# comes in EMU, of which a point has 12,700.
_LONGEST_PAGE = 14_400
_EMU_PER_POINT = 12_700

# Boxes of a sheet count cells.
_SHEETS = ("spreadsheet", "ms-excel")


class Places:
    """Where the parts of one document stand."""

    def __init__(self, export: Export) -> None:
        self._export = export
        self._in_cells = any(name in export.mimetype for name in _SHEETS)
        self._heights: dict[int, float] = {}
        for key, page in mapping(export.values.get("pages")).items():
            height = number(mapping(mapping(page).get("size")).get("height"))
            if key.isdecimal() and len(key) < 10 and height is not None and height > 0:
                self._heights[int(key)] = height

    def boxes(self, node: Node) -> tuple[Box, ...]:
        """Give a box for each of a part's places; none for a part of a sheet."""
        if self._in_cells:
            return ()
        found = []
        for place in sequence(node.values.get("prov")):
            box = self._box(mapping(place))
            if box is None:
                self._export.doubts["boxes"] += 1
            else:
                found.append(box)
        return tuple(found)

    def _box(self, place: Mapping[str, JsonValue]) -> Box | None:
        page = whole(place.get("page_no"))
        bounds = mapping(place.get("bbox"))
        left, top, right, bottom = (number(bounds.get(side)) for side in "ltrb")
        if not page or left is None or top is None or right is None or bottom is None:
            return None
        height = self._heights.get(page)
        if height is not None and height > _LONGEST_PAGE:
            # Before docling's pull request 4294 slides said BOTTOMLEFT and meant
            # TOPLEFT; once no such file is about, they can go the way of pages.
            left, top, right, bottom = (
                side / _EMU_PER_POINT for side in (left, top, right, bottom)
            )
        elif string(bounds.get("coord_origin")) == "BOTTOMLEFT":
            if height is None:
                return None
            top, bottom = height - top, height - bottom
        return Box(
            page=page,
            left=min(left, right),
            top=min(top, bottom),
            right=max(left, right),
            bottom=max(top, bottom),
        )


def distinct(boxes: Iterable[Box]) -> tuple[Box, ...]:
    """Give every box once, in order."""
    return tuple(dict.fromkeys(boxes))
