"""Says how much of what is missing may be handed in now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate import pricing
from situate.enrichment.budget import NOTHING, Committed
from situate.enrichment.estimate import bounds

if TYPE_CHECKING:
    from decimal import Decimal

    from situate.enrichment.questions import PlannedRequest
    from situate.enrichment.settings import Settings
    from situate.pricing import ModelFacts


@dataclass(slots=True)
class Allowance:
    """Lets requests pass in their order until one might cross a limit.

    Nothing passes after that: a smaller one behind it is not what comes next.
    """

    settings: Settings
    facts: ModelFacts
    month_usd: Decimal
    """Spent in this month by everybody on the cache."""
    used: Committed = NOTHING
    """What has passed may cost at most."""
    exceeded: str | None = field(default=None, init=False)
    """Which limit is in the way."""

    def takes(self, request: PlannedRequest) -> bool:
        """Say whether a request fits, and count it if so."""
        if self.exceeded is None:
            total = added(self.used, most(request, self.facts))
            self.exceeded = self._crossed(total)
            if self.exceeded is None:
                self.used = total
        return self.exceeded is None

    def _crossed(self, total: Committed) -> str | None:
        settings = self.settings
        limits = (
            ("max_usd", settings.max_usd, total.usd),
            ("max_usd_month", settings.max_usd_month, total.usd + self.month_usd),
            ("max_total_tokens", settings.max_total_tokens, total.tokens),
        )
        for name, limit, value in limits:
            if limit is not None and value > limit:
                return f"the next request for a batch may cross {name} = {limit}"
        return None


def most(request: PlannedRequest, facts: ModelFacts) -> Committed:
    """Say what a request costs at most in a batch; no dollars without a price."""
    most_in, most_out = bounds(request, facts=facts)
    usd = NOTHING.usd
    if facts.prices is not None:
        full = pricing.estimate(most_in, most_out, facts.prices)
        usd = full * facts.prices.batch_factor
    return Committed(usd=usd, tokens=most_in + most_out)


def added(one: Committed, other: Committed) -> Committed:
    """Give the sum of two."""
    return Committed(usd=one.usd + other.usd, tokens=one.tokens + other.tokens)
