"""A real server of the Redis protocol on loopback, for tests of a shared cache."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import redis

BINARY = shutil.which("redis-server") or shutil.which("valkey-server")

_START_SECONDS = 10


@dataclass(slots=True)
class RedisServer:
    """A server that runs, and what a test does to it."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        """Give a client of the test's own; close it."""
        # Environments of integrations load this by the way, and lack the package.
        import redis

        return redis.Redis(port=self.port, decode_responses=True)

    def empty(self) -> None:
        """Remove everything, and undo what was configured."""
        with self.client() as client:
            client.flushall()
            client.config_set("maxmemory", 0)
            client.config_set("maxmemory-policy", "noeviction")

    def stop(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[RedisServer]:
    """Run a server in a folder, on a port nobody uses."""
    if BINARY is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A save in the far future: what it holds is written nowhere by a test, and the
    # server does not count as one that forgets.
    command = [BINARY, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--save", "86400 1000000", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    server = RedisServer(port=port, process=process)
    try:
        _await(server)
        yield server
    finally:
        server.stop()


def _await(server: RedisServer) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", server.port)):
                return
        except OSError:
            time.sleep(0.01)
    message = f"the server did not start within {_START_SECONDS} s"
    raise RuntimeError(message)
