"""Open a Word file: its parts, what relates them, and the XML inside.

The main part is found as the package says, not by its name. No part is parsed
that declares a document type, so there are no entities, and no part of more
elements than the limit.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from situate.errors import ReadError
from situate.readers.archive import Archive
from situate.readers.docx.names import child, local

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.etree import _Element

    from situate.errors import Refusal
    from situate.readers.options import Limits

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

_FOUND = (
    (b"{\\rtf", "an RTF document"),
    (b"%PDF-", "a PDF"),
    (b"<", "markup"),
    (b"\x1f\x8b", "a gzip archive"),
)

# What the archive of another kind of document holds.
_FOREIGN = (
    ("xl/workbook.xml", "an Excel workbook"),
    ("xl/workbook.bin", "an Excel workbook"),
    ("ppt/presentation.xml", "a PowerPoint presentation"),
    ("visio/document.xml", "a Visio drawing"),
    ("meta-inf/container.xml", "an EPUB book"),
    ("index/document.iwa", "a Pages document"),
)

_DOCTYPE = (
    b"<!DOCTYPE",
    "<!DOCTYPE".encode("utf-16-le"),
    "<!DOCTYPE".encode("utf-16-be"),
)

# In 59 real files parts of more than 1,000 elements had up to 1.8 attributes per
# element (2026-11), and libxml2 keeps some 250 bytes for each.
_ATTRIBUTES_PER_ELEMENT = 2

_LINES = re.compile(r"\s*\n.*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """Where one part points."""

    kind: str
    """The last word of its type: `styles`, `image`, `hyperlink`."""
    target: str
    """A path inside the package without a leading slash, or an address outside."""
    external: bool


class Package:
    """The parts of a Word file, parsed when they are asked for."""

    def __init__(self, data: bytes, source: str, limits: Limits) -> None:
        """Open the archive and find the main part.

        Raises:
            ReadError: it is no Word file, or lxml is not installed.
        """
        self._source = source
        self._left = limits.max_elements
        self._limits = limits
        self._related: dict[str, Mapping[str, Relationship]] = {}
        if not data.startswith(b"PK"):
            what, refusal = _instead(data)
            self._refuse(what, refusal)
        self._archive = Archive(data, source, limits)
        # Names of parts differ in more than their case.
        self._names = {_plain(name): name for name in self._archive.names}
        self.main = self._main()

    def document(self) -> _Element:
        """Parse the main part.

        Raises:
            ReadError: it is broken or no document of Word's.
        """
        root = self.parse(self.main)
        if root is None or child(root, "w:body") is None:
            message = f"{self._source}: {self.main!r} in it is no Word document"
            raise ReadError(message)
        return root

    def parse(self, part: str) -> _Element | None:
        """Parse a part; None when there is none of that name.

        Raises:
            ReadError: it is broken, declares a document type, or is too large.
        """
        name = self._names.get(_plain(part))
        if name is None:
            return None
        data = self._archive.read(name)
        if data is None:
            return None
        self._count(data)
        return _parsed(data, name, self._source)

    def relationships(self, part: str) -> Mapping[str, Relationship]:
        """Give what a part points to, by the ids it uses."""
        if part not in self._related:
            folder, base = posixpath.split(part)
            root = self.parse(posixpath.join(folder, "_rels", f"{base}.rels"))
            self._related[part] = _relationships(root, folder)
        return self._related[part]

    def related(self, part: str, kind: str) -> tuple[str, ...]:
        """Give the parts of one kind that a part points to.

        Where it points to none, the one that stands beside it under its usual name.
        """
        found = [
            to.target
            for to in self.relationships(part).values()
            if to.kind == kind and not to.external
        ]
        usual = posixpath.join(posixpath.dirname(part), f"{kind}.xml")
        if not found and _plain(usual) in self._names:
            found = [usual]
        return tuple(dict.fromkeys(found))

    def parsed(self, part: str, kind: str) -> _Element | None:
        """Parse the first part of a kind that a part points to."""
        for found in self.related(part, kind):
            return self.parse(found)
        return None

    def _main(self) -> str:
        found = self.related("", "officeDocument") or ("word/document.xml",)
        main = _plain(found[0])
        for name, what in _FOREIGN:
            if name in self._names and (main == name or main not in self._names):
                self._refuse(f"is {what}, expected a Word file (.docx)", "misnamed")
        if main not in self._names:
            kind = self._archive.read("mimetype") or b""
            if b"opendocument" in kind:
                self._refuse("is an OpenDocument file; save it as .docx", "misnamed")
            self._refuse("is a ZIP archive without a Word document in it", "misnamed")
        return found[0]

    def _refuse(self, what: str, refusal: Refusal) -> None:
        message = f"{self._source}: {what}"
        raise ReadError(message, refusal=refusal)

    def _count(self, data: bytes) -> None:
        """Refuse more elements than the limit before a tree is built of them."""
        self._left -= data.count(b"<") - data.count(b"</")
        attributes = data.count(b'="') + data.count(b"='")
        most = self._limits.max_elements
        if self._left < 0 or attributes > _ATTRIBUTES_PER_ELEMENT * most:
            self._refuse(
                f"has more than {most:,} elements or "
                f"{_ATTRIBUTES_PER_ELEMENT * most:,} attributes; split it",
                "limit",
            )


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def _instead(data: bytes) -> tuple[str, Refusal]:
    """Say what a file is that is no ZIP archive."""
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            return "is encrypted; save it without a password", "encrypted"
        what = "is an old Word file (.doc) or other old Office file; save it as .docx"
        return what, "legacy"
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:16]
    for signature, what in _FOUND:
        if start.startswith(signature):
            return (
                f"found {what}, expected a Word file (.docx), which is a ZIP archive",
                "misnamed",
            )
    if not data:
        return "is empty, expected a Word file (.docx)", "other"
    return "is no Word file (.docx), which is a ZIP archive", "misnamed"


def _parsed(data: bytes, name: str, source: str) -> _Element:
    try:
        from lxml import etree
    except ImportError as error:
        message = (
            f"{source}: reading .docx files needs lxml; "
            "install it with: pip install 'situate[docx]'"
        )
        raise ReadError(message, refusal="package") from error
    if any(mark in data for mark in _DOCTYPE):
        message = f"{source}: {name!r} in it declares a document type; Word never does"
        raise ReadError(message)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        message = f"{source}: {name!r} in it is broken XML ({_first_line(error)})"
        raise ReadError(message) from error
    # In an encoding that the search above cannot see through.
    if root.getroottree().docinfo.internalDTD is not None:
        message = f"{source}: {name!r} in it declares a document type; Word never does"
        raise ReadError(message)
    return root


def _first_line(error: Exception) -> str:
    said = _LINES.sub("", str(error)) or "no XML at all"
    # libxml2's own limits, which nobody meets by writing.
    if "depth" in said:
        return "it nests deeper than 256 levels"
    if "XML_PARSE_HUGE" in said:
        return "a text or element in it has more than 10 MB"
    return said


def _relationships(root: _Element | None, folder: str) -> dict[str, Relationship]:
    found: dict[str, Relationship] = {}
    for element in () if root is None else root:
        if local(element) != "Relationship":
            continue
        target = element.get("Target", "")
        external = element.get("TargetMode") == "External"
        if not external:
            path = unquote(target).replace("\\", "/")
            target = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
        found[element.get("Id", "")] = Relationship(
            kind=element.get("Type", "").rpartition("/")[2],
            target=target,
            external=external,
        )
    return found
