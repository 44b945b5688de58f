"""Rules for the whole suite: no network but loopback, no settings from outside."""

from __future__ import annotations

import functools
import gc
import ipaddress
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

from tests.support import redis
from tests.support.memory_disk import memory_disk
from tests.support.pages import ROOT
from tests.support.server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.redis import RedisServer

_FOREIGN = ("ANTHROPIC_", "OPENAI_", "SITUATE_")
_NOWHERE = Path(os.devnull).parent / "organisation-of-nobody.toml"
_OURS = frozenset({"SITUATE_REGENERATE"})
_PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

# The suite draws a few examples, the same on every run; `make campaign` draws many.
settings.register_profile(
    "suite",
    max_examples=12,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.register_profile(
    "campaign", settings.get_profile("suite"), max_examples=2000, derandomize=False
)
settings.load_profile("suite")


def _only_loopback(event: str, arguments: tuple[object, ...]) -> None:
    match event, arguments:
        case (("socket.connect" | "socket.sendto" | "socket.sendmsg"), (_, address)):
            host = address[0] if isinstance(address, tuple) else None
        case (("socket.getaddrinfo" | "socket.gethostbyname"), (host, *_)):
            pass
        case _:
            return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in {"", "localhost"}:
        return
    try:
        inside = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        inside = False
    if not inside:
        pytest.fail(f"a test reached for the network: {event} {host!r}", pytrace=False)


# An audit hook sees every connection and look-up of the interpreter, whoever
# makes it: plain sockets, asyncio, a thread. Its failure is no `Exception`, so
# no retry and no catch-all can hide it.
sys.addaudithook(_only_loopback)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a campaign kill more often than the suite has time for."""
    parser.addoption(
        "--kills",
        type=int,
        default=3,
        help="how often tests of crashes kill a command (default: 3)",
    )


def pytest_collection_finish() -> None:
    """Keep thousands of collected tests out of every later search for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """Keep keys, proxies and settings of the machine out of every test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in tuple(os.environ):
            foreign = name.startswith(_FOREIGN) and name not in _OURS
            if foreign or name.upper() in _PROXIES:
                patch.delenv(name)
        patch.setattr("situate.organisation.FIXED_PATH", _NOWHERE)
        # Certificates take a client 40 ms to read, and nothing here is encrypted.
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", os.devnull)
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands_are_made_once() -> Iterator[None]:
    """Keep the tree of commands, which a runner makes anew for each of them.

    It never changes, and takes 20 ms.
    """
    with pytest.MonkeyPatch.context() as patch:
        made = functools.cache(typer.main.get_command)
        patch.setattr(typer.testing, "_get_command", made)
        yield


@pytest.fixture(scope="session")
def llama_server() -> Iterator[str]:
    """Give the address of a real model server, started once, when first needed."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def one_redis_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RedisServer]:
    """Give a server that other tests use as well."""
    with redis.serving(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_server(one_redis_server: RedisServer) -> RedisServer:
    """Give an empty server of the Redis protocol, started once, when first needed."""
    one_redis_server.empty()
    return one_redis_server


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Give a folder in memory: most tests write much and none is about the disk."""
    with memory_disk(tmp_path) as folder:
        yield folder


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with what a reader of a page has in a clone."""
    for name in ("config", "cassettes", "tests/corpora"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path
