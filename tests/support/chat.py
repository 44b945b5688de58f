"""A chat server on loopback that answers at once and counts what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer."""

    status: int = 200
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def statement(body: dict[str, Any]) -> Answer:
    """Answer with a sentence that differs from chunk to chunk."""
    asked = body["messages"][-1]["content"]
    word = ("early", "late", "short", "long", "rare")[sum(asked.encode()) % 5]
    return Answer(text=f"This rule of the company holds for {word} cases alone.")


@dataclass(slots=True)
class Chat:
    """The server: where it listens, how it answers, what it was asked."""

    address: str = ""
    answer: Callable[[dict[str, Any]], Answer] = statement
    bodies: list[bytes] = field(default_factory=list)
    before: Callable[[], None] = lambda: None
    """Called while a request waits for its answer."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a client that was killed go in silence."""


@contextmanager
def chatting() -> Iterator[Chat]:
    """Serve until the block ends."""
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            chat.bodies.append(content)
            chat.before()
            answer = chat.answer(json.loads(content))
            reply = _completion(answer.text) if answer.status == 200 else answer.text
            data = reply.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so by the class above
            """Stay silent."""

    with _Server(("127.0.0.1", 0), Handler) as server:
        chat.address = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(
            target=server.serve_forever, args=(0.01,), daemon=True
        )
        thread.start()
        yield chat
        server.shutdown()
        thread.join()


def _completion(text: str) -> str:
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 1,
            "model": "local-model-7",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {
                "prompt_tokens": 500,
                "completion_tokens": 12,
                "total_tokens": 512,
            },
        }
    )
