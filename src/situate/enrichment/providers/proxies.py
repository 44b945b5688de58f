"""Says which proxy of the environment stands between here and a server.

Clients take it from there themselves; an organisation's file does not bound it, so
whoever asks where text goes has to be told.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

if TYPE_CHECKING:
    from urllib.parse import SplitResult


def proxy_for(url: str) -> str | None:
    """Name the proxy that requests to an address go through, None where none does.

    Scheme, host and port, never a user name or a password. `HTTPS_PROXY`, `HTTP_PROXY`,
    `ALL_PROXY` and `NO_PROXY` are read as httpx2 2.16 reads them.
    """
    known, address = getproxies(), urlsplit(url)
    proxy = known.get(address.scheme) or known.get("all")
    exceptions = map(str.strip, known.get("no", "").split(","))
    if not proxy or any(_excepts(each, address) for each in exceptions if each):
        return None
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _excepts(exception: str, address: SplitResult) -> bool:
    """Tell whether an entry of `NO_PROXY` names an address."""
    if exception == "*":
        return True
    scheme, is_exact, named = exception.rpartition("://")
    host = address.hostname or ""
    network, own = _network(named), _network(host)
    if network is not None:
        is_named = own is not None and own[0] in network
    else:
        name, _, port = named.lower().partition(":")
        is_named = port in {"", str(address.port)} and _covers(
            name if is_exact or name[:1] in {".", "*"} else f"*{name}", host
        )
    return is_named and scheme in {"", "all", address.scheme}


def _covers(name: str, host: str) -> bool:
    """Tell whether a name is a host's; one that begins with `*` covers those below."""
    if name.startswith(("*.", ".")):
        return host.endswith(name.removeprefix("*"))
    bare = name.removeprefix("*")
    is_below = bare != name != "*localhost" and host.endswith(f".{bare}")
    return is_below or bare in {"", host}


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Read a number or a range of them, None where it is a name."""
    try:
        return ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None
