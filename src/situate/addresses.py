"""Addresses of servers in one spelling, so that they can be compared.

What has two readings has none here: user names, backslashes, blanks, dots that lead
upwards, escapes of what parts an address, signs beyond ASCII. A list of what is
allowed must not depend on which of the two a client or a server takes.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

_PORTS = {"http": 80, "https": 443}
_MOST_PORTS = 65_535

_ADDRESS = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)"
    r"(?::(?P<port>[0-9]{0,9}))?"
    r"(?P<path>(?:/(?:[a-z0-9._~!$&'()*+,;=:@-]|%[0-9a-f]{2})*)*)",
    # Without ASCII, letters that are none of ours count as `k` and `s`.
    re.IGNORECASE | re.ASCII,
)
_WHO = r"(?:(?P<user>[^:@/?#\s]*)(?::(?P<password>[^:@/?#\s]*))?@)?"
_SERVER = re.compile(
    rf"(?P<scheme>rediss?)://{_WHO}"
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)"
    r"(?::(?P<port>[0-9]{1,5}))?(?:/(?P<database>[0-9]{0,5}))?",
    re.IGNORECASE | re.ASCII,
)
_SOCKET = re.compile(
    rf"(?P<scheme>unix)://{_WHO}(?P<path>/[^?#@\s]+)(?:\?db=(?P<database>[0-9]{{1,5}}))?",
    re.ASCII,
)
_SERVER_PORT = 6379
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_PARTING = frozenset("/\\%;?#")
_NUMBER = re.compile("[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server, and a folder of it."""

    scheme: str
    host: str
    """In small letters; the short form of IPv6."""
    port: int
    folders: tuple[str, ...]
    """Of the path; case counts."""

    def covers(self, other: Address) -> bool:
        """Say whether another address is on this server, in this folder or below."""
        return (
            (self.scheme, self.host, self.port)
            == (other.scheme, other.host, other.port)
        ) and other.folders[: len(self.folders)] == self.folders


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server of the Redis protocol, and who asks it.

    As text it is its address without the password.
    """

    scheme: str
    """`redis`, `rediss` for TLS, or `unix` for a socket of this machine."""
    host: str
    """In small letters; "" for a socket."""
    port: int
    socket: str | None
    """The path of the socket."""
    database: int | None
    """Its number; None where none is named, which is the first, 0."""
    user: str | None
    password: str | None = field(default=None, repr=False)

    @property
    def address(self) -> Address | None:
        """Where it is, the database as a folder; None for a socket."""
        if self.socket is not None:
            return None
        folders = () if self.database is None else (str(self.database),)
        return Address(
            scheme=self.scheme, host=self.host, port=self.port, folders=folders
        )

    def __str__(self) -> str:
        """Give the address without the password."""
        user = f"{quote(self.user)}@" if self.user else ""
        if self.socket is not None:
            return f"unix://{user}{self.socket}?db={self.database or 0}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{user}{host}:{self.port}/{self.database or 0}"


def read_server(url: str) -> Server:
    """Read the address of a server of the Redis protocol.

    `redis://[user:password@]host[:port][/database]`, `rediss://` for TLS, or
    `unix://[user:password@]/path[?db=database]`. Names and passwords may be escaped.

    Raises:
        ValueError: it is none.
    """
    found = _SERVER.fullmatch(url) or _SOCKET.fullmatch(url)
    if found is None:
        raise ValueError(_NO_SERVER)
    parts = found.groupdict()
    # A user alone asks for nothing: it is a password whose colon was forgotten.
    if parts["user"] and not parts["password"]:
        raise ValueError(_NO_SERVER)
    host, port = parts.get("host"), int(parts.get("port") or _SERVER_PORT)
    if not 0 < port <= _MOST_PORTS:
        raise ValueError(_NO_SERVER)
    path, database = parts.get("path"), parts["database"]
    return Server(
        scheme=parts["scheme"].lower(),
        host="" if host is None else _host(host.lower().removesuffix(".")),
        port=port,
        socket=None if path is None else unquote(path),
        database=int(database) if database else None,
        user=unquote(parts["user"]) if parts["user"] else None,
        password=unquote(parts["password"]) if parts["password"] else None,
    )


def read_address(url: str) -> Address:
    """Read the address of a server: scheme, host, port and folders, nothing else.

    Case of scheme and host, the scheme's own port, a dot behind the host, slashes at
    the end and needless escapes make no difference.

    Raises:
        ValueError: it is none, or one that could be read in two ways.
    """
    found = _ADDRESS.fullmatch(url)
    if found is None:
        raise ValueError(_UNREADABLE)
    scheme = found["scheme"].lower()
    port = int(found["port"] or _PORTS[scheme])
    if not 0 < port <= _MOST_PORTS:
        raise ValueError(_UNREADABLE)
    return Address(
        scheme=scheme,
        host=_host(found["host"].lower().removesuffix(".")),
        port=port,
        folders=_folders(found["path"]),
    )


_UNREADABLE = (
    "not a plain http(s) address: scheme, host, port and path in ASCII, an "
    "international name in its xn-- form"
)


_NO_SERVER = (
    "not an address like redis://host:6379/0, rediss://host/0 or unix:///path?db=0"
)


def _host(name: str) -> str:
    """Write a host in its one form.

    Raises:
        ValueError: it is a number in a form that few programs take for one.
    """
    if name.startswith("["):
        return ipaddress.IPv6Address(name[1:-1]).compressed
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return str(ipaddress.IPv4Address(name))
    return name


def _folders(path: str) -> tuple[str, ...]:
    """Part a path at its slashes.

    Raises:
        ValueError: a part is empty, leads upwards or hides what would part it.
    """
    stripped = path.rstrip("/")
    folders = tuple(
        _ESCAPE.sub(_unescaped, part) for part in stripped.split("/")[1:] if stripped
    )
    for folder in folders:
        if folder.partition(";")[0] in {"", ".", ".."}:
            raise ValueError(_UNREADABLE)
    return folders


def _unescaped(escape: re.Match[str]) -> str:
    sign = chr(int(escape[0][1:], 16))
    if sign in _PARTING or not sign.isprintable():
        raise ValueError(_UNREADABLE)
    return sign if sign in _PLAIN else escape[0].upper()
