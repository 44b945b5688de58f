"""What the protocol double says and bills, whoever carries it.

Answers are drawn from the hash of the request. Tokens are counted with cl100k, a
JSON schema that is sent along included, and what is asked for again is billed as
the vendors' documentation says (Anthropic's and OpenAI's pages on prompt caching,
read 2026-11). No transport and no clock: who asks says what time it is.
"""

from __future__ import annotations

import functools
import hashlib
import json
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from situate.tokens import load_counter

NAME = "mock-model"

_LIFETIME_SECONDS = 300.0
"""Five minutes, counted from the start of the request that wrote or read."""

_STEP_TOKENS = 128
_OPENAI_MINIMUM_TOKENS = 1_024
"""OpenAI keeps prompts from this length on, in steps."""

_ROUTED_BY_CHARACTERS = 1_000
"""The beginning of a prompt, by which OpenAI finds the machine that knows it."""

_WITH_BREAKPOINTS = ("gpt-5.6", "gpt-6")
"""OpenAI's models that find a prefix at breakpoints alone, of which the end of the
last message is one unless a request says otherwise, and bill what they write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """How the prompt cache behaves, and how long sentences are."""

    minimum_tokens: int = 512
    """A shorter prefix is not kept; OpenAI has a minimum of its own."""
    settling_seconds: float = 0.0
    """A prefix is found only so long after the answer that wrote it, and written
    again by whoever comes earlier: public reports saw up to two seconds."""
    first_reread_misses: bool = False
    """Whoever looks for a prefix first does not find it, however late, and writes
    it again."""
    sentence_tokens: int | None = None
    """None leaves sentences as they are drawn: about twenty tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """Input of one request in disjoint counts."""

    uncached: int
    written: int = 0
    read: int = 0


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place up to which a prompt is to be kept."""

    prefix: str
    tokens: int


@dataclass(slots=True)
class _Entry:
    available_at: float
    expires_at: float
    text: str = ""
    looked_for: bool = False


@dataclass(slots=True)
class Desk:
    """Answers requests and remembers prefixes."""

    billing: Billing = Billing()
    writes: Counter[str] = field(default_factory=Counter)
    """How often each prefix was written, by its hash."""
    reads: Counter[str] = field(default_factory=Counter)
    marks: int = 0
    """Requests that marked a prefix, however short."""
    input_tokens: int = 0
    output_tokens: int = 0
    _marked: dict[str, _Entry] = field(default_factory=dict)
    _automatic: dict[str, list[_Entry]] = field(default_factory=dict)

    def message(self, body: bytes, *, now: float, answered_at: float) -> dict[str, Any]:
        """Answer a request to Anthropic's messages."""
        request = json.loads(body)
        form = request.get("output_config", {}).get("format")
        content, said = self._answer(body, form and form["schema"])
        billed = self._explicit(request, form, (now, answered_at))
        return {
            "id": f"msg_{identity(body)}",
            "type": "message",
            "role": "assistant",
            "model": NAME,
            "content": [{"type": "text", "text": content}],
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": billed.uncached,
                "cache_creation_input_tokens": billed.written,
                "cache_read_input_tokens": billed.read,
                "output_tokens": said,
            },
        }

    def completion(
        self, body: bytes, *, now: float, answered_at: float
    ) -> dict[str, Any]:
        """Answer a request to OpenAI's chat completions."""
        request = json.loads(body)
        form = request.get("response_format", {}).get("json_schema")
        content, said = self._answer(body, form and form["schema"])
        billed = self._implicit(request, form, (now, answered_at))
        read = billed.uncached + billed.written + billed.read
        details = {"cached_tokens": billed.read}
        if _has_breakpoints(request):
            details["cache_write_tokens"] = billed.written
        return {
            "id": f"chatcmpl-{identity(body)}",
            "object": "chat.completion",
            "created": 1,
            "model": NAME,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": content},
                }
            ],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": said,
                "total_tokens": read + said,
                "prompt_tokens_details": details,
            },
        }

    def _answer(self, body: bytes, schema: dict[str, Any] | None) -> tuple[str, int]:
        tokens = self.billing.sentence_tokens
        if schema is None:
            content = sentence(body, tokens=tokens)
        else:
            entries = {
                key: sentence(key.encode() + body, tokens=tokens)
                for key in schema["properties"]
            }
            content = json.dumps(entries)
        said = load_counter("cl100k_base").count(content)
        self.output_tokens += said
        return content, said

    def _explicit(
        self, request: dict[str, Any], form: object, times: tuple[float, float]
    ) -> Billed:
        """Bill Anthropic's way: what stands up to a mark is kept."""
        prefix, total = [json.dumps([request["model"], form])], _count_of(form)
        marks: list[_Mark] = []
        for block in _blocks(request):
            prefix.append(block["text"])
            total += _tokens(block["text"])
            if "cache_control" in block:
                marks.append(_Mark(_hash("\0".join(prefix)), total))
        return self._at(marks, total, self.billing.minimum_tokens, times)

    def _at(
        self,
        marks: list[_Mark],
        total: int,
        minimum: int,
        times: tuple[float, float],
    ) -> Billed:
        """Read up to the last mark that is known, and write up to the last one."""
        self.input_tokens += total
        self.marks += bool(marks)
        kept = [mark for mark in marks if mark.tokens >= minimum]
        if not kept:
            return Billed(uncached=total)
        last = kept[-1]
        for mark in reversed(kept):
            if self._found(self._marked.get(mark.prefix), times):
                self.reads[mark.prefix] += 1
                read = mark.tokens
                break
        else:
            read = 0
        if read < last.tokens:
            self.writes[last.prefix] += 1
            known = self._marked.get(last.prefix)
            self._marked[last.prefix] = self._written(known, times)
        return Billed(
            uncached=total - last.tokens, written=last.tokens - read, read=read
        )

    def _implicit(
        self, request: dict[str, Any], form: object, times: tuple[float, float]
    ) -> Billed:
        """Bill OpenAI's way."""
        texts, ends = _parts(request)
        start = json.dumps([request["model"], form])
        total = sum(map(_tokens, texts)) + _count_of(form)
        if _has_breakpoints(request):
            marks = [
                _Mark(
                    _hash("\0".join([start, *texts[:end]])),
                    _count_of(form) + sum(map(_tokens, texts[:end])),
                )
                for end in ends
            ]
            return self._at(marks, total, _OPENAI_MINIMUM_TOKENS, times)
        self.input_tokens += total
        if total < _OPENAI_MINIMUM_TOKENS:
            return Billed(uncached=total)
        read = self._automatic_read(
            str(request.get("prompt_cache_key")), "\0".join([start, *texts]), times
        )
        return Billed(uncached=total - min(read, total), read=min(read, total))

    def _automatic_read(self, key: str, text: str, times: tuple[float, float]) -> int:
        """Find how much of a prompt an earlier one began with, in steps."""
        route = _hash(f"{key}\0{text[:_ROUTED_BY_CHARACTERS]}")
        entries = self._automatic.setdefault(route, [])
        shared = max(
            (_shared(text, e.text) for e in entries if self._found(e, times)),
            key=len,
            default="",
        )
        read = _steps(_tokens(shared)) if shared else 0
        if read:
            self.reads[route] += 1
        else:
            # What comes after a prefix that is known is one chunk: nobody's prefix.
            self.writes[route] += 1
            entries.append(self._written(None, times, text))
        return read

    def _found(self, entry: _Entry | None, times: tuple[float, float]) -> bool:
        """Look for a prefix; finding it lets it live on."""
        now, _ = times
        if entry is None or not entry.available_at <= now < entry.expires_at:
            return False
        if self.billing.first_reread_misses and not entry.looked_for:
            entry.looked_for = True
            return False
        entry.expires_at = now + _LIFETIME_SECONDS
        return True

    def _written(
        self, entry: _Entry | None, times: tuple[float, float], text: str = ""
    ) -> _Entry:
        now, answered_at = times
        available_at = answered_at + self.billing.settling_seconds
        if entry is not None and now < entry.expires_at:
            entry.available_at = min(entry.available_at, available_at)
            entry.expires_at = now + _LIFETIME_SECONDS
            return entry
        return _Entry(available_at, now + _LIFETIME_SECONDS, text)


def identity(body: bytes) -> str:
    """Hash a request body; the first 24 digits are the id of its reply."""
    return hashlib.sha256(body).hexdigest()[:24]


def sentence(body: bytes, *, tokens: int | None = None) -> str:
    """Draw the sentence that answers a body, the same for the same bytes.

    It holds no digit, name, date or quotation, so that nothing in it has to be
    found in a document. Of a length that is asked for, it may end anywhere.
    """
    drawn = int(identity(body), 16)
    words = []
    for choices in _WORDS:
        drawn, at = divmod(drawn, len(choices))
        words.append(choices[at])
    text = "It tells {} how {} {} when {}".format(*words)
    if tokens is not None:
        text = _of_length(text, drawn, tokens)
    return f"{text}."


def _of_length(text: str, drawn: int, tokens: int) -> str:
    """Lengthen or shorten a sentence to so many tokens, its full stop included."""
    _, *choices = _WORDS
    words = text.split()
    while _tokens(" ".join(words)) < tokens - 1:
        drawn = int(identity(str(drawn).encode()), 16)
        parts = [each[drawn % len(each)] for each in choices]
        words += "and how {} {} when {}".format(*parts).split()
    while _tokens(" ".join(words)) > tokens - 1:
        words.pop()
    return " ".join(words)


def _blocks(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the text blocks of a request in the order they are read in."""
    system: list[dict[str, Any]] = request.get("system", [])
    return [
        *system,
        *(block for message in request["messages"] for block in message["content"]),
    ]


def _parts(request: dict[str, Any]) -> tuple[list[str], list[int]]:
    """Give the texts of a chat, and after how many of them a prefix is kept."""
    texts: list[str] = []
    ends: list[int] = []
    for message in request["messages"]:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        for part in parts:
            texts.append(part["text"])
            if part.get("prompt_cache_breakpoint") == {"mode": "explicit"}:
                ends.append(len(texts))
    mode = request.get("prompt_cache_options", {}).get("mode", "implicit")
    if mode == "implicit":
        ends.append(len(texts))
    return texts, ends


def _has_breakpoints(request: dict[str, Any]) -> bool:
    return str(request["model"]).startswith(_WITH_BREAKPOINTS)


def _count_of(form: object) -> int:
    return _tokens(json.dumps(form, separators=(",", ":"))) if form else 0


@functools.lru_cache(maxsize=512)
def _tokens(text: str) -> int:
    return load_counter("cl100k_base").count(text)


def _steps(tokens: int) -> int:
    steps = tokens // _STEP_TOKENS * _STEP_TOKENS
    return steps if steps >= _OPENAI_MINIMUM_TOKENS else 0


def _shared(one: str, other: str) -> str:
    """Give what two texts begin with."""
    longest = min(len(one), len(other))
    ends = range(longest + 1)
    end = bisect_left(ends, True, key=lambda n: not other.startswith(one[: n + 1]))
    return one[: min(end, longest)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


_WORDS = (
    (
        "people who join late",
        "whoever signs for a team",
        "customers abroad",
        "those who work at night",
        "readers without a contract",
        "owners of an older model",
        "anyone on probation",
    ),
    (
        "a missed step",
        "an early request",
        "the usual ceiling",
        "a later refusal",
        "an open question",
        "the shorter route",
        "a broken part",
        "an unpaid share",
    ),
    (
        "is put right",
        "is counted again",
        "stays in force",
        "ends before its time",
        "gets handed on",
        "falls to somebody else",
        "can be taken back",
        "has to be shown",
        "will be looked at",
    ),
    (
        "nobody answers in time",
        "all sides agree",
        "the weather turns",
        "another rule says less",
        "the office is closed",
        "it happens again",
        "the papers are missing",
        "costs run higher than expected",
        "work begins elsewhere",
        "the attempt before it fails",
        "all else is settled",
    ),
)
