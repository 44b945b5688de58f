"""What a check knows of its files, and what it finds in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from situate.model import TOP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.model import Level, Metadata, Span
    from situate.tokens import TokenCounter

_NUMBER = re.compile("0|[1-9][0-9]{0,17}")

Rule = Literal[
    "record",
    "derivation",
    "hash",
    "identity",
    "C2-unique",
    "C2-order",
    "C2-overlap",
    "C2-cover",
    "C2-lineage",
    "C3-size",
    "C7-breadcrumb",
    "C9-parent",
    "C9-container",
    "C9-cycle",
    "C9-level",
    "C9-paragraph",
    "C9-root",
    "C12-metadata",
    "C13-form",
    "E8-statement",
    "E10-status",
    "span",
    "blocks",
    "manifest",
]
"""The rules of the contract; C2 to E10 are explained in DESIGN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken rule."""

    rule: Rule
    subject: str
    """The chunk, document or line that breaks it."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The sizes a chunks file was cut to, in tokens of `counter`."""

    counter: TokenCounter
    max_tokens: int
    container_max_tokens: int
    prefix_max_tokens: int | None = None
    """None when unknown; then breadcrumb lines are not measured."""
    statement_max_tokens: int | None = None
    """None when unknown; then statements are not measured."""
    reading_max_tokens: int | None = None
    """None when unknown; then readings are not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What of one chunk matters beside its neighbours."""

    chunk_id: str
    parent_chunk_id: str | None
    level: Level
    leaf: bool
    """True for a chunk of the cover; in `multi` it need not be the one embedded."""
    embed: bool
    token_count: int
    asked: bool
    """True when a statement was wished for."""
    forced_split: bool
    ordinal: int
    section_id: str
    section_ids: tuple[str, ...] | None
    breadcrumb: tuple[str, ...]
    corpus: str | None
    metadata: Metadata
    block_ids: tuple[str, ...]
    parts: Mapping[str, Span]
    spans: tuple[Span | None, ...]

    @property
    def numbered(self) -> bool:
        """True for a part of a section: the id of a section is never digits alone."""
        return number_of(self.chunk_id.rpartition(":")[2]) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One block as the blocks file lists it."""

    block_id: str
    section_id: str
    kind: str
    span: Span | None
    parts: int


def number_of(text: str) -> int | None:
    """Give a number as ids write it; None for anything else."""
    return int(text) if _NUMBER.fullmatch(text) else None


def around(section_id: str) -> Iterator[str]:
    """Yield the sections around one from the inside out, but for the document."""
    while "/" in section_id:
        section_id = section_id.rpartition("/")[0]
        yield section_id


def section_of(block_id: str) -> str:
    """Give the section a block is named for."""
    return block_id.rpartition("#")[0]


def heads(block_id: str) -> bool:
    """Tell whether a block is its section's heading: the first one, but at the top."""
    section_id, _, number = block_id.rpartition("#")
    return number == "0" and section_id != TOP
