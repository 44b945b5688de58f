"""Asks the file system what a path names, without being led astray.

Links may form a loop, a pipe may never say anything, a device has no end, and two
spellings may be one file: each is met here once, for everybody who opens files.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

NO_FILE = "it is a folder, a device or a pipe; name a file"


def opened(path: Path) -> BufferedReader:
    """Open a file to read its bytes, if it is one.

    Raises:
        OSError: it is something else, or the file system refuses.
    """
    if not is_regular(path):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    return path.open("rb")


def is_regular(path: Path) -> bool:
    """Tell whether a path names a file, not something that is opened like one.

    Raises:
        OSError: nothing is there, or the file system refuses.
    """
    return stat.S_ISREG(path.stat().st_mode)


def resolved(path: Path) -> Path:
    """Give the path a chain of links leads to; a loop leads nowhere."""
    try:
        return path.resolve()
    # Before Python 3.13 a loop is a RuntimeError, as is a chain without end.
    except (OSError, RuntimeError):
        return path.absolute()


def identity(path: Path) -> str:
    """Give a text that is equal for paths that may be one file.

    Whether case and composed letters count depends on the file system; here
    they do not.
    """
    return unicodedata.normalize("NFC", str(resolved(path))).casefold()


def is_folder(path: Path) -> bool:
    """Tell whether a path names a folder; what cannot be asked about is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process alone, without waiting.

        Raises:
            BlockingIOError: another process holds it.
        """
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error

    share_lock = take_lock
    """Locks here are shared with nobody."""

    def sync_folder(folder: Path) -> None:
        """Windows keeps no folder open to sync."""

else:
    import fcntl

    def take_lock(descriptor: int) -> None:
        """Lock an open file for this process alone, without waiting.

        Raises:
            BlockingIOError: another process holds it.
        """
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def share_lock(descriptor: int) -> None:
        """Lock an open file for all who do so, against `take_lock`; without waiting.

        Raises:
            BlockingIOError: another process has it for itself alone.
        """
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def sync_folder(folder: Path) -> None:
        """Have the names in a folder survive a loss of power."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
