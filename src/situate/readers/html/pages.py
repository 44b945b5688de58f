"""Parse a page and add what it says to an outline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.readers.decoding import decode
from situate.readers.html.blocks import Page
from situate.readers.html.charset import declared
from situate.readers.html.content import Content
from situate.readers.html.markup import prepare
from situate.readers.html.passages import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from situate.readers.html.notes import Notes
    from situate.readers.tree import Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A page whose elements can be walked."""

    tree: LexborHTMLParser
    elements: int
    """Tags that open an element."""
    warnings: tuple[str, ...] = ()
    """What was doubted about its encoding."""

    @property
    def body(self) -> LexborNode | None:
        """What holds the page's content."""
        return self.tree.body or self.tree.root


def parse(data: bytes, source: str, notes: Notes, *, max_elements: int) -> Parsed:
    """Decode and parse a page.

    Raises:
        ReadError: `data` is no text, or has more elements than the limit.
    """
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    decoded = decode(data, source, declared=declared(data))
    text, elements = prepare(decoded.text, source, notes, max_elements=max_elements)
    # With its events a `select` takes the square of its options, and what is
    # selected stands twice.
    tree = LexborHTMLParser(text, options=LexborDocumentOptions.WO_EVENTS)
    return Parsed(tree=tree, elements=elements, warnings=decoded.warnings)


def add(
    page: Parsed, outline: Outline, notes: Notes, *, everything: bool = False
) -> bool:
    """Add what a page says to an outline; tells whether that is anything.

    With `everything` menus and hidden elements count as content.
    """
    if page.body is None:
        return False
    reading = Page(outline, Content(notes, everything=everything), notes)
    return reading.read(page.body)


def passages(page: Parsed, notes: Notes, *, everything: bool = False) -> Iterator[str]:
    """Yield the lines of a page that say something."""
    if page.body is not None:
        yield from filter(None, lines(page.body, Content(notes, everything=everything)))
