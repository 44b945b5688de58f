"""Servers on loopback that speak OpenAI's embeddings: a double, and a real one.

The double's vectors are drawn from the hash of a text; they mean nothing. The real
one is llama.cpp's with a model of 135 million weights, in a process of its own.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.support import server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Body: TypeAlias = dict[str, Any]

DIMENSIONS = 8

CONTEXT_TOKENS = 128
"""Of the real server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the double sends."""

    body: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def vector_of(text: str) -> list[float]:
    """Give the vector of a text, not of unit length."""
    raw = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return [3.0 * byte - 300.0 for byte in raw[:DIMENSIONS]]


def embeddings(body: Body) -> Reply:
    """Answer as asked, in the format asked for, the last text first."""

    def written(text: str) -> object:
        numbers = vector_of(text)
        if body.get("encoding_format") != "base64":
            return numbers
        return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()

    data = [
        {"object": "embedding", "index": index, "embedding": written(text)}
        for index, text in enumerate(body["input"])
    ]
    return Reply(body={"object": "list", "data": data[::-1], "model": body["model"]})


def refusal(status: int, message: str, **more: object) -> Reply:
    """Give an error as servers write it."""
    return Reply(status=status, body={"error": {"message": message, **more}})


@dataclass(slots=True, kw_only=True)
class Double:
    """The double while it serves: what it was asked, and how it answers."""

    address: str
    answer: Callable[[Body], Reply] = embeddings
    bodies: list[Body] = field(default_factory=list)
    """In the order they came."""
    authorizations: list[str | None] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """All texts it was asked about."""
        return [text for body in self.bodies for text in body["input"]]


@contextlib.contextmanager
def speaking() -> Iterator[Double]:
    """Serve the double on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            double.bodies.append(body)
            double.authorizations.append(self.headers["authorization"])
            reply = double.answer(body)
            if self.path != "/v1/embeddings":
                reply = refusal(404, "no such route")
            content = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("content-length", str(len(content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        serving.daemon_threads = True
        double = Double(address=f"http://127.0.0.1:{serving.server_port}/v1")
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield double
        finally:
            serving.shutdown()
            thread.join()


@contextlib.contextmanager
def serving_model() -> Iterator[str]:
    """Start the real server; gives its address with the version.

    Raises:
        RuntimeError: it did not come up.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "tests.compare.embedding_servers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            yield f"{server._address(process)}/v1"
        finally:
            process.send_signal(signal.SIGTERM)


def _serve() -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(server._weights())
    parameters.model_alias = {server.MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_batch = CONTEXT_TOKENS
    parameters.n_ubatch = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.verbosity = 0
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    # Its threads ignore the interpreter; the shortest way out is the surest.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    running = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"base_url": running.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    _serve()
