"""What goes over the wire while somebody follows a job."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from situate.service.values import Event
from situate.service.web.events import HEARTBEAT_SECONDS, streamed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FIRST = Event(number=1, kind="queued", data={"documents": 2})


async def silent(ended: list[bool]) -> AsyncIterator[Event]:
    """Tell of one event, and then of none."""
    try:
        yield FIRST
        await asyncio.sleep(10)
    finally:
        ended.append(True)


def test_silence_is_broken_by_a_sign_of_life() -> None:
    """Every fifteen seconds, as a comment that no client takes for an event."""

    async def heard() -> list[bytes]:
        ended: list[bool] = []
        pieces = []
        async with aclosing(streamed(silent(ended), asyncio.Event(), 0.01)) as stream:
            async for piece in stream:
                pieces.append(piece)
                if len(pieces) == 3:
                    break
        assert ended == [True]
        return pieces

    first, *rest = asyncio.run(heard())

    assert first == b'event: queued\ndata: {"documents": 2}\nid: 1\n\n'
    assert rest == [b": ping\n\n"] * 2
    assert HEARTBEAT_SECONDS == 15


def test_a_service_that_ends_says_so_last() -> None:
    """Without a number, so that whoever comes back does so with that of the last."""

    async def heard() -> list[bytes]:
        ending = asyncio.Event()
        pieces = []
        async for piece in streamed(silent([]), ending):
            pieces.append(piece)
            ending.set()
        return pieces

    _, last = asyncio.run(heard())

    assert last == b"event: ending\ndata: {}\nretry: 3000\n\n"
