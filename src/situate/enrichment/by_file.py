"""Writes planned requests to a file and takes replies back from one.

The file form serves any batch system, and people who ask a model by hand. The
requests are those of the plan; replies are matched by `custom_id` and by
nothing else, least of all by their order.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from situate.enrichment.batches import AskedRequest, file_reply, is_answered
from situate.enrichment.exchange import fault
from situate.enrichment.keys import canonical
from situate.enrichment.providers.connection import environment_secrets, masked
from situate.enrichment.providers.replay import cassette_key, read_cassette
from situate.enrichment.settings import REPLAY
from situate.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider
    from situate.enrichment.questions import PlannedRequest
    from situate.model import JsonValue


_WORDS_SHOWN = 200

_FAULTS = {
    "truncated": "the reply was cut off at its output limit",
    "empty": "the reply is empty",
}
"""Why a live run would not store a reply either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file of replies."""

    imported: int
    missing: tuple[str, ...]
    """Chunks without a usable answer, here or from before."""
    doubled: tuple[str, ...]
    """Ids that came more than once; the first usable reply counts."""
    unknown: tuple[str, ...]
    """Ids that belong to no planned request."""
    errored: tuple[str, ...]
    """Lines without a usable reply, each with its number and the reason."""

    @property
    def is_foreign(self) -> bool:
        """True when nothing of a file has to do with what is planned."""
        return bool(self.unknown) and not (self.imported or self.errored)


@dataclass(slots=True)
class _Import:
    imported: dict[str, str] = field(default_factory=dict)
    doubled: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    errored: list[str] = field(default_factory=list)


def custom_id(request: PlannedRequest) -> str:
    """Name a request in files: the key its reply will be stored under."""
    if request.provider.name == REPLAY:
        return cassette_key(request.body)
    return request.reply_key


def export_requests(
    documents: Iterable[Sequence[PlannedRequest]],
) -> Iterator[dict[str, JsonValue]]:
    """Yield what has to be asked, document by document.

    Chunks of a document with an equal request share a record.
    """
    seen: set[str] = set()
    for document in documents:
        chunk_ids: dict[str, list[JsonValue]] = {}
        requests: dict[str, PlannedRequest] = {}
        for request in document:
            name = custom_id(request)
            requests.setdefault(name, request)
            chunk_ids.setdefault(name, []).extend(request.chunk_ids)
        for name, request in requests.items():
            if name in seen:
                continue
            seen.add(name)
            yield {
                "custom_id": name,
                "chunk_ids": chunk_ids[name],
                "system": request.rendered.system,
                "document": request.rendered.document,
                "chunk": request.rendered.chunk,
                "body": dict(request.body),
            }


def import_replies(
    documents: Iterable[Sequence[PlannedRequest]],
    lines: Iterable[str],
    *,
    provider: Provider,
    cache: Cache,
    corpus: str,
) -> ImportReport:
    """Put replies into the cache, where the next run finds them by their chunks.

    A line is a JSON object with `custom_id` and the provider's own reply: under
    `reply`, or where OpenAI's and Anthropic's batch results carry it.

    Raises:
        CacheBroken: the cache cannot be written.
    """
    wanted = _wanted(documents)
    result = _matched(lines, wanted, provider)
    for name, raw in result.imported.items():
        file_reply(cache, wanted[name], raw, provider.parse(raw), corpus=corpus)
    missing = (
        passage.chunk_id
        for asked in wanted.values()
        for passage in asked.passages
        if not any(is_answered(cache, key) for key in passage.keys)
    )
    return _report(result, missing)


def record_replies(
    documents: Iterable[Sequence[PlannedRequest]],
    lines: Iterable[str],
    *,
    provider: Provider,
    cassette: Path,
) -> ImportReport:
    """Put replies into a cassette file, for the provider `replay`.

    A line is a JSON object with `custom_id`, `text` and the `model` that wrote
    it; `stop` is "end" unless it says otherwise. Recorded replies to other
    requests stay; one to the same request is replaced. The file appears whole.

    Raises:
        ConfigError: the cassette is there and cannot be read.
        RecordError: it holds something else than recorded replies.
        OSError: it cannot be written.
    """
    wanted = _wanted(documents)
    result = _matched(lines, wanted, provider)
    records = read_cassette(cassette) if cassette.exists() else {}
    for name, raw in result.imported.items():
        reply = provider.parse(raw)
        records[name] = {
            "key": name,
            "chunk_ids": list(wanted[name].chunk_ids),
            "model": reply.model,
            "text": reply.text,
            "stop": reply.stop,
            "usage": asdict(reply.usage) if reply.usage else None,
        }
    _write_whole(cassette, records)
    missing = (
        chunk_id
        for name, asked in wanted.items()
        if name not in records
        for chunk_id in asked.chunk_ids
    )
    return _report(result, missing)


def _wanted(
    documents: Iterable[Sequence[PlannedRequest]],
) -> dict[str, AskedRequest]:
    """Give the chunks behind every request; equal ones ask for all of theirs."""
    wanted: dict[str, AskedRequest] = {}
    for request in (each for document in documents for each in document):
        name = custom_id(request)
        asked = AskedRequest.of(name, request)
        if name in wanted:
            passages = dict.fromkeys((*wanted[name].passages, *asked.passages))
            asked = replace(asked, passages=tuple(passages))
        wanted[name] = asked
    return wanted


def _matched(
    lines: Iterable[str], wanted: Mapping[str, AskedRequest], provider: Provider
) -> _Import:
    result = _Import()
    secrets = environment_secrets()
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            name = record["custom_id"]
        except (ValueError, TypeError, KeyError, RecursionError):
            result.errored.append(f"line {number}: no JSON object with a custom_id")
            continue
        if not isinstance(name, str) or name not in wanted:
            result.unknown.append(str(name))
            continue
        if name in seen:
            result.doubled.append(name)
        seen.add(name)
        if name in result.imported:
            continue
        try:
            raw = canonical(_carried(record, provider))
            found = fault(provider.parse(raw))
            if found is not None:
                raise _NoReply(_FAULTS[found])  # noqa: TRY301 - one of three ways to be none
        except (_NoReply, TransientError) as error:
            what = masked(str(error), secrets)[:_WORDS_SHOWN]
            about = ", ".join(wanted[name].chunk_ids)
            result.errored.append(f"line {number} ({about}): {what}")
        else:
            result.imported[name] = raw
    return result


class _NoReply(Exception):
    """A line carries none; the message says what it carries."""


def _carried(record: dict[str, Any], provider: Provider) -> JsonValue:
    """Find the provider's reply in a line, whichever system wrote it."""
    if record.get("error"):
        message = f"it holds an error: {canonical(record['error'])}"
        raise _NoReply(message)
    match record:
        case {"reply": dict(reply)}:
            return reply
        case {"response": {"status_code": 200, "body": dict(reply)}}:
            return reply
        case {"response": {"status_code": status}}:
            message = f"it holds an answer of status {status}"
            raise _NoReply(message)
        case {"result": {"type": "succeeded", "message": dict(reply)}}:
            return reply
        case {"result": {"type": kind}}:
            message = f"its result is {kind!r}"
            raise _NoReply(message)
        case {"text": text, "model": model} if provider.name == REPLAY:
            stop, usage = record.get("stop", "end"), record.get("usage")
            return {"text": text, "model": model, "stop": stop, "usage": usage}
        case _ if provider.name == REPLAY:
            message = "it holds no 'text', or no 'model' that wrote it"
            raise _NoReply(message)
        case _:
            message = f"it holds no 'reply' as {provider.name} would give it"
            raise _NoReply(message)


def _report(result: _Import, missing: Iterable[str]) -> ImportReport:
    return ImportReport(
        imported=len(result.imported),
        missing=tuple(dict.fromkeys(missing)),
        doubled=tuple(dict.fromkeys(result.doubled)),
        unknown=tuple(dict.fromkeys(result.unknown)),
        errored=tuple(result.errored),
    )


def _write_whole(path: Path, records: Mapping[str, Mapping[str, JsonValue]]) -> None:
    """Write records in the order of their chunks, so that a diff can be read."""
    ordered = sorted(
        records.values(), key=lambda r: (canonical(r.get("chunk_ids")), str(r["key"]))
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for record in ordered:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
