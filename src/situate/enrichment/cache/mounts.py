"""Finds out whether a directory lies on a network file system.

SQLite keeps several processes apart with locks and shared memory, which network
file systems promise and do not keep; a database there is lost sooner or later
(https://www.sqlite.org/wal.html, "All processes using a database must be on the
same host computer", read 2026-11). Only Linux says what is mounted where; nothing
is claimed elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from situate.errors import ConfigError
from situate.files import resolved

_TABLE = Path("/proc/self/mountinfo")

_NETWORK = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "9p", "afs", "coda"),
        *("ceph", "glusterfs", "lustre", "gpfs", "beegfs", "orangefs", "pvfs2"),
        *("gfs2", "ocfs2", "davfs"),
    }
)
"""Types that other computers reach as well, as the kernel names them."""

_NETWORK_FUSE = frozenset(
    {
        *("sshfs", "ceph", "ceph-fuse", "glusterfs", "davfs", "davfs2", "cifs"),
        *("rclone", "s3fs", "gcsfuse", "goofys", "blobfuse", "blobfuse2", "juicefs"),
        *("mountpoint-s3", "seaweedfs", "moosefs", "curlftpfs", "smbnetfs"),
    }
)
"""The same, served by a program: `fuse.sshfs`."""

_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|[^/:]+:/")
"""How a plain `fuse` mount names another computer: by address or `host:/path`."""

_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mount:
    point: PurePosixPath
    kind: str
    source: str

    @property
    def is_network(self) -> bool:
        if self.kind.startswith("fuse."):
            return self.kind.removeprefix("fuse.") in _NETWORK_FUSE
        if self.kind == "fuse":
            return self.source in _NETWORK_FUSE or bool(_REMOTE.match(self.source))
        return self.kind in _NETWORK


def refuse_network(directory: Path, table: str | None = None) -> None:
    """Refuse a directory on a network file system, whether it exists or not.

    `table` is what `/proc/self/mountinfo` says; None reads it.

    Raises:
        ConfigError: it lies on one; names its type and what to do.
    """
    if table is None:
        try:
            table = _TABLE.read_text("utf-8", "surrogateescape")
        except OSError:
            return
    place = PurePosixPath(resolved(directory).as_posix())
    mount = _mount_of(place, table)
    if mount is None or not mount.is_network:
        return
    message = (
        f"cache {str(directory)!r} lies on a network file system ({mount.kind}, "
        f"mounted at {str(mount.point)!r}), where SQLite cannot keep a database "
        "whole; name a directory on a local disk, and carry answers over with "
        "`situate cache export` and `import`"
    )
    raise ConfigError(message)


def _mount_of(place: PurePosixPath, table: str) -> _Mount | None:
    """Give the mount with the longest path; of equal ones, the last covers."""
    found: _Mount | None = None
    for line in table.splitlines():
        mount = _mount(line)
        if mount is None or not place.is_relative_to(mount.point):
            continue
        if found is None or len(mount.point.parts) >= len(found.point.parts):
            found = mount
    return found


def _mount(line: str) -> _Mount | None:
    """Read a line: six fields, optional ones, a dash, type and source (proc(5))."""
    fields, dash, rest = line.partition(" - ")
    about, of = fields.split(" "), rest.split(" ")
    if not dash or len(about) < 6 or len(of) < 2:
        return None
    point, source = _plain(about[4]), _plain(of[1])
    return _Mount(point=PurePosixPath(point), kind=of[0], source=source)


def _plain(field: str) -> str:
    """Undo what stands for spaces, tabs, line breaks and backslashes."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), field)
