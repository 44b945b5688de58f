"""What a check knows of its files, and what it finds in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.model import Level, Span
    from situate.tokens import TokenCounter

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
    "C9-parent",
    "C9-cycle",
    "C9-level",
    "C9-root",
    "E10-status",
    "span",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What of one chunk matters beside its neighbours."""

    chunk_id: str
    parent_chunk_id: str | None
    level: Level
    embed: bool
    forced_split: bool
    ordinal: int
    block_ids: tuple[str, ...]
    parts: Mapping[str, Span]
    spans: tuple[Span | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One block as the blocks file lists it."""

    block_id: str
    kind: str
    span: Span | None
    parts: int
