"""Read plain text: paragraphs between blank lines.

Numbered clauses become sections where they are consistent. No headings are guessed
from capitals or underlines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from situate.model import Metadata
from situate.readers import clauses
from situate.readers.decoding import clean, decode
from situate.readers.options import DEFAULTS
from situate.readers.tree import Outline, Read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.model import Span
    from situate.readers.options import ReaderOptions

# Lines that say something, one below the other; a form feed ends a page and the
# paragraph with it.
_PARAGRAPH = re.compile(r"\S[^\n\f]*(?:\n[^\n\f]*\S[^\n\f]*)*")


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a text file; each paragraph keeps its lines and their indentation.

    Raises:
        ReadError: `data` is no text.
    """
    decoded = decode(data, source)
    text = decoded.text
    paragraphs = list(_paragraphs(text))
    pieces: tuple[clauses.Piece, ...] = ()
    if options.legal_numbering is not False:
        pieces = clauses.find(text, paragraphs)
    if not pieces:
        pieces = tuple(
            clauses.Text(paragraph=number, span=span)
            for number, span in enumerate(paragraphs)
        )
    outline = Outline()
    for piece in pieces:
        clauses.write(outline, piece, lambda start, end: clean(text[start:end]))
    return outline.read(
        doc_id=source,
        version=None,
        metadata=Metadata(doc_type=doc_type, source=source),
        warnings=decoded.warnings,
    )


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield the lines of a text file.

    Raises:
        ReadError: `data` is no text.
    """
    yield from clean(decode(data, source).text).split("\n")


def _paragraphs(text: str) -> Iterator[Span]:
    for found in _PARAGRAPH.finditer(text):
        line = text.rfind("\n", 0, found.start()) + 1
        start = max(line, text.rfind("\f", line, found.start()) + 1)
        yield start, start + len(text[start : found.end()].rstrip())
