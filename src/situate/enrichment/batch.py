"""Writes planned requests to a file and takes replies back from one.

The file form serves any batch system, and people who ask a model by hand. The
requests are those of the plan; replies are matched by `custom_id` and by
nothing else, least of all by their order.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from situate.enrichment.keys import canonical
from situate.enrichment.providers.connection import environment_secrets, masked
from situate.enrichment.providers.replay import cassette_key, read_cassette
from situate.enrichment.settings import REPLAY
from situate.enrichment.statement import clean
from situate.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from situate.enrichment.cache import Cache
    from situate.enrichment.exchange import Provider, Reply
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import PlannedRequest
    from situate.model import JsonValue


_WORDS_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file of replies."""

    imported: int
    missing: tuple[str, ...]
    """Chunks whose request has no usable reply, here or from before."""
    doubled: tuple[str, ...]
    """Ids that came more than once; the first usable reply counts."""
    unknown: tuple[str, ...]
    """Ids that belong to no planned request."""
    errored: tuple[str, ...]
    """Lines without a usable reply, each with its number and the reason."""


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
    plans: Iterable[DocumentPlan], *, cached: Callable[[PlannedRequest], bool]
) -> Iterator[dict[str, JsonValue]]:
    """Yield what has to be asked; what is `cached` is left out.

    Chunks of a document with an equal request share a record.
    """
    seen: set[str] = set()
    for document in plans:
        chunk_ids: dict[str, list[JsonValue]] = {}
        requests: dict[str, PlannedRequest] = {}
        for request in document.requests:
            if cached(request):
                continue
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
    plans: Iterable[DocumentPlan],
    lines: Iterable[str],
    *,
    provider: Provider,
    cache: Cache,
) -> ImportReport:
    """Put replies into the cache, where the next run finds them.

    A line is a JSON object with `custom_id` and the provider's own reply: under
    `reply`, or where OpenAI's and Anthropic's batch results carry it.

    Raises:
        CacheBroken: the cache cannot be written.
    """
    wanted = _wanted(plans)
    result = _matched(lines, wanted, provider)
    for name, raw in result.imported.items():
        cache.store_reply(name, raw)
    return _report(result, wanted, lambda name: cache.reply(name) is not None)


def record_replies(
    plans: Iterable[DocumentPlan],
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
    wanted = _wanted(plans)
    result = _matched(lines, wanted, provider)
    records = read_cassette(cassette) if cassette.exists() else {}
    for name, raw in result.imported.items():
        reply = provider.parse(raw)
        records[name] = {
            "key": name,
            "chunk_ids": list(wanted[name]),
            "model": reply.model,
            "text": reply.text,
            "stop": reply.stop,
            "usage": asdict(reply.usage) if reply.usage else None,
        }
    _write_whole(cassette, records)
    return _report(result, wanted, records.__contains__)


def _wanted(plans: Iterable[DocumentPlan]) -> dict[str, tuple[str, ...]]:
    """Give the chunks behind every planned request."""
    wanted: dict[str, tuple[str, ...]] = {}
    for request in (each for document in plans for each in document.requests):
        name = custom_id(request)
        wanted[name] = (*wanted.get(name, ()), *request.chunk_ids)
    return wanted


def _matched(
    lines: Iterable[str], wanted: Mapping[str, tuple[str, ...]], provider: Provider
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
            fault = unusable(provider.parse(raw))
            if fault is not None:
                raise _NoReply(fault)  # noqa: TRY301 - one of three ways to be none
        except (_NoReply, TransientError) as error:
            what = masked(str(error), secrets)[:_WORDS_SHOWN]
            result.errored.append(f"line {number} ({', '.join(wanted[name])}): {what}")
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


def unusable(reply: Reply) -> str | None:
    """Say why a live run would not store a reply either; None when it would."""
    if reply.stop == "length":
        return "the reply was cut off at its output limit"
    if reply.stop == "end" and not clean(reply.text):
        return "the reply is empty"
    return None


def _report(
    result: _Import,
    wanted: Mapping[str, tuple[str, ...]],
    is_there: Callable[[str], bool],
) -> ImportReport:
    return ImportReport(
        imported=len(result.imported),
        missing=tuple(
            chunk_id
            for name, chunk_ids in wanted.items()
            if not is_there(name)
            for chunk_id in chunk_ids
        ),
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
