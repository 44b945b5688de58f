"""How long to wait before a request is sent once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.enrichment.throttle import spread_seconds
from situate.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

_LONGEST_BACKOFF_SECONDS = 30.0

_SPREAD_SHARE = 0.25
"""Of a told wait: how far apart those who were told the same ask again, beside
the spread after every pause."""


def waits(
    most: float, random: Callable[[], float]
) -> Callable[[RetryCallState], float]:
    """Wait as long as told and a little more, else back off with full jitter.

    A backoff is no longer than `most` seconds; a told wait is never shortened.
    """

    def seconds(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        told = error.retry_after_seconds if isinstance(error, RateLimited) else None
        if told is not None:
            spread = max(spread_seconds(told), told * _SPREAD_SHARE)
            return told + (1 - random()) * spread
        backoff = min(_LONGEST_BACKOFF_SECONDS, most, 0.5 * 2.0**state.attempt_number)
        return (1 - random()) * backoff

    return seconds
