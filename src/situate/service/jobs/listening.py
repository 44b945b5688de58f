"""Tells those who follow a job that something happened, in whichever loop they are."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


ADDED: Final = ""
"""In the place of a job's id: for whoever waits for any job to be added."""


class Listening:
    """Who follows which job."""

    def __init__(self) -> None:
        self._listeners: dict[
            str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]
        ] = {}
        # Keeps a listener's loop from ending between being found and being told.
        self._lock = threading.Lock()

    @contextmanager
    def to(self, job_id: str) -> Iterator[asyncio.Event]:
        """Give what is set, in the running loop, whenever something happens."""
        listener = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._listeners.setdefault(job_id, []).append(listener)
        try:
            yield listener[1]
        finally:
            with self._lock:
                others = self._listeners[job_id]
                others.remove(listener)
                if not others:
                    del self._listeners[job_id]

    def tell(self, job_id: str) -> None:
        """Say that something happened to a job; from any thread."""
        with self._lock:
            for loop, changed in self._listeners.get(job_id, ()):
                loop.call_soon_threadsafe(changed.set)
