"""Take the pages of an open document one by one, as plain values."""

from __future__ import annotations

import math
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from situate.errors import ReadError
from situate.readers.pdf.annotations import Entered, entered
from situate.readers.pdf.characters import Reader
from situate.readers.pdf.places import Sheet

if TYPE_CHECKING:
    from situate.readers.pdf.characters import Run
    from situate.readers.pdf.tags import Tags

# A page of newsprint has 30,000 characters; a million take a second and a gigabyte.
_MAX_CHARACTERS = 500_000

# All pages together: 64 MB of PDF hold less text, unless one page is shown again
# and again.
_MAX_ALL_CHARACTERS = 20_000_000

# A stamp or page number on a scan has fewer characters, a title page more.
_FEWEST_CHARACTERS = 20

# Share of a page that the picture of a scan covers.
_SCAN_SHARE = 0.5

# Objects of a page looked at for pictures; a scan has its picture early.
_MOST_OBJECTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page without its library: what is written on it, and how it looks."""

    sheet: Sheet
    runs: tuple[Run, ...]
    unreadable: int
    """Characters whose font does not say which letters they are."""
    outside: int
    """Characters that stand wholly outside the visible page."""
    lacks_text: bool
    """Whether it shows something, but not as text."""
    entered: tuple[Entered, ...]
    notes: int
    """Comments and other annotations that are not read."""

    @property
    def characters(self) -> int:
        """How many characters it shows."""
        return sum(len(run.text) for run in self.runs)


class Pages:
    """Opens pages, takes what they hold and closes them."""

    def __init__(self, document: Any, source: str, tags: Tags | None) -> None:
        self._document = document
        self._source = source
        self._tags = tags
        self._left = _MAX_ALL_CHARACTERS

    def take(self, index: int) -> Page | None:
        """Read a page, None when pdfium cannot.

        Raises:
            ReadError: it has more text than a page can have.
        """
        from pypdfium2 import PdfiumError

        with suppress(PdfiumError), closing(self._document[index]) as page:
            return self._read(page, page.get_textpage(), index + 1)
        return None

    def _read(self, page: Any, text: Any, number: int) -> Page:
        count = text.count_chars()
        refuse_long(count, self._source, number)
        self._left -= count
        if self._left < 0:
            message = (
                f"{self._source}: has more than {_MAX_ALL_CHARACTERS:,} characters "
                "in all; split it"
            )
            raise ReadError(message, refusal="limit")
        sheet = _sheet(page, number)
        reader = Reader(text, sheet, is_tagged=self._tags is not None)
        found = reader.read(count)
        characters = sum(len(run.text) for run in found.runs)
        values, notes = entered(page, self._document, sheet)
        if self._tags is not None:
            self._tags.add(page, number)
        return Page(
            sheet=sheet,
            runs=found.runs,
            unreadable=found.unreadable,
            outside=found.outside,
            lacks_text=characters < _FEWEST_CHARACTERS
            and not found.outside
            and _shows(page, characters),
            entered=values,
            notes=notes,
        )


def _sheet(page: Any, number: int) -> Sheet:
    box = page.get_bbox()
    # A box of garbage is that of US Letter, as where there is none.
    left, bottom, right, top = box if all(map(math.isfinite, box)) else (0, 0, 612, 792)
    return Sheet(
        number=number,
        left=left,
        bottom=bottom,
        right=right,
        top=top,
        rotation=page.get_rotation() // 90,
    )


def refuse_long(count: int, source: str, number: int) -> None:
    """Refuse a page with more text than fits on paper.

    Raises:
        ReadError: it has.
    """
    if count > _MAX_CHARACTERS:
        message = (
            f"{source}: has {count:,} characters on page {number}, the limit is "
            f"{_MAX_CHARACTERS:,}; it is no page to be read"
        )
        raise ReadError(message, refusal="limit")


def _shows(page: Any, characters: int) -> bool:
    """Tell whether a page shows something that its few characters do not say."""
    from pypdfium2 import raw

    width, height = page.get_size()
    objects = page.get_objects(max_depth=4)
    for each in islice(objects, _MOST_OBJECTS):
        if characters == 0 and each.type != raw.FPDF_PAGEOBJ_FORM:
            return True
        if each.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = each.get_bounds()
            if (right - left) * (top - bottom) >= _SCAN_SHARE * width * height:
                return True
    return False
