"""Finds the documents that a corpus's globs name.

Patterns are matched the same on every machine: case counts, names that start
with a dot match only patterns that do, `**` spans folders and does not follow
linked ones, so no loop of links can trap it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from situate.errors import SituateError
from situate.files import is_folder, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read and the id its path gives the document."""

    path: Path
    doc_id: str


def find(
    patterns: Sequence[str], folder: Path, *, excluded: Collection[Path] = ()
) -> tuple[Source, ...]:
    """Give the files that globs relative to `folder` match, sorted by id.

    A file that several globs match belongs to the first. `excluded` are resolved
    files and folders that are never documents: what situate writes itself.

    Raises:
        SituateError: a glob matches nothing, or two files would bear one id.
    """
    found: dict[Path, str] = {}
    for pattern in patterns:
        fixed, rest = _split(pattern)
        start = folder / fixed
        matched = False
        for path in _walk(start, rest):
            # An office program keeps `~$NAME` beside what it has open.
            if path.name.startswith("~$") or is_folder(path):
                continue
            if _is_ours(path, excluded):
                continue
            matched = True
            found.setdefault(path, path_id(path.relative_to(start)))
        if not matched:
            message = f"glob {pattern!r} matches nothing below {str(folder)!r}"
            raise SituateError(message)
    sources = sorted(
        (Source(path=path, doc_id=doc_id) for path, doc_id in found.items()),
        key=lambda source: (source.doc_id, source.path),
    )
    ids: dict[str, Path] = {}
    for source in sources:
        other = ids.setdefault(source.doc_id, source.path)
        if other != source.path:
            raise same_id(source.doc_id, other, source.path)
    return tuple(sources)


def same_id(doc_id: str, one: Path, other: Path) -> SituateError:
    """Give the error for two documents that bear one id."""
    message = (
        f"{str(one)!r} and {str(other)!r} both have doc_id {doc_id!r}; "
        "start the glob one folder higher, or name a doc_id in the front matter"
    )
    return SituateError(message)


def _split(pattern: str) -> tuple[Path, tuple[str, ...]]:
    """Cut a glob into the part without wildcards and the names after it.

    The last name is never part of the first, so that it remains an id.
    """
    parts = PurePath(pattern).parts
    fixed = next(
        (n for n, part in enumerate(parts) if _MAGIC.search(part)), len(parts) - 1
    )
    return Path(*parts[:fixed]), parts[fixed:]


def _walk(start: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield what matches below a folder; pairs of folder and names still to match."""
    waiting = [(start, tuple(names))] if names else []
    # Two `**` can lead to one folder by two ways.
    visited = set()
    while waiting:
        folder, (name, *rest) = waiting.pop()
        if (folder, len(rest)) in visited:
            continue
        visited.add((folder, len(rest)))
        if name == "**":
            waiting.extend((below, (name, *rest)) for below in _folders(folder))
            if rest:
                waiting.append((folder, tuple(rest)))
            else:
                yield from _entries(folder, "*")
        elif rest:
            waiting.extend((below, tuple(rest)) for below in _entries(folder, name))
        else:
            yield from _entries(folder, name)


def _folders(folder: Path) -> list[Path]:
    """Give the folders inside, but hidden and linked ones."""
    return [
        folder / entry.name
        for entry in _scan(folder)
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
    ]


def _entries(folder: Path, name: str) -> list[Path]:
    """Give what in a folder has a name that matches."""
    if not _MAGIC.search(name):
        path = folder / name
        # A broken link is there, and a name too long for the system is not.
        return [path] if os.path.lexists(path) else []
    matches: Callable[[str], object] = re.compile(translate(name)).match
    hidden = name.startswith(".")
    return [
        folder / entry.name
        for entry in _scan(folder)
        if entry.name.startswith(".") == hidden and matches(entry.name)
    ]


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    """List a folder; what is none has nothing in it.

    Raises:
        SituateError: it may not be read, and documents would be missed.
    """
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        message = f"folder {str(folder)!r} cannot be read: {error.strerror}"
        raise SituateError(message) from error


def _is_ours(path: Path, excluded: Collection[Path]) -> bool:
    if not excluded:
        return False
    real = resolved(path)
    return any(real == own or own in real.parents for own in excluded)


def path_id(path: PurePath) -> str:
    """Give a path as an id: the same on every system, and always text."""
    # Names that are no UTF-8 arrive as lone surrogates, which no record can hold.
    raw = path.as_posix().encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")
