"""Lets one of all processes ask, while the others wait for what it gets."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from situate.errors import CacheBroken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from situate.enrichment.cache import Claims
    from situate.enrichment.throttle import Timing

T = TypeVar("T")

_FIRST_LOOK_SECONDS = 0.02
_LOOKS_APART = 1.5
"""How many times longer each wait is than the one before."""
_LONGEST_LOOK_SECONDS = 0.25
"""A model takes a second or more, so that a quarter is little on top."""


class Alone:
    """Keeps apart those who ask the same, on whatever machine they are."""

    def __init__(self, claims: Claims | None, timing: Timing) -> None:
        """Take where claims are known; None where no other process is to be heeded."""
        self._claims = claims
        self._timing = timing

    async def ask(
        self,
        key: str,
        *,
        at_hand: Callable[[], T | None],
        ask: Callable[[], Awaitable[T]],
    ) -> T:
        """Ask, or give what somebody else has got; `at_hand` says whether it is there.

        `at_hand` is asked again and again, and may raise what ends the waiting.

        Raises:
            CacheBroken: claims cannot be made.
        """
        if self._claims is None:
            return await ask()
        wait = _FIRST_LOOK_SECONDS
        while not self._claims.take(key):
            await self._timing.sleep(wait)
            wait = min(wait * _LOOKS_APART, _LONGEST_LOOK_SECONDS)
            if (found := at_hand()) is not None:
                return found
        try:
            # Whoever had it before may have got it.
            found = at_hand()
            return await ask() if found is None else found
        finally:
            # It lapses by itself as well.
            with suppress(CacheBroken):
                self._claims.release(key)
