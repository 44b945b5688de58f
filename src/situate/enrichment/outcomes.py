"""How requests end, in the words of ledger and records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.enrichment.exchange import Reply, fault
from situate.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    CacheBroken,
    ContextTooLong,
    DeadlinePassed,
    ModelUnknown,
    ProviderUnusable,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
    TransientError,
    UnsupportedParameter,
)

if TYPE_CHECKING:
    from situate.enrichment.reasons import SkipReason, StopReason

_STOPS: tuple[tuple[type[Exception], StopReason], ...] = (
    (BudgetExceeded, "budget"),
    (DeadlinePassed, "deadline"),
    (QuotaExhausted, "quota"),
    (AuthenticationFailed, "authentication"),
    (ModelUnknown, "model_unknown"),
    (ProviderUnusable, "unusable"),
    (RateLimited, "wait_too_long"),
    (TransientError, "outage"),
    (CacheBroken, "cache"),
    (OSError, "ledger"),
)
"""What it means for a run when one of these ends it."""

_OUTCOMES: tuple[tuple[type[Exception], str], ...] = (
    (RateLimited, "rate_limited"),
    (TransientError, "unavailable"),
    (ContextTooLong, "context_too_long"),
    (UnsupportedParameter, "unsupported_parameter"),
    (RequestRejected, "rejected"),
    (ProviderUnusable, "unusable"),
)
"""What the ledger says of a request that ended with one of these."""


class Stopped(Exception):
    """Nothing is asked any more; for a chunk this becomes a value."""

    def __init__(self, reason: StopReason | SkipReason) -> None:
        super().__init__(reason)
        self.reason: StopReason | SkipReason = reason


def stop_reason_of(error: Exception) -> StopReason:
    """Name what an error means for a run that it ends."""
    return next(word for kind, word in _STOPS if isinstance(error, kind))


def outcome_of(result: Reply | Exception) -> str:
    """Name what came of a request, for the ledger."""
    if isinstance(result, Stopped):
        return result.reason
    if isinstance(result, Exception):
        return next(word for kind, word in _OUTCOMES if isinstance(result, kind))
    if result.stop == "refusal":
        return "refusal"
    return fault(result) or "answered"
