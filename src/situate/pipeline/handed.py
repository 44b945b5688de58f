"""Documents that somebody hands over, by their bytes, instead of a file to open."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from situate.corpus import Source, path_id
from situate.errors import ReadError, RecordError
from situate.given import given
from situate.readers.decoding import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A document and what is said of it, as a line of a manifest would."""

    name: str
    """Whose extension says how it is to be read; never opened. The id of a document
    that neither says its own nor is given one."""
    content: bytes
    doc_id: str | None = None
    version: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)


def source_of(handed: Handed) -> Source:
    """Give it the form in which documents are read.

    Raises:
        ReadError: the name is none, or what is said of it is not what it can be.
    """
    name = PurePath(handed.name.replace("\\", "/"))
    is_whole = clean(handed.name) == handed.name
    if not name.name or not is_whole or name.is_absolute() or ".." in name.parts:
        message = f"{handed.name!r} is no name of a document; name it like a file"
        raise ReadError(message)
    doc_id = path_id(name)
    try:
        said = given(
            handed.metadata,
            {"doc_id": handed.doc_id, "version": handed.version},
            said_in="what was handed over",
            where=doc_id,
        )
    except RecordError as error:
        raise ReadError(str(error)) from error
    return Source(path=Path(doc_id), doc_id=doc_id, given=said, content=handed.content)
