"""Paths are asked about without waiting, looping or mistaking one file for two."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from situate.files import identity, is_folder, opened, resolved

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="links and pipes are another matter there"
)


def test_a_file_is_opened(tmp_path: Path) -> None:
    """Also by way of links."""
    path = tmp_path / "a.md"
    path.write_bytes(b"text")

    with opened(path) as file:
        content = file.read()

    assert content == b"text"


@posix
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    """Opening a pipe waits for somebody to write."""
    path = tmp_path / "odd"
    path.mkdir() if kind == "folder" else os.mkfifo(path)

    with pytest.raises(OSError, match="is a folder, a device or a pipe; name a file"):
        opened(path)


@posix
def test_a_loop_of_links_leads_to_itself(tmp_path: Path) -> None:
    """No version of Python may be upset by it."""
    path = tmp_path / "loop"
    path.symlink_to(path)

    assert resolved(path) == path


@posix
def test_a_chain_of_links_without_end_is_no_accident(tmp_path: Path) -> None:
    """The system follows forty of them."""
    for number in range(1500):
        (tmp_path / f"l{number}").symlink_to(tmp_path / f"l{number + 1}")

    assert resolved(tmp_path / "l0").parent == tmp_path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("o.jsonl", "O.jsonl", id="case"),
        pytest.param("caf\u00e9.jsonl", "cafe\u0301.jsonl", id="composed letters"),
        pytest.param("o.jsonl", "docs/../o.jsonl", id="way"),
    ],
)
def test_two_spellings_may_be_one_file(tmp_path: Path, one: str, other: str) -> None:
    """What file systems tell apart differs."""
    (tmp_path / "docs").mkdir()

    assert identity(tmp_path / one) == identity(tmp_path / other)


def test_two_names_are_two_files(tmp_path: Path) -> None:
    """Similar is not the same."""
    assert identity(tmp_path / "a.jsonl") != identity(tmp_path / "b.jsonl")


def test_a_name_too_long_for_the_system_is_no_folder(tmp_path: Path) -> None:
    """It cannot even be asked about."""
    assert not is_folder(tmp_path / ("x" * 5000))
