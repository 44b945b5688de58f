"""Keeps the books of a session: what was sent, used and spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from situate import pricing
from situate.usage import Usage

if TYPE_CHECKING:
    from situate.enrichment.budget import Budget, Reservation
    from situate.enrichment.throttle import Throttle
    from situate.pricing import Prices

_READ_TOO_LITTLE = 0.5
"""Below this share of our count no tokenizer but a cut is the explanation."""


@dataclass(slots=True)
class Counts:
    """What has gone over the wire so far."""

    requests: int = 0
    """Sent, however often each had to be repeated."""
    attempts: int = 0
    """Times anything was sent."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal = Decimal(0)
    saved_usd: Decimal = Decimal(0)
    """What the provider's prompt cache saved; below 0 where it cost more."""


@dataclass(slots=True)
class Bill:
    """What one request has come to while it is tried."""

    attempts: int = 0
    seconds: float = 0.0
    """Waited for the provider, pauses between attempts left out."""
    usage: Usage | None = field(default_factory=Usage)
    """None once an attempt did not say what it used."""
    cost_usd: Decimal = Decimal(0)


class Accounts:
    """Books every attempt; what a provider says is believed within reason."""

    def __init__(
        self, *, provider: str, replayed: bool, budget: Budget, throttle: Throttle
    ) -> None:
        self.counts = Counts()
        self.warnings: dict[str, str] = {}
        """What is worth saying once, by what it is about."""
        self._provider = provider
        self._replayed = replayed
        self._budget = budget
        self._throttle = throttle

    def attempt(self, bill: Bill) -> None:
        """Count an attempt that is about to be made."""
        if not bill.attempts:
            self.counts.requests += 1
        bill.attempts += 1
        self.counts.attempts += 1

    def believed(self, usage: Usage | None, reservation: Reservation) -> Usage | None:
        """Give what was used, None when that is not known; says so once."""
        doubt = None if self._replayed else reservation.doubt(usage)
        if doubt is None:
            return usage
        self.warnings.setdefault(
            "usage",
            f"{self._provider} {doubt}; where the usage is not known, a request "
            "counts as the most it may cost",
        )
        return None

    def settle(
        self, bill: Bill, reservation: Reservation, billed: Usage | None
    ) -> None:
        """Put what an attempt did cost in place of what was set aside for it."""
        cost = self._budget.settle(reservation, billed)
        bill.cost_usd += cost
        self.counts.cost_usd += cost
        self.counts.usage += billed or Usage()
        if billed is not None and self._budget.prices is not None:
            saved = saved_usd(billed, self._budget.prices)
            self.counts.saved_usd += saved
        if self._budget.warning is not None:
            self.warnings.setdefault("month", self._budget.warning)
        if billed is None or bill.usage is None:
            bill.usage = None
        else:
            bill.usage += billed

    def failed(self, outcome: str, message: str) -> None:
        """Say once, in the provider's words, why requests of a kind failed."""
        if not self._replayed:
            self.warnings.setdefault(
                outcome, f"a request ended as {outcome!r}: {message}"
            )

    def learn(self, *, expected_input: int, usage: Usage | None) -> None:
        """Compare what an answer used with what was expected of it."""
        if usage is None or not usage.input:
            return
        used = usage.input + usage.output
        self._throttle.correct(estimated=expected_input, used=used)
        if usage.input < _READ_TOO_LITTLE * expected_input:
            self.warnings["cut"] = (
                f"{self._provider} read {usage.input} tokens of a request of about "
                f"{expected_input}: the server seems to cut prompts to its own context"
            )


def saved_usd(usage: Usage, prices: Prices) -> Decimal:
    """Give what prompt caching saved on a reply, below 0 where it cost more.

    That is what the same tokens would have cost as plain input, less what they
    did cost: reads save, writes cost extra.
    """
    plain = Usage(uncached_input=usage.input, output=usage.output)
    return pricing.cost(plain, prices) - pricing.cost(usage, prices)
