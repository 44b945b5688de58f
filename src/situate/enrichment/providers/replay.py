"""Answers from cassettes: replies a model once gave to exactly these prompts.

A cassette is a file of JSON lines, one reply each. A reply is found by the
hash of the three parts of its prompt and by nothing else: which model a run is
priced for does not matter, one letter of a prompt or document does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from situate.enrichment.exchange import Body, Parameters, Rendered, Reply, Stop
from situate.enrichment.keys import canonical
from situate.errors import ConfigError, RecordError, RequestRejected, Unanswered
from situate.files import opened
from situate.model import digest
from situate.shipped import shipped
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from situate.model import JsonValue

_STOPS = ("end", "length", "refusal")
_FIELDS = ("text", "model", "stop", "usage")
_COUNTS = ("uncached_input", "cache_write", "cache_read", "output", "thinking")


class ReplayProvider:
    """Gives recorded replies; asks nobody and costs nothing."""

    name = "replay"

    def __init__(self, path: Path | None = None) -> None:
        """Read a cassette, or all of a directory; None takes the shipped ones.

        Raises:
            ConfigError: there is no such file.
            RecordError: a line is no recorded reply; names file and line.
        """
        self._replies = _raw_replies(path or shipped("cassettes", "replay"))
        # A cassette that was recorded anew is somebody else answering.
        content = canonical(dict(self._replies))
        self.endpoint = f"cassette:{digest(content)}"

    def render(self, rendered: Rendered, parameters: Parameters) -> Body:  # noqa: ARG002 - whoever is asked, the recorded model answers
        """Give the three parts of the prompt."""
        return {
            "system": rendered.system,
            "document": rendered.document,
            "chunk": rendered.chunk,
        }

    def check(self) -> None:
        """Find nothing wrong: recorded replies need no key."""

    async def send(self, body: Body) -> str:
        """Give the recorded reply.

        Raises:
            RequestRejected: none was recorded for this prompt.
        """
        key = cassette_key(body)
        raw = self._replies.get(key)
        if raw is None:
            message = (
                f"no cassette holds a reply to request {key}; write one with "
                "`situate batch export` and `situate batch import`"
            )
            raise RequestRejected(message)
        return raw

    def parse(self, raw: str) -> Reply:
        """Read a recorded reply.

        Raises:
            Unanswered: it is none.
        """
        try:
            return _reply(json.loads(raw))
        except (ValueError, RecursionError) as error:
            message = f"a recorded reply cannot be read: {error}"
            raise Unanswered(message, usage=Usage()) from error

    async def close(self) -> None:
        """Do nothing: no connection is held."""


def cassette_key(body: Body) -> str:
    """Give the key a prompt's reply is recorded under."""
    return digest(canonical(body))


def read_cassette(file: Path) -> dict[str, dict[str, JsonValue]]:
    """Read the records of one cassette by their key.

    Raises:
        ConfigError: it cannot be read.
        RecordError: a line is no recorded reply, or two share a key.
    """
    try:
        with opened(file) as source:
            lines = source.read().decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cassette {str(file)!r} cannot be read: {error}"
        raise ConfigError(message) from error
    records: dict[str, dict[str, JsonValue]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"cassette {file.name!r}, line {number}"
        try:
            record = json.loads(line)
            _reply(record)
        except (ValueError, RecursionError) as error:
            message = f"{place} is no recorded reply: {error}"
            raise RecordError(message) from error
        key = record.get("key")
        if not isinstance(key, str) or key in records:
            message = f"{place} has a 'key' that is no text or came before: {key!r}"
            raise RecordError(message)
        records[key] = record
    return records


def _raw_replies(path: Path) -> Mapping[str, str]:
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    replies: dict[str, str] = {}
    for file in files:
        for key, record in read_cassette(file).items():
            raw = canonical({n: record[n] for n in _FIELDS if n in record})
            if replies.setdefault(key, raw) != raw:
                message = f"cassette {file.name!r} has another reply to request {key}"
                raise RecordError(message)
    return replies


def _reply(record: Any) -> Reply:
    """Read the fields of a reply; ValueError says what is wrong."""
    if not isinstance(record, dict):
        message = "it is no JSON object"
        raise ValueError(message)  # noqa: TRY004 - one error for whatever a line lacks
    text, model = record.get("text"), record.get("model")
    stop, usage = record.get("stop", "end"), record.get("usage") or {}
    if not isinstance(text, str) or not isinstance(model, str) or not model:
        message = "'text' and 'model' have to be texts"
        raise ValueError(message)
    if stop not in _STOPS:
        message = f"'stop' is {stop!r}, not one of {', '.join(_STOPS)}"
        raise ValueError(message)
    if not isinstance(usage, dict) or not all(
        name in _COUNTS and isinstance(count, int) and count >= 0
        for name, count in usage.items()
    ):
        message = f"'usage' has to hold counts: {', '.join(_COUNTS)}"
        raise ValueError(message)
    return Reply(
        text=text,
        model=model,
        stop=cast("Stop", stop),
        usage=Usage(**usage) if usage else None,
    )
