"""A folder in memory, for tests that write much and are not about the disk."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMORY = Path("/dev/shm")  # noqa: S108 - the system's own, and a folder of ours in it

_NEEDED_BYTES = 1 << 30
"""Containers often have 64 MB there, which a few large corpora would fill."""


@contextmanager
def memory_disk(otherwise: Path) -> Iterator[Path]:
    """Give a folder that nobody waits for; `otherwise` where there is no such disk.

    A cache waits for the disk with every answer, and some forty times to be opened.
    """
    if not _MEMORY.is_dir() or shutil.disk_usage(_MEMORY).free < _NEEDED_BYTES:
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        yield Path(folder)
