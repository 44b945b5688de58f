"""Finds what a cache has of a document, and removes it so that no byte is left.

Rows say which documents a reply was asked for or has served. Those of versions before
do not: which replies they were is told by ledgers. What another document uses as well
stays, for that one holds the same.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from situate.enrichment.cache import rows
from situate.enrichment.cache.database import database_in
from situate.enrichment.cache.looking import is_there, looking_into
from situate.enrichment.cache.storage import Storage, open_storage
from situate.enrichment.cache.store import DATABASE, VECTORS, Store
from situate.errors import CacheBroken, ConfigError
from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from situate.enrichment.cache.rows import User
    from situate.enrichment.cache.storage import Place

_Storage = TypeVar("_Storage", bound=Storage)

_AT_ONCE = 1_000
"""Rows removed in one transaction; others write in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Which replies ledgers name."""

    own: frozenset[str] = frozenset()
    """For the document."""
    others: frozenset[str] = frozenset()
    """For another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """What a cache has of a document."""

    replies: frozenset[str] = frozenset()
    """Keys of the rows that only it uses."""
    answers: frozenset[str] = frozenset()
    """Keys of the rows that say what stands in these replies."""
    uses: frozenset[str] = frozenset()
    """Keys of the rows that say what it uses."""
    shared: int = 0
    """Replies that another document uses, too."""
    corpora: tuple[str, ...] = ()
    """Other corpora that know a document of this id."""
    unattributed: int = 0
    """Replies of which nobody knows whose they are."""
    foreign: int = 0
    """Rows that are not in our form."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remove."""
        return not (self.replies or self.answers or self.uses)


def find(place: Place, user: User, told: Told) -> Traces:
    """Look through a cache; one that is not there has nothing.

    Raises:
        CacheBroken: the database cannot be read.
    """
    if not is_there(place):
        return Traces()
    own, document = rows.uses_of(user), digest(user.doc_id)
    uses: set[str] = set()
    mine, others = set(told.own), set(told.others)
    corpora: set[str] = set()
    answers: set[str] = set()
    kept: set[str] = set()
    foreign = 0
    with looking_into(place) as found:
        for row in found.rows(rows.USE):
            if not isinstance(row.content, rows.Use):
                continue
            if row.key.startswith(own):
                uses.add(row.key)
                mine.add(row.content.reply)
                continue
            others.add(row.content.reply)
            if row.content.document == document:
                corpora.add(row.content.corpus)
        alone = mine - others
        for row in found.rows():
            match row.content:
                case None:
                    foreign += 1
                case str():
                    kept.add(row.key.removeprefix(rows.REPLY))
                case tuple(located) if any(each.reply in alone for each in located):
                    answers.add(row.key)
    return Traces(
        replies=frozenset(f"{rows.REPLY}{key}" for key in alone & kept),
        answers=frozenset(answers),
        uses=frozenset(uses),
        shared=len(mine & others & kept),
        corpora=tuple(sorted(corpora)),
        unattributed=len(kept - mine - others),
        foreign=foreign,
    )


def erase(place: Place, user: User, traces: Traces) -> None:
    """Remove what was found, so that no byte of it is left on the disk.

    The rows that say what the document uses go last, and are written first where
    ledgers alone said so: a kill in between leaves them, to be found again.

    Raises:
        ConfigError: the cache cannot be opened, or is read-only.
        CacheBroken: the database cannot be written, or bytes are left in its log of
            changes while another process reads what is older.
    """
    own = rows.uses_of(user)
    uses = {f"{own}{key.removeprefix(rows.REPLY)}" for key in traces.replies}
    with closing(_writable(open_storage(place))) as store:
        with store.transaction():
            for key in sorted(uses - traces.uses):
                store.put(key, rows.of_use(user.corpus), day=None)
        _remove(store, traces.answers)
        _remove(store, traces.replies)
        _rebuild(store)
        _remove(store, uses | traces.uses)
        store.empty_log()


def vectors_in(directory: Path) -> int | None:
    """Count the vectors that `compare` keeps in a cache; None where it never did.

    Raises:
        CacheBroken: the database cannot be read.
    """
    if not (directory / VECTORS / DATABASE).is_file():
        return None
    with database_in(directory / VECTORS) as database:
        ((count,),) = database.execute("SELECT count(*) FROM Cache")
        return int(count)


def erase_vectors(directory: Path) -> None:
    """Remove all vectors: none says whose it is, and they can be had again for cents.

    Raises:
        ConfigError: the database cannot be opened, or is read-only.
        CacheBroken: as for `erase`.
    """
    with closing(_writable(Store(directory / VECTORS))) as store:
        with store.transaction():
            store.change("DELETE FROM Cache", {})
        _rebuild(store)


def _rebuild(store: Storage) -> None:
    if not store.rebuild():
        message = (
            f"cache {str(store.place)!r}: another process reads what has been "
            "removed; forget the document again when that has ended"
        )
        raise CacheBroken(message)


def _writable(store: _Storage) -> _Storage:
    if store.is_sealed:
        store.close()
        message = f"cache {str(store.place)!r} is read-only; nothing can be removed"
        raise ConfigError(message)
    return store


def _remove(store: Storage, keys: Iterable[str]) -> None:
    for batch in _batches(keys):
        with store.transaction():
            store.remove(batch)


def _batches(keys: Iterable[str]) -> Iterator[Collection[str]]:
    rest = iter(sorted(keys))
    while batch := list(islice(rest, _AT_ONCE)):
        yield batch
