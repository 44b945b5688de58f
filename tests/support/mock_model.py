"""A protocol double for load, storm and crash tests; it is no model.

A real HTTP server on loopback, in a thread of its own, that speaks OpenAI's
chat completions and Anthropic's messages well enough for both SDKs, grouped
requests and prompt caching included. It counts what arrives and misbehaves as
its script says. Its sentences are drawn from the hash of the request: they pass
the gate and mean nothing, so they never stand for a model's answer in a demo or
a comparison.

    with speaking(Script(turns=("answer", "rate_limited"))) as model:
        ...  # base_url = model.openai_url
    model.statistics.requests
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
import struct
import threading
import time
from collections import Counter, deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from tests.support.mock_replies import Billing, Desk, identity

if TYPE_CHECKING:
    from collections.abc import Iterator

Turn = Literal["answer", "rate_limited", "unavailable", "overloaded", "reset", "hang"]
"""What becomes of one call: an answer, a 429, 503 or 529, a connection that is
reset before a byte of the reply, or silence until the client gives up."""

_STATUS: dict[Turn, int] = {"rate_limited": 429, "unavailable": 503, "overloaded": 529}

_LIFETIME_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How the server behaves."""

    turns: tuple[Turn, ...] = ("answer",)
    """For one call after the other, over and over; `("answer", "reset")` resets
    every second connection."""
    latency_seconds: float = 0.0
    """From a request to its reply, whatever that is."""
    retry_after_seconds: float | None = None
    """What a 429, 503 or 529 asks for, in both headers; None sends neither."""
    requests_per_second: int | None = None
    """Calls within a second beyond this many are a 429, whatever is in turn."""
    billing: Billing = field(default_factory=Billing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What has arrived up to one moment."""

    calls: int
    """Complete requests, however they were replied to."""
    answers: int
    """Replies with a sentence that were written to a connection still open."""
    abandoned: int
    """Calls whose client was gone before it had a reply."""
    most_in_flight: int
    requests: Counter[str]
    """Calls for each distinct body, by its hash."""
    prefix_writes: Counter[str]
    """How often each prefix was written to the prompt cache."""
    prefix_reads: Counter[str]
    marks: int
    """Answers to calls that marked a prefix to be kept."""
    input_tokens: int
    output_tokens: int
    seconds: float
    """From the first call to the last answer."""


@dataclass(slots=True)
class _Counts:
    calls: int = 0
    answers: int = 0
    abandoned: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    first_call: float = 0.0
    last_answer: float = 0.0
    accepted: deque[float] = field(default_factory=deque)
    """When calls of the last second came that were not refused for their rate."""


class MockModel:
    """The server: where it listens and what it was asked."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.address = ""
        self._counts = _Counts()
        self._desk = Desk(billing=script.billing)
        # Protects counts and desk, which the server's thread changes; waiting on
        # it wakes whoever waits for calls.
        self._changed = threading.Condition()

    @property
    def openai_url(self) -> str:
        """What `base_url` is for OpenAI's protocol."""
        return f"{self.address}/v1"

    @property
    def anthropic_url(self) -> str:
        """What `base_url` is for Anthropic's protocol."""
        return self.address

    @property
    def statistics(self) -> Statistics:
        """What has arrived so far."""
        with self._changed:
            counts, desk = self._counts, self._desk
            return Statistics(
                calls=counts.calls,
                answers=counts.answers,
                abandoned=counts.abandoned,
                most_in_flight=counts.most_in_flight,
                requests=counts.requests.copy(),
                prefix_writes=desk.writes.copy(),
                prefix_reads=desk.reads.copy(),
                marks=desk.marks,
                input_tokens=desk.input_tokens,
                output_tokens=desk.output_tokens,
                seconds=max(0.0, counts.last_answer - counts.first_call),
            )

    def wait_for_calls(self, count: int, *, timeout_seconds: float) -> bool:
        """Wait until so many calls have arrived; False when they did not in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._counts.calls >= count, timeout_seconds
            )

    def arrived(self, body: bytes) -> Turn:
        """Count a call and say what becomes of it."""
        with self._changed:
            counts = self._counts
            if not counts.calls:
                counts.first_call = time.perf_counter()
            turn = self.script.turns[counts.calls % len(self.script.turns)]
            if self._is_too_fast(time.perf_counter()):
                turn = "rate_limited"
            counts.calls += 1
            counts.requests[identity(body)] += 1
            counts.in_flight += 1
            counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)
            self._changed.notify_all()
        return turn

    def _is_too_fast(self, now: float) -> bool:
        most, accepted = self.script.requests_per_second, self._counts.accepted
        if most is None:
            return False
        while accepted and accepted[0] <= now - 1:
            accepted.popleft()
        if len(accepted) >= most:
            return True
        accepted.append(now)
        return False

    def reply(
        self, turn: Turn, path: str, body: bytes, *, arrived_at: float, now: float
    ) -> tuple[int, dict[str, str], dict[str, Any]]:
        """Give status, headers and content of a reply."""
        if turn != "answer":
            return _refusal(turn, self.script.retry_after_seconds)
        with self._changed:
            if path.endswith("/chat/completions"):
                content = self._desk.completion(body, now=arrived_at, answered_at=now)
                return HTTPStatus.OK, {}, content
            if path.endswith("/messages"):
                content = self._desk.message(body, now=arrived_at, answered_at=now)
                return HTTPStatus.OK, {}, content
        error = {"type": "not_found_error", "message": f"no route {path}"}
        return HTTPStatus.NOT_FOUND, {}, {"type": "error", "error": error}

    def left(self, outcome: Literal["answered", "refused", "abandoned"]) -> None:
        """Count how a call ended."""
        with self._changed:
            counts = self._counts
            counts.in_flight -= 1
            counts.answers += outcome == "answered"
            counts.abandoned += outcome == "abandoned"
            if outcome == "answered":
                counts.last_answer = time.perf_counter()


@contextmanager
def speaking(
    script: Script | None = None, *, lifetime_seconds: float = _LIFETIME_SECONDS
) -> Iterator[MockModel]:
    """Serve until the block ends, or until its time is up."""
    model = MockModel(script or Script())
    ready = threading.Event()
    ends: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        end = asyncio.Event()
        connections: set[_Connection] = set()
        server = await loop.create_server(
            lambda: _Connection(model, connections), "127.0.0.1", 0, backlog=1024
        )
        host, port = server.sockets[0].getsockname()
        model.address = f"http://{host}:{port}"
        ends.append((loop, end))
        ready.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(end.wait(), lifetime_seconds)
        server.close()
        for connection in tuple(connections):
            connection.abort()
        await server.wait_closed()
        # Lets the aborted connections close their sockets.
        await asyncio.sleep(0)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="mock-model")
    thread.start()
    try:
        if not ready.wait(10):
            message = "the mock model did not start within 10 s"
            raise RuntimeError(message)
        yield model
    finally:
        # Its time may be up already, and its loop closed.
        with suppress(RuntimeError):
            for loop, end in ends:
                loop.call_soon_threadsafe(end.set)
        thread.join()


class _Connection(asyncio.Protocol):
    """One client; speaks HTTP/1.1 with lengths and keeps the connection."""

    def __init__(self, model: MockModel, connections: set[_Connection]) -> None:
        self._model = model
        self._connections = connections
        self._buffer = bytearray()
        self._pending: asyncio.TimerHandle | None = None
        """The reply that is due, None while no call waits."""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(
        self,
        exc: Exception | None,  # noqa: ARG002 - asyncio's signature
    ) -> None:
        self._connections.discard(self)
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
            self._model.left("abandoned")

    def abort(self) -> None:
        """Reset the connection: no reply, no orderly end."""
        if self._transport is None or self._transport.is_closing():
            return
        lingering_for_no_time = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, lingering_for_no_time
        )
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        # Neither SDK sends a request before it has the reply to the last.
        head, separator, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not separator:
            return
        path = head.split(b" ", 2)[1].decode("latin-1")
        length = _content_length(head)
        if len(rest) < length:
            return
        self._buffer.clear()
        self._take(path, rest[:length])

    def _take(self, path: str, body: bytes) -> None:
        turn = self._model.arrived(body)
        delay = self._model.script.latency_seconds
        if turn == "hang":
            delay = _LIFETIME_SECONDS
        loop = asyncio.get_running_loop()
        self._pending = loop.call_later(
            delay, self._reply, turn, path, body, loop.time()
        )

    def _reply(self, turn: Turn, path: str, body: bytes, arrived_at: float) -> None:
        self._pending = None
        now = asyncio.get_running_loop().time()
        if turn in {"reset", "hang"} or self._transport is None:
            self._model.left("refused")
            self.abort()
            return
        status, headers, content = self._model.reply(
            turn, path, body, arrived_at=arrived_at, now=now
        )
        self._transport.write(_on_the_wire(status, headers, content))
        self._model.left("answered" if status == HTTPStatus.OK else "refused")


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


def _on_the_wire(
    status: int, headers: dict[str, str], content: dict[str, Any]
) -> bytes:
    data = json.dumps(content).encode("ascii")
    headers = {
        "content-type": "application/json",
        "content-length": str(len(data)),
        **headers,
    }
    lines = [f"HTTP/1.1 {status} -", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + data


def _refusal(
    turn: Turn, retry_after_seconds: float | None
) -> tuple[int, dict[str, str], dict[str, Any]]:
    headers = {}
    if (wait := retry_after_seconds) is not None:
        headers = {
            "retry-after-ms": f"{wait * 1000:.0f}",
            "retry-after": str(math.ceil(wait)),
        }
    error = {"type": f"{turn}_error", "message": "as the script says"}
    return _STATUS[turn], headers, {"type": "error", "error": error}
