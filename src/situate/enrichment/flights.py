"""Asks once for what several want at the same time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class Flights(Generic[T]):
    """What is on its way, by key."""

    def __init__(self, *shared: type[Exception]) -> None:
        """Name the errors that everybody who waits for a key gets as well."""
        self._shared = shared
        self._flights: dict[str, asyncio.Future[T]] = {}

    async def wait(self, key: str) -> T | None:
        """Wait for what somebody else has asked for; None when nobody has."""
        while (flight := self._flights.get(key)) is not None:
            try:
                return await asyncio.shield(flight)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flight.cancelled() or (task and task.cancelling()):
                    raise
                # Whoever asked was called off; somebody has to in their place.
        return None

    async def lead(self, key: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask, and let those who wait have the result or the error."""
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        try:
            result = await ask()
        except self._shared as error:
            flight.set_exception(error)
            flight.exception()  # Perhaps nobody waits to see it.
            raise
        else:
            flight.set_result(result)
            return result
        finally:
            del self._flights[key]
            flight.cancel()
