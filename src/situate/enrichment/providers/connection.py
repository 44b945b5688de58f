"""What every vendor's client shares: its key, its address, its headers.

The config says where text goes and the environment gives the key. Nothing else
does: the SDKs read a dozen variables more, and none of them gets through.
Proxies of the environment are honoured, they are part of the machine's network.
What an organisation does not allow gets no client, no bytes and no request here,
whoever asks for it.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situate.addresses import read_address
from situate.errors import AuthenticationFailed, ConfigError, Unanswered
from situate.organisation import read_egress

if TYPE_CHECKING:
    from collections.abc import Iterable

    import httpx2

    from situate.enrichment.exchange import Body
    from situate.organisation import Egress, Mode

# What a server needs to know. SDKs add the machine, its system and its Python.
_HEADERS = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"anthropic-version",
        b"connection",
        b"content-length",
        b"user-agent",
    }
)

_WITH_USER = re.compile(r"[a-z]+://[^/?#]*@", re.IGNORECASE)

_NO_KEY = "no-key-needed"
_LONGEST_KEY = 65_536
"""Bytes read of a file that should hold a key; a device has no end."""

_SECRET_NAME = re.compile(r"(?:^|_)KEY$|(?:TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_MOUNTED_NAME = re.compile(r"_API_KEY_FILE$", re.IGNORECASE)
_SHORTEST_SECRET = 6
"""Characters; what is shorter is a word that messages need."""

_CONNECTING_SHARE = 0.8
"""Of the time for a request: what is spent before anything is sent ends first,
so that a server nobody reached is told from one that may send a bill."""

_LARGEST_REPLY_BYTES = 4_000_000
"""Unpacked. The longest answer of a model, 128,000 tokens as escaped JSON, is about
a megabyte; many replies are read at a time, and JSON takes 25 times its size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """What stands for a provider when config says nothing else."""

    name: str
    base_url: str
    variable: str
    """The environment variable the key comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where a provider sends text and with which key."""

    vendor: Vendor
    base_url: str
    endpoint: str
    """Who answers, in cache keys and messages."""
    key: str = field(repr=False)
    """Empty when there is none; `no_key` then says why."""
    timeout_seconds: float
    """For one request from its start to the last byte of its reply."""
    no_key: str | None = None
    egress: Egress
    """Where the organisation lets text go."""
    secrets: tuple[str, ...] = field(repr=False, default=())
    """What no message may hold: the key, and everything secret around it."""

    def check(self) -> None:
        """Find out whether there is a key to ask with, and leave to ask there.

        Raises:
            ConfigError: the organisation does not allow the address.
            AuthenticationFailed: there is no key, or it is no key.
        """
        _refuse(self.egress.about_address(self.base_url))
        if self.no_key is not None:
            raise AuthenticationFailed(self.no_key)

    def outgoing(self, body: Body, *, mode: Mode = "live") -> bytes:
        """Give the bytes of a body that is about to be sent.

        Raises:
            ConfigError: the organisation does not allow its model, or batches.
        """
        self.permit(str(body.get("model")), mode)
        return on_the_wire(body)

    def permit(self, model: str, mode: Mode = "live") -> None:
        """Find out whether a model may be asked.

        Raises:
            ConfigError: the organisation does not allow it, or batches.
        """
        _refuse(self.egress.about_model(model, mode))

    def client_options(
        self, transport: httpx2.AsyncBaseTransport | None
    ) -> dict[str, Any]:
        """Give the arguments for an SDK's own kind of HTTP client.

        Redirects are not followed: they would send text to an address that
        nobody configured.
        """
        import httpx2

        options: dict[str, Any] = {
            "timeout": httpx2.Timeout(
                self.timeout_seconds,
                connect=self.timeout_seconds * _CONNECTING_SHARE,
                pool=self.timeout_seconds * _CONNECTING_SHARE,
            ),
            "follow_redirects": False,
            "event_hooks": {
                "request": [self._refuse_elsewhere, self._set_headers],
                "response": [_take_for_utf8],
            },
        }
        if transport is not None:
            options["transport"] = transport
        return options

    def live_options(
        self, transport: httpx2.AsyncBaseTransport | None
    ) -> dict[str, Any]:
        """Give them for a client whose replies are all short.

        A reply that comes to no end, or unpacks to one, is given up as
        `Unanswered`, whatever its status.
        """
        options = self.client_options(transport)
        options["event_hooks"]["response"].append(self._read_within_limit)
        return options

    async def _refuse_elsewhere(self, request: httpx2.Request) -> None:
        """Let no request out to where the organisation does not allow one."""
        if not self.egress.bounds:
            return
        url = request.url
        path = url.raw_path.partition(b"?")[0].decode("ascii")
        where = f"{url.scheme}://{url.netloc.decode('ascii')}{path}"
        _refuse(self.egress.about_address(where))

    async def _set_headers(self, request: httpx2.Request) -> None:
        """Keep only headers the request needs, with our own key and host."""
        import httpx2

        needed = [each for each in request.headers.raw if each[0].lower() in _HEADERS]
        request.headers = httpx2.Headers(needed)
        request.headers["host"] = request.url.netloc.decode("ascii")
        request.headers["content-type"] = "application/json"
        request.headers["authorization"] = f"Bearer {self.key}"

    async def _read_within_limit(self, response: httpx2.Response) -> None:
        """Unpack a body here, where its size shows, and pass it on plain."""
        import httpx2

        packed = httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=response.stream,
            request=response.request,
        )
        body = bytearray()
        async with aclosing(packed.aiter_bytes()) as blocks:
            async for block in blocks:
                body += block
                if len(body) > _LARGEST_REPLY_BYTES:
                    message = (
                        f"{self.vendor.name} at {self.endpoint} sent more than "
                        f"{_LARGEST_REPLY_BYTES // 1_000_000} MB"
                    )
                    raise Unanswered(message, usage=None)
        response.headers.pop("content-encoding", None)
        response.stream = httpx2.ByteStream(bytes(body))


def connect(
    vendor: Vendor,
    *,
    base_url: str | None,
    endpoint: str | None,
    timeout_seconds: float,
) -> Connection:
    """Settle address and key before any work is done.

    A server of one's own (`base_url`) needs no key; a vendor does, but only to be
    asked: a plan can be made without.

    Raises:
        ConfigError: `base_url` is not a plain http(s) address, or the organisation's
            file cannot be used.
    """
    address = vendor.base_url if base_url is None else _checked(base_url)
    key, no_key = "", None
    try:
        key = _read_key(vendor.variable)
    except AuthenticationFailed as error:
        no_key = str(error)
    if not key and base_url is not None:
        key = _NO_KEY
    elif not key:
        no_key = no_key or (
            f"{vendor.name} needs a key: set {vendor.variable}, or "
            f"{vendor.variable}_FILE to the file that holds it"
        )
    secrets = environment_secrets()
    return Connection(
        secrets=(key, *secrets) if key and key != _NO_KEY else secrets,
        vendor=vendor,
        base_url=address,
        egress=read_egress(os.environ),
        endpoint=endpoint or address,
        key=key,
        timeout_seconds=timeout_seconds,
        no_key=no_key,
    )


def environment_secrets() -> tuple[str, ...]:
    """Collect what the environment calls a key, token, secret or password.

    A server may repeat what it knows of us, and it may know other keys than ours.
    """
    values = {
        value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name)
    }
    for name, path in os.environ.items():
        mounted = Path(path.strip())
        # One that is needed and cannot be read is an error of its own.
        with suppress(OSError, ValueError):
            if _MOUNTED_NAME.search(name) and mounted.is_file():
                values.add(_mounted(mounted))
    return tuple(value for value in values if len(value) >= _SHORTEST_SECRET)


def masked(text: str, secrets: Iterable[str]) -> str:
    """Put a mark in place of every secret."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "[key]")
    return text


def on_the_wire(body: Body) -> bytes:
    """Give the bytes that are sent for a body: its keys in their order."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8 form; JSON has an escape for it.
        return re.sub(
            "[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text
        ).encode()


def _refuse(objection: str | None) -> None:
    if objection is not None:
        raise ConfigError(objection)


async def _take_for_utf8(response: httpx2.Response) -> None:
    """Read a body as what JSON is: servers name charsets that are none."""
    response.encoding = "utf-8"


def _checked(base_url: str) -> str:
    """Give an address without slashes at its end.

    Raises:
        ConfigError: it is none, or holds what belongs into the environment.
    """
    try:
        read_address(base_url)
    except ValueError as error:
        message = (
            f"base_url {base_url!r} is no address to send to; it looks like "
            "'http://127.0.0.1:8080/v1'"
        )
        if _WITH_USER.match(base_url):
            message = (
                "base_url holds a user name or password; secrets come from the "
                "environment"
            )
        raise ConfigError(message) from error
    return base_url.rstrip("/")


def _mounted(path: Path) -> str:
    """Read a key from a file or pipe, and no more than any key is long."""
    with path.open("rb") as source:
        return source.read(_LONGEST_KEY).decode("utf-8").strip()


def _read_key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    mounted = os.environ.get(f"{variable}_FILE", "").strip()
    if not key and mounted:
        try:
            key = _mounted(Path(mounted))
        except (OSError, ValueError) as error:
            message = f"{variable}_FILE names a file that cannot be read: {mounted!r}"
            raise AuthenticationFailed(message) from error
        if not key:
            message = f"{variable}_FILE names an empty file: {mounted!r}"
            raise AuthenticationFailed(message)
    if not (key.isascii() and key.isprintable()) or " " in key:
        message = f"{variable} holds characters no key has"
        raise AuthenticationFailed(message)
    return key
