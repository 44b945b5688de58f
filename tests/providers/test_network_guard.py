"""No test reaches the network, whichever way it tries."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

# An address set aside for documentation: nobody answers there.
OUTSIDE = "192.0.2.1"

BLOCKED = pytest.fail.Exception


def _connect_plainly() -> None:
    with socket.socket() as plain:
        plain.connect((OUTSIDE, 80))


def _connect_without_waiting() -> None:
    with socket.socket() as plain:
        plain.setblocking(False)
        plain.connect_ex((OUTSIDE, 80))


def _connect_over_ipv6() -> None:
    with socket.socket(socket.AF_INET6) as plain:
        plain.connect(("2001:db8::1", 80))


def _connect_with_asyncio() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection(OUTSIDE, 80), 5))


def _look_up_a_name() -> None:
    socket.getaddrinfo("example.com", 443)


def _look_up_a_name_with_asyncio() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection("example.com", 443), 5))


def _look_up_a_name_the_old_way() -> None:
    socket.gethostbyname("example.com")


def _send_a_datagram() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as plain:
        plain.sendto(b"?", (OUTSIDE, 53))


@pytest.mark.parametrize(
    "reach_out",
    [
        _connect_plainly,
        _connect_without_waiting,
        _connect_over_ipv6,
        _connect_with_asyncio,
        _look_up_a_name,
        _look_up_a_name_with_asyncio,
        _look_up_a_name_the_old_way,
        _send_a_datagram,
    ],
    ids=lambda reach_out: reach_out.__name__.strip("_"),
)
def test_reaching_for_the_network_fails_the_test(
    reach_out: Callable[[], None],
) -> None:
    """Every connection and look-up but loopback is stopped before it is made."""
    with pytest.raises(BLOCKED, match="reached for the network"):
        reach_out()


def test_code_that_catches_every_exception_cannot_hide_it() -> None:
    """The failure is no `Exception`: retries and fallbacks do not see it."""
    with pytest.raises(BLOCKED), contextlib.suppress(Exception):
        _connect_plainly()


def test_loopback_stays_open() -> None:
    """Servers that tests start on loopback can be reached, by name too."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            server.accept()[0].close()

        answering = threading.Thread(target=answer)
        answering.start()

        with socket.create_connection(("localhost", port), timeout=5) as connection:
            assert connection.recv(1) == b""

        answering.join()
