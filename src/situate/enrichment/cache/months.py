"""What all runs on a cache have spent in a calendar month, kept beside the answers.

What a request may cost is written down before it is sent, and what it did cost in
its place afterwards. A run that is killed in between leaves the month over-counted,
by what it had on the wire, and never under-counted. Months are those of UTC.
"""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.budget import Month
from situate.enrichment.cache import rows
from situate.errors import CacheBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from situate.enrichment.cache.storage import Storage


_Result = TypeVar("_Result")


def _nothing() -> None:
    """Do nothing else in a transaction."""


class Months:
    """The spending of this process and all others on one directory.

    One transaction at most per request: what a request cost less than was set aside
    for it is written with the next that is set aside, and at once when no other is on
    the wire. What it cost more is written at once.
    """

    def __init__(self, store: Storage, *, now: Callable[[], datetime]) -> None:
        """Take the database, and the clock that says which month it is."""
        self._store = store
        self._now = now
        self._on_the_wire = 0
        self._owed: dict[str, Decimal] = {}
        """What is not written yet, by month: mostly to be taken off."""

    def current(self) -> Month:
        """Give this month as it stands.

        Raises:
            CacheBroken: the database cannot be read, or what it says is no amount.
        """
        name = self._name()
        return Month(name=name, usd=self._written(name) + self._owed_in(name))

    def reserve(self, usd: Decimal, *, most: Decimal | None) -> Month | None:
        """Set money aside, on the disk when this returns, and give the month with it.

        None when more than `most` would be spent; then nothing is set aside.

        Raises:
            CacheBroken: the database cannot be written, or what it says is no
                amount.
        """
        (month,) = self.reserve_each([(usd, most)])
        return month

    def reserve_each(
        self,
        wishes: Sequence[tuple[Decimal, Decimal | None]],
        *,
        along: Callable[[], None] = _nothing,
    ) -> list[Month | None]:
        """Do as `reserve` does for several, and `along` in the same transaction.

        Raises:
            CacheBroken: as for `reserve`; then nothing of it is written.
        """
        name = self._name()

        def work() -> list[Month | None]:
            along()
            granted: list[Month | None] = []
            if wishes:
                totals = self._settled()
                total = totals.setdefault(name, self._written(name))
                for usd, most in wishes:
                    fits = most is None or total + usd <= most
                    total += usd if fits else 0
                    granted.append(Month(name=name, usd=total) if fits else None)
                totals[name] = total
                if self._owed or any(granted):
                    self._write(totals)
            return granted

        granted = self._alone(work, name)
        if wishes:
            self._owed.clear()
        self._on_the_wire += sum(month is not None for month in granted)
        return granted

    def settle(self, month: str, *, reserved: Decimal, cost: Decimal) -> None:
        """Put what a request did cost in place of what was set aside for it.

        Where that cannot be written it is kept for the next time; until then too
        much is counted, or the cache is broken and whoever asks next hears of it.
        """
        self._on_the_wire -= 1
        self._owed[month] = owed = self._owed_in(month) + cost - reserved
        if self._on_the_wire and owed <= 0:
            return
        try:
            self._alone(lambda: self._write(self._settled()))
        except CacheBroken:
            return
        self._owed.clear()

    def _alone(self, work: Callable[[], _Result], *names: str) -> _Result:
        """Do work on these months, and those that something is owed to."""
        reading = {f"{rows.MONTH}{name}" for name in (*names, *self._owed)}
        return self._store.atomically(work, reading=reading)

    def _settled(self) -> dict[str, Decimal]:
        """Give the months that something is owed to, with it.

        A row that was removed meanwhile has nothing to take off.
        """
        return {
            name: max(Decimal(0), self._written(name) + owed)
            for name, owed in self._owed.items()
        }

    def _write(self, totals: Mapping[str, Decimal]) -> None:
        for name, usd in totals.items():
            self._store.put(f"{rows.MONTH}{name}", rows.of_month(usd), day=None)

    def _written(self, name: str) -> Decimal:
        key = f"{rows.MONTH}{name}"
        stored = self._store.get(key)
        usd = rows.month_in(stored.value) if stored else None
        if usd is not None:
            return usd
        if not self._store.holds(key):
            return Decimal(0)
        # Nothing is spent on top of an amount that nobody can read.
        message = (
            f"cache {str(self._store.place)!r} does not say in a form that can be "
            f"read what was spent in {name}; see `situate cache verify`"
        )
        raise CacheBroken(message)

    def _owed_in(self, name: str) -> Decimal:
        return self._owed.get(name, Decimal(0))

    def _name(self) -> str:
        return f"{self._now().astimezone(UTC):%Y-%m}"
