"""Read EPUB: the pages of a book in the order of its spine, as one document.

Every page goes through the reader of HTML. Headings keep their levels; a page
without one opens a section when the table of contents names it, else it goes on
where the page before ended. The table of contents itself is no content.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.errors import ReadError
from situate.readers.epub.package import Item, Package
from situate.readers.html import head, pages
from situate.readers.html.elements import heading_level
from situate.readers.html.notes import Notes
from situate.readers.options import DEFAULTS
from situate.readers.tree import Outline, Read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.readers.frontmatter import Described
    from situate.readers.options import ReaderOptions

_HEADINGS = "h1, h2, h3, h4, h5, h6, [role=heading]"


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a book.

    Raises:
        ReadError: it is no EPUB file, damaged, protected, or beyond a limit.
    """
    book = _Book(Package(data, source, options.limits), source, options)
    outline = Outline()
    if not book.add(outline) and book.notes.has_hidden:
        book.notes = Notes().for_everything()
        book.add(outline)
    described = _describe(book.package, source, doc_type=doc_type, options=options)
    return outline.read(
        doc_id=described.doc_id,
        version=described.version,
        metadata=described.metadata,
        warnings=book.warnings() + described.warnings,
    )


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield the text of a book's pages, line by line.

    Raises:
        ReadError: as `read`.
    """
    book = _Book(Package(data, source, DEFAULTS.limits), source, DEFAULTS)
    said = False
    for line in book.passages():
        said = True
        yield line
    if not said and book.notes.has_hidden:
        book.notes.for_everything()
        yield from book.passages()


@dataclass(slots=True)
class _Book:
    """The pages of a book while they are read."""

    package: Package
    source: str
    options: ReaderOptions
    notes: Notes = field(default_factory=Notes)
    doubted: int = 0
    """Pages whose encoding is not what they say."""
    unread_contents: int = 0
    """Tables of contents that cannot be read."""
    _elements: int = 0

    def add(self, outline: Outline) -> bool:
        """Add all pages to an outline; tells whether they say anything."""
        titles = self._titles()
        said = False
        level = 1
        self._elements = self.doubted = 0
        for item in self.package.pages:
            page = self._parse(item)
            if item.is_navigation and not self.notes.everything:
                self._leave_out(page)
                continue
            heading = page.tree.css_first(_HEADINGS)
            if heading is not None:
                level = heading_level(heading.tag or "", heading.attributes) or level
            elif item.path in titles and _says(page, self.notes):
                outline.heading(level=level, title=titles[item.path])
            everything = self.notes.everything
            said |= pages.add(page, outline, self.notes, everything=everything)
        return said

    def passages(self) -> Iterator[str]:
        """Yield the lines of all pages."""
        everything = self.notes.everything
        self._elements = 0
        for item in self.package.pages:
            page = self._parse(item)
            if item.is_navigation and not everything:
                self._leave_out(page)
            else:
                yield from pages.passages(page, self.notes, everything=everything)

    def warnings(self) -> tuple[str, ...]:
        """Say what is missing and what was left out."""
        said = []
        if self.package.missing:
            said.append(
                f"{self.package.missing} documents that its spine names are missing"
            )
        if not self.package.has_spine:
            said.append("has no reading order; its pages were read as they are listed")
        if self.unread_contents:
            said.append("the table of contents cannot be read; no names were taken")
        if self.doubted:
            said.append(
                f"{self.doubted} pages are not in the encoding that they say or UTF-8"
            )
        return (*said, *self.notes.warnings())

    def _parse(self, item: Item) -> pages.Parsed:
        page = pages.parse(
            self.package.read(item),
            f"{self.source}: {item.path!r} in it",
            self.notes,
            max_elements=self.options.limits.max_elements,
        )
        self._elements += page.elements
        most = self.options.limits.max_elements
        if self._elements > most:
            message = f"{self.source}: has more than {most:,} elements, the limit"
            raise ReadError(message, refusal="limit")
        self.doubted += bool(page.warnings)
        return page

    def _leave_out(self, page: pages.Parsed) -> None:
        lines = pages.passages(page, Notes(), everything=True)
        self.notes.left_out("menu", sum(len(line.split()) for line in lines))

    def _titles(self) -> Mapping[str, str]:
        """Give what the tables of contents call each page, by its path."""
        titles: dict[str, str] = {}
        for item in self.package.navigation:
            for link in self._parse(item).tree.css("nav a[href]"):
                path = self.package.path(item, link.attributes.get("href") or "")
                if path is not None:
                    titles.setdefault(path, head.one_line(link.text()))
        try:
            for item, references in self.package.contents():
                for href, title in references:
                    path = self.package.path(item, href)
                    if path is not None:
                        titles.setdefault(path, title)
        except ReadError:
            self.unread_contents += 1
        return {path: title for path, title in titles.items() if title}


def _says(page: pages.Parsed, notes: Notes) -> bool:
    """Tell whether there is anything to read on a page."""
    everything = notes.everything
    return any(True for _ in pages.passages(page, Notes(), everything=everything))


def _describe(
    package: Package, source: str, *, doc_type: str | None, options: ReaderOptions
) -> Described:
    """Turn the package's own metadata into that of the document."""
    fields: dict[str, str] = {}
    named: list[tuple[str, str]] = []
    for element in package.elements:
        if element.name in {"manifest", "spine"}:
            break
        if element.name in {"title", "language"}:
            fields.setdefault(element.name, head.one_line(element.text))
        elif element.name == "meta":
            attributes = element.attributes
            name = attributes.get("name") or attributes.get("property") or ""
            named.append((name, attributes.get("content") or element.text))
        else:
            named.append((element.name, element.text))
    return head.describe_named(
        fields, named, source, doc_type=doc_type, keep=options.keep
    )
