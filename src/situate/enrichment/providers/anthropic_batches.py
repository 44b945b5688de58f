"""Anthropic's Message Batches.

A batch carries no note of ours: whether one that got no answer was taken in
shows only in the list of batches, and whose it is only in its results.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from situate.enrichment.providers.anthropic import VENDOR
from situate.enrichment.providers.batch_replies import (
    SUBMIT_SECONDS,
    count,
    fields,
    lines_of,
    named,
    next_page,
    our_errors,
    page_of,
    record_of,
    said,
    taken_in,
    word,
)
from situate.enrichment.providers.batching import (
    BatchItem,
    BatchState,
    Frame,
    ItemError,
    Limits,
    Listed,
)
from situate.enrichment.providers.connection import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    import anthropic
    import httpx2

    from situate.enrichment.exchange import Body
    from situate.enrichment.providers.batching import Parcel

_BATCHES = "/v1/messages/batches"

_PAGE = 100
"""Batches on a page of the list; it may hold 1,000."""

_BLOCK_BYTES = 1 << 20

_ERRORS: dict[str, ItemError] = {"expired": "expired", "canceled": "cancelled"}


class AnthropicBatches:
    """Hands requests to Claude in batches.

    Settings are those of the live provider.

    Raises:
        ConfigError: `base_url` is no address.
    """

    name = VENDOR.name
    # 100,000 requests or 256 MB, says Anthropic's guide to Message Batches (read
    # on 2026-11-30 in a public copy); taken with a tenth to spare.
    limits = Limits(requests=90_000, size_bytes=230_000_000)
    frame = Frame(head=b'{"requests":[', between=b",", tail=b"]}")

    def __init__(
        self,
        *,
        base_url: str | None,
        timeout_seconds: float,
        endpoint: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._transport = transport
        self._http: httpx2.AsyncClient | None = None
        self._client: anthropic.AsyncAnthropic | None = None
        self._connection = connect(
            VENDOR,
            base_url=base_url,
            endpoint=endpoint,
            timeout_seconds=timeout_seconds,
        )

    @property
    def endpoint(self) -> str:
        """Who answers: the configured name, else the address."""
        return self._connection.endpoint

    def check(self) -> None:
        """Find out, without asking, whether the provider can be asked.

        Raises:
            AuthenticationFailed: its key is missing or is none.
        """
        self._connection.check()

    def encode(self, custom_id: str, body: Body) -> bytes:
        """Give a request as it stands in the file of a batch. Pure."""
        head = f'{{"custom_id":{json.dumps(custom_id)},"params":'
        return head.encode() + self._connection.outgoing(body, mode="batch") + b"}"

    async def newest(self) -> str | None:
        """Give the id of the batch the vendor took in last."""
        async for each in self.listed(None):
            return each.batch_id
        return None

    async def submit(self, ticket: str, parcel: Parcel) -> str:  # noqa: ARG002 - the API keeps no note
        """Hand a batch in and give the vendor's id."""
        import anthropic
        import httpx2

        client, _ = self._opened()
        patient = replace(self._connection, timeout_seconds=SUBMIT_SECONDS)
        wait = httpx2.Timeout(SUBMIT_SECONDS, connect=self._connection.timeout_seconds)
        with our_errors(patient, anthropic, handing_in=True, at_the_door=True):
            text = await client.post(
                _BATCHES,
                content=_blocks(parcel),
                cast_to=str,
                options={
                    "timeout": wait,
                    "headers": {"content-length": str(parcel.size_bytes)},
                },
            )
        return taken_in(self._connection, text)

    async def listed(self, since: str | None) -> AsyncIterator[Listed]:
        """Give the batches taken in after `since`, the newest first."""
        import anthropic

        client, _ = self._opened()
        after: str | None = None
        seen: set[str] = set()
        while True:
            query: dict[str, object] = {"limit": _PAGE}
            if after is not None:
                query["after_id"] = after
            with our_errors(self._connection, anthropic, at_the_door=True):
                text = await client.get(
                    _BATCHES, cast_to=str, options={"params": query}
                )
            entries, last = page_of(self._connection, text)
            after = next_page(self._connection, last, seen)
            for entry in entries:
                if entry.get("id") == since:
                    return
                yield Listed(
                    batch_id=named(self._connection, entry),
                    ticket=None,
                    state=_state(entry),
                )
            if after is None:
                return

    async def poll(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        import anthropic

        client, _ = self._opened()
        with our_errors(self._connection, anthropic):
            text = await client.get(_path(batch_id), cast_to=str)
        return _state(fields(self._connection, text))

    async def results(self, batch_id: str) -> AsyncIterator[BatchItem]:
        """Give what became of the requests of a batch that is over."""
        client, http = self._opened()
        headers = {"anthropic-version": str(client.default_headers[_VERSION])}
        path = f"{_path(batch_id)}/results"
        async for line in lines_of(self._connection, http, path, headers):
            record = record_of(line)
            if record is not None:
                yield self._item(record)

    async def cancel(self, batch_id: str) -> None:
        """Ask the vendor to stop; what is done by then has results."""
        import anthropic

        client, _ = self._opened()
        with our_errors(self._connection, anthropic):
            await client.post(f"{_path(batch_id)}/cancel", cast_to=str)

    async def close(self) -> None:
        """Let go of connections; asking again opens new ones."""
        client, self._client, self._http = self._client, None, None
        if client is not None:
            await client.close()

    def _item(self, record: dict[str, Any]) -> BatchItem:
        name, result = record["custom_id"], record.get("result")
        result = result if isinstance(result, dict) else {}
        message = result.get("message")
        if result.get("type") == "succeeded" and isinstance(message, dict):
            return BatchItem(custom_id=name, raw=json.dumps(message))
        return BatchItem(
            custom_id=name,
            error=_ERRORS.get(word(result.get("type")), "errored"),
            message=said(self._connection, result.get("error")),
        )

    def _opened(self) -> tuple[anthropic.AsyncAnthropic, httpx2.AsyncClient]:
        import anthropic

        if self._client is None or self._http is None:
            connection = self._connection
            connection.check()
            self._http = anthropic.DefaultAsyncHttpxClient(
                **connection.client_options(self._transport)
            )
            self._client = anthropic.AsyncAnthropic(
                api_key=connection.key,
                base_url=connection.base_url,
                max_retries=0,
                open_telemetry=False,
                http_client=self._http,
            )
        return self._client, self._http


_VERSION = "anthropic-version"


def _path(batch_id: str) -> str:
    return f"{_BATCHES}/{quote(batch_id, safe='')}"


async def _blocks(parcel: Parcel) -> AsyncIterator[bytes]:
    parcel.file.seek(0)
    while block := parcel.file.read(_BLOCK_BYTES):
        yield block


def _state(batch: Mapping[str, Any]) -> BatchState:
    counts = batch.get("request_counts")
    counts = counts if isinstance(counts, dict) else {}
    succeeded = count(counts.get("succeeded"))
    failed = sum(count(counts.get(key)) for key in ("errored", "expired", "canceled"))
    over = batch.get("processing_status") == "ended"
    return BatchState(
        status="ended" if over else "in_progress",
        total=succeeded + failed + count(counts.get("processing")),
        succeeded=succeeded,
        failed=failed,
    )
