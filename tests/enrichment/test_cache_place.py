"""A cache lies on a local disk, or is refused before anything is done (E3)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from situate.enrichment.cache import Cache, refuse_network
from situate.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

LOCAL = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"


def _mounted(point: Path | str, kind: str, source: str = "server:/export") -> str:
    escaped = str(point).replace(" ", "\\040")
    return f"90 22 0:50 / {escaped} rw,relatime shared:9 master:2 - {kind} {source} rw"


@pytest.mark.parametrize(
    "kind",
    [
        *("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "lustre", "afs"),
        *("davfs", "fuse.sshfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"),
    ],
)
def test_a_network_file_system_is_refused_before_any_work(
    tmp_path: Path, kind: str
) -> None:
    """Nothing is made there; the message names the type, the mount and a way out."""
    directory = tmp_path / "deep" / "cache"

    with pytest.raises(ConfigError) as refused:
        Cache(directory, mounts=LOCAL + _mounted(tmp_path, kind))

    assert f"network file system ({kind}, mounted at '{tmp_path}')" in str(
        refused.value
    )
    assert "name a directory on a local disk" in str(refused.value)
    assert "`situate cache export`" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "is_network"),
    [
        pytest.param("https://files.example.com/dav/", True, id="address"),
        pytest.param("server:/export", True, id="host"),
        pytest.param("/dev/sdb1", False, id="disk"),
        pytest.param("portal", False, id="name"),
    ],
)
def test_a_program_s_file_system_is_told_by_what_it_serves(
    tmp_path: Path, source: str, *, is_network: bool
) -> None:
    """Its type is `fuse` alone."""
    table = LOCAL + _mounted(tmp_path, "fuse", source)

    try:
        refuse_network(tmp_path / "cache", table)
    except ConfigError:
        refused = True
    else:
        refused = False

    assert refused == is_network


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse.ntfs-3g", "zfs"]
)
def test_a_local_file_system_is_none_of_them(tmp_path: Path, kind: str) -> None:
    """Whatever is mounted elsewhere."""
    elsewhere = _mounted(f"{tmp_path}-shared", "nfs4")
    table = f"{LOCAL}{_mounted(tmp_path, kind, '/dev/vdb')}\n{elsewhere}"

    refuse_network(tmp_path / "cache", table)


def test_the_nearest_mount_decides(tmp_path: Path) -> None:
    """A local disk below a network file system is local."""
    table = f"{_mounted('/', 'nfs4')}\n{_mounted(tmp_path, 'ext4', '/dev/vdb')}\nshort"

    refuse_network(tmp_path / "cache", table)
    with pytest.raises(ConfigError, match="mounted at '/'"):
        refuse_network(tmp_path.parent / "cache", table)


def test_of_two_mounts_in_one_place_the_later_decides(tmp_path: Path) -> None:
    """It covers the other."""
    local, network = _mounted(tmp_path, "ext4", "/dev/vdb"), _mounted(tmp_path, "nfs4")

    refuse_network(tmp_path, f"{network}\n{local}")
    with pytest.raises(ConfigError, match="nfs4"):
        refuse_network(tmp_path, f"{local}\n{network}")


def test_a_mount_with_a_blank_in_its_path_is_found(tmp_path: Path) -> None:
    """The table writes it as an octal number."""
    shared = tmp_path / "our files"

    with pytest.raises(ConfigError, match="our files"):
        refuse_network(shared / "cache", LOCAL + _mounted(shared, "cifs", "//nas/x"))


def test_a_link_is_followed_to_where_the_cache_would_lie(tmp_path: Path) -> None:
    """The path of the link says nothing."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "cache").symlink_to(shared)

    with pytest.raises(ConfigError, match="smb3"):
        refuse_network(tmp_path / "cache", LOCAL + _mounted(shared, "smb3"))


@pytest.mark.skipif(sys.platform != "linux", reason="says what is mounted on Linux")
def test_the_table_of_this_machine_can_be_read(tmp_path: Path) -> None:
    """Tests run on a local disk, or could not open a cache at all."""
    refuse_network(tmp_path)
