"""Looks a cache over, row by row.

It writes nothing and needs no working cache: a broken one is what there is to see.
Nothing that a row says is run or opened.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.addresses import Server
from situate.enrichment.cache import rows
from situate.enrichment.cache.database import DatabaseLooking, database_in
from situate.enrichment.cache.found import Finding
from situate.enrichment.cache.store import DATABASE
from situate.errors import CacheBroken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from situate.enrichment.cache.found import Looking
    from situate.enrichment.cache.storage import Place


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
    """On the disk; on a server, those of keys and values."""
    oldest_use: str | None
    """ISO date in UTC; None in an empty cache."""
    newest_use: str | None
    spent_usd: Mapping[str, Decimal]
    """By calendar month in UTC, with what is set aside for requests on the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What looking at every row has found."""

    rows: int
    findings: tuple[Finding, ...]


def statistics(place: Place) -> Statistics:
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
    with looking_into(place) as found:
        for row in found.rows():
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
        size = found.size()
    return Statistics(
        answers=answers,
        replies=len(replies),
        unreferenced_replies=len(replies - referred),
        unattributed_replies=len(replies - attributed),
        documents=len(documents),
        foreign_rows=foreign,
        bytes=size,
        oldest_use=min(days, default=None),
        newest_use=max(days, default=None),
        spent_usd=dict(sorted(spent.items())),
    )


def verify(place: Place) -> Verdict:
    """Look at every row and at the database itself; name all that is wrong.

    Raises:
        ConfigError: there is no cache.
    """
    findings: list[Finding] = []
    count = 0
    replies: set[str] = set()
    referring: list[tuple[str, str]] = []
    try:
        with looking_into(place) as found:
            findings += found.faults()
            for row in found.rows():
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


def is_there(place: Place) -> bool:
    """Tell whether there is a cache; a server has one, be it empty."""
    return isinstance(place, Server) or (place / DATABASE).is_file()


@contextmanager
def looking_into(place: Place) -> Iterator[Looking]:
    """Open a cache to read it.

    Raises:
        ConfigError: there is none.
        CacheBroken: it cannot be read, now or inside the block.
    """
    if isinstance(place, Server):
        from situate.enrichment.cache.shared import server_at

        with server_at(place) as looking:
            yield looking
    else:
        with database_in(place) as database:
            yield DatabaseLooking(database, place)
