"""Stands before the routes: lets in who may come and what there is room for.

Pure ASGI, so that a body is refused before anybody has read it, whether it says its
length or comes in pieces.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from situate.service.web.limits import ANYBODY
from situate.service.web.problems import MEDIA_TYPE, Refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from situate.service.web.limits import Keys, Limits, Rates, Shares
    from situate.service.web.metrics import Metrics

OPEN: Final = frozenset({"/healthz", "/readyz", "/openapi.json", "/docs"})
"""What needs no key: it says nothing of any document, corpus or key."""

JOBS: Final = "/v1/jobs"

_STREAMS: Final = re.compile(rf"{JOBS}/[^/]+/(?:events|result)")

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")

_WHILE_ENDING: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_ENDING_SECONDS: Final = 5

_DRAINED_BYTES: Final = 1 << 20
_DRAINED_SECONDS: Final = 1.0
"""What is read and dropped of a body that was refused: a connection that is closed on
a client that still writes may take the answer with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Lets requests through to the routes, or refuses them."""

    app: ASGIApp
    keys: Keys
    limits: Limits
    rates: Rates
    shares: Shares
    metrics: Metrics
    ending: asyncio.Event
    """Set once the service takes no more requests."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the app's own start and end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        limit = self.limits.body_bytes
        if scope["method"] == "POST" and scope["path"] == JOBS:
            limit = self.limits.job_bytes
        body = _Body(scope, receive, limit, self.limits.body_seconds)
        answer = _Answer(send, body)
        try:
            await self._let_in(scope, body, answer)
        except Refused as refusal:
            if answer.status is not None:
                raise
            await refused(refusal)(scope, body.receive, answer.send)
        finally:
            self.metrics.request(
                route=_route(scope),
                method=scope["method"],
                status=answer.status,
                seconds=time.perf_counter() - started,
            )

    async def _let_in(self, scope: Scope, body: _Body, answer: _Answer) -> None:
        path = scope["path"]
        if _CONTROL.search(path):
            # Routing takes `/v1/chunk` and a line end for `/v1/chunk`; we do not.
            raise Refused(404, "the path holds a control character; no route does")
        if self.ending.is_set() and path not in _WHILE_ENDING:
            raise Refused(
                503,
                "the service is about to end",
                retry_after_seconds=_ENDING_SECONDS,
            )
        owner = self._owner(scope)
        scope.setdefault("state", {})["owner"] = owner
        if path not in OPEN:
            self.rates.take(owner)
        body.check()
        # Wherever it goes: what reads bodies is for the routes to say.
        if scope["method"] == "POST":
            # A larger one lies on the disk, and is taken up document by document.
            size = min(body.declared, self.limits.body_bytes)
            with self.shares.held(owner, "upload", size):
                await self.app(scope, body.receive, answer.send)
        elif _STREAMS.fullmatch(path):
            with self.shares.held(owner, "stream"):
                await self.app(scope, body.receive, answer.send)
        else:
            await self.app(scope, body.receive, answer.send)

    def _owner(self, scope: Scope) -> str:
        """Say who asks.

        Raises:
            Refused: a key is needed, and there is none that is known.
        """
        if not self.keys or scope["path"] in OPEN:
            return ANYBODY
        header = Headers(scope=scope).get("authorization")
        owner = self.keys.owner(header)
        if owner is None:
            detail = (
                "name a key: Authorization: Bearer KEY"
                if header is None
                else "the key is not known, or it does not stand behind 'Bearer '"
            )
            challenge = {"www-authenticate": 'Bearer realm="situate"'}
            raise Refused(401, detail, headers=challenge)
        return owner


def refused(refusal: Refused) -> Response:
    """Make the answer of a refusal."""
    return Response(
        refusal.body, refusal.status, headers=refusal.headers, media_type=MEDIA_TYPE
    )


def _route(scope: Scope) -> str:
    """Name the route without what stands in its place; there are few of them."""
    return getattr(scope.get("route"), "path", "none")


class _Body:
    """A body as it comes: so many bytes and seconds, and no more."""

    def __init__(
        self, scope: Scope, receive: Receive, limit: int, seconds: float
    ) -> None:
        headers = Headers(scope=scope)
        length = headers.get("content-length")
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._size = 0
        # Nothing comes before it is asked for, or after it did not.
        self._is_silent = headers.get("expect", "").lower() == "100-continue"
        self.declared = limit if length is None else int(length)
        """Its bytes; those it may have where it does not say."""
        self.is_read = (length or "0") == "0" and "transfer-encoding" not in headers

    def check(self) -> None:
        """Look at what it says of itself.

        Raises:
            Refused: it has more bytes than it may have.
        """
        if self.declared > self._limit:
            raise self._too_large()

    async def receive(self) -> Message:
        """Give the next piece; what comes after the last is passed on.

        Raises:
            Refused: it is too long, or takes too long.
        """
        if self.is_read:
            return await self._receive()
        self._is_silent = False
        left = self._deadline - time.monotonic()
        try:
            async with asyncio.timeout(left):
                message = await self._receive()
        except TimeoutError as error:
            self._is_silent = True
            detail = f"the body was not there after {self._seconds:g} seconds"
            raise Refused(408, detail) from error
        self._size += len(message.get("body", b""))
        self.is_read = not message.get("more_body", False)
        if self._size > self._limit:
            raise self._too_large()
        return message

    async def drain(self) -> None:
        """Drop what comes at once of the rest."""
        if self._is_silent:
            return
        dropped = 0
        try:
            async with asyncio.timeout(_DRAINED_SECONDS):
                while not self.is_read and dropped < _DRAINED_BYTES:
                    message = await self._receive()
                    dropped += len(message.get("body", b""))
                    self.is_read = not message.get("more_body", False)
        except TimeoutError:
            return

    def _too_large(self) -> Refused:
        return Refused(413, f"the body has more than {self._limit:,} bytes")


class _Answer:
    """Passes an answer on; closes the connection behind one to half a request."""

    def __init__(self, send: Send, body: _Body) -> None:
        self._send = send
        self._body = body
        self.status: int | None = None
        """None while there is no answer."""

    async def send(self, message: Message) -> None:
        """Pass a part of it on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-content-type-options"] = "nosniff"
            headers.setdefault("cache-control", "no-store")
            if not self._body.is_read:
                await self._body.drain()
            if not self._body.is_read:
                headers["connection"] = "close"
        await self._send(message)
