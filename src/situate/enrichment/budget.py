"""Stops a run before the request that would cross a limit on spending.

What a request may cost at most is set aside before it is sent and settled by
what it did cost. A request that does not fit waits while others are in flight:
they may turn out cheaper than what was set aside for them. The limit of a month
holds for everybody who spends on one cache; what others have in flight is spent.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, Protocol

from situate import pricing
from situate.enrichment.estimate import INPUT_MARGIN
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


_WARN_FROM = Decimal("0.8")
"""Share of `max_usd_month` that is said when it is reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A calendar month in UTC, and what has been spent in it."""

    name: str
    """Like `2026-12`."""
    usd: Decimal
    """By everybody together, with what is set aside for requests on the wire."""

    @property
    def ends(self) -> date:
        """The first day of the next month."""
        year, month = map(int, self.name.split("-"))
        return date(year + month // 12, month % 12 + 1, 1)


class MonthSpending(Protocol):
    """What is spent month by month, told to everybody who spends."""

    def current(self) -> Month:
        """Give this month as it stands."""

    async def reserve(self, usd: Decimal, *, most: Decimal | None) -> Month | None:
        """Set money aside and give the month with it; None when it crosses `most`."""

    def settle(self, month: str, *, reserved: Decimal, cost: Decimal) -> None:
        """Put what a request did cost in place of what was set aside for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What is set aside for one request on the wire."""

    usd: Decimal
    month: str | None = None
    """In which month it is set aside, where months are kept."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a run has set aside elsewhere, for batches it handed in."""

    usd: Decimal = Decimal(0)
    tokens: int = 0


NOTHING: Final = Committed()


class Budget:
    """Money and tokens of one run, and the money of its month."""

    def __init__(
        self,
        settings: Settings,
        facts: ModelFacts,
        *,
        month: MonthSpending | None = None,
        committed: Committed = NOTHING,
    ) -> None:
        """Take the limits; a replayed run costs nothing and has none.

        `committed` counts against the limits of the run; its month knows of it
        already. What is spent is told to `month` also where this run has no limit
        there: another one on the same cache may have.

        Raises:
            ConfigError: the limits do not fit the model, as in `check_limits`.
        """
        check_limits(settings, facts)
        free = settings.replayed
        self.prices = None if free else facts.prices
        """None where nothing is paid, or nobody knows what."""
        self.warning: str | None = None
        """What is worth saying about the month."""
        self._month = None if self.prices is None else month
        self._max_usd_month = None if free else settings.max_usd_month
        self._max_usd = None if free else settings.max_usd
        self._max_tokens = None if free else settings.max_total_tokens
        self._thinking_reserve = facts.thinking_reserve
        self._margin = INPUT_MARGIN
        self._usd = committed.usd
        self._tokens = committed.tokens
        self._in_flight = 0
        self._settled = asyncio.Event()

    async def reserve(self, *, input_tokens: int, output_tokens: int) -> Reservation:
        """Set aside what a request may cost at most.

        Raises:
            BudgetExceeded: it would cross a limit, and nothing in flight could
                still change that.
            CacheBroken: the spending of the month cannot be written.
        """
        while True:
            wanted = self._reservation(input_tokens, output_tokens)
            granted = self._crossed(wanted) or await self._granted(wanted)
            if isinstance(granted, Reservation):
                return granted
            if not self._in_flight:
                self._wake()
                raise BudgetExceeded(granted)
            await self._settled.wait()

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
            if self.prices is not None:
                usd = pricing.cost(usage, self.prices)
            seen = Decimal(usage.input) / max(1, reservation.input_tokens)
            self._margin = max(self._margin, seen * _MARGIN_OVER_SEEN)
        self._in_flight -= 1
        self._usd += usd - reservation.usd
        self._tokens += tokens - reservation.tokens
        self._wake()
        if self._month is not None and reservation.month is not None:
            self._month.settle(reservation.month, reserved=reservation.usd, cost=usd)
        return usd

    def _reservation(self, input_tokens: int, output_tokens: int) -> Reservation:
        most_in = math.ceil(input_tokens * self._margin)
        most_out = output_tokens + self._thinking_reserve
        usd = Decimal(0)
        if self.prices is not None:
            usd = pricing.estimate(most_in, most_out, self.prices)
        return Reservation(
            usd=usd,
            tokens=most_in + most_out,
            input_tokens=input_tokens,
            output_tokens=most_out,
        )

    def _wake(self) -> None:
        """Let those who wait for money look again."""
        self._settled.set()
        self._settled = asyncio.Event()

    def _crossed(self, wanted: Reservation) -> str | None:
        """Say which limit of the run a request may cross."""
        if self._max_usd is not None and self._usd + wanted.usd > self._max_usd:
            return f"the next request may cross max_usd = {self._max_usd}"
        if (
            self._max_tokens is not None
            and self._tokens + wanted.tokens > self._max_tokens
        ):
            return f"the next request may cross max_total_tokens = {self._max_tokens}"
        return None

    async def _granted(self, wanted: Reservation) -> Reservation | str:
        """Set money aside, or say that the limit of the month is crossed.

        It counts here while it is being written down, so that nobody else takes it.
        """
        self._count(wanted, 1)
        if self._month is None:
            return wanted
        most = self._max_usd_month
        try:
            month = await self._month.reserve(wanted.usd, most=most)
        except BaseException:
            self._count(wanted, -1)
            self._wake()
            raise
        if month is None:
            # Nobody is woken: what was taken is there again, and no more than that.
            self._count(wanted, -1)
            state = _state(self._month.current(), most)
            return f"the next request may cross max_usd_month: {state}"
        if most is not None and month.usd >= _WARN_FROM * most:
            self.warning = self.warning or _state(month, most)
        return replace(wanted, month=month.name)

    def _count(self, wanted: Reservation, times: Literal[1, -1]) -> None:
        self._in_flight += times
        self._usd += times * wanted.usd
        self._tokens += times * wanted.tokens


def _state(month: Month, most: Decimal | None) -> str:
    return (
        f"${month.usd:.2f} of max_usd_month = {most} is spent or set aside by the "
        f"runs on this cache; the month ends when {month.ends} begins (UTC)"
    )


def _most(tokens: int) -> int:
    return _BELIEVED_TIMES * tokens + _BELIEVED_EXTRA_TOKENS


def check_limits(settings: Settings, facts: ModelFacts) -> None:
    """Check that spending is limited in a way that can be kept.

    Raises:
        ConfigError: `max_usd` is missing for a model with a price, or it or
            `max_usd_month` is given for one without.
    """
    if settings.replayed:
        return
    if facts.prices is not None and settings.max_usd is None:
        message = (
            f"enrichment.max_usd is required: model {settings.model!r} costs money; "
            "`situate plan` says how much"
        )
        raise ConfigError(message)
    limits = {"max_usd": settings.max_usd, "max_usd_month": settings.max_usd_month}
    for key, limit in limits.items():
        if facts.prices is None and limit is not None:
            message = (
                f"enrichment.{key} cannot be kept: no price is known for model "
                f"{settings.model!r}; limit it with enrichment.max_total_tokens"
            )
            raise ConfigError(message)
