"""The numbers a chunking is judged by at first sight."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from situate.inspect.flow import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.inspect.flow import Segment
    from situate.inspect.inspected import Role
    from situate.model import Chunk, JsonValue
    from situate.records import Record

_BINS = 10
"""Bars of the histogram up to the limit; one more is for what is above it."""


def summary(
    chunks: Sequence[Chunk], roles: Sequence[Role], max_tokens: int | None
) -> Record:
    """Count chunks by level and fate, and leaves by size.

    Without a known limit the largest leaf stands for it.
    """
    leaves = [
        chunk for chunk, role in zip(chunks, roles, strict=True) if role == "leaf"
    ]
    tokens = [chunk.token_count for chunk in leaves]
    limit = max_tokens or max(tokens, default=0)
    reasons: dict[str, Counter[str]] = {}
    for chunk in leaves:
        counter = reasons.setdefault(chunk.enrichment.status, Counter())
        counter[chunk.enrichment.reason or ""] += 1
    return {
        "levels": _counted(chunk.level for chunk in chunks),
        "roles": _counted(roles),
        "histogram": _histogram(tokens, limit),
        "median": round(statistics.median(tokens)) if tokens else 0,
        "most": max(tokens, default=0),
        "forced": sum(chunk.forced_split for chunk in leaves),
        "statuses": {status: _sorted(reasons[status]) for status in sorted(reasons)},
    }


def outside(segments: Iterable[Segment]) -> int:
    """Count the characters of a source that are in no leaf, but white space."""
    return sum(
        len("".join(text.split()))
        for segment in segments
        for text, owner in segment.pieces
        if owner == OUTSIDE
    )


def _histogram(tokens: Sequence[int], limit: int) -> list[JsonValue]:
    """Count sizes by tenths of the limit; the last bar is for those above it."""
    bars: list[JsonValue] = []
    # A leaf of exactly the limit fills the tenth bar, not the one above.
    found = Counter(
        min(_BINS, max(0, (count * _BINS - 1) // limit)) for count in tokens if limit
    )
    bars.extend(found[bar] for bar in range(_BINS + 1))
    return bars


def _counted(values: Iterable[str]) -> Record:
    return _sorted(Counter(values))


def _sorted(counter: Counter[str]) -> Record:
    return {name: counter[name] for name in sorted(counter)}
