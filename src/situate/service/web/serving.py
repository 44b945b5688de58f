"""Runs the service: configs in, a socket out, and an end that loses nothing.

One process: what it keeps is in one state directory. Several services behind a
balancer have one each.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import time
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import h11
from uvicorn import Config as ServerConfig
from uvicorn import Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from situate.config import load
from situate.errors import ConfigError
from situate.files import resolved
from situate.organisation import VARIABLE
from situate.readers import missing_packages
from situate.service.engine.engine import Engine, EngineSettings
from situate.service.jobs.jobs import Jobs
from situate.service.values import Bounds
from situate.service.web.app import Served, app_of
from situate.service.web.limits import Limits, check_host, read_keys
from situate.service.web.problems import MEDIA_TYPE, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from situate.config import Config

_HEADER_BYTES: Final = 32 * 1024
"""Most of the head of a request: line and headers."""

_IDLE_SECONDS: Final = 15
"""How long a connection may stay without a request, or take to send the head of one."""

_BACKLOG: Final = 1024
"""Connections that wait to be accepted."""

_NO_CORPORA: Final = frozenset({"models.toml", "organisation.toml"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Where and how to serve."""

    config_directory: Path
    state: Path
    host: str = "127.0.0.1"
    port: int = 8000
    """0 takes one that is free."""
    grace_seconds: float = 30.0
    """How long requests and documents under way may take once it is to end."""
    limits: Limits = field(default_factory=Limits)
    engine: EngineSettings = field(default_factory=EngineSettings)
    bounds: Bounds = field(default_factory=Bounds)


def corpora_of(directory: Path, environment: Mapping[str, str]) -> tuple[Config, ...]:
    """Read every corpus of a folder.

    Any TOML file in it is one but for `models.toml`, which prices models, and for
    `organisation.toml` and the file that the environment names in its place, which
    bound what they are sent.

    Raises:
        ConfigError: there is none, or some cannot be used; says all of it.
    """
    bounds = resolved(Path(environment.get(VARIABLE, "")))
    try:
        paths = sorted(
            path
            for path in directory.iterdir()
            if path.suffix == ".toml"
            and path.name not in _NO_CORPORA
            and resolved(path) != bounds
        )
    except OSError as error:
        message = f"--config-dir: {str(directory)!r} cannot be read: {error.strerror}"
        raise ConfigError(message) from error
    if not paths:
        message = f"--config-dir: there is no corpus, no *.toml, in {str(directory)!r}"
        raise ConfigError(message)
    return load(paths, environment=environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A service that listens and waits to be run."""

    server: Listener
    socket: socket.socket
    address: str

    def run(self) -> None:
        """Serve until somebody says to end."""
        self.server.run([self.socket])


def serve(
    serving: Serving, environment: Mapping[str, str], say: Callable[[str], None]
) -> None:
    """Serve until somebody says to end, and end in good order.

    Raises:
        ConfigError: a config, key, limit or the state directory cannot be used, or
            the host could be reached by anybody.
        Locked: another service works on the state directory.
    """
    logging.basicConfig(handlers=[Log(say)], level=logging.WARNING, force=True)
    with opened(serving, environment, say) as service:
        service.run()
    say("ended")


@contextmanager
def opened(
    serving: Serving, environment: Mapping[str, str], say: Callable[[str], None]
) -> Iterator[Opened]:
    """Start all that a service needs, and end it behind the block.

    Raises:
        ConfigError: as `serve`.
        Locked: as `serve`.
    """
    configs = corpora_of(serving.config_directory, environment)
    keys = read_keys(environment)
    check_host(serving.host, keys)
    with ExitStack() as stack:
        listening = stack.enter_context(_listening(serving))
        jobs = Jobs(serving.state, serving.bounds)
        stack.callback(jobs.close)
        engine = Engine(configs, jobs, serving.engine)
        served = Served(
            configs=configs,
            engine=engine,
            jobs=jobs,
            keys=keys,
            limits=serving.limits,
        )
        server = Listener(served, serving.grace_seconds)
        engine.start()
        # Requests under way have had their share of the time before.
        stack.callback(lambda: engine.stop(server.left_seconds))
        host, port = listening.getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        if not keys:
            say("no key is set: whoever is on this machine may ask")
        for note in _notes(engine):
            say(note)
        names = ", ".join(config.corpus.name for config in configs)
        say(f"serving {names} at {address}, described at {address}/docs")
        yield Opened(server=server, socket=listening, address=address)


def _notes(engine: Engine) -> Iterator[str]:
    """Yield what a service that starts all the same will not be able to do."""
    if extras := missing_packages():
        formats = " and ".join(f".{extra}" for extra in extras)
        command = f"pip install 'situate[{','.join(extras)}]'"
        yield f"{formats} files cannot be read; {command}"
    for name, figures in sorted(engine.figures().corpora.items()):
        if figures.trouble is not None:
            yield f"{name}: no statements: {figures.trouble}"


def _listening(serving: Serving) -> socket.socket:
    """Take the address.

    Raises:
        ConfigError: it is taken, or is none of this machine.
    """
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    address = (serving.host, serving.port)
    try:
        return socket.create_server(address, family=family, backlog=_BACKLOG)
    except OSError as error:
        message = (
            f"--host {serving.host} --port {serving.port}: cannot be served on: "
            f"{error.strerror or error}"
        )
        raise ConfigError(message) from error


class Listener(Server):
    """Ends for good when it is told to, and tells the app first."""

    def __init__(self, served: Served, grace_seconds: float) -> None:
        self._ending = asyncio.Event()
        self._grace_seconds = grace_seconds
        self._deadline = math.inf
        config = ServerConfig(
            app_of(served, self._ending),
            http=_Protocol,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=math.ceil(grace_seconds),
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
        super().__init__(config)

    @property
    def left_seconds(self) -> float:
        """What is left of the time to end in; all of it where nobody said to."""
        left = self._deadline - time.monotonic()
        return max(0.0, min(left, self._grace_seconds))

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - what a signal handler is called with
        """Begin to end; whoever says so twice does not want to wait.

        The class above raises the signal again afterwards: a service that was told to
        end and did has not failed.
        """
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse what is new, end streams, and wait for the rest."""
        self._deadline = time.monotonic() + self._grace_seconds
        self._ending.set()
        await super().shutdown(sockets)


class _Protocol(H11Protocol):
    """Waits for the head of a request only so long, and refuses in our one shape."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the class above
        """Begin to wait."""
        super().connection_made(transport)
        self._late = self.loop.call_later(_IDLE_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """Wait on where a head has begun and is not whole."""
        super().data_received(data)
        is_waiting = self.conn.their_state is h11.IDLE
        if self._late is not None and not is_waiting:
            self._late.cancel()
            self._late = None
        elif self._late is None and is_waiting and not self.transport.is_closing():
            self._late = self.loop.call_later(_IDLE_SECONDS, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        if self._late is not None:
            self._late.cancel()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        body = Refused(400, msg).body
        headers = [
            ("content-type", MEDIA_TYPE),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason="Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Log(logging.Handler):
    """Says what went wrong and where, never the words it went wrong with.

    The message of an error may quote a document, and so may what asyncio shows.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Say the first line, and the places in the code."""
        lines = record.getMessage().strip().splitlines()[:1]
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, frames = record.exc_info
            lines += [kind.__name__, *map(str.rstrip, traceback.format_tb(frames))]
        self._say("\n  ".join(lines))
