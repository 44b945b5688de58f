"""Takes rows out of a database, a few at a time, while others read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.enrichment.cache import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from situate.enrichment.cache.store import Store

_AT_ONCE = 1_000
"""Rows changed in one transaction, about 40 ms: others write in between."""

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


def remove_unused(store: Store, kind: str, *, before: date, today: date) -> int:
    """Remove the rows of a kind that were not used since a day; say how many.

    Rows of a version that noted no days count as used today.

    Raises:
        CacheBroken: the database cannot be written; what is removed so far stays so.
    """
    removed = 0
    for low, high in _unnoted(store, kind):
        with store.transaction():
            store.change(
                "UPDATE Cache SET tag = :today WHERE tag IS NULL "
                "AND rowid BETWEEN :low AND :high "
                "AND key >= :first AND key < :past",
                span(kind) | {"low": low, "high": high, "today": str(today)},
            )
    for low, high in _old(store, kind, before):
        with store.transaction():
            # Once more by day: it may have been used since it was found.
            removed += store.change(
                "DELETE FROM Cache WHERE tag < :before "
                "AND rowid BETWEEN :low AND :high "
                "AND key >= :first AND key < :past",
                span(kind) | {"low": low, "high": high, "before": str(before)},
            )
    return removed


def remove_orphans(store: Store) -> None:
    """Remove uses of replies that are gone.

    Raises:
        CacheBroken: as for `remove_unused`.
    """
    for low, high in _orphans(store):
        with store.transaction():
            store.change(_REMOVED_ORPHANS, {"low": low, "high": high, **_orphan()})


def _unnoted(store: Store, kind: str) -> Iterator[tuple[int, int]]:
    found = store.select(
        "SELECT rowid FROM Cache WHERE tag IS NULL "
        "AND key >= :first AND key < :past ORDER BY rowid",
        span(kind),
    )
    return _batches(found)


def _old(store: Store, kind: str, before: date) -> Iterator[tuple[int, int]]:
    found = store.select(
        "SELECT rowid FROM Cache WHERE tag < :before "
        "AND key >= :first AND key < :past ORDER BY rowid",
        span(kind) | {"before": str(before)},
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
    return span(rows.USE) | {"reply": rows.REPLY, "from": len(start) + 1}


def _batches(found: list[tuple[int]]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of some row numbers at a time."""
    for start in range(0, len(found), _AT_ONCE):
        batch = found[start : start + _AT_ONCE]
        yield batch[0][0], batch[-1][0]


def span(kind: str) -> dict[str, str | int]:
    """Give the keys of a kind: from the first, and past the last."""
    return {"first": kind, "past": rows.past(kind)}
