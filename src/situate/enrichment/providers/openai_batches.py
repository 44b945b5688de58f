"""OpenAI's Batch API: a file goes up, a batch is made of it, two files come back.

Every batch carries our ticket in its metadata, so that one whose answer got
lost is found again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

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
    BatchStatus,
    Frame,
    ItemError,
    Limits,
    Listed,
    is_id,
)
from situate.enrichment.providers.connection import connect
from situate.enrichment.providers.openai import VENDOR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    import httpx2
    import openai

    from situate.enrichment.exchange import Body
    from situate.enrichment.providers.batching import Parcel

_PAGE = 100
"""Batches on a page of the list, the most it holds."""

_NOTE = "situate_ticket"
"""The key of a batch's metadata that holds the ticket."""

_STATUSES: dict[str, BatchStatus] = {
    "completed": "ended",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
"""Of a batch that is over; in any other it is still worked on."""

_ERRORS: dict[str, ItemError] = {
    "batch_expired": "expired",
    "batch_cancelled": "cancelled",
}
"""Codes of requests that were never asked; all others have been."""

_TYPE = "content-type"


class OpenAIBatches:
    """Hands requests to a chat model in batches.

    Settings are those of the live provider.

    Raises:
        ConfigError: `base_url` is no address.
    """

    name = VENDOR.name
    # 50,000 requests and 200 MB, says the reference in OpenAI's SDK 3.57
    # (2026-11); taken with a tenth to spare.
    limits = Limits(requests=45_000, size_bytes=180_000_000)
    frame = Frame(head=b"", between=b"\n", tail=b"\n")

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
        self._client: openai.AsyncOpenAI | None = None
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
        head = (
            f'{{"custom_id":{json.dumps(custom_id)},"method":"POST",'
            '"url":"/v1/chat/completions","body":'
        )
        return head.encode() + self._connection.outgoing(body, mode="batch") + b"}"

    async def newest(self) -> str | None:
        """Give nothing: a batch is known by its ticket, whenever it was made."""

    async def submit(self, ticket: str, parcel: Parcel) -> str:
        """Upload the file, make a batch of it and give the vendor's id."""
        import httpx2
        import openai

        client, _ = self._opened()
        patient = replace(self._connection, timeout_seconds=SUBMIT_SECONDS)
        wait = httpx2.Timeout(SUBMIT_SECONDS, connect=self._connection.timeout_seconds)
        parcel.file.seek(0)
        with our_errors(patient, openai, at_the_door=True):
            # As text: `files.create` takes anything for a file.
            said_of_file = await client.post(
                "/files",
                body={"purpose": "batch"},
                files={"file": ("requests.jsonl", parcel.file, "application/jsonl")},
                cast_to=str,
                options={
                    "timeout": wait,
                    "headers": {"content-type": "multipart/form-data"},
                },
            )
        file = fields(self._connection, said_of_file)
        body = {
            "input_file_id": named(self._connection, file),
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_NOTE: ticket},
        }
        with our_errors(patient, openai, handing_in=True, at_the_door=True):
            text = await client.post(
                "/batches", body=body, cast_to=str, options={"timeout": wait}
            )
        return taken_in(self._connection, text)

    async def listed(self, since: str | None) -> AsyncIterator[Listed]:  # noqa: ARG002 - the order of the list is not promised
        """Give all batches there are."""
        import openai

        client, _ = self._opened()
        after: str | None = None
        seen: set[str] = set()
        while True:
            query: dict[str, object] = {"limit": _PAGE}
            if after is not None:
                query["after"] = after
            with our_errors(self._connection, openai, at_the_door=True):
                text = await client.get(
                    "/batches", cast_to=str, options={"params": query}
                )
            entries, last = page_of(self._connection, text)
            after = next_page(self._connection, last, seen)
            for entry in entries:
                notes = entry.get("metadata")
                note = notes.get(_NOTE) if isinstance(notes, dict) else None
                yield Listed(
                    batch_id=named(self._connection, entry),
                    ticket=note if isinstance(note, str) else "",
                    state=self._state(entry),
                )
            if after is None:
                return

    async def poll(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        return self._state(await self._batch(batch_id))

    async def results(self, batch_id: str) -> AsyncIterator[BatchItem]:
        """Give what became of the requests of a batch that is over.

        Answers stand in one file and errors in another; either may be missing.
        """
        batch = await self._batch(batch_id)
        _, http = self._opened()
        for key in ("output_file_id", "error_file_id"):
            name = batch.get(key)
            if not isinstance(name, str) or not is_id(name):
                continue
            path = f"/files/{quote(name, safe='')}/content"
            async for line in lines_of(self._connection, http, path, {}):
                record = record_of(line)
                if record is not None:
                    yield self._item(record)

    async def cancel(self, batch_id: str) -> None:
        """Ask the vendor to stop; what is done by then has results."""
        import openai

        client, _ = self._opened()
        with our_errors(self._connection, openai):
            await client.post(f"{_path(batch_id)}/cancel", cast_to=str)

    async def close(self) -> None:
        """Let go of connections; asking again opens new ones."""
        client, self._client, self._http = self._client, None, None
        if client is not None:
            await client.close()

    async def _batch(self, batch_id: str) -> dict[str, Any]:
        import openai

        client, _ = self._opened()
        with our_errors(self._connection, openai):
            text = await client.get(_path(batch_id), cast_to=str)
        return fields(self._connection, text)

    def _item(self, record: dict[str, Any]) -> BatchItem:
        name, error = record["custom_id"], record.get("error")
        response = record.get("response")
        response = response if isinstance(response, dict) else {}
        body = response.get("body")
        if response.get("status_code") == 200 and isinstance(body, dict) and not error:
            return BatchItem(custom_id=name, raw=json.dumps(body))
        code = word(error.get("code")) if isinstance(error, dict) else ""
        return BatchItem(
            custom_id=name,
            error=_ERRORS.get(code, "errored"),
            message=said(self._connection, error or body),
        )

    def _state(self, batch: Mapping[str, Any]) -> BatchState:
        counts = batch.get("request_counts")
        counts = counts if isinstance(counts, dict) else {}
        errors = batch.get("errors")
        errors = errors.get("data") if isinstance(errors, dict) else None
        first = errors[0] if isinstance(errors, list) and errors else None
        return BatchState(
            status=_STATUSES.get(word(batch.get("status")), "in_progress"),
            # While a file is validated the vendor says 0.
            total=count(counts.get("total")) or None,
            succeeded=count(counts.get("completed")),
            failed=count(counts.get("failed")),
            message=said(self._connection, first),
        )

    def _opened(self) -> tuple[openai.AsyncOpenAI, httpx2.AsyncClient]:
        import openai

        if self._client is None or self._http is None:
            connection = self._connection
            connection.check()
            options = connection.client_options(self._transport)
            hooks = options["event_hooks"]["request"]
            options["event_hooks"]["request"] = [_note_type, *hooks, _keep_type]
            self._http = openai.DefaultAsyncHttpxClient(**options)
            self._client = openai.AsyncOpenAI(
                api_key=connection.key,
                base_url=connection.base_url,
                max_retries=0,
                http_client=self._http,
            )
        return self._client, self._http


async def _note_type(request: httpx2.Request) -> None:
    request.extensions[_TYPE] = request.headers.get(_TYPE, "")


async def _keep_type(request: httpx2.Request) -> None:
    """Say again how the parts of an uploaded file are told apart.

    The hook between these two makes JSON of every request.
    """
    if request.extensions[_TYPE].startswith("multipart/"):
        request.headers[_TYPE] = request.extensions[_TYPE]


def _path(batch_id: str) -> str:
    return f"/batches/{quote(batch_id, safe='')}"
