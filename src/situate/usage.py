"""What a reply has used, in counts that never overlap."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens in four disjoint counts, and how many of them were thinking."""

    uncached_input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    """Includes `thinking`."""
    thinking: int = 0

    @property
    def input(self) -> int:
        """Everything that was read: uncached, written to and read from a cache."""
        return self.uncached_input + self.cache_write + self.cache_read

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            uncached_input=self.uncached_input + other.uncached_input,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            output=self.output + other.output,
            thinking=self.thinking + other.thinking,
        )
