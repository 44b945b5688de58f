"""Open a ZIP archive that nobody vouches for.

The directory is judged before anything is unpacked, and sizes again while
reading: a directory can lie. Nothing is written, so paths lead nowhere.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Final

from situate.errors import ReadError
from situate.readers.options import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.readers.options import Limits

_END: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_LONGEST_COMMENT: Final = 65_535
_LOCATOR: Final = b"PK\x06\x07"
_LOCATOR_BYTES: Final = 20
_ENTRY: Final = b"PK\x01\x02"

# Small files pack to almost nothing honestly: an empty style sheet, a blank page.
_RATIO_FROM: Final = MEGABYTE

_ENCRYPTED: Final = 0x1

# All that the standards of Word and EPUB files allow. zipfile unpacks the others
# without a bound: 1 MB of LZMA can be 7 GB.
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})

_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    OSError,
    struct.error,
)
"""What zipfile raises on damaged archives."""


class Archive:
    """The files of an archive, each unpacked when it is asked for."""

    def __init__(self, data: bytes, source: str, limits: Limits) -> None:
        """Judge the directory of an archive.

        Raises:
            ReadError: it is no ZIP archive, encrypted, or beyond a limit.
        """
        self._source = source
        self._size = len(data)
        self._left = limits.max_unpacked_bytes
        self._limits = limits
        self._refuse_many(_entries(data))
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except _BROKEN as error:
            message = f"{source}: is a broken ZIP archive ({error})"
            raise ReadError(message) from error
        members = self._zip.infolist()
        self._refuse_many(len(members))
        self._members: dict[str, list[zipfile.ZipInfo]] = {}
        for member in members:
            self._judge(member)
            self._members.setdefault(member.filename, []).append(member)
        total = sum(member.file_size for member in members)
        if total > limits.max_unpacked_bytes:
            message = (
                f"{source}: unpacks to {total:,} bytes, "
                f"the limit is {limits.max_unpacked_bytes:,}"
            )
            raise ReadError(message, refusal="limit")

    @property
    def names(self) -> tuple[str, ...]:
        """The files' paths inside the archive, in its order."""
        return tuple(self._members)

    def read(self, name: str) -> bytes | None:
        """Unpack a file; None when the archive has none of that name.

        Raises:
            ReadError: it is damaged, all that was read is beyond the limit, or
                there are several files of that name that differ.
        """
        members = self._members.get(name)
        if members is None:
            return None
        if _differ(members):
            # Which of them counts is up to the reader; what one shows another hides.
            message = f"{self._source}: holds several files named {name!r}"
            raise ReadError(message)
        member = members[-1]
        try:
            with self._zip.open(member) as file:
                # Without a size zipfile unpacks all there is before it cuts.
                data = file.read(member.file_size + 1)
        except _BROKEN as error:
            message = f"{self._source}: {name!r} in it cannot be unpacked ({error})"
            raise ReadError(message) from error
        self._left -= len(data)
        if self._left < 0:
            message = (
                f"{self._source}: unpacks to more than "
                f"{self._limits.max_unpacked_bytes:,} bytes, which is the limit"
            )
            raise ReadError(message, refusal="limit")
        return data

    def _refuse_many(self, members: int) -> None:
        most = self._limits.max_members
        if members > most:
            message = f"{self._source}: holds {members:,} files, the limit is {most:,}"
            raise ReadError(message, refusal="limit")

    def _judge(self, member: zipfile.ZipInfo) -> None:
        if member.flag_bits & _ENCRYPTED:
            message = f"{self._source}: is encrypted; save it without a password"
            raise ReadError(message, refusal="encrypted")
        if member.compress_type not in _METHODS:
            message = (
                f"{self._source}: {member.filename!r} in it is packed by a method "
                f"({member.compress_type}) that such files do not use"
            )
            raise ReadError(message)
        packed = max(1, min(member.compress_size, self._size))
        if (
            member.file_size > _RATIO_FROM
            and member.file_size > self._limits.max_ratio * packed
        ):
            message = (
                f"{self._source}: {member.filename!r} in it is packed "
                f"{member.file_size // packed}-fold, the limit is "
                f"{self._limits.max_ratio}; it looks like an archive bomb"
            )
            raise ReadError(message, refusal="limit")


def _entries(data: bytes) -> int:
    """Count the files an archive lists, before zipfile reads all of the list.

    The count at its end can lie, and zipfile does not look at it: it reads as many
    entries as fill the list's size.
    """
    end = data.rfind(_END, max(0, len(data) - _LONGEST_COMMENT - _END_BYTES))
    if end < 0 or len(data) < end + _END_BYTES:
        return 0
    said, size = struct.unpack_from("<10xHL", data, end)
    locator = max(0, end - _LOCATOR_BYTES)
    # The large form has the size elsewhere, and no document needs it.
    begin = 0 if data.startswith(_LOCATOR, locator) else max(0, end - size)
    return max(int(said), data.count(_ENTRY, begin, end))


def _differ(members: Sequence[zipfile.ZipInfo]) -> bool:
    return len({(member.CRC, member.file_size) for member in members}) > 1
