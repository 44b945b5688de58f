"""What a cache needs of whatever its rows lie in: a database, or a server.

Rows have a text key, a JSON object as value, and the day they were used last.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from situate.addresses import Server
from situate.enrichment.cache.mounts import refuse_network
from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from contextlib import AbstractContextManager
    from datetime import date

    from situate.model import JsonValue

_Result = TypeVar("_Result")

Place: TypeAlias = Path | Server
"""The folder of a database, or a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A value as it was stored."""

    value: Mapping[str, JsonValue]
    day: str | None
    """When it was used last, as far as that is noted: an ISO date in UTC."""


class Claims(Protocol):
    """Who asks what at the moment, known to all that share a cache."""

    def take(self, key: str) -> bool:
        """Claim a request until it is released; False while somebody else has it.

        Raises:
            CacheBroken: the server cannot be asked.
        """

    def release(self, key: str) -> None:
        """Let others have it.

        Raises:
            CacheBroken: the server cannot be asked.
        """


class Schedule(Protocol):
    """When the next request may start, under a rate."""

    def book(self, seconds: float) -> float:
        """Take the next start, and so many seconds of the rate from it on.

        Gives the seconds to wait until that start.

        Raises:
            CacheBroken: it is kept on a server that cannot be asked.
        """

    def correct(self, seconds: float) -> None:
        """Move the next start, later or earlier, where that can be done."""


class Storage(Protocol):
    """Values by key, each with the day it was used last."""

    @property
    def place(self) -> Place:
        """Where it is."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is worth saying about the place."""

    @property
    def is_sealed(self) -> bool:
        """Whether it can be read and not written."""

    @property
    def claims(self) -> Claims | None:
        """What is being asked at the moment; None where one machine knows it all."""

    def schedule(self, name: str) -> Schedule | None:
        """Give the rate of that name, for all; None where each keeps its own."""

    def get(self, key: str) -> Stored | None:
        """Give a value; None when there is none, or none of ours.

        Raises:
            CacheBroken: it cannot be read.
        """

    def read_ahead(self, keys: Collection[str]) -> None:
        """Fetch at once what `get` will be asked for next, where that saves time.

        Raises:
            CacheBroken: it cannot be read.
        """

    def holds(self, key: str) -> bool:
        """Say whether there is a row, be it ours or not.

        Raises:
            CacheBroken: it cannot be read.
        """

    def held(self, keys: Collection[str]) -> set[str]:
        """Say which of some keys have a row, be it ours or not.

        Raises:
            CacheBroken: it cannot be read.
        """

    def transaction(self) -> AbstractContextManager[None]:
        """Write everything inside or nothing; it is kept when the block ends.

        Raises:
            CacheBroken: it cannot be written.
        """

    def atomically(
        self, work: Callable[[], _Result], *, reading: Collection[str]
    ) -> _Result:
        """Do work in a transaction that nobody comes between.

        What it writes goes by what it reads under the keys of `reading`; it may be
        done again where somebody else has written there.

        Raises:
            CacheBroken: it cannot be written.
        """

    def put(self, key: str, value: Mapping[str, JsonValue], *, day: str | None) -> None:
        """Write a value, inside a transaction."""

    def note(self, keys: Iterable[str], day: str) -> None:
        """Note, inside a transaction, that values were used on a day."""

    def remove(self, keys: Iterable[str]) -> None:
        """Remove rows, inside a transaction."""

    def remove_unused(self, kind: str, *, before: date, today: date) -> int:
        """Remove the rows of a kind that were not used since a day; say how many.

        Those without a day count as used today, and are told so.

        Raises:
            CacheBroken: it cannot be written; what is removed so far stays so.
        """

    def remove_orphans(self) -> None:
        """Remove uses of replies that are gone.

        Raises:
            CacheBroken: as for `remove_unused`.
        """

    def size(self) -> int:
        """Give the bytes it takes.

        Raises:
            CacheBroken: it cannot be read.
        """

    def shrink(self) -> None:
        """Give back what removed rows took, as far as nobody reads.

        Raises:
            CacheBroken: it cannot be written.
        """

    def rebuild(self) -> bool:
        """Leave no byte of what is gone where that can be done; tell whether it was.

        Raises:
            CacheBroken: it cannot be written, or another process did.
        """

    def empty_log(self) -> bool:
        """Write the log of changes to where it belongs; tell whether all of it was.

        Raises:
            CacheBroken: it cannot be written.
        """

    def close(self) -> None:
        """Let go of it."""


def check_place(place: Place) -> None:
    """Find out, before any work, whether a place can be used at all.

    Raises:
        ConfigError: a folder is on a network file system, or the client for a server is
            not installed.
    """
    if isinstance(place, Server):
        from situate.enrichment.cache.shared import Connection

        Connection(place).close()
    else:
        refuse_network(place)


def open_storage(place: Place, *, mounts: str | None = None) -> Storage:
    """Open a folder, making it for its owner alone if it is missing, or a server.

    `mounts` is what `/proc/self/mountinfo` says; None reads it.

    Raises:
        ConfigError: it cannot be used.
    """
    # Each knows this module.
    if isinstance(place, Server):
        from situate.enrichment.cache.shared import ServerStore

        return ServerStore(place)
    from situate.enrichment.cache.store import Store

    return Store(place, mounts=mounts)


def can_be_written(place: Place) -> bool:
    """Tell whether a folder or a server can be used now; may block for seconds."""
    try:
        storage = open_storage(place)
        storage.close()
    except (ConfigError, CacheBroken):
        return False
    return not storage.is_sealed
