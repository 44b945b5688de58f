"""Who may ask, how often, how much at once: bounds that keep memory flat.

Everything beyond a bound is refused at once with when to come again. Nothing here
reads a body; what a request may not have is refused before it is read.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from situate.errors import ConfigError
from situate.files import opened
from situate.service.web.problems import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

VARIABLE: Final = "SITUATE_SERVICE_KEYS"
"""The environment variable that holds keys, `name=secret` between white space."""

FILE_VARIABLE: Final = "SITUATE_SERVICE_KEYS_FILE"
"""The environment variable that names a file of the same."""

ANYBODY: Final = "anybody"
"""Who asks where no key is set."""

_SHORTEST: Final = 16
"""Characters of a key: 16 random ones of 64 are 96 bits."""

_MEBIBYTE: Final = 1 << 20

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_NAMED_PORT: Final = re.compile(r":[0-9]*$")

Share = Literal["upload", "stream"]
"""What a key has several of at once: bodies that are taken in or worked on; answers
that go on for as long as somebody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the service takes in, from all together and from each key."""

    body_bytes: int = 32 * _MEBIBYTE
    """Most of a body, and of one document in a larger one."""
    job_bytes: int = 256 * _MEBIBYTE
    """Most of a body of many files."""
    in_hand_bytes: int = 256 * _MEBIBYTE
    """Most of all bodies together that are taken in or worked on."""
    documents: int = 10_000
    """Most of a job."""
    body_seconds: float = 60.0
    """How long a body may take to come."""
    requests_per_minute: int = 600
    """Of a key."""
    uploads: int = 64
    """Of a key, at once."""
    streams: int = 16
    """Of a key, at once."""


class Keys:
    """The keys that are known, each under the name of whose it is."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._digests = {name: _digest(secret) for name, secret in secrets.items()}

    def __bool__(self) -> bool:
        return bool(self._digests)

    def owner(self, authorization: str | None) -> str | None:
        """Say whose key a header holds; None where it is nobody's.

        Every key is looked at in full, whichever fits: how long that takes says
        nothing of any.
        """
        scheme, _, secret = (authorization or "").partition(" ")
        given = _digest(secret.strip() if scheme.lower() == "bearer" else "")
        found = None
        for name, digest in self._digests.items():
            if hmac.compare_digest(digest, given):
                found = name
        return found


def read_keys(environment: Mapping[str, str]) -> Keys:
    """Read the keys that the environment and its file name.

    Raises:
        ConfigError: a key is short, bears a name that is none or that another has, or
            the file cannot be read. Names whose key it is, never the key.
    """
    texts = [(VARIABLE, environment.get(VARIABLE, ""))]
    path = environment.get(FILE_VARIABLE)
    if path:
        texts.append((path, _read(Path(path))))
    secrets: dict[str, str] = {}
    for where, text in texts:
        for number, word in enumerate(text.split(), start=1):
            name, _, secret = word.partition("=")
            if not _NAME.fullmatch(name) or not secret:
                message = f"{where}: entry {number} is no NAME=KEY"
                raise ConfigError(message)
            if len(secret) < _SHORTEST:
                message = (
                    f"{where}: the key of {name!r} has {len(secret)} characters; "
                    f"give it {_SHORTEST} or more"
                )
                raise ConfigError(message)
            if name in secrets or secret in secrets.values():
                message = f"{where}: {name!r} stands there twice, or its key does"
                raise ConfigError(message)
            secrets[name] = secret
    return Keys(secrets)


def check_host(host: str, keys: Keys) -> None:
    """See to it that nobody but this machine gets in without a key.

    Raises:
        ConfigError: there is no key, and others could reach the host.
    """
    if keys or _is_loopback(host):
        return
    message = (
        f"{host!r} can be reached from elsewhere and no key is set; set {VARIABLE} or "
        f"{FILE_VARIABLE}, or serve on 127.0.0.1"
    )
    raise ConfigError(message)


def check_page(headers: Mapping[str, str]) -> None:
    """See to it that no page of somebody else's asks, where no key is needed.

    A browser on this machine sends what any page tells it to. It says whose page that
    is, and by which name it found us: a name that is led here (DNS rebinding) is none
    of ours. Programs say neither, or the address they were given.

    Raises:
        Refused: a name of this machine is not what was asked, or another page asks.
    """
    host = headers.get("host", "")
    if host and not _is_loopback(_NAMED_PORT.sub("", host).strip("[]").lower()):
        detail = f"{host!r} is no name of this machine, and no key is set"
        raise Refused(403, detail)
    origin = headers.get("origin", "").lower()
    ours = {"", f"http://{host}".lower(), f"https://{host}".lower()}
    site = headers.get("sec-fetch-site", "none")
    if origin not in ours or site not in {"none", "same-origin"}:
        detail = "a page from elsewhere asks, and no key is set"
        raise Refused(403, detail)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read(path: Path) -> str:
    try:
        with opened(path) as file:
            return file.read().decode("utf-8")
    except OSError as error:
        message = f"{FILE_VARIABLE}: {str(path)!r} cannot be read: {error.strerror}"
        raise ConfigError(message) from error
    except UnicodeDecodeError as error:
        message = f"{FILE_VARIABLE}: {str(path)!r} is not UTF-8"
        raise ConfigError(message) from error


def _digest(secret: str) -> bytes:
    # Of equal length for all, so that a comparison does not tell how long a key is.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: float
    """When it was last looked at."""


@dataclass(slots=True)
class Rates:
    """How often each key has asked: so many at once, then so many a minute."""

    per_minute: int
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict)

    def take(self, owner: str) -> None:
        """Count a request.

        Raises:
            Refused: it is one too many; says when there is room for it.
        """
        now = self.clock()
        most = float(self.per_minute)
        bucket = self._buckets.setdefault(owner, _Bucket(tokens=most, filled=now))
        gained = (now - bucket.filled) * self.per_minute / 60
        bucket.tokens = min(most, bucket.tokens + gained)
        bucket.filled = now
        if bucket.tokens < 1:
            detail = f"this key asks more than {self.per_minute:,} times a minute"
            wait = (1 - bucket.tokens) * 60 / self.per_minute
            raise Refused(429, detail, retry_after_seconds=wait)
        bucket.tokens -= 1


@dataclass(slots=True)
class Shares:
    """What is under way, by key and in all."""

    limits: Limits
    bytes: int = 0
    """Of bodies that were let in, as they say themselves or as they may have."""
    _held: Counter[tuple[str, Share]] = field(default_factory=Counter)

    def count(self, kind: Share) -> int:
        """Count what is under way for all keys."""
        return sum(held for (_, each), held in self._held.items() if each == kind)

    @contextmanager
    def held(self, owner: str, kind: Share, size: int = 0) -> Iterator[None]:
        """Hold a place, and room for a body of so many bytes, for a request.

        Raises:
            Refused: the key has all it may have, or there is no room.
        """
        most = self.limits.uploads if kind == "upload" else self.limits.streams
        if self._held[owner, kind] >= most:
            detail = f"this key has {most:,} {kind}s under way already"
            raise Refused(429, detail, retry_after_seconds=1)
        if size and self.bytes + size > self.limits.in_hand_bytes:
            detail = (
                f"bodies of {self.bytes:,} bytes are under way; there is no room for "
                f"{size:,} more"
            )
            raise Refused(429, detail, retry_after_seconds=1)
        self._held[owner, kind] += 1
        self.bytes += size
        try:
            yield
        finally:
            self.bytes -= size
            self._held[owner, kind] -= 1
            if not self._held[owner, kind]:
                del self._held[owner, kind]
