"""Read the small XML files of a book as a list of elements.

Nothing is fetched and nothing nests in Python, so neither external entities nor
depth matter; a file that declares entities of its own is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from situate.errors import ReadError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class Element:
    """An element by its name without namespace, in the order of its start."""

    name: str
    attributes: Mapping[str, str]
    text: str = ""
    """The text directly inside it."""


@dataclass(slots=True)
class _Elements:
    """Collects elements while expat reads."""

    source: str
    most: int
    found: list[Element] = field(default_factory=list)
    _open: list[tuple[Element, list[str]]] = field(default_factory=list)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self.found) >= self.most:
            message = f"{self.source} has more than {self.most:,} elements, the limit"
            raise ReadError(message, refusal="limit")
        plain = {_local(key): value for key, value in attributes.items()}
        element = Element(_local(name), plain)
        self.found.append(element)
        self._open.append((element, []))

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1][1].append(text)

    def end(self, _name: str) -> None:
        element, texts = self._open.pop()
        element.text = " ".join("".join(texts).split())

    def entity(self, name: str, *_: object) -> None:
        message = f"{self.source} declares the entity {name!r}, which no book needs"
        raise ReadError(message)


def elements(data: bytes, source: str, *, max_elements: int) -> list[Element]:
    """Give the elements of an XML file in reading order.

    `source` says whose file it is: `book.epub: 'content.opf' in it`.

    Raises:
        ReadError: it is no XML, declares entities, or has too many elements.
    """
    collected = _Elements(source, max_elements)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = collected.start
    parser.EndElementHandler = collected.end
    parser.CharacterDataHandler = collected.text
    parser.EntityDeclHandler = collected.entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"{source} is no XML ({error})"
        raise ReadError(message) from error
    return collected.found


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
