"""Both vendors' batch systems on loopback, as far as their rules matter here.

    with batching("anthropic") as vendor:
        ...  # base_url = vendor.base_url
        vendor.end_all()

A batch is worked on until the test ends it, and says what became of its requests
in the order and with the gaps the test wants. What was taken in is counted, what
goes wrong on the way is scripted, and a test hears of every step.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VendorName = Literal["anthropic", "openai"]

Fate = Literal[
    "succeeded",
    "errored",
    "expired",
    "cancelled",
    "missing",
    "withheld",
    "doubled",
    "foreign",
]
"""`missing` has no result and `foreign` is nobody's; neither is counted. `withheld`
is counted and has no result."""

ELSEWHERE = "http://203.0.113.9"
"""Where replies point to, and nobody must follow."""

_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with one call."""

    step: str
    """`create`, `upload`, `poll`, `list`, `results`, `cancel` or `live`."""
    status: int
    taken_in: bool = False
    """Whether a batch is made all the same."""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Batch:
    """A batch the vendor has."""

    batch_id: str
    requests: dict[str, Any]
    """The body of every request by its id."""
    metadata: dict[str, str]
    status: str = "in_progress"
    fates: dict[str, Fate] = field(default_factory=dict)
    """Of requests that did not simply succeed."""
    errors: list[dict[str, str]] = field(default_factory=list)

    def count(self, *fates: str) -> int:
        """Count requests by what became of them."""
        if self.status == "in_progress":
            return 0
        named = Counter(self.fates.get(key, "succeeded") for key in self.requests)
        return sum(named[fate] for fate in fates)


@dataclass(slots=True)
class BatchVendor:
    """The server: where it listens, what it has and what it was told to do."""

    name: VendorName
    address: str = ""
    batches: dict[str, Batch] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    """Every call, in order."""
    raw: list[bytes] = field(default_factory=list)
    """What was handed in, byte for byte."""
    most_requests: int = 1000
    most_bytes: int = 1_000_000
    heard: Callable[[str], None] = lambda _: None
    """Called at every step, and as `created` before the answer to a hand-in."""
    page: int = 2
    live: Callable[[dict[str, Any]], str] | None = None
    """What a live question is answered with; None where nobody may ask one."""
    usage: tuple[int, int] = (100, 10)
    """Tokens that every reply says it read and wrote."""

    @property
    def base_url(self) -> str:
        """What config names."""
        return self.address + ("/v1" if self.name == "openai" else "")

    @property
    def taken_in(self) -> Counter[str]:
        """How often each request was taken in."""
        return Counter(key for batch in self.batches.values() for key in batch.requests)

    def end_all(self, fates: dict[str, Fate] | None = None) -> None:
        """Have every batch end now."""
        for batch in self.batches.values():
            if batch.status == "in_progress":
                batch.status = "ended"
                batch.fates = fates or {}

    def fault(self, step: str) -> Fault | None:
        """Take the next fault of a step, if there is one."""
        self.steps.append(step)
        self.heard(step)
        for fault in self.faults:
            if fault.step == step:
                self.faults.remove(fault)
                return fault
        return None

    def take_in(self, requests: dict[str, Any], metadata: dict[str, str]) -> Batch:
        """Make a batch."""
        batch = Batch(
            batch_id=f"batch_{len(self.batches)}", requests=requests, metadata=metadata
        )
        self.batches[batch.batch_id] = batch
        self.heard("created")
        return batch


def sentence(key: str) -> str:
    """Give what a request is answered with."""
    word = ("early", "late", "short", "long", "rare")[sum(key.encode()) % 5]
    return f"This rule of the company holds for {word} cases alone."


def reply_to(key: str, body: dict[str, Any]) -> str:
    """Give a sentence, or one for every marked passage that is asked about."""
    numbers = asked_numbers(body)
    if not numbers:
        return sentence(key)
    return json.dumps({str(n): sentence(f"{key}{n}") for n in numbers})


def asked_numbers(body: dict[str, Any]) -> list[int]:
    """Give the marked passages a body asks about; none where nothing is marked."""
    asked = re.search(r"sentences of the passages ([\d, -]+),", json.dumps(body))
    numbers: list[int] = []
    for part in asked[1].split(", ") if asked else ():
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Let a client that was killed go in silence."""


class _Refused(Exception):
    def __init__(
        self, status: int, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vendor: BatchVendor

    def do_GET(self) -> None:
        self._reply(self._get)

    def do_POST(self) -> None:
        self.content = self.rfile.read(int(self.headers["content-length"]))
        self._reply(self._post)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so by the class above
        """Stay silent."""

    def _reply(self, answer: Callable[[str], object]) -> None:
        headers: dict[str, str] = {}
        try:
            status, data = 200, answer(self.path.partition("?")[0])
        except _Refused as error:
            status = error.status
            data = {"error": {"type": "refused", "message": str(error)}}
            headers = error.headers
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        middle = len(content) // 2
        self.wfile.write(content[:middle])
        self.wfile.flush()
        if isinstance(data, bytes):
            self.vendor.heard("half of the results")
        self.wfile.write(content[middle:])

    def _step(self, step: str, otherwise: Callable[[], object] | None = None) -> None:
        fault = self.vendor.fault(step)
        if fault is not None:
            if fault.taken_in and otherwise is not None:
                otherwise()
            raise _Refused(fault.status, "scripted", fault.headers)

    def _live(self) -> tuple[str, str]:
        """Answer a live question, and say in whose name."""
        self._step("live")
        if self.vendor.live is None:
            raise _Refused(404, "no such route")
        body = json.loads(self.content)
        return self.vendor.live(body), body["model"]

    def _get(self, path: str) -> object:
        raise NotImplementedError

    def _post(self, path: str) -> object:
        raise NotImplementedError

    def _batch(self, name: str) -> Batch:
        if name not in self.vendor.batches:
            raise _Refused(404, f"no batch {name}")
        return self.vendor.batches[name]

    def _page(self, cursor: str) -> tuple[list[Batch], bool]:
        """Give the batches after a cursor, the newest first."""
        found = list(reversed(self.vendor.batches.values()))
        after = re.search(rf"{cursor}=(\w+)", self.path)
        if after:
            names = [batch.batch_id for batch in found]
            found = found[names.index(after[1]) + 1 :]
        return found[: self.vendor.page], len(found) > self.vendor.page

    def _lines(self, line: Callable[[str, Batch], object], batch: Batch) -> list[bytes]:
        """Give results as the test wants them: reversed, with gaps and doubles."""
        lines = []
        for key in reversed(batch.requests):
            fate = batch.fates.get(key, "succeeded")
            if fate in {"missing", "withheld"}:
                continue
            text = json.dumps(line(key, batch), ensure_ascii=False).encode()
            lines += [text, text] if fate == "doubled" else [text]
        return lines


class _Anthropic(_Handler):
    def _post(self, path: str) -> object:
        if path == "/v1/messages":
            return self._message(*self._live())
        match path.split("/")[4:]:
            case []:
                self._step("create", self._created)
                return self._said(self._created())
            case [name, "cancel"]:
                self._step("cancel")
                batch = self._batch(name)
                if batch.status == "in_progress":
                    batch.status = "canceling"
                return self._said(batch)
        raise _Refused(404, "no such route")

    def _get(self, path: str) -> object:
        match path.split("/")[4:]:
            case []:
                self._step("list")
                found, more = self._page("after_id")
                return {"data": [self._said(b) for b in found], "has_more": more}
            case [name]:
                self._step("poll")
                return self._said(self._batch(name))
            case [name, "results"]:
                self._step("results")
                return b"\n".join(self._lines(self._line, self._batch(name)))
        raise _Refused(404, "no such route")

    def _created(self) -> Batch:
        entries = json.loads(self.content)["requests"]
        ids = [entry["custom_id"] for entry in entries]
        if len(self.content) > self.vendor.most_bytes:
            raise _Refused(413, "too large")
        if len(ids) > self.vendor.most_requests or len(set(ids)) < len(ids):
            raise _Refused(400, "too many requests, or one twice")
        if not all(_CUSTOM_ID.fullmatch(each) for each in ids):
            raise _Refused(400, "custom_id is none")
        self.vendor.raw.append(self.content)
        return self.vendor.take_in({e["custom_id"]: e["params"] for e in entries}, {})

    def _said(self, batch: Batch) -> dict[str, object]:
        over = batch.status == "ended"
        return {
            "id": batch.batch_id,
            "type": "message_batch",
            "processing_status": batch.status,
            "results_url": f"{ELSEWHERE}/{batch.batch_id}" if over else None,
            "request_counts": {
                "processing": 0 if over else len(batch.requests),
                "succeeded": batch.count("succeeded", "doubled", "withheld")
                if over
                else 0,
                "errored": batch.count("errored") if over else 0,
                "canceled": batch.count("cancelled") if over else 0,
                "expired": batch.count("expired") if over else 0,
            },
        }

    def _line(self, key: str, batch: Batch) -> object:
        match batch.fates.get(key):
            case "errored":
                error = {"type": "invalid_request_error", "message": "no good"}
                result = {"type": "errored", "error": {"type": "error", "error": error}}
            case "expired":
                result = {"type": "expired"}
            case "cancelled":
                result = {"type": "canceled"}
            case _:
                # A line separator inside a text ends no line of a file.
                text = f"{reply_to(key, batch.requests[key])}\u2028"
                message = self._message(text, batch.requests[key]["model"])
                result = {"type": "succeeded", "message": message}
        return {"custom_id": key, "result": result}

    def _message(self, text: str, model: str) -> dict[str, object]:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": dict(
                zip(("input_tokens", "output_tokens"), self.vendor.usage, strict=True)
            ),
        }


class _OpenAI(_Handler):
    def _post(self, path: str) -> object:
        match path.split("/")[2:]:
            case ["chat", "completions"]:
                return self._chat(*self._live())
            case ["files"]:
                self._step("upload")
                return self._uploaded()
            case ["batches"]:
                self._step("create", self._created)
                return self._said(self._created())
            case ["batches", name, "cancel"]:
                self._step("cancel")
                batch = self._batch(name)
                if batch.status == "in_progress":
                    batch.status = "cancelling"
                return self._said(batch)
        raise _Refused(404, "no such route")

    def _get(self, path: str) -> object:
        match path.split("/")[2:]:
            case ["batches"]:
                self._step("list")
                found, more = self._page("after")
                return {"data": [self._said(b) for b in found], "has_more": more}
            case ["batches", name]:
                self._step("poll")
                return self._said(self._batch(name))
            case ["files", name, "content"]:
                self._step("results")
                kind, _, batch_id = name.partition("-")
                lines = self._lines(self._line, self._batch(batch_id))
                failed = [line for line in lines if b'"error": {' in line]
                chosen = failed if kind == "errors" else [
                    line for line in lines if line not in failed
                ]  # fmt: skip
                return b"".join(line + b"\n" for line in chosen)
        raise _Refused(404, "no such route")

    def _uploaded(self) -> object:
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        form = BytesParser().parsebytes(head + self.content)
        parts: dict[str, bytes] = {}
        for part in form.walk():
            name = part.get_param("name", header="content-disposition")
            payload = part.get_payload(decode=True)
            if isinstance(name, str) and isinstance(payload, bytes):
                parts[name] = payload
        if parts.get("purpose") != b"batch":
            raise _Refused(400, "purpose is not batch")
        if len(parts["file"]) > self.vendor.most_bytes:
            raise _Refused(413, "too large")
        name = f"file_{len(self.vendor.files)}"
        self.vendor.files[name] = parts["file"]
        return {"id": name, "object": "file"}

    def _created(self) -> Batch:
        asked = json.loads(self.content)
        content = self.vendor.files[asked["input_file_id"]]
        entries = [json.loads(line) for line in content.splitlines()]
        ids = [entry["custom_id"] for entry in entries]
        self.vendor.raw.append(content)
        batch = self.vendor.take_in(
            {e["custom_id"]: e["body"] for e in entries}, asked.get("metadata") or {}
        )
        if len(ids) > self.vendor.most_requests or len(set(ids)) < len(ids):
            batch.status = "failed"
            batch.errors = [{"code": "invalid", "message": "too many, or one twice"}]
            batch.requests = {}
        return batch

    def _said(self, batch: Batch) -> dict[str, object]:
        over = batch.status in {"ended", "cancelled", "expired"}
        fates = ("errored", "expired", "cancelled")
        return {
            "id": batch.batch_id,
            "object": "batch",
            "status": "completed" if batch.status == "ended" else batch.status,
            "metadata": batch.metadata,
            "errors": {"data": batch.errors} if batch.errors else None,
            "output_file_id": f"output-{batch.batch_id}" if over else None,
            "error_file_id": f"errors-{batch.batch_id}"
            if over and batch.count(*fates)
            else None,
            "request_counts": {
                "total": len(batch.requests),
                "completed": batch.count("succeeded", "doubled", "withheld"),
                "failed": batch.count(*fates),
            },
        }

    def _line(self, key: str, batch: Batch) -> object:
        match batch.fates.get(key):
            case "errored":
                body = {"error": {"code": "invalid_request", "message": "no good"}}
                return {
                    "custom_id": key,
                    "response": {"status_code": 400, "body": body},
                    "error": None,
                }
            case ("expired" | "cancelled") as fate:
                error = {"code": f"batch_{fate}", "message": "not asked"}
                return {"custom_id": key, "response": None, "error": error}
        text = f"{reply_to(key, batch.requests[key])}\u2028"
        body = self._chat(text, batch.requests[key]["model"])
        response = {"status_code": 200, "body": body}
        return {"custom_id": key, "response": response, "error": None}

    def _chat(self, text: str, model: str) -> dict[str, object]:
        message = {"role": "assistant", "content": text}
        return {
            "id": "chat-1",
            "object": "chat.completion",
            "model": model,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": dict(
                zip(
                    ("prompt_tokens", "completion_tokens"),
                    self.vendor.usage,
                    strict=True,
                )
            ),
        }


@contextmanager
def batching(name: VendorName) -> Iterator[BatchVendor]:
    """Serve until the block ends."""
    vendor = BatchVendor(name=name)
    kind = {"anthropic": _Anthropic, "openai": _OpenAI}[name]
    handler = type("Handler", (kind,), {"vendor": vendor})
    with (
        pytest.MonkeyPatch.context() as patch,
        _Server(("127.0.0.1", 0), handler) as server,
    ):
        # No client here speaks TLS, and loading certificates takes each 40 ms.
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(Path(__file__).parent))
        vendor.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(
            target=server.serve_forever, args=(0.01,), daemon=True
        )
        thread.start()
        yield vendor
        server.shutdown()
        thread.join()
