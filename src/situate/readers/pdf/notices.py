"""Say how often something happened."""

from __future__ import annotations


def counted(count: int, one: str, many: str) -> str:
    """Put a count before what follows it, one or many."""
    return f"{count:,} {one if count == 1 else many}"
