"""Reads what vendors say about batches, and turns their refusals into our errors.

What decides is whether a batch was taken in: one that may have been is never
sent again as if it had not.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from situate.enrichment.providers.connection import masked
from situate.enrichment.providers.failures import failure, unreached
from situate.errors import ProviderError, TransientError, Unanswered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from types import ModuleType

    import httpx2

    from situate.enrichment.providers.connection import Connection

SUBMIT_SECONDS = 600.0
"""For taking a batch in: what both vendors' SDKs allow any request by default."""

_WORDS_SHOWN = 200


@contextmanager
def our_errors(
    connection: Connection, kit: ModuleType, *, handing_in: bool = False
) -> Iterator[None]:
    """Turn what an SDK raises into our errors.

    While a batch is handed in, `Unanswered` is for what may have been taken in
    all the same: nobody answered, or something failed inside the vendor's system.
    Any other call can be made again, whatever became of it.
    """
    try:
        yield
    except kit.APITimeoutError as error:
        raise _plain(unreached(connection, error, late=True), handing_in) from error
    except kit.APIConnectionError as error:
        raise _plain(unreached(connection, error, late=False), handing_in) from error
    except kit.APIStatusError as error:
        found = failure(connection, error.response, model="", optional=())
        status = error.response.status_code
        if handing_in and (status in {408, 409} or status >= 500):
            raise Unanswered(str(found), usage=None) from error
        raise found from error


def _plain(error: TransientError, handing_in: bool) -> TransientError:
    return error if handing_in else TransientError(str(error))


def fields(connection: Connection, text: str) -> dict[str, Any]:
    """Read what a vendor said about a batch.

    Raises:
        TransientError: it is no JSON object.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise TransientError(_no_sense(connection))
    return data


def named(connection: Connection, data: Mapping[str, Any]) -> str:
    """Read the id of a batch or file.

    Raises:
        TransientError: there is none.
    """
    value = data.get("id")
    if not isinstance(value, str) or not value:
        raise TransientError(_no_sense(connection))
    return value


def taken_in(connection: Connection, text: str) -> str:
    """Read the id of a batch that was handed in just now.

    Raises:
        Unanswered: the answer to it makes no sense.
    """
    try:
        return named(connection, fields(connection, text))
    except TransientError as error:
        raise Unanswered(str(error), usage=None) from error


def page_of(
    connection: Connection, text: str
) -> tuple[list[Mapping[str, Any]], str | None]:
    """Read a page of a vendor's list, and the id after which the next begins.

    Raises:
        TransientError: it is no such page.
    """
    data = fields(connection, text)
    entries = data.get("data")
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise TransientError(_no_sense(connection))
    if not entries or not data.get("has_more"):
        return entries, None
    return entries, named(connection, entries[-1])


async def lines_of(
    connection: Connection,
    client: httpx2.AsyncClient,
    path: str,
    headers: Mapping[str, str],
) -> AsyncIterator[bytes]:
    """Stream the lines of a vendor's file.

    SDKs hold a whole file in memory, or follow the address in a reply; this
    address is the configured one, and the key goes nowhere else.

    Raises:
        ProviderError: the vendor refused, or the connection broke on the way.
    """
    import httpx2

    url = f"{connection.base_url}{path}"
    try:
        async with client.stream("GET", url, headers=headers) as response:
            if response.status_code != 200:
                await response.aread()
                raise failure(connection, response, model="", optional=())
            rest = b""
            async for block in response.aiter_bytes():
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    yield line
            yield rest
    except httpx2.RequestError as error:
        late = isinstance(error, httpx2.TimeoutException)
        found: ProviderError = unreached(connection, error, late=late)
        raise found from error


def record_of(line: bytes) -> dict[str, Any] | None:
    """Read a line of results; None for one that belongs to no request."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("custom_id"), str):
        return None
    return record


def count(value: object) -> int:
    """Read a count; what is none is 0."""
    if isinstance(value, int) and not isinstance(value, bool):
        return max(0, value)
    return 0


def said(connection: Connection, error: object) -> str | None:
    """Give a vendor's words about an error: one short line without a secret."""
    while isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    if not isinstance(error, dict):
        return None
    parts = (error.get("code") or error.get("type"), error.get("message"))
    text = ": ".join(part for part in parts if isinstance(part, str) and part)
    plain = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(masked(plain, connection.secrets).split())
    return line[:_WORDS_SHOWN] or None


def _no_sense(connection: Connection) -> str:
    return (
        f"{connection.vendor.name} at {connection.endpoint} answered something "
        "that is not about a batch"
    )
