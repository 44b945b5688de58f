"""Reads what vendors say about batches, and turns their refusals into our errors.

What decides is whether a batch was taken in: one that may have been is never
sent again as if it had not.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from situate.enrichment.providers.batching import is_id
from situate.enrichment.providers.connection import masked
from situate.enrichment.providers.failures import failure, unreached
from situate.errors import (
    BatchesUnknown,
    ModelUnknown,
    ProviderError,
    TransientError,
    Unanswered,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
    from types import ModuleType

    import httpx2

    from situate.enrichment.providers.connection import Connection

SUBMIT_SECONDS = 600.0
"""For taking a batch in: what both vendors' SDKs allow any request by default."""

RESULTS_SECONDS = 600.0
"""For waiting for the results of a batch, from the first byte to the last: as long
as for handing it in. What is done with them meanwhile does not count."""

MOST_RESULT_BYTES = 1 << 30
"""Of a batch's results, unpacked: a batch of 230 MB asks for less than that."""

LONGEST_LINE_BYTES = 1 << 24
"""Of one result; a reply with as many tokens as any model writes has a tenth."""

_REFUSAL_BYTES = 1 << 16
"""Read of a refusal; what it says stands in its first few hundred."""

_COUNTED_UP_TO = 10**9
"""Requests; no vendor takes a millionth of a count above that."""

_WORDS_SHOWN = 200


@contextmanager
def our_errors(
    connection: Connection,
    kit: ModuleType,
    *,
    handing_in: bool = False,
    at_the_door: bool = False,
) -> Iterator[None]:
    """Turn what an SDK raises into our errors.

    While a batch is handed in, `Unanswered` is for what may have been taken in
    all the same: nobody answered, or something failed inside the vendor's system.
    Any other call can be made again, whatever became of it. `at_the_door` no batch
    is named that may be unknown: what is not found is the batch system.
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
        if at_the_door and status in _NO_ROUTE and not isinstance(found, ModelUnknown):
            raise BatchesUnknown(_no_batches(connection, status)) from error
        if handing_in and (status in {408, 409} or status >= 500):
            raise Unanswered(str(found), usage=None) from error
        raise found from error
    except UnicodeError as error:
        # The answer is not in the encoding that it says it is in.
        if handing_in:
            raise Unanswered(_no_sense(connection), usage=None) from error
        raise TransientError(_no_sense(connection)) from error


_NO_ROUTE = frozenset({404, 405})


def _no_batches(connection: Connection, status: int) -> str:
    return (
        f"{connection.vendor.name} at {connection.endpoint} has no batch system "
        f"(it answered {status}): ask with enrichment.mode = 'live', or by file with "
        "`situate batch export` and `situate batch import`; or correct base_url"
    )


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
    if not isinstance(value, str) or not is_id(value):
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


def next_page(connection: Connection, after: str | None, seen: set[str]) -> str | None:
    """Give the id after which the next page begins, once.

    Raises:
        TransientError: the list goes round in circles.
    """
    if after is not None:
        if after in seen:
            raise TransientError(_no_sense(connection))
        seen.add(after)
    return after


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
        ProviderError: the vendor refused, the connection broke on the way, or
            there is no end to it.
    """
    rest, size = b"", 0
    async with aclosing(_blocks_of(connection, client, path, headers)) as blocks:
        async for block in blocks:
            size += len(block)
            *lines, rest = (rest + block).split(b"\n")
            if size > MOST_RESULT_BYTES or len(rest) > LONGEST_LINE_BYTES:
                raise ProviderError(_endless(connection))
            for line in lines:
                yield line
    yield rest


async def _blocks_of(
    connection: Connection,
    client: httpx2.AsyncClient,
    path: str,
    headers: Mapping[str, str],
) -> AsyncGenerator[bytes, None]:
    """Stream a vendor's file; only waiting for it counts against its time.

    Raises:
        ProviderError: the vendor refused, the connection broke on the way, or it
            took too long.
    """
    import httpx2

    url = f"{connection.base_url}{path}"
    patience = _Patience()
    request = client.build_request("GET", url, headers=headers)
    try:
        async with patience.waits():
            response = await client.send(request, stream=True)
        async with aclosing(response):
            if response.status_code != 200:
                async with patience.waits():
                    refusal = await _refusal_in(response)
                raise failure(connection, refusal, model="", optional=())
            blocks = response.aiter_bytes()
            while True:
                async with patience.waits():
                    block = await anext(blocks, None)
                if block is None:
                    return
                yield block
    except httpx2.RequestError as error:
        late = isinstance(error, httpx2.TimeoutException)
        found: ProviderError = unreached(connection, error, late=late)
        raise found from error
    except TimeoutError as error:
        raise ProviderError(_endless(connection)) from error


async def _refusal_in(response: httpx2.Response) -> httpx2.Response:
    """Give a refusal with no more of its words than anybody reads."""
    import httpx2

    words = b""
    async for block in response.aiter_bytes():
        words += block
        if len(words) > _REFUSAL_BYTES:
            break
    headers = {
        name: value
        for name, value in response.headers.items()
        if name in {"retry-after", "retry-after-ms"}
    }
    return httpx2.Response(response.status_code, headers=headers, content=words)


class _Patience:
    """Waits for one file, in many parts, and not for ever."""

    def __init__(self) -> None:
        self._left = RESULTS_SECONDS

    @asynccontextmanager
    async def waits(self) -> AsyncIterator[None]:
        """Count what the block takes.

        Raises:
            TimeoutError: there is no time left.
        """
        clock = asyncio.get_running_loop().time
        begin = clock()
        async with asyncio.timeout(self._left):
            yield
        self._left -= clock() - begin


def record_of(line: bytes) -> dict[str, Any] | None:
    """Read a line of results; None for one that belongs to no request."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    name = record.get("custom_id") if isinstance(record, dict) else None
    return record if isinstance(name, str) and is_id(name) else None


def word(value: object) -> str:
    """Read a word of a vendor; what is none is empty."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """Read a count; what is none is 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value < _COUNTED_UP_TO else 0


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


def _endless(connection: Connection) -> str:
    return (
        f"{connection.vendor.name} at {connection.endpoint} gives results without an "
        f"end: more than {MOST_RESULT_BYTES:,} bytes, {LONGEST_LINE_BYTES:,} in a line "
        f"or {RESULTS_SECONDS:g} s of waiting"
    )


def _no_sense(connection: Connection) -> str:
    return (
        f"{connection.vendor.name} at {connection.endpoint} answered something "
        "that is not about a batch"
    )
