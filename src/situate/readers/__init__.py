"""Read documents into the canonical tree, one module per format.

A reader takes bytes and gives a document; it opens nothing and fetches nothing.
Adding one means its module and its line in `_READERS`.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from situate.errors import ReadError
from situate.readers import markdown, text
from situate.readers.decoding import Decoded, decode
from situate.readers.tree import Read

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Reader(Protocol):
        """Reads one format."""

        def __call__(
            self, data: bytes, source: str, *, doc_type: str | None = None
        ) -> Read:
            """Read a document.

            Raises:
                ReadError: it is not what its name says.
            """


__all__ = ["MAX_BYTES", "Decoded", "Read", "decode", "extensions", "read"]

MAX_BYTES = 64 * 1024 * 1024
"""Larger input is refused: it is data, and a tree of it takes gigabytes."""

_READERS: Mapping[str, Reader] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".mdown": markdown.read,
    ".mkd": markdown.read,
    ".txt": text.read,
    ".text": text.read,
    "": text.read,
}


def read(data: bytes, source: str, *, doc_type: str | None = None) -> Read:
    """Read a document with the reader that the extension of `source` names.

    `source` is a path with `/`; it becomes the document's id and
    `metadata.source`, and `doc_type` its type, unless the document says otherwise.

    Raises:
        ReadError: there is no reader for it, it is larger than `MAX_BYTES`, or
            it is not what its name says.
    """
    extension = PurePosixPath(source).suffix.lower()
    reader = _READERS.get(extension)
    if reader is None:
        message = (
            f"{source}: there is no reader for {extension!r} files; "
            f"situate reads {', '.join(extensions())} and files without an extension"
        )
        raise ReadError(message)
    if len(data) > MAX_BYTES:
        message = f"{source}: has {len(data)} bytes, the limit is {MAX_BYTES}; split it"
        raise ReadError(message)
    return reader(data, source, doc_type=doc_type)


def extensions() -> tuple[str, ...]:
    """Give the extensions that can be read, sorted."""
    return tuple(sorted(extension for extension in _READERS if extension))
