"""Read documents into the canonical tree, one module per format.

A reader takes bytes and gives a document; it opens nothing and fetches nothing.
Adding one means its module and its line in `_FORMATS`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from situate.collector import collector_paused
from situate.errors import ReadError
from situate.readers.decoding import Decoded, decode
from situate.readers.options import DEFAULTS, Limits, ReaderOptions
from situate.readers.tree import Read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Protocol

    class Format(Protocol):
        """A module that reads one format."""

        def read(
            self,
            data: bytes,
            source: str,
            *,
            doc_type: str | None = None,
            options: ReaderOptions = DEFAULTS,
        ) -> Read:
            """Read a document.

            Raises:
                ReadError: it is not what its name says, or beyond a limit.
            """

        def passages(self, data: bytes, source: str) -> Iterator[str]:
            """Yield all text of a document in the plainest way there is.

            It shares as little as it can with `read`, whose losses it shows.

            Raises:
                ReadError: as `read`.
            """


__all__ = [
    "Decoded",
    "Limits",
    "Read",
    "ReaderOptions",
    "decode",
    "extensions",
    "format_of",
    "missing_packages",
    "passages",
    "read",
]

_FORMATS: Mapping[str, str] = {
    ".docx": "docx",
    ".docm": "docx",
    ".dotx": "docx",
    ".dotm": "docx",
    ".pdf": "pdf",
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".txt": "text",
    ".text": "text",
    "": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".epub": "epub",
    ".json": "docling",
}
"""The modules by extension; each is imported when a file asks for it."""

_PACKAGES: Mapping[str, str] = {"docx": "lxml", "pdf": "pypdfium2"}
"""What a format needs beyond the core, by its module, whose name is the extra's."""

_LEGACY: Mapping[str, str] = {
    **dict.fromkeys((".doc", ".dot", ".rtf", ".wpd", ".wps"), ".docx"),
    **dict.fromkeys((".xls", ".xlt", ".ppt", ".pps", ".pot"), ".pdf"),
}
"""Formats older than those that are read, and what to save their files as."""


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a document with the reader that the extension of `source` names.

    `source` is a path with `/`; it becomes the document's id and
    `metadata.source`, and `doc_type` its type, unless the document says otherwise.

    Raises:
        ReadError: there is no reader for it, it is beyond a limit, or it is not
            what its name says.
    """
    most = options.limits.max_bytes
    if len(data) > most:
        message = f"{source}: is larger than {most:,} bytes, the limit; split it"
        raise ReadError(message, refusal="limit")
    found = _format(source)
    with collector_paused():
        return found.read(data, source, doc_type=doc_type, options=options)


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield all text of a document in reading order, by a way of its own.

    What `read` makes of the same bytes is measured by it.

    Raises:
        ReadError: as `read`.
    """
    return _format(source).passages(data, source)


def _format(source: str) -> Format:
    extension = PurePosixPath(source).suffix.lower()
    module = _FORMATS.get(extension)
    if extension in _LEGACY:
        message = (
            f"{source}: there is no reader for {extension!r} files, a format of old; "
            f"save it as {_LEGACY[extension]}"
        )
        raise ReadError(message, refusal="legacy")
    if module is None:
        message = (
            f"{source}: there is no reader for {extension!r} files; "
            f"situate reads {', '.join(extensions())} and files without an extension"
        )
        raise ReadError(message, refusal="unsupported")
    return cast("Format", import_module(f"situate.readers.{module}"))


def format_of(source: str) -> str | None:
    """Name the format that a file is read as; None where there is no reader."""
    return _FORMATS.get(PurePosixPath(source).suffix.lower())


def missing_packages() -> tuple[str, ...]:
    """Name the extras without which some formats cannot be read; imports nothing."""
    return tuple(extra for extra, name in _PACKAGES.items() if find_spec(name) is None)


def extensions() -> tuple[str, ...]:
    """Give the extensions that can be read, sorted."""
    return tuple(sorted(extension for extension in _FORMATS if extension))
