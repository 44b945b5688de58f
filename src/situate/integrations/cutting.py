"""Cuts documents that a framework hands over as text with metadata.

They are read and cut as those of a corpus are: what their metadata says counts as what
a manifest says. A framework knows no document that failed, so a bad one raises.
"""

from __future__ import annotations

import codecs
import logging
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from situate.config import load, load_cutting
from situate.errors import ConfigError, ReadError
from situate.pipeline.documents import Preparer
from situate.pipeline.handed import Handed, source_of
from situate.readers import format_of
from situate.readers.decoding import as_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from situate.chunking import Rules
    from situate.corpus import Source
    from situate.model import Chunk, JsonValue

_BESIDE: Final = ("doc_id", "version")
"""What a manifest says beside metadata, and a framework in it."""

_PACKED: Final = frozenset({"docx", "epub", "pdf"})
"""Formats that are no text, whatever has been taken out of their files."""

_URL: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A document as a framework has it."""

    text: str
    metadata: Mapping[str, object]
    place: str
    """What to call it in messages while its name is not known."""


def preparer_of(rules: Rules | None, config: str | Path | None) -> Preparer:
    """Make what reads and cuts documents: by rules, or as a corpus's config says.

    Without either it is by the defaults, under the environment's `SITUATE_*`.

    Raises:
        ConfigError: both are given, or the config cannot be used.
    """
    if config is None:
        preparer = Preparer.cutting(load_cutting({}, environment=os.environ))
        return preparer if rules is None else replace(preparer, rules=rules)
    if rules is not None:
        message = f"{str(config)!r} has rules of its own; give rules or a config"
        raise ConfigError(message)
    (found,) = load([Path(config)], environment=os.environ)
    return Preparer.of(found)


def cut(
    documents: Iterable[Loaded], preparer: Preparer, *, named_by: str
) -> list[tuple[Chunk, ...]]:
    """Cut documents into chunks, those of each on their own.

    `named_by` is the key of metadata that names a document; the end of the name says
    how its text is read. What a reader leaves out is logged as a warning.

    Raises:
        ReadError: a document has no name or cannot be read, or two have one id.
    """
    names: dict[str, str] = {}
    found = []
    for loaded in documents:
        source = _source(loaded, named_by)
        prepared = preparer.prepare(source)
        if prepared.doc_id in names:
            raise _same_id(prepared.doc_id, names[prepared.doc_id], source.doc_id)
        names[prepared.doc_id] = source.doc_id
        for warning in prepared.warnings:
            _log.warning("%s: %s", source.doc_id, warning)
        found.append(prepared.chunks)
    return found


def _source(loaded: Loaded, named_by: str) -> Source:
    """Give a document as the pipeline takes it.

    Raises:
        ReadError: it has no name, or one that its text cannot have.
    """
    said = loaded.metadata.get(named_by)
    if not isinstance(said, str) or not as_name(said):
        message = (
            f"{loaded.place}: metadata[{named_by!r}], which is to name it, is {said!r}"
        )
        raise ReadError(message)
    name, doc_id = _named(said)
    found = format_of(name)
    if found in _PACKED:
        message = (
            f"{said}: is text by now and named as a {found} file; give the file itself "
            f"to `situate run`, or name the text {name}.txt or {name}.md"
        )
        raise ReadError(message, refusal="misnamed")
    metadata = {
        str(key): value for key, value in loaded.metadata.items() if key != named_by
    }
    beside = {
        key: str(value)
        for key in _BESIDE
        if (value := metadata.pop(key, None)) is not None
    }
    metadata.setdefault("source", said)
    handed = Handed(
        name=name,
        content=_content(loaded.text, said),
        doc_id=beside.get("doc_id", doc_id),
        version=beside.get("version"),
        metadata=cast("Mapping[str, JsonValue]", metadata),
    )
    return source_of(handed)


def _named(said: str) -> tuple[str, str | None]:
    """Give the name by which a text is read, and the id if that is another.

    A URL is an id as it stands. Of an absolute path only the file name is, as it would
    be another one on another machine.
    """
    if _URL.match(said):
        return PurePosixPath(urlsplit(said).path).name or "page", said
    path = PurePosixPath(said.replace("\\", "/"))
    return path.name if path.is_absolute() else said, None


def _content(text: str, name: str) -> bytes:
    """Give a text as the bytes of a file.

    Raises:
        ReadError: it has no place in UTF-8.
    """
    try:
        encoded = text.removeprefix("\ufeff").encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"{name}: character {error.start} is half a surrogate pair"
        raise ReadError(message) from error
    # The mark keeps HTML that names another encoding from being read in it.
    return codecs.BOM_UTF8 + encoded


def _same_id(doc_id: str, one: str, other: str) -> ReadError:
    message = f"{other}: has doc_id {doc_id!r}, which {one!r} has"
    if one == other:
        message = (
            f"{other}: is handed over twice; hand over a document whole, not page by "
            "page, and under a name of its own"
        )
    return ReadError(message)
