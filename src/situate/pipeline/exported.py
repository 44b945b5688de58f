"""Knows the files of an export, so that the next one takes their place and no other's.

An export lists itself in a file among the others. What is not in that list is
somebody's own, whatever its name: a folder that holds any is left as it is.
"""

from __future__ import annotations

import json
import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from situate import files
from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIST: Final = ".situate-export.json"
"""The name of the list, which is in it as well."""

_SCHEMA: Final = 1


def listing(folder: Path) -> bytes:
    """Give the list of all that stands in the folder of an export.

    Raises:
        OSError: the file system refuses.
    """
    names = sorted([LIST, *_entries(folder)])
    return json.dumps({"schema": _SCHEMA, "files": names}, indent=2).encode() + b"\n"


def check(place: Path) -> tuple[str, ...]:
    """Give the names of the files that an export has left in a place, if any.

    Raises:
        ConfigError: something stands there that no export has written.
        OSError: the file system refuses.
    """
    if not os.path.lexists(place):
        return ()
    if not files.is_folder(place):
        message = f"--out: {str(place)!r} is no folder"
        raise ConfigError(message)
    names = sorted(_entries(place))
    ours = _listed(place)
    for name in names:
        if name not in ours:
            message = (
                f"--out: {str(place)!r} holds {name!r}, which no export has written; "
                "name another folder"
            )
            raise ConfigError(message)
    return tuple(names)


def remove(place: Path) -> None:
    """Remove an export, and nothing else.

    Raises:
        ConfigError: something else stands there.
        OSError: the file system refuses, or something else has come meanwhile.
    """
    names = check(place)
    # The list goes last: where this ends halfway, the rest is still known.
    for name in sorted(names, key=lambda name: name == LIST):
        (place / name).unlink()
    folders = {place / each for name in names for each in PurePosixPath(name).parents}
    for folder in sorted(folders, reverse=True):
        folder.rmdir()
    if not names and place.exists():
        place.rmdir()


def _entries(folder: Path) -> Iterator[str]:
    """Yield what stands in a folder and below, but for folders that hold something.

    Links are not followed.

    Raises:
        OSError: a folder cannot be read.
    """
    waiting = [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            is_folder = path.is_dir() and not path.is_symlink()
            if is_folder and any(path.iterdir()):
                waiting.append(path)
            else:
                yield path.relative_to(folder).as_posix()


def _listed(place: Path) -> frozenset[str]:
    """Give the names that a folder's list holds; none where there is no such list.

    Raises:
        OSError: it cannot be read.
    """
    path = place / LIST
    if not path.is_file():
        return frozenset()
    with files.opened(path) as file:
        content = file.read()
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return frozenset()
    if not isinstance(told, dict) or told.get("schema") != _SCHEMA:
        return frozenset()
    names = told.get("files")
    found = names if isinstance(names, list) else []
    return frozenset(name for name in found if isinstance(name, str))
