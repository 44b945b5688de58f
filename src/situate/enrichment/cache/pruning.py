"""Takes out of a cache what nobody has used for long.

A row counts as used on the day of its last use in UTC. Replies are as young as the
youngest answer that stands in them: whoever writes or uses an answer notes both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.enrichment.cache import rows
from situate.enrichment.cache.looking import looking_into

if TYPE_CHECKING:
    from datetime import date

    from situate.enrichment.cache.storage import Place, Storage

_KINDS = (rows.ANSWERS, rows.REPLY)
"""What refers to a reply goes before the reply, so that a kill leaves nothing that
refers to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was not used for long, and is gone unless it was a rehearsal."""

    answers: int
    replies: int
    bytes: int
    """What the disk got back, or what the values take: in a rehearsal, or on a
    server."""


def prune(store: Storage, *, before: date, today: date) -> Pruned:
    """Remove what was not used since a day, while others go on reading and writing.

    Rows of a version that noted no days count as used today.

    Raises:
        CacheBroken: the cache cannot be written; what is removed so far stays so.
    """
    size = store.size()
    removed = {
        kind: store.remove_unused(kind, before=before, today=today) for kind in _KINDS
    }
    # Uses go last: nothing refers to them.
    store.remove_orphans()
    store.shrink()
    return Pruned(
        answers=removed[rows.ANSWERS],
        replies=removed[rows.REPLY],
        bytes=max(0, size - store.size()),
    )


def rehearse(place: Place, *, before: date) -> Pruned:
    """Say what `prune` would remove; the cache is only read.

    Raises:
        ConfigError: there is no cache.
        CacheBroken: it cannot be read.
    """
    counts: dict[str, int] = {}
    size = 0
    with looking_into(place) as found:
        for kind in _KINDS:
            counts[kind], taken = found.unused(kind, before)
            size += taken
    return Pruned(answers=counts[rows.ANSWERS], replies=counts[rows.REPLY], bytes=size)
