"""Finds the documents that a corpus's globs and manifests name.

Patterns are matched the same on every machine: case counts, names that start
with a dot match only patterns that do, `**` spans folders and does not follow
linked ones, so no loop of links can trap it.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass, replace
from fnmatch import translate
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from situate.errors import SituateError
from situate.files import is_folder, resolved
from situate.given import SIDECAR, find_sidecar

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from situate.given import Given
    from situate.listing import Listing
    from situate.validity import Keep

_MAGIC = re.compile(r"[*?\[]")

_NOT_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
"""What the system says of a name that nothing has; all else leaves it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file to read and the id its path gives the document."""

    path: Path
    """For what was handed over, a name alone, which is never opened."""
    doc_id: str
    given: Given | None = None
    """What a manifest says of it, or whoever handed it over."""
    sidecar: Path | None = None
    """The file beside it that says more."""
    content: bytes | None = None
    """What is to be read, where it was handed over and stands in no file."""

    @property
    def named(self) -> str:
        """The id it has unless the document or its sidecar names one."""
        return (self.given and self.given.doc_id) or self.doc_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Why there may be more documents than were found, and where."""

    reason: str
    below: Path | None = None
    """The folder or file that they would be, or lie below; None where that may be
    anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The documents that were found, and whether those are all."""

    sources: tuple[Source, ...]
    gaps: tuple[Gap, ...]
    """What is to be found and is not: globs that match nothing, manifests that list
    nothing, folders that may not be read. Empty where there is none of it."""
    left_out: tuple[Path, ...] = ()
    """Files that globs match and manifests delete."""
    doubts: tuple[Gap, ...] = ()
    """What may hide documents, and is no reason not to work on the others: links and
    folders that lead nowhere, names that may not be asked about."""


class Places:
    """Tells whether two paths name one file, links of folders followed.

    A link to a file is a document of its own.
    """

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: Path) -> str:
        """Give a text that is the same for all paths that lead to a place."""
        # A path of its own for each of 100,000 parents takes two seconds.
        folder, name = os.path.split(path)
        found = self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = str(resolved(path.parent))
        return f"{found}{os.sep}{name}"


def find(
    patterns: Sequence[str],
    folder: Path,
    *,
    excluded: Collection[Path] = (),
    listings: Sequence[Listing] = (),
    keep: Keep = "latest",
) -> tuple[Source, ...]:
    """Give the files that globs relative to `folder` match, sorted by id.

    What `survey` gives, where it is complete.

    Raises:
        SituateError: a glob matches nothing, a manifest lists nothing, no document
            is left, or two files would bear one id.
    """
    found = survey(patterns, folder, excluded=excluded, listings=listings, keep=keep)
    for gap in found.gaps:
        raise SituateError(gap.reason)
    return found.sources


def survey(
    patterns: Sequence[str],
    folder: Path,
    *,
    excluded: Collection[Path] = (),
    listings: Sequence[Listing] = (),
    keep: Keep = "latest",
) -> Found:
    """Give the files that globs match, and why there may be more.

    A file that several globs match belongs to the first. `excluded` are resolved
    files and folders that are never documents: what situate writes itself, and
    manifests. What manifests list comes too, what they say holds for whatever has
    matched their documents, and what they delete is left out. Where every wording is
    kept, files of one id may be several of them, which shows when they are read.

    Raises:
        SituateError: two files would bear one id.
    """
    gaps = [
        Gap(reason=f"manifest {str(listing.path)!r} lists nothing")
        for listing in listings
        if not listing.entries
    ]
    walk = _Walk(gaps=gaps)
    found: dict[Path, str] = {}
    for pattern in patterns:
        matched = False
        for path, doc_id in _matches(pattern, folder, walk):
            if _is_ours(path, excluded):
                continue
            matched = True
            found.setdefault(path, doc_id)
        if not matched:
            reason = f"glob {pattern!r} matches nothing below {str(folder)!r}"
            gaps.append(Gap(reason=reason, below=folder / fixed_part(pattern)))
    sources = (
        _listed(found, listings)
        if listings
        else [Source(path=path, doc_id=doc_id) for path, doc_id in found.items()]
    )
    if not sources and not gaps:
        reason = f"manifests of {str(folder)!r} list no document that is not deleted"
        gaps.append(Gap(reason=reason))
    sources.sort(key=lambda source: (source.doc_id, source.path))
    ids: dict[str, Path] = {}
    for source in sources if keep == "latest" else ():
        other = ids.setdefault(source.named, source.path)
        if other != source.path:
            raise same_id(source.named, other, source.path)
    kept = {source.path for source in sources}
    return Found(
        left_out=tuple(path for path in found if path not in kept),
        sources=tuple(
            replace(source, sidecar=sidecar)
            if (sidecar := find_sidecar(source.path)) is not None
            else source
            for source in sources
        ),
        gaps=tuple(gaps),
        doubts=tuple(walk.doubts),
    )


def contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """Give what a folder holds for a glob that ends in `**/*`.

    That is what may be documents, and the folders to go on with.

    Raises:
        SituateError: it may not be read.
    """
    walk = _Walk()
    entries = walk.entries(folder, "*")
    below = walk.folders(folder)
    if walk.gaps:
        raise SituateError(walk.gaps[0].reason)
    return [path for path in entries if _may_be_document(path)], below


def _may_be_document(path: Path) -> bool:
    # An office program keeps `~$NAME` beside what it has open.
    if path.name.startswith("~$") or path.name.endswith(SIDECAR):
        return False
    return not is_folder(path)


def _matches(pattern: str, folder: Path, walk: _Walk) -> Iterator[tuple[Path, str]]:
    """Yield what may be a document, with the id its path gives it."""
    fixed, rest = _split(pattern)
    start = folder / fixed
    for path in walk.below(start, rest):
        if _may_be_document(path):
            yield path, path_id(path.relative_to(start))


def _listed(found: Mapping[Path, str], listings: Iterable[Listing]) -> list[Source]:
    """Put what manifests list beside what globs have found, or in its place."""
    place = Places()
    sources: dict[str | None, Source] = {}
    for path, doc_id in found.items():
        sources.setdefault(place.of(path), Source(path=path, doc_id=doc_id))
    deleted: set[str] = set()
    for entry in (entry for listing in listings for entry in listing.entries):
        at = None if entry.source is None else place.of(entry.source.path)
        if entry.op == "delete":
            if entry.wording is None:
                deleted.add(entry.doc_id)
            sources.pop(at, None)
        elif entry.source is not None:
            source = sources.get(at, entry.source)
            sources[at] = replace(source, given=entry.source.given)
    return [source for source in sources.values() if source.named not in deleted]


def same_wording(
    doc_id: str, effective_from: str | None, one: Path, other: Path
) -> SituateError:
    """Give the error for two documents that are one wording."""
    since = "no effective_from"
    if effective_from is not None:
        since = f"effective_from {effective_from}"
    message = (
        f"{str(one)!r} and {str(other)!r} both have doc_id {doc_id!r} and {since}; "
        "wordings of one document begin on different days"
    )
    return SituateError(message)


def same_id(doc_id: str, one: Path, other: Path) -> SituateError:
    """Give the error for two documents that bear one id."""
    message = (
        f"{str(one)!r} and {str(other)!r} both have doc_id {doc_id!r}; "
        "start the glob one folder higher, or give one another doc_id in a manifest"
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


def fixed_part(pattern: str) -> Path:
    """Give the folder that all matches of a glob lie below, or the file it names."""
    fixed, rest = _split(pattern)
    return fixed if any(map(_MAGIC.search, rest)) else fixed.joinpath(*rest)


class _Walk:
    """Looks into folders, and notes what it could not see."""

    def __init__(self, gaps: list[Gap] | None = None) -> None:
        self.gaps = [] if gaps is None else gaps
        self.doubts: list[Gap] = []
        self._start: Path | None = None
        self._last: tuple[Path, list[os.DirEntry[str]]] | None = None

    def below(self, start: Path, names: Sequence[str]) -> Iterator[Path]:
        """Yield what matches below a folder, which need not be there itself."""
        self._start = start
        # Pairs of a folder and the names still to match.
        waiting = [(start, tuple(names))] if names else []
        # Two `**` can lead to one folder by two ways.
        visited = set()
        while waiting:
            folder, (name, *rest) = waiting.pop()
            if (folder, len(rest)) in visited:
                continue
            visited.add((folder, len(rest)))
            if name == "**":
                waiting += [(each, (name, *rest)) for each in self.folders(folder)]
                if rest:
                    waiting.append((folder, tuple(rest)))
                else:
                    yield from self.entries(folder, "*")
            elif rest:
                waiting += [(each, tuple(rest)) for each in self.entries(folder, name)]
            else:
                yield from self.entries(folder, name)

    def folders(self, folder: Path) -> list[Path]:
        """Give the folders inside, but hidden and linked ones."""
        found = []
        for entry in self._scan(folder):
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    found.append(folder / entry.name)
            except OSError as error:
                self._close(folder / entry.name, error)
        return found

    def entries(self, folder: Path, name: str) -> list[Path]:
        """Give what in a folder has a name that matches."""
        if not _MAGIC.search(name):
            path = folder / name
            return [path] if self._is_there(path) else []
        matches: Callable[[str], object] = re.compile(translate(name)).match
        hidden = name.startswith(".")
        return [
            folder / entry.name
            for entry in self._scan(folder)
            if entry.name.startswith(".") == hidden and matches(entry.name)
        ]

    def _is_there(self, path: Path) -> bool:
        """Tell whether there is anything; a link that leads nowhere is something."""
        try:
            path.lstat()
        except OSError as error:
            if error.errno not in _NOT_THERE:
                reason = f"{str(path)!r} cannot be looked for: {error.strerror}"
                self._doubt(reason, path)
            return False
        return True

    def _scan(self, folder: Path) -> list[os.DirEntry[str]]:
        """List a folder; what is none has nothing in it.

        One that may not be read is a gap: documents would be missed.
        """
        if self._last is not None and self._last[0] == folder:
            return self._last[1]
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except NotADirectoryError:
            pass
        except FileNotFoundError:
            if folder != self._start:
                # It was there a moment ago.
                led = "link" if folder.is_symlink() else "folder"
                self._doubt(f"{led} {str(folder)!r} leads nowhere", folder)
        except OSError as error:
            self._close(folder, error)
        self._last = folder, found
        return found

    def _close(self, folder: Path, error: OSError) -> None:
        reason = f"folder {str(folder)!r} cannot be read: {error.strerror}"
        gap = Gap(reason=reason, below=folder)
        # Several patterns may lead to it.
        if gap not in self.gaps:
            self.gaps.append(gap)

    def _doubt(self, reason: str, below: Path) -> None:
        gap = Gap(reason=reason, below=below)
        if gap not in self.doubts:
            self.doubts.append(gap)


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
