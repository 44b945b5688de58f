"""Reads manifests: files that list a corpus's documents, one a line.

A line is a JSON object of `path`, `doc_id`, `version`, `op` and `metadata`. Paths
lead from the manifest's folder downwards, so that one from elsewhere cannot have
other files read. A manifest is right as a whole or not used at all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, Literal, cast

from situate.collector import collector_paused
from situate.corpus import Places, Source, path_id
from situate.errors import ConfigError, RecordError
from situate.fields import Fields
from situate.files import opened
from situate.given import given
from situate.records import from_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from situate.given import Given
    from situate.validity import Keep

_MAX_LINE: Final = 1024 * 1024
"""Bytes of a line; a file without line ends is no manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Which wording of a document a line deletes, of several that an index keeps."""

    version: str | None
    effective_from: str | None

    def names(self, versions: Collection[str], effective_from: str | None) -> bool:
        """Tell whether that is the one with these versions and this first day."""
        return (self.version is None or self.version in versions) and (
            self.effective_from in {None, effective_from}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One document of a manifest."""

    where: str
    """File and line, for errors."""
    said_in: str
    """The same as the config names the file, for what is written."""
    op: Literal["upsert", "delete"]
    doc_id: str
    """The id it goes by, unless the document itself names one."""
    source: Source | None
    """None only for one that is deleted by its id, without a path."""
    wording: Wording | None = None
    """The only one that is deleted; None where that is the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What one manifest lists."""

    path: Path
    """The manifest."""
    entries: tuple[Entry, ...]


def read_listing(path: Path, name: str, keep: Keep = "latest") -> Listing:
    """Read a manifest; `name` is what it goes by in warnings.

    Where every wording is kept, a line that names one deletes no other.

    Raises:
        ConfigError: it cannot be read, or a line is wrong; names file and line.
    """
    entries = []
    try:
        with collector_paused():
            for number, line in _lines(path):
                where = f"{path}:{number}"
                entries.append(_entry(line, path, where, f"{name}:{number}", keep))
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise ConfigError(message) from error
    except RecordError as error:
        raise ConfigError(str(error)) from error
    return Listing(path=path, entries=tuple(entries))


def check_together(listings: Iterable[Listing], keep: Keep = "latest") -> None:
    """Find out whether the manifests of one corpus agree with each other.

    Where every wording is kept, lines may speak of several of one document: those of
    files, whose dates are known when they are read, or of single ones to delete.

    Raises:
        ConfigError: two lines speak of one document.
    """
    ids: dict[str, Entry] = {}
    places: dict[str, str] = {}
    place = Places()
    for entry in (entry for listing in listings for entry in listing.entries):
        first = ids.setdefault(entry.doc_id, entry)
        if first is not entry and not (
            keep == "all" and _is_one_of_several(first) and _is_one_of_several(entry)
        ):
            message = (
                f"{entry.where}: doc_id {entry.doc_id!r} stands in {first.where} too"
            )
            raise ConfigError(message)
        if entry.source is not None:
            other = places.setdefault(place.of(entry.source.path), entry.where)
            if other != entry.where:
                name = entry.source.doc_id
                message = f"{entry.where}: path {name!r} stands in {other} too"
                raise ConfigError(message)


def _is_one_of_several(entry: Entry) -> bool:
    return entry.op == "upsert" or entry.wording is not None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that say something, with their numbers.

    Raises:
        OSError: the file cannot be read.
        RecordError: a line is too long for one.
    """
    with opened(path) as file:
        number = 0
        while line := file.readline(_MAX_LINE + 1):
            number += 1
            if len(line) > _MAX_LINE:
                message = f"{path}:{number}: is longer than {_MAX_LINE:,} bytes"
                raise RecordError(message)
            if line.strip():
                yield number, line


def _entry(line: bytes, manifest: Path, where: str, said_in: str, keep: Keep) -> Entry:
    record = from_line(line, where)
    fields = Fields(
        {key: record[key] for key in record if record[key] is not None}, where
    )
    op = fields.choice("op", ("upsert", "delete")) if "op" in fields else "upsert"
    path = _path(fields.text("path"), where) if "path" in fields else None
    beside = {key: fields.take(key) for key in ("doc_id", "version") if key in fields}
    metadata = fields.object("metadata") if "metadata" in fields else {}
    fields.end()
    said = given(metadata, beside, said_in=said_in, where=where)
    source = None
    if path is not None:
        source = Source(path=manifest.parent / path, doc_id=path_id(path), given=said)
    doc_id = said.doc_id or (None if source is None else source.doc_id)
    if doc_id is None or (op == "upsert" and source is None):
        needed = "path is" if op == "upsert" else "path and doc_id are"
        message = f"{where}: {needed} missing"
        raise RecordError(message)
    return Entry(
        where=where,
        said_in=said_in,
        op=cast("Literal['upsert', 'delete']", op),
        doc_id=doc_id,
        source=source,
        wording=_wording(said, where) if op == "delete" and keep == "all" else None,
    )


def _wording(said: Given, where: str) -> Wording | None:
    """Give the wording that a line names, None where it names none.

    Raises:
        RecordError: it does not say of what.
    """
    first = said.metadata.effective_from
    if said.version is None and first is None:
        return None
    if said.doc_id is None:
        message = f"{where}: doc_id is missing: of which document is the wording?"
        raise RecordError(message)
    return Wording(version=said.version, effective_from=first)


def _path(text: str, where: str) -> PurePath:
    """Accept what can only lead to a file below the manifest's folder.

    Raises:
        RecordError: it leads elsewhere, or nowhere.
    """
    path = PurePath(text)
    wrong = None
    if path.anchor:
        wrong = "is absolute"
    elif ".." in path.parts:
        wrong = "has '..'"
    elif not path.parts or "\0" in text or not _is_name(text):
        wrong = "names no file"
    if wrong is not None:
        message = (
            f"{where}: path {text!r:.100} {wrong}; "
            "name a file at or below the manifest's folder"
        )
        raise RecordError(message)
    return path


def _is_name(text: str) -> bool:
    """Tell whether the file system could have such a name."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True
