"""Takes out of a cache what nobody has used for long.

A row counts as used on the day of its last use in UTC. Replies are as young as the
youngest answer that stands in them: whoever writes or uses an answer notes both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.enrichment.cache import rows
from situate.enrichment.cache.looking import bytes_of, looking_into

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from situate.enrichment.cache.store import Store

_AT_ONCE = 1_000
"""Rows changed in one transaction, about 40 ms: others write in between."""

_KINDS = (rows.ANSWERS, rows.REPLY)
"""What refers to a reply goes before the reply, so that a kill leaves nothing that
refers to nothing."""


_FOUND_ORPHANS = (
    "SELECT rowid FROM Cache WHERE key >= :first AND key < :past "
    "AND NOT EXISTS (SELECT 1 FROM Cache AS other "
    "WHERE other.key = :reply || substr(Cache.key, :from) AND other.raw = 1) "
    "ORDER BY rowid"
)
"""Uses of replies that are gone. They go last: nothing refers to them."""

_REMOVED_ORPHANS = (
    "DELETE FROM Cache WHERE rowid BETWEEN :low AND :high "
    "AND key >= :first AND key < :past "
    "AND NOT EXISTS (SELECT 1 FROM Cache AS other "
    "WHERE other.key = :reply || substr(Cache.key, :from) AND other.raw = 1)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was not used for long, and is gone unless it was a rehearsal."""

    answers: int
    replies: int
    bytes: int
    """What the disk got back, or what the values take in a rehearsal."""


def prune(store: Store, *, before: date, today: date) -> Pruned:
    """Remove what was not used since a day, while others go on reading and writing.

    Rows of a version that noted no days count as used today.

    Raises:
        CacheBroken: the database cannot be written; what is removed so far stays so.
    """
    size = bytes_of(store.directory)
    removed = dict.fromkeys(_KINDS, 0)
    for kind in _KINDS:
        for low, high in _unnoted(store, kind):
            with store.transaction():
                store.change(
                    "UPDATE Cache SET tag = :today WHERE tag IS NULL "
                    "AND rowid BETWEEN :low AND :high "
                    "AND key >= :first AND key < :past",
                    _span(kind) | {"low": low, "high": high, "today": str(today)},
                )
        for low, high in _old(store, kind, before):
            with store.transaction():
                # Once more by day: it may have been used since it was found.
                removed[kind] += store.change(
                    "DELETE FROM Cache WHERE tag < :before "
                    "AND rowid BETWEEN :low AND :high "
                    "AND key >= :first AND key < :past",
                    _span(kind) | {"low": low, "high": high, "before": str(before)},
                )
    for low, high in _orphans(store):
        with store.transaction():
            store.change(
                _REMOVED_ORPHANS,
                {"low": low, "high": high, **_orphan()},
            )
    store.shrink()
    return Pruned(
        answers=removed[rows.ANSWERS],
        replies=removed[rows.REPLY],
        bytes=max(0, size - bytes_of(store.directory)),
    )


def rehearse(directory: Path, *, before: date) -> Pruned:
    """Say what `prune` would remove; the database is only read.

    Raises:
        ConfigError: there is no cache.
        CacheBroken: the database cannot be read.
    """
    counts: dict[str, int] = {}
    size = 0
    with looking_into(directory) as database:
        for kind in _KINDS:
            ((counts[kind], taken),) = database.execute(
                "SELECT count(*), coalesce(sum(length(key) + length(value)), 0) "
                "FROM Cache WHERE tag < :before AND key >= :first AND key < :past",
                _span(kind) | {"before": str(before)},
            )
            size += taken
    return Pruned(answers=counts[rows.ANSWERS], replies=counts[rows.REPLY], bytes=size)


def _unnoted(store: Store, kind: str) -> Iterator[tuple[int, int]]:
    found = store.select(
        "SELECT rowid FROM Cache WHERE tag IS NULL "
        "AND key >= :first AND key < :past ORDER BY rowid",
        _span(kind),
    )
    return _batches(found)


def _old(store: Store, kind: str, before: date) -> Iterator[tuple[int, int]]:
    found = store.select(
        "SELECT rowid FROM Cache WHERE tag < :before "
        "AND key >= :first AND key < :past ORDER BY rowid",
        _span(kind) | {"before": str(before)},
    )
    return _batches(found)


def _orphans(store: Store) -> Iterator[tuple[int, int]]:
    found = store.select(
        _FOUND_ORPHANS,
        _orphan(),
    )
    return _batches(found)


def _orphan() -> dict[str, str | int]:
    start = rows.uses_of(rows.User(corpus="", doc_id=""))
    return _span(rows.USE) | {"reply": rows.REPLY, "from": len(start) + 1}


def _batches(found: list[tuple[int]]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of some row numbers at a time."""
    for start in range(0, len(found), _AT_ONCE):
        batch = found[start : start + _AT_ONCE]
        yield batch[0][0], batch[-1][0]


def _span(kind: str) -> dict[str, str | int]:
    """Give the keys of a kind: from the first, and past the last."""
    return {"first": kind, "past": rows.past(kind)}
