"""Carries replies and answers from one cache into another, as lines of JSON.

    {"schema": 1, "key": "reply:...", "raw": "..."}
    {"schema": 1, "key": "chunk:...", "answers": [{"reply": "...", "marker": "..."}]}
    {"schema": 1, "key": "used:...", "corpus": "..."}

Replies come before the answers that stand in them and the documents they were for,
each kind in the order of its keys: one cache gives the same lines on every day.
Spending stays where it was spent. Nothing that is here already is replaced by
something else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from situate.enrichment.cache import rows
from situate.enrichment.cache.looking import looking_into
from situate.errors import RecordError
from situate.records import from_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.enrichment.cache.rows import Located, Use
    from situate.enrichment.cache.storage import Place, Storage
    from situate.model import JsonValue

_AT_ONCE = 500
"""Lines taken in with one transaction; others write in between."""

_NO_REPLY = "it refers to a reply that is neither here nor above"


@dataclass(slots=True)
class Exported:
    """What has been carried out so far."""

    replies: int = 0
    answers: int = 0
    left_out: int = 0
    """Rows that are not in our form, or hold a reply that is no JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of the lines of a file."""

    replies: int
    """Taken in."""
    answers: int
    """Taken in."""
    known: int
    """Were here already."""
    conflicts: tuple[str, ...]
    """Keys under which something else is here; that has been kept."""
    refused: tuple[str, ...]
    """Lines that are not ours, each with its number and the reason."""


@dataclass(slots=True)
class _Import:
    replies: int = 0
    answers: int = 0
    known: int = 0
    conflicts: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What a line says."""

    where: str
    key: str
    content: str | tuple[Located, ...] | Use


def carry_out(place: Place, exported: Exported) -> Iterator[dict[str, JsonValue]]:
    """Yield everything that is paid for, as it stood at one moment.

    `exported` is kept up to date.

    Raises:
        ConfigError: there is no cache.
        CacheBroken: the cache cannot be read.
    """
    with looking_into(place) as found:
        for kind in (rows.REPLY, rows.ANSWERS, rows.USE):
            for row in found.rows(kind):
                match row.content:
                    case str(raw) if row.problem is None:
                        exported.replies += 1
                        value = rows.of_reply(raw)
                    case tuple(answers):
                        exported.answers += 1
                        value = rows.of_answers(answers)
                    case rows.Use() as use:
                        value = rows.of_use(use.corpus)
                    case _:
                        exported.left_out += 1
                        continue
                yield {"schema": rows.SCHEMA, "key": row.key, **value}


def take_in(
    store: Storage, lines: Iterable[tuple[str, bytes]], *, today: str
) -> Imported:
    """Put in what is not here yet; each line comes with what it is called.

    What is put in counts as used today. Answers and uses are refused where a reply
    they stand in is neither here nor above; a first answer is completed by its repair.
    Uses come along with their replies and are not counted.

    Raises:
        CacheBroken: the cache cannot be written; what is in so far stays.
        RecordError: the file cannot be read.
    """
    result = _Import()
    read = _read(lines, result)
    while batch := list(islice(read, _AT_ONCE)):
        with store.transaction():
            for line in batch:
                _merge(store, line, result, today)
    return Imported(
        replies=result.replies,
        answers=result.answers,
        known=result.known,
        conflicts=tuple(result.conflicts),
        refused=tuple(result.refused),
    )


def _read(lines: Iterable[tuple[str, bytes]], result: _Import) -> Iterator[_Line]:
    for where, line in lines:
        if not line.strip():
            continue
        try:
            yield _line(from_line(line, where), where)
        except RecordError as error:
            result.refused.append(str(error))


def _line(record: dict[str, JsonValue], where: str) -> _Line:
    """Read a line.

    Raises:
        RecordError: it is not one of ours.
    """
    key = record.get("key")
    content: str | tuple[Located, ...] | Use | None = None
    if (
        record.get("schema") == rows.SCHEMA
        and isinstance(key, str)
        and rows.is_storable(key)
    ):
        if key.startswith(rows.REPLY):
            raw = rows.reply_in(record)
            is_ours = raw is not None and rows.is_storable(raw) and rows.is_reply(raw)
            content = raw if is_ours else None
        elif key.startswith(rows.ANSWERS):
            content = rows.answers_in(record)
        elif key.startswith(rows.USE):
            content = rows.use_in(key, record)
    if content is None or not isinstance(key, str):
        message = f"{where}: no reply or answers in the form of `situate cache export`"
        raise RecordError(message)
    return _Line(where=where, key=key, content=content)


def _merge(store: Storage, line: _Line, result: _Import, today: str) -> None:
    stored = store.get(line.key)
    if isinstance(line.content, str):
        here = rows.reply_in(stored.value) if stored else None
        if here is None:
            store.put(line.key, rows.of_reply(line.content), day=today)
            result.replies += 1
        elif here == line.content:
            result.known += 1
        else:
            result.conflicts.append(line.key)
        return
    if isinstance(line.content, rows.Use):
        _merge_use(store, line, line.content, result)
        return
    known = (rows.answers_in(stored.value) if stored else None) or ()
    replies = [f"{rows.REPLY}{each.reply}" for each in line.content]
    if known[: len(line.content)] == line.content:
        result.known += 1
    elif line.content[: len(known)] != known:
        result.conflicts.append(line.key)
    elif not all(map(store.holds, replies)):
        result.refused.append(f"{line.where}: {_NO_REPLY}")
    else:
        store.put(line.key, rows.of_answers(line.content), day=today)
        store.note(replies, today)
        result.answers += 1


def _merge_use(store: Storage, line: _Line, use: Use, result: _Import) -> None:
    if store.holds(f"{rows.REPLY}{use.reply}"):
        store.put(line.key, rows.of_use(use.corpus), day=None)
    else:
        result.refused.append(f"{line.where}: {_NO_REPLY}")
