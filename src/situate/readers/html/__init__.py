"""Read HTML the way browsers parse it.

Headings open sections wherever they stand in the flow of the page; text straight
in a container is a paragraph; tables of data are tables, those of layout are what
their cells hold. Inline elements neither separate nor move words.

Not content: menus (`nav`) and the footer of the page, what is hidden, scripts,
styles, templates and comments. What of it had words is counted in a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.readers.html import pages
from situate.readers.html.head import describe_page
from situate.readers.html.notes import Notes
from situate.readers.options import DEFAULTS
from situate.readers.tree import Outline, Read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.readers.options import ReaderOptions


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read an HTML file.

    Raises:
        ReadError: `data` is no text, or has more elements than the limit.
    """
    notes = Notes()
    page = pages.parse(data, source, notes, max_elements=options.limits.max_elements)
    described = describe_page(page.tree, source, doc_type=doc_type, keep=options.keep)
    outline = Outline()
    if not pages.add(page, outline, notes) and notes.has_hidden:
        pages.add(page, outline, notes.for_everything(), everything=True)
    return outline.read(
        doc_id=described.doc_id,
        version=described.version,
        metadata=described.metadata,
        warnings=page.warnings + described.warnings + notes.warnings(),
    )


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield the text of a page that is content, line by line.

    Raises:
        ReadError: as `read`.
    """
    notes = Notes()
    most = DEFAULTS.limits.max_elements
    page = pages.parse(data, source, notes, max_elements=most)
    said = False
    for line in pages.passages(page, notes):
        said = True
        yield line
    if not said and notes.has_hidden:
        yield from pages.passages(page, notes, everything=True)
