"""What a reader may be told about how to read, and where it stops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

TrackedChanges = Literal["accept", "original", "refuse"]

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where input stops being a document; what goes beyond is refused.

    Those of archives were set so that 76 real Word and EPUB files from public
    test suites pass with room to spare (most members 56, unpacked 6.4 MB, packed
    41-fold) and hostile ones (packed 265 to 1,029-fold) do not; 2026-11.
    """

    max_bytes: int = 64 * MEGABYTE
    """Bytes of a file; a tree of more takes gigabytes."""
    max_members: int = 2_000
    """Files in an archive."""
    max_unpacked_bytes: int = 200 * MEGABYTE
    """Bytes of all files of an archive together."""
    max_ratio: int = 100
    """How many times smaller a file of an archive may be packed."""
    max_elements: int = 1_000_000
    """Elements of one markup or JSON tree."""
    max_pages: int = 10_000
    """Pages of a PDF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderOptions:
    """How documents are read, the same for every document of a corpus."""

    tracked_changes: TrackedChanges = "accept"
    """Word's tracked changes: as if accepted, as if rejected, or an error."""
    legal_numbering: bool | None = None
    """Numbered clauses become sections; None: in plain text only."""
    keep: tuple[str, ...] = ()
    """Properties of a file that travel under `custom`, by name."""
    limits: Limits = field(default_factory=Limits)


DEFAULTS = ReaderOptions()
"""What holds where nothing is said."""
