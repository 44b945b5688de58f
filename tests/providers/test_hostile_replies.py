"""Replies made to break their reader: endless, packed, in charsets that are none.

A real server on loopback sends them, as bytes: what a mocked reply holds has
been through an HTTP library already.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import functools
import gzip
import json
import tracemalloc
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from situate.enrichment.providers.failures import retry_after_seconds
from situate.errors import (
    AuthenticationFailed,
    ProviderError,
    TransientError,
    Unanswered,
)
from tests.support.vendors import OPENAI

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.vendors import Vendor

BLOCK = b" " * 65_536

MUCH = 40_000_000
"""Bytes; ten times what a reply may have."""

PACKED = {"content-encoding": "gzip"}

A_DAY = 86_400.0


def sent(
    vendor: Vendor,
    blocks: Iterable[bytes],
    headers: Mapping[str, str],
    *,
    status: int = 200,
) -> str:
    """Ask a server that answers with these bytes and then hangs up."""
    fields = {"content-type": "application/json", **headers}
    lines = [f"HTTP/1.1 {status} X", *(f"{k}: {v}" for k, v in fields.items())]
    head = "\r\n".join([*lines, "connection: close", "", ""])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.closing(writer), contextlib.suppress(ConnectionError):
            writer.write(head.encode())
            for block in blocks:
                writer.write(block)
                await writer.drain()

    async def ask() -> str:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        provider = vendor.provider(base_url=f"http://127.0.0.1:{port}")
        try:
            return await provider.send(vendor.body())
        finally:
            await provider.close()
            server.close()

    return asyncio.run(ask())


def endless() -> Iterable[bytes]:
    """Give a body ten times as long as any reply."""
    return (BLOCK for _ in range(MUCH // len(BLOCK)))


@functools.cache
def bomb() -> Iterable[bytes]:
    """Give a body that is small until it is unpacked."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    packed = [packer.compress(block) for block in endless()]
    return [b"".join([*packed, packer.flush()])]


@pytest.mark.parametrize("status", [200, 401, 503])
@pytest.mark.parametrize(
    ("body", "headers"),
    [(endless, {}), (bomb, PACKED)],
    ids=["endless", "bomb"],
)
def test_a_reply_beyond_all_measure_is_given_up(
    vendor: Vendor, body: Any, headers: dict[str, str], status: int
) -> None:
    """Statements need kilobytes; what sends megabytes is no model, or a broken one."""
    with pytest.raises(Unanswered, match=r"sent more than 4 MB$") as caught:
        sent(vendor, body(), headers, status=status)

    assert caught.value.usage is None
    assert vendor.name in str(caught.value)


def test_a_bomb_is_not_unpacked_beyond_the_limit() -> None:
    """Memory is bounded while a reply is read, not only afterwards."""
    packed = bomb()
    with contextlib.suppress(Unanswered):
        sent(OPENAI, [b"x"], {})
    tracemalloc.start()

    with pytest.raises(Unanswered):
        sent(OPENAI, packed, PACKED)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MUCH / 2


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
def test_a_large_reply_within_the_limit_arrives_whole(
    vendor: Vendor, encoding: str
) -> None:
    """The limit is far from what a model can say, however it is packed."""
    text = json.dumps(vendor.reply) + " " * 3_900_000
    packed = {
        "identity": text.encode(),
        "gzip": gzip.compress(text.encode(), 1),
        "deflate": zlib.compress(text.encode(), 1),
    }

    raw = sent(vendor, [packed[encoding]], {"content-encoding": encoding})

    assert raw == text


CHARSETS = ["utf-16", "utf-7", "idna", "undefined", "hex", "rot13", "\xff"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_reply_is_utf_8_whatever_its_charset(vendor: Vendor, charset: str) -> None:
    """JSON has one encoding; a header cannot make it another, or nonsense."""
    text = json.dumps({**vendor.reply, "id": "é本"}, ensure_ascii=False)
    kind = f"application/json; charset={charset}"

    raw = sent(vendor, [text.encode()], {"content-type": kind})

    assert raw == text


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize(
    ("status", "becomes"), [(401, AuthenticationFailed), (502, TransientError)]
)
def test_an_error_reply_is_utf_8_whatever_its_charset(
    vendor: Vendor, charset: str, status: int, becomes: type[ProviderError]
) -> None:
    """Proxies name any charset on their pages; the status says what it is."""
    kind = f"text/html; charset={charset}"

    with pytest.raises(becomes, match=f"answered {status}") as caught:
        sent(vendor, [b"<html>\xff\xfe"], {"content-type": kind}, status=status)

    assert type(caught.value) is becomes


def test_bytes_that_are_no_text_do_not_spoil_a_reply(vendor: Vendor) -> None:
    """It was paid for: half a letter becomes a mark, the rest is read."""
    text = json.dumps({**vendor.reply, "id": "\ufffd"}, ensure_ascii=False)

    raw = sent(vendor, [text.encode().replace("\ufffd".encode(), b"\xff")], {})

    assert raw == text


@pytest.mark.parametrize(
    "count", ["1000000000000", "9" * 4_000, "1e308"], ids=["13", "4000", "float"]
)
@pytest.mark.parametrize("place", ["input", "output", "cached"])
def test_a_count_no_request_comes_to_makes_the_usage_unknown(
    vendor: Vendor, place: str, count: str
) -> None:
    """No bill is made up from it, and no message prints thousands of digits."""
    names = {
        "input": {"openai": "prompt_tokens", "anthropic": "input_tokens"},
        "output": {"openai": "completion_tokens", "anthropic": "output_tokens"},
        "cached": {
            "openai": "prompt_tokens_details",
            "anthropic": "cache_read_input_tokens",
        },
    }
    name = names[place][vendor.name]
    held: Any = {"cached_tokens": 7} if name == "prompt_tokens_details" else 7
    reply = {**vendor.reply, "usage": {**vendor.reply["usage"], name: held}}
    raw = json.dumps(reply).replace(": 7", f": {count}")

    read = vendor.provider().parse(raw)

    assert (read.text, read.usage) == ("It is about meals.", None)


def test_counts_of_twelve_digits_are_counts(vendor: Vendor) -> None:
    """The limit is beyond what any model reads, not near it."""
    most = 999_999_999_999
    usage = dict.fromkeys(vendor.reply["usage"], most)

    read = vendor.provider().parse(json.dumps({**vendor.reply, "usage": usage}))

    assert read.usage is not None
    assert (read.usage.input, read.usage.output) == (most, most)


def test_a_number_without_end_makes_no_reply(vendor: Vendor) -> None:
    """Python reads no number of more than 4,300 digits."""
    raw = json.dumps({**vendor.reply, "id": 7}).replace(": 7", f": {'9' * 5_000}")

    with pytest.raises(Unanswered, match="it is no JSON object"):
        vendor.provider().parse(raw)


@pytest.mark.parametrize(
    ("model", "read"),
    [
        ("local-model-7", "local-model-7"),
        ("本" * 200, "本" * 200),
        ("x" * 201, ""),
        ("a\nb", ""),
        ("\x1b[31m", ""),
        ("\ud800", ""),
        (7, ""),
        ([["x"]], ""),
        (None, ""),
    ],
    ids=["usual", "200", "201", "lines", "colour", "half", "number", "list", "null"],
)
def test_who_answered_is_a_short_printable_name_or_nobody(
    vendor: Vendor, model: object, read: str
) -> None:
    """It goes into records and into the ledger."""
    raw = json.dumps({**vendor.reply, "model": model})

    assert vendor.provider().parse(raw).model == read


@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
@pytest.mark.parametrize("digits", ["9" * 400, "1e999", "9" * 300, "9" * 5_000])
def test_a_wait_of_hundreds_of_digits_is_a_very_long_one(
    name: str, digits: str
) -> None:
    """A server that asks for eternity is not asked again at once."""
    now = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)

    wait = retry_after_seconds({name: digits}, now=now)

    assert wait is not None
    assert now + datetime.timedelta(seconds=wait) > now + datetime.timedelta(3_650)


@pytest.mark.parametrize(
    ("moment", "is_long"),
    [
        ("Fri, 31 Dec 9999 23:59:59 -2359", True),
        ("Mon, 01 Jan 0001 00:00:00 +2359", False),
    ],
    ids=["last", "first"],
)
def test_the_ends_of_the_calendar_are_dates_to_wait_for(
    moment: str, is_long: bool
) -> None:
    """A date may lie where its moment in another time zone has no date."""
    now = datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC)

    wait = retry_after_seconds({"retry-after": moment}, now=now)

    assert wait is not None
    assert (wait > A_DAY) is is_long
