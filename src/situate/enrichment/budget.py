"""Stops a run before the request that would cross a limit on spending.

What a request may cost at most is set aside before it is sent and settled by
what it did cost. A request that does not fit waits while others are in flight:
they may turn out cheaper than what was set aside for them.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from situate import pricing
from situate.enrichment.plan import INPUT_MARGIN
from situate.errors import BudgetExceeded, ConfigError

if TYPE_CHECKING:
    from situate.enrichment.settings import Settings
    from situate.pricing import ModelFacts
    from situate.usage import Usage

_MARGIN_OVER_SEEN = Decimal("1.05")
"""Documents differ in how far our count is off; a seen ratio gets this on top."""

_BELIEVED_TIMES = 10
_BELIEVED_EXTRA_TOKENS = 50_000
"""What a count may be above what was sent or asked for: tokenizers differ by a
few times, and gateways and models add prompts and thinking of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What is set aside for one request on the wire."""

    usd: Decimal
    tokens: int
    input_tokens: int
    """Our own count, without the margin."""
    output_tokens: int

    def doubt(self, usage: Usage | None) -> str | None:
        """Say why a usage is not to be believed; None when it is.

        A prompt is never free, and a count beyond all measure is a mistake that
        must not decide about the rest of a run.
        """
        if usage is None:
            return (
                f"did not say what a request of about {self.input_tokens} tokens used"
            )
        if 0 < usage.input <= _most(self.input_tokens) and (
            usage.output <= _most(self.output_tokens)
        ):
            return None
        return (
            f"said that a request of about {self.input_tokens} tokens read "
            f"{usage.input} and wrote {usage.output}"
        )


class Budget:
    """Money and tokens of one run."""

    def __init__(self, settings: Settings, facts: ModelFacts) -> None:
        """Take the limits; a replayed run costs nothing and has none.

        Raises:
            ConfigError: the limits do not fit the model, as in `check_limits`.
        """
        check_limits(settings, facts)
        free = settings.replayed
        self._prices = None if free else facts.prices
        self._max_usd = None if free else settings.max_usd
        self._max_tokens = None if free else settings.max_total_tokens
        self._thinking_reserve = facts.thinking_reserve
        self._margin = INPUT_MARGIN
        self._usd = Decimal(0)
        self._tokens = 0
        self._in_flight = 0
        self._settled = asyncio.Event()

    async def reserve(self, *, input_tokens: int, output_tokens: int) -> Reservation:
        """Set aside what a request may cost at most.

        Raises:
            BudgetExceeded: it would cross a limit, and nothing in flight could
                still change that.
        """
        while True:
            wanted = self._reservation(input_tokens, output_tokens)
            crossed = self._crossed(wanted)
            if crossed is None:
                break
            if not self._in_flight:
                raise BudgetExceeded(crossed)
            await self._settled.wait()
        self._in_flight += 1
        self._usd += wanted.usd
        self._tokens += wanted.tokens
        return wanted

    def settle(self, reservation: Reservation, usage: Usage | None) -> Decimal:
        """Put what a request did cost in place of what was set aside for it.

        Gives the cost in US dollars, 0 where no price is known. None is for what
        may be billed and nobody said how: an answer without a believable usage,
        or a request that was sent and never answered, like one that timed out.
        It is taken at the whole reservation, so that the limit holds.
        """
        usd, tokens = reservation.usd, reservation.tokens
        if usage is not None:
            tokens = usage.input + usage.output
            usd = Decimal(0)
            if self._prices is not None:
                usd = pricing.cost(usage, self._prices)
            seen = Decimal(usage.input) / max(1, reservation.input_tokens)
            self._margin = max(self._margin, seen * _MARGIN_OVER_SEEN)
        self._in_flight -= 1
        self._usd += usd - reservation.usd
        self._tokens += tokens - reservation.tokens
        self._settled.set()
        self._settled = asyncio.Event()
        return usd

    def _reservation(self, input_tokens: int, output_tokens: int) -> Reservation:
        most_in = math.ceil(input_tokens * self._margin)
        most_out = output_tokens + self._thinking_reserve
        return Reservation(
            usd=Decimal(0)
            if self._prices is None
            else pricing.estimate(most_in, most_out, self._prices),
            tokens=most_in + most_out,
            input_tokens=input_tokens,
            output_tokens=most_out,
        )

    def _crossed(self, wanted: Reservation) -> str | None:
        if self._max_usd is not None and self._usd + wanted.usd > self._max_usd:
            return f"the next request may cross max_usd = {self._max_usd}"
        if (
            self._max_tokens is not None
            and self._tokens + wanted.tokens > self._max_tokens
        ):
            return f"the next request may cross max_total_tokens = {self._max_tokens}"
        return None


def _most(tokens: int) -> int:
    return _BELIEVED_TIMES * tokens + _BELIEVED_EXTRA_TOKENS


def check_limits(settings: Settings, facts: ModelFacts) -> None:
    """Check that spending is limited in a way that can be kept.

    Raises:
        ConfigError: `max_usd` is missing for a model with a price, or given for
            one without.
    """
    if settings.replayed:
        return
    if facts.prices is not None and settings.max_usd is None:
        message = (
            f"enrichment.max_usd is required: model {settings.model!r} costs money; "
            "`situate plan` says how much"
        )
        raise ConfigError(message)
    if facts.prices is None and settings.max_usd is not None:
        message = (
            f"enrichment.max_usd cannot be kept: no price is known for model "
            f"{settings.model!r}; limit it with enrichment.max_total_tokens"
        )
        raise ConfigError(message)
