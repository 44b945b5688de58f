"""Looks a cache over, row by row.

It writes nothing and needs no working cache: a broken one is what there is to see.
Nothing that a row says is run or opened.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from situate.enrichment.cache import rows
from situate.enrichment.cache.store import (
    DATABASE,
    LOCK_TIMEOUT_SECONDS,
    foreign_settings,
)
from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from decimal import Decimal
    from pathlib import Path

    from situate.enrichment.cache.rows import Located, Use
    from situate.model import JsonValue

_RAW = 1  # diskcache's MODE_RAW: the value stands in its row.

_SHOWN = 80
"""Characters of a foreign key that are shown."""

Content: TypeAlias = "str | tuple[Located, ...] | Decimal | Use"
"""A raw reply, where answers stand, the spending of a month, or that a document has
used a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the database."""

    key: str
    """As text, whatever it is."""
    day: str | None
    """When it was used last, an ISO date in UTC; None when nobody says."""
    content: Content | None
    """None when it is not in our form."""
    problem: str | None
    """Why it is not in our form, or not of use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What a cache holds."""

    answers: int
    """Questions about chunks whose answers are known, also by their section."""
    replies: int
    unreferenced_replies: int
    """Replies that no answer stands in: those of runs that were killed, of re-asks,
    and what was paid for in vain."""
    unattributed_replies: int
    """Replies that do not say for which document: those of versions before."""
    documents: int
    """Documents that replies were asked for, or have served."""
    foreign_rows: int
    """Rows that are not in our form; `verify` names them."""
    bytes: int
    """On the disk."""
    oldest_use: str | None
    """ISO date in UTC; None in an empty cache."""
    newest_use: str | None
    spent_usd: Mapping[str, Decimal]
    """By calendar month in UTC, with what is set aside for requests on the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is wrong with a cache."""

    subject: str
    """The key of a row, or `database`."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What looking at every row has found."""

    rows: int
    findings: tuple[Finding, ...]


def statistics(directory: Path) -> Statistics:
    """Count what a cache holds.

    Raises:
        ConfigError: there is none.
        CacheBroken: the database cannot be read.
    """
    answers = foreign = 0
    replies: set[str] = set()
    referred: set[str] = set()
    attributed: set[str] = set()
    documents: set[tuple[str, str]] = set()
    days: set[str] = set()
    spent: dict[str, Decimal] = {}
    with looking_into(directory) as database:
        for row in each_row(database):
            kind, _, name = row.key.partition(":")
            match row.content:
                case None:
                    foreign += 1
                    continue
                case str():
                    replies.add(name)
                case tuple(located):
                    answers += 1
                    referred.update(each.reply for each in located)
                case rows.Use() as use:
                    attributed.add(use.reply)
                    documents.add((use.corpus, use.document))
                case usd:
                    spent[name] = usd
            if row.day is not None and f"{kind}:" in {rows.ANSWERS, rows.REPLY}:
                days.add(row.day)
    return Statistics(
        answers=answers,
        replies=len(replies),
        unreferenced_replies=len(replies - referred),
        unattributed_replies=len(replies - attributed),
        documents=len(documents),
        foreign_rows=foreign,
        bytes=bytes_of(directory),
        oldest_use=min(days, default=None),
        newest_use=max(days, default=None),
        spent_usd=dict(sorted(spent.items())),
    )


def verify(directory: Path) -> Verdict:
    """Look at every row and at the database itself; name all that is wrong.

    Raises:
        ConfigError: there is no cache.
    """
    findings: list[Finding] = []
    count = 0
    replies: set[str] = set()
    referring: list[tuple[str, str]] = []
    try:
        with looking_into(directory) as database:
            findings += _faults(database)
            for row in each_row(database):
                count += 1
                if row.problem is not None:
                    findings.append(Finding(subject=row.key, message=row.problem))
                match row.content:
                    case str():
                        replies.add(row.key.removeprefix(rows.REPLY))
                    case tuple(located):
                        referring += ((row.key, each.reply) for each in located)
    except CacheBroken as error:
        findings.append(Finding(subject="database", message=str(error)))
    else:
        findings += (
            Finding(subject=key, message=f"it refers to {reply!r}, which is not here")
            for key, reply in referring
            if reply not in replies
        )
    return Verdict(rows=count, findings=tuple(findings))


@contextmanager
def looking_into(directory: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a cache to read it.

    Raises:
        ConfigError: there is none.
        CacheBroken: it cannot be read, now or inside the block.
    """
    path = directory / DATABASE
    if not path.is_file():
        message = f"cache {str(directory)!r}: there is none; name its directory"
        raise ConfigError(message)
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(
            sqlite3.connect(
                address, uri=True, timeout=LOCK_TIMEOUT_SECONDS, isolation_level=None
            )
        ) as database:
            # What others write meanwhile is not seen in half.
            database.execute("BEGIN")
            # Bytes that are no UTF-8 are for us to name, not for the driver.
            database.text_factory = _text
            yield database
    except (OSError, sqlite3.Error) as error:
        message = f"cache {str(directory)!r} cannot be read: {error}"
        raise CacheBroken(message) from error


def each_row(database: sqlite3.Connection, kind: str | None = None) -> Iterator[Row]:
    """Yield the rows of a database, or of one kind, in the order of their keys.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    found = database.execute(
        "SELECT key, raw, mode, filename, value, "
        "coalesce(tag, date(access_time, 'unixepoch')) FROM Cache "
        "WHERE :first IS NULL OR (key >= :first AND key < :past) ORDER BY key",
        {"first": kind, "past": kind and rows.past(kind)},
    )
    for key, raw, mode, filename, value, day in found:
        content: Content | None = None
        if not isinstance(key, str) or raw != 1:
            problem: str | None = "its key is no text: situate has not written it"
        elif filename is not None:
            problem = f"it names a file, {filename!r:.{_SHOWN}}; none is ever opened"
        elif mode != _RAW or not isinstance(value, str):
            problem = "it is pickled or no text; it is never read"
        else:
            content, problem = _content(key, value)
        yield Row(
            key=key if isinstance(key, str) else f"{key!r:.{_SHOWN}}",
            day=day if isinstance(day, str) else None,
            content=content,
            problem=problem,
        )


def _content(key: str, text: str) -> tuple[Content | None, str | None]:
    """Read what a row holds, or say why it is not ours."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, "its value is no JSON"
    if not isinstance(value, dict) or value.get("schema") != rows.SCHEMA:
        return None, f"its value is no object of version {rows.SCHEMA}"
    content: Content | None
    if key.startswith(rows.USE):
        content = rows.use_in(key, value)
    else:
        for kind, reader in _READERS.items():
            if key.startswith(kind):
                content = reader(value)
                break
        else:
            return None, "its key is of no kind that situate writes"
    if content is None:
        return None, "its value is not in the form of its kind"
    if isinstance(content, str) and not rows.is_reply(content):
        return content, "the reply in it is no JSON object"
    return content, _odd_marker(content) if isinstance(content, tuple) else None


def _odd_marker(located: tuple[Located, ...]) -> str | None:
    """Say which marker stands for no passage, None where all do."""
    for marker in (each.marker for each in located if each.marker is not None):
        if not (marker.isascii() and marker.isdecimal()):
            return f"its marker is no number: {marker!r:.{_SHOWN}}"
    return None


_READERS: dict[str, Callable[[Mapping[str, JsonValue]], Content | None]] = {
    rows.REPLY: rows.reply_in,
    rows.ANSWERS: rows.answers_in,
    rows.MONTH: rows.month_in,
}


def _faults(database: sqlite3.Connection) -> Iterator[Finding]:
    """Name what is wrong with the database as such."""
    for (message,) in database.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield Finding(subject="database", message=str(message))
    for name in foreign_settings(database):
        message = f"a setting is not known: {name:.{_SHOWN}}"
        yield Finding(subject="database", message=message)
    for name in _doubled_settings(database):
        message = f"a setting stands there more than once: {name:.{_SHOWN}}"
        yield Finding(subject="database", message=message)


def _doubled_settings(database: sqlite3.Connection) -> list[str]:
    """Name settings that have two values: diskcache cannot open such a database."""
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if ("Settings",) not in tables.fetchall():
        return []
    doubled = database.execute(
        "SELECT key FROM Settings GROUP BY key HAVING count(*) > 1 ORDER BY key"
    )
    return [str(key) for (key,) in doubled]


def bytes_of(directory: Path) -> int:
    """Add up the database and the files that SQLite keeps beside it."""
    return sum(path.stat().st_size for path in directory.glob(f"{DATABASE}*"))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
