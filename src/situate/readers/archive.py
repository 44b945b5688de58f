"""Open a ZIP archive that nobody vouches for.

The directory is judged before anything is unpacked, and sizes again while
reading: a directory can lie.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from situate.errors import ReadError
from situate.readers.options import MEGABYTE

if TYPE_CHECKING:
    from situate.readers.options import Limits

_END = b"PK\x05\x06"
_END_BYTES = 22
_LONGEST_COMMENT = 65_535

# Small files pack to almost nothing honestly: an empty style sheet, a blank page.
_RATIO_FROM = MEGABYTE

_ENCRYPTED = 0x1


class Archive:
    """The files of an archive, each unpacked when it is asked for."""

    def __init__(self, data: bytes, source: str, limits: Limits) -> None:
        """Judge the directory of an archive.

        Raises:
            ReadError: it is no ZIP archive, encrypted, or beyond a limit.
        """
        self._source = source
        self._left = limits.max_unpacked_bytes
        self._limits = limits
        _refuse_many(_entries(data), source, limits)
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, struct.error) as error:
            message = f"{source}: is a broken ZIP archive ({error})"
            raise ReadError(message) from error
        members = self._zip.infolist()
        _refuse_many(len(members), source, limits)
        self._members = {member.filename: member for member in members}
        for member in members:
            self._judge(member)
        total = sum(member.file_size for member in members)
        if total > limits.max_unpacked_bytes:
            message = (
                f"{source}: unpacks to {total:,} bytes, "
                f"the limit is {limits.max_unpacked_bytes:,}"
            )
            raise ReadError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """The files' paths inside the archive, in its order."""
        return tuple(self._members)

    def read(self, name: str) -> bytes | None:
        """Unpack a file; None when the archive has none of that name.

        Raises:
            ReadError: it is damaged, or larger than the directory says.
        """
        member = self._members.get(name)
        if member is None:
            return None
        try:
            with self._zip.open(member) as file:
                data = file.read(member.file_size + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            ValueError,
            OSError,
            struct.error,
        ) as error:
            message = f"{self._source}: {name!r} in it cannot be unpacked ({error})"
            raise ReadError(message) from error
        self._left -= len(data)
        if len(data) > member.file_size or self._left < 0:
            message = f"{self._source}: {name!r} in it is larger than it says"
            raise ReadError(message)
        return data

    def _judge(self, member: zipfile.ZipInfo) -> None:
        if member.flag_bits & _ENCRYPTED:
            message = f"{self._source}: is encrypted; save it without a password"
            raise ReadError(message)
        packed = max(1, member.compress_size)
        if (
            member.file_size > _RATIO_FROM
            and member.file_size > self._limits.max_ratio * packed
        ):
            message = (
                f"{self._source}: {member.filename!r} in it is packed "
                f"{member.file_size // packed}-fold, the limit is "
                f"{self._limits.max_ratio}; it looks like an archive bomb"
            )
            raise ReadError(message)


def _entries(data: bytes) -> int:
    """Give the number of files that the end of an archive speaks of.

    zipfile reads the whole directory before anyone can ask for its length.
    """
    start = data.rfind(_END, max(0, len(data) - _LONGEST_COMMENT - _END_BYTES))
    if start < 0 or len(data) < start + _END_BYTES:
        return 0
    (entries,) = struct.unpack_from("<H", data, start + 10)
    return int(entries)


def _refuse_many(members: int, source: str, limits: Limits) -> None:
    if members > limits.max_members:
        message = (
            f"{source}: holds {members:,} files, the limit is {limits.max_members:,}"
        )
        raise ReadError(message)
