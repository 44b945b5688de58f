"""A respx mocker for httpcore2, the transport under today's vendor SDKs.

respx patches httpcore only, so a plain `respx.mock` would let their requests
through. Delete this once respx itself knows httpx2 and httpcore2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpcore2
import httpx
import respx
from respx.mocks import HTTPCoreMocker

if TYPE_CHECKING:
    from respx.router import MockRouter


class HTTPCore2Mocker(HTTPCoreMocker):
    """Answers for httpcore2; routes still speak httpx, as respx does."""

    name = "httpcore2"
    targets = [  # noqa: RUF012 - respx declares it so
        target.replace("httpcore.", "httpcore2.", 1)
        for target in HTTPCoreMocker.targets
    ]

    @classmethod
    async def async_handler(cls, httpx_request: httpx.Request) -> httpx.Response:
        """Give the route's answer; its httpx errors become httpcore2's."""
        try:
            return await super().async_handler(httpx_request)
        except httpx.TransportError as error:
            raise getattr(httpcore2, type(error).__name__)(str(error)) from error

    @classmethod
    def from_sync_httpx_response(
        cls,
        httpx_response: httpx.Response,
        target: object,  # noqa: ARG003 - respx hands over what it patched
        **kwargs: Any,  # noqa: ARG003 - and how that was called
    ) -> httpcore2.Response:
        """Turn a route's answer into one of httpcore2."""
        return httpcore2.Response(
            status=httpx_response.status_code,
            headers=httpx_response.headers.raw,
            content=httpx_response.stream,
            extensions=httpx_response.extensions,
        )


def mocked() -> MockRouter:
    """Answer every request from routes; one without a route fails the test."""
    return respx.mock(using=HTTPCore2Mocker.name)
