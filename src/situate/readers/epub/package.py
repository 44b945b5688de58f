"""Find what a book consists of: its package document, spine and contents."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from situate.errors import ReadError
from situate.readers.archive import Archive
from situate.readers.epub.xml_elements import Element, elements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.readers.options import Limits

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"

_NO_TEXT = ("image/", "audio/", "video/", "font/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A file of the book, as its manifest lists it."""

    path: str
    """Inside the archive."""
    media_type: str
    properties: frozenset[str]

    @property
    def is_navigation(self) -> bool:
        """Tell whether it is the book's table of contents."""
        return "nav" in self.properties


Reference: TypeAlias = tuple[str, str]
"""A target as it is written, and what it is called."""


class Package:
    """A book that has been opened, each of its files read when it is asked for."""

    def __init__(self, data: bytes, source: str, limits: Limits) -> None:
        """Open a book.

        Raises:
            ReadError: it is no EPUB file, damaged, protected, or beyond a limit.
        """
        if not data.startswith(b"PK"):
            message = f"{source}: is no EPUB file, which is a ZIP archive"
            raise ReadError(message, refusal="misnamed")
        self._source = source
        self._limits = limits
        self._archive = Archive(data, source, limits)
        self._names = frozenset(self._archive.names)
        self._folded = {name.casefold(): name for name in self._archive.names}
        path = self._package_path()
        self._folder = posixpath.dirname(path)
        self.elements = self._elements(path)
        """All elements of the package document."""
        self._items = self._manifest()
        self.missing = 0
        """Entries of the spine that lead nowhere."""
        self.has_spine = True
        self.pages = self._spine()
        """The documents in reading order."""
        if not self.pages:
            self.has_spine = False
            self.pages = tuple(
                item for item in self._items.values() if "html" in item.media_type
            )
        self._refuse_protected()

    def read(self, item: Item) -> bytes:
        """Unpack a file of the book.

        Raises:
            ReadError: it is damaged.
        """
        return self._archive.read(item.path) or b""

    def contents(self) -> Iterator[tuple[Item, Iterator[Reference]]]:
        """Yield the tables of contents in XML, each with its references.

        Raises:
            ReadError: one is no XML.
        """
        for item in self._items.values():
            if item.media_type == "application/x-dtbncx+xml":
                yield item, _references(self._elements(item.path))

    @property
    def navigation(self) -> tuple[Item, ...]:
        """The navigation documents, which are pages."""
        return tuple(item for item in self._items.values() if item.is_navigation)

    def path(self, item: Item, href: str) -> str | None:
        """Give the file that a reference in another names, None for none."""
        return self._path(posixpath.dirname(item.path), href)

    def _package_path(self) -> str:
        """Give the path of the package document."""
        if _CONTAINER in self._names:
            for element in self._elements(_CONTAINER):
                path = self._path("", element.attributes.get("full-path", ""))
                if element.name == "rootfile" and path is not None:
                    return path
        for name in self._archive.names:
            if name.endswith(".opf"):
                return name
        message = f"{self._source}: is no EPUB file: {_CONTAINER} names no package"
        raise ReadError(message)

    def _elements(self, path: str) -> list[Element]:
        return elements(
            self._archive.read(path) or b"",
            f"{self._source}: {path!r} in it",
            max_elements=self._limits.max_elements,
        )

    def _manifest(self) -> dict[str, Item]:
        items: dict[str, Item] = {}
        for element in self.elements:
            if element.name != "item":
                continue
            path = self._path(self._folder, element.attributes.get("href", ""))
            if path is not None:
                items[element.attributes.get("id", "")] = Item(
                    path=path,
                    media_type=element.attributes.get("media-type", "").lower(),
                    properties=frozenset(
                        element.attributes.get("properties", "").split()
                    ),
                )
        return items

    def _spine(self) -> tuple[Item, ...]:
        """Give the documents in the order of the spine, each once.

        What is not linear (notes, answers) is read where the spine has it.
        """
        pages: dict[str, Item] = {}
        for element in self.elements:
            if element.name != "itemref":
                continue
            item = self._items.get(element.attributes.get("idref", ""))
            if item is None:
                self.missing += 1
            elif not item.media_type.startswith(_NO_TEXT) or "svg" in item.media_type:
                pages.setdefault(item.path, item)
        return tuple(pages.values())

    def _path(self, folder: str, href: str) -> str | None:
        """Give the file of the archive that a reference names, None for none."""
        name = href.partition("#")[0]
        for written in (unquote(name), name):
            path = posixpath.normpath(posixpath.join(folder, written)).lstrip("/")
            found = self._folded.get(path.casefold())
            if found is not None and name:
                return path if path in self._names else found
        return None

    def _refuse_protected(self) -> None:
        if _ENCRYPTION not in self._names:
            return
        paths = {page.path for page in self.pages}
        for element in self._elements(_ENCRYPTION):
            uri = element.attributes.get("URI", "")
            if element.name == "CipherReference" and self._path("", uri) in paths:
                message = (
                    f"{self._source}: is protected (DRM): {uri!r} in it is encrypted; "
                    "get a copy without protection"
                )
                raise ReadError(message, refusal="encrypted")


def _references(found: list[Element]) -> Iterator[Reference]:
    """Yield what an NCX file refers to: a label, then its target."""
    label = ""
    for element in found:
        if element.name == "text":
            label = element.text
        elif element.name == "content":
            yield element.attributes.get("src", ""), label
