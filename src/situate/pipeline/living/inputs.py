"""Tells whether a document is made from what it was made from before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from situate.files import opened

if TYPE_CHECKING:
    from pathlib import Path

    from situate.corpus import Source

_PIECE = 1024 * 1024
"""Bytes of a file that are read at a time."""


def hash_of(source: Source, most: int) -> str | None:
    """Hash all that a document is made from; None where it cannot be opened.

    Of a file `most` bytes and one more count, as a reader takes no longer one.
    """
    hashed = hashlib.sha256(_said(source).encode("utf-8", "surrogatepass"))
    try:
        for path in (source.path, source.sidecar):
            if path is not None:
                hashed.update(_digest(path, most))
    except OSError:
        return None
    return hashed.hexdigest()


def size_of(source: Source) -> str:
    """Give what can be told of a file that cannot be opened."""
    try:
        return str(source.path.lstat().st_size)
    except OSError:
        return ""


def _digest(path: Path, most: int) -> bytes:
    """Hash a file, no further than a reader would accept.

    Raises:
        OSError: it cannot be read.
    """
    hashed, left = hashlib.sha256(), most + 1
    with opened(path) as file:
        while left and (piece := file.read(min(_PIECE, left))):
            hashed.update(piece)
            left -= len(piece)
    return hashed.digest()


def _said(source: Source) -> str:
    """Give what a document's path and a manifest say of it, but not where."""
    given = source.given
    told = (
        None if given is None else [given.doc_id, given.version, asdict(given.metadata)]
    )
    return json.dumps([source.doc_id, told, source.sidecar is None], sort_keys=True)
