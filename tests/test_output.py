"""Output appears whole or not at all, and is written by one run at a time."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from situate.errors import ConfigError, Locked, SituateError
from situate.output import Output, writing

if TYPE_CHECKING:
    from pathlib import Path


def seen(folder: Path) -> set[str]:
    """Give the names in a folder, without the lock."""
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


def test_a_file_appears_when_it_is_published(tmp_path: Path) -> None:
    """Until then the old one stands."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"old")

    with Output(path) as output:
        draft = output.draft("a.jsonl")
        draft.write(b"new")
        before = path.read_bytes()
        output.publish(draft)

    assert before == b"old"
    assert path.read_bytes() == b"new"
    assert seen(tmp_path) == {"a.jsonl"}


def test_what_is_not_published_leaves_nothing(tmp_path: Path) -> None:
    """Scene L26: Whatever ended the block."""
    with Output(tmp_path / "a.jsonl") as output:
        output.draft("a.jsonl").write(b"half")

    assert seen(tmp_path) == set()


def test_what_a_killed_run_left_is_replaced(tmp_path: Path) -> None:
    """Its draft is no part of the next."""
    path = tmp_path / "a.jsonl"
    (tmp_path / ".a.jsonl.part").write_bytes(b"left over")

    with Output(path) as output:
        draft = output.draft("a.jsonl")
        draft.write(b"new")
        output.publish(draft)

    assert path.read_bytes() == b"new"
    assert seen(tmp_path) == {"a.jsonl"}


def test_a_link_left_in_the_way_is_not_followed(tmp_path: Path) -> None:
    """Whoever can write the folder could point it anywhere."""
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    (tmp_path / ".a.jsonl.part").symlink_to(other)

    with Output(tmp_path / "a.jsonl") as output:
        output.draft("a.jsonl").write(b"new")

    assert other.read_bytes() == b"precious"


def test_a_second_run_is_locked_out(tmp_path: Path) -> None:
    """And let in when the first has ended."""
    path = tmp_path / "a.jsonl"

    with Output(path), pytest.raises(Locked, match="is being written by another"):
        Output(path).__enter__()
    with Output(path):
        pass


def test_another_output_in_the_folder_is_free(tmp_path: Path) -> None:
    """The lock is of one output."""
    with Output(tmp_path / "a.jsonl"), Output(tmp_path / "b.jsonl"):
        pass


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    """A path that cannot become a file is a mistake of the config."""
    with pytest.raises(
        ConfigError, match="is a folder, a device or a pipe; name a file"
    ):
        Output(tmp_path).__enter__()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
@pytest.mark.parametrize("name", ["a.jsonl", "a.blocks.jsonl"])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, name: str) -> None:
    """A device that became a file would be missed by the whole machine."""
    path = tmp_path / name
    os.mkfifo(path)

    with pytest.raises(ConfigError, match="is a folder, a device or a pipe"):
        Output(tmp_path / "a.jsonl", tmp_path / "a.blocks.jsonl").__enter__()

    assert path.is_fifo()
    assert seen(tmp_path) == {name}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a.md", id="file"),
        pytest.param("A.MD", id="case"),
        pytest.param("cache/cache.db", id="in a folder"),
        pytest.param("cache/none/a.jsonl", id="anywhere in a folder"),
        pytest.param("cache", id="in place of a folder"),
        pytest.param("link.jsonl", id="link"),
    ],
)
def test_what_is_to_be_kept_is_not_replaced(tmp_path: Path, name: str) -> None:
    """Neither files nor what lies in folders, whichever way they are named."""
    (tmp_path / "a.md").write_bytes(b"precious")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.md")
    kept = [tmp_path / "a.md", tmp_path / "cache"]

    with pytest.raises(ConfigError, match="is not to be replaced; name another file"):
        Output(tmp_path / name, kept=kept).__enter__()

    assert (tmp_path / "a.md").read_bytes() == b"precious"
    assert seen(tmp_path) == {"a.md", "link.jsonl"}


def test_what_stands_beside_is_kept_as_well(tmp_path: Path) -> None:
    """A run writes more than one file."""
    (tmp_path / "a.ledger.jsonl").write_bytes(b"precious")

    with pytest.raises(ConfigError, match=r"a\.ledger\.jsonl' is, or lies in"):
        Output(
            tmp_path / "a.jsonl",
            tmp_path / "a.ledger.jsonl",
            kept=[tmp_path / "a.ledger.jsonl"],
        ).__enter__()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_is_written_through(tmp_path: Path) -> None:
    """It stays a link; the file it leads to is the output."""
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")

    with Output(tmp_path / "link.jsonl") as output:
        draft = output.draft()
        draft.write(b"new")
        output.publish(draft)

    assert (tmp_path / "a.jsonl").read_bytes() == b"new"
    assert (tmp_path / "link.jsonl").is_symlink()


@pytest.mark.parametrize("length", [240, 250, 5000])
def test_a_name_too_long_for_the_system_is_named(tmp_path: Path, length: int) -> None:
    """Also where only what stands beside it is too long."""
    path = tmp_path / ("x" * length + ".jsonl")

    with pytest.raises(SituateError, match="written: File name too long"):
        draft_all(path)


def draft_all(path: Path) -> None:
    """Begin what a run writes."""
    with Output(path) as output, writing(path):
        output.draft()
        output.draft(f"{path.stem}.manifest.json")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """What the file system refuses is an error in words."""
    (tmp_path / "file").touch()

    with pytest.raises(SituateError, match=r"a\.jsonl' cannot be written"):
        Output(tmp_path / "file" / "a.jsonl").__enter__()


def test_a_full_disk_is_an_error_in_words(tmp_path: Path) -> None:
    """As is everything else a file system says."""
    path = tmp_path / "a.jsonl"

    with pytest.raises(SituateError, match="written: No space left"), writing(path):
        raise OSError(28, "No space left on device")


def test_what_was_written_is_told(tmp_path: Path) -> None:
    """The manifest names size and hash of each file."""
    with Output(tmp_path / "a.jsonl") as output:
        draft = output.draft("a.jsonl")
        draft.write(b"ab")
        draft.write(b"c")

        told = draft.digest

    assert (told.name, told.bytes) == ("a.jsonl", 3)
    assert told.sha256.startswith("ba7816bf")
