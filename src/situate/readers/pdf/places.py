"""Say where on a page something stands, whichever way page and text are turned.

Layout is easiest where text is upright, citations need the page as it is shown;
both count points from the upper left corner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from situate.model import Box

ASKEW = 4
"""Turn of text that runs along no side of the page."""

# A quarter turn, give or take what a crooked scan adds.
_TOLERANCE_DEGREES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A page: what of it is visible, in its own coordinates, and how it is turned."""

    number: int
    """From 1."""
    left: float
    bottom: float
    right: float
    top: float
    rotation: int
    """Quarter turns clockwise to be shown."""

    @property
    def width(self) -> float:
        """Width as shown, in points."""
        across = self.right - self.left
        return self.top - self.bottom if self.rotation % 2 else across

    @property
    def height(self) -> float:
        """Height as shown, in points."""
        down = self.top - self.bottom
        return self.right - self.left if self.rotation % 2 else down

    def shown(self, x: float, y: float) -> tuple[float, float]:
        """Give where a point of the page's own coordinates is shown."""
        if self.rotation == 0:
            return x - self.left, self.top - y
        match self.rotation:
            case 1:
                return y - self.bottom, x - self.left
            case 2:
                return self.right - x, y - self.bottom
            case _:
                return self.top - y, self.right - x

    def turn(self, x: float, y: float) -> int:
        """Give the quarter turns clockwise at which text of a direction is shown."""
        if not (math.isfinite(x) and math.isfinite(y)):
            return 0
        degrees = math.degrees(math.atan2(-y, x)) + 90 * self.rotation
        turns = round(degrees / 90)
        if abs(degrees - 90 * turns) > _TOLERANCE_DEGREES:
            return ASKEW
        return turns % 4

    def upright(self, turn: int, x: float, y: float) -> tuple[float, float]:
        """Give where a shown point stands when text of a turn is upright."""
        match turn:
            case 1:
                return y, self.width - x
            case 2:
                return self.width - x, self.height - y
            case 3:
                return self.height - y, x
            case _:
                return x, y

    def box(
        self, turn: int, left: float, top: float, right: float, bottom: float
    ) -> Box:
        """Give where something is shown that has these edges when turned upright."""
        x, y = self._turned_back(turn, left, top)
        x2, y2 = self._turned_back(turn, right, bottom)
        return Box(
            page=self.number,
            left=round(min(x, x2), 2),
            top=round(min(y, y2), 2),
            right=round(max(x, x2), 2),
            bottom=round(max(y, y2), 2),
        )

    def _turned_back(self, turn: int, x: float, y: float) -> tuple[float, float]:
        match turn:
            case 1:
                return self.width - y, x
            case 2:
                return self.width - x, self.height - y
            case 3:
                return y, self.height - x
            case _:
                return x, y
