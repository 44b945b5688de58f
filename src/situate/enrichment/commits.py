"""Writes what many have to have on the disk, with one wait for all of them.

A reply is on the disk before it is used, and money is set aside on the disk before
it is spent. A disk takes longer to say that something is there than to write it, so
whoever comes before the loop has been round once waits for the same transaction.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from situate.errors import CacheBroken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from situate.enrichment.budget import Month
    from situate.enrichment.cache import Cache, User

_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class _Reply:
    key: str
    raw: str
    users: tuple[User, ...]
    told: asyncio.Future[None]


@dataclass(frozen=True, slots=True)
class _Wish:
    usd: Decimal
    most: Decimal | None
    told: asyncio.Future[Month | None]


class Commits:
    """The replies and the spending of one session, on their way to its cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._months = cache.months()
        self._replies: list[_Reply] = []
        self._wishes: list[_Wish] = []
        self._is_due = False

    async def store_reply(self, key: str, raw: str, *users: User) -> None:
        """Keep a raw reply and whom it is for; it is on the disk when this returns.

        Whoever is called off while waiting leaves the reply to be stored.

        Raises:
            CacheBroken: the cache cannot be written.
        """
        told: asyncio.Future[None] = self._promise()
        self._replies.append(_Reply(key, raw, users, told))
        await told

    def current(self) -> Month:
        """Give this month as it stands.

        Raises:
            CacheBroken: it cannot be read.
        """
        return self._months.current()

    async def reserve(self, usd: Decimal, *, most: Decimal | None) -> Month | None:
        """Set money aside, on the disk when this returns, and give the month with it.

        None when more than `most` would be spent; then nothing is set aside.

        Raises:
            CacheBroken: the spending of the month cannot be written or read.
        """
        told: asyncio.Future[Month | None] = self._promise()
        self._wishes.append(_Wish(usd, most, told))
        try:
            return await told
        except asyncio.CancelledError:
            granted = None if told.cancelled() else told.result()
            if granted is not None:
                self.settle(granted.name, reserved=usd, cost=0 * usd)
            raise

    def settle(self, month: str, *, reserved: Decimal, cost: Decimal) -> None:
        """Put what a request did cost in place of what was set aside for it."""
        self._months.settle(month, reserved=reserved, cost=cost)

    def flush(self) -> None:
        """Write what waits now, and tell those who wait for it."""
        replies, self._replies = self._replies, []
        wishes, self._wishes = self._wishes, []
        wishes = [wish for wish in wishes if not wish.told.done()]
        self._is_due = False
        if wishes and not self._grant(wishes, replies):
            # A month that nobody can read must not cost an answer.
            wishes = []
        if replies and not wishes:
            self._store(replies)

    def _grant(self, wishes: Sequence[_Wish], replies: Sequence[_Reply]) -> bool:
        """Set money aside and store replies; False when neither could be done."""

        def along() -> None:
            for reply in replies:
                self._cache.store_reply(reply.key, reply.raw, *reply.users)

        try:
            granted = self._months.reserve_each(
                [(wish.usd, wish.most) for wish in wishes], along=along
            )
        except CacheBroken as error:
            for wish in wishes:
                wish.told.set_exception(error)
            return False
        for wish, month in zip(wishes, granted, strict=True):
            wish.told.set_result(month)
        _tell(replies)
        return True

    def _store(self, replies: Sequence[_Reply]) -> None:
        try:
            with self._cache.at_once():
                for reply in replies:
                    self._cache.store_reply(reply.key, reply.raw, *reply.users)
        except CacheBroken as error:
            _tell(replies, error)
        else:
            _tell(replies)

    def _promise(self) -> asyncio.Future[_Told]:
        loop = asyncio.get_running_loop()
        if not self._is_due:
            self._is_due = True
            loop.call_soon(self.flush)
        return loop.create_future()


def _tell(replies: Iterable[_Reply], error: CacheBroken | None = None) -> None:
    """Tell those who still wait what became of their replies."""
    for reply in replies:
        if reply.told.done():
            continue
        if error is None:
            reply.told.set_result(None)
        else:
            reply.told.set_exception(error)
