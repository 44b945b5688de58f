"""Tells what happens to a job, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from situate.service.values import Event

HEARTBEAT_SECONDS: Final = 15.0
"""Proxies close what is silent for longer, often after 30 or 60 seconds."""

_AGAIN_MILLISECONDS: Final = 3_000
"""When a client comes back after the service has gone."""


async def streamed(
    events: AsyncIterator[Event],
    ending: asyncio.Event,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
) -> AsyncGenerator[bytes, None]:
    """Give events as they go over the wire, and a sign of life between them.

    Ends with the events, or with an event `ending` of no number when the service
    does: whoever comes back with the number of the last one misses nothing.
    """
    closing = asyncio.ensure_future(ending.wait())
    upcoming = asyncio.ensure_future(_next(events))
    try:
        while True:
            done, _ = await asyncio.wait(
                {upcoming, closing},
                timeout=heartbeat_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if upcoming in done:
                event = upcoming.result()
                if event is None:
                    return
                yield _written(event)
                upcoming = asyncio.ensure_future(_next(events))
            elif closing in done:
                yield format_sse_event(
                    event="ending", data_str="{}", retry=_AGAIN_MILLISECONDS
                )
                return
            else:
                yield KEEPALIVE_COMMENT
    finally:
        closing.cancel()
        upcoming.cancel()
        await asyncio.wait({upcoming, closing})


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)


def _written(event: Event) -> bytes:
    return format_sse_event(
        id=str(event.number), event=event.kind, data_str=json.dumps(dict(event.data))
    )
