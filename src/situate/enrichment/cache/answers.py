"""Raw replies by request, and where the answers about each chunk stand in them.

Every value bears the day it was used last, for upkeep to go by. Days are collected
in memory and written in bulk: reading writes nothing.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from situate.enrichment.cache import rows
from situate.enrichment.cache.months import Months
from situate.enrichment.cache.storage import open_storage
from situate.errors import CacheBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from situate.enrichment.cache.rows import Kept, Located, User
    from situate.enrichment.cache.storage import Claims, Place, Schedule, Stored
    from situate.enrichment.questions import Passage, PlannedRequest

_NOTED_AT_ONCE = 2_000
"""Used values that are noted together: about 20 ms of writing."""

_NOTED_AFTER = timedelta(minutes=1)
"""How long a use may be known to this process alone while it works; somebody who
prunes meanwhile does not know of it."""


def _now() -> datetime:
    return datetime.now(UTC)


class Cache:
    """Paid answers of one directory, or of a server that many machines share."""

    def __init__(
        self,
        place: Place,
        *,
        now: Callable[[], datetime] = _now,
        mounts: str | None = None,
    ) -> None:
        """Open a server, or a directory, made for its owner alone if it is missing.

        `now` says what day a value is used on, and is in no key. `mounts` is what
        `/proc/self/mountinfo` says; None reads it.

        Raises:
            ConfigError: it cannot be used; nothing has been asked yet.
        """
        self.place = place
        self._now = now
        self._store = open_storage(place, mounts=mounts)
        self._used: set[str] = set()
        self._uses: set[tuple[User, str]] = set()
        self._noted_at = now()

    @property
    def is_sealed(self) -> bool:
        """True where answers can be read and none be kept."""
        return self._store.is_sealed

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is worth saying about the place."""
        return self._store.warnings

    def reply(self, key: str) -> str | None:
        """Give the raw reply to a request, None when there is none.

        Raises:
            CacheBroken: the cache cannot be read.
        """
        stored = self._store.get(f"{rows.REPLY}{key}")
        raw = rows.reply_in(stored.value) if stored else None
        if stored is None or raw is None:
            return None
        self._use(stored, f"{rows.REPLY}{key}")
        return raw

    def answers(self, key: str) -> tuple[Located, ...]:
        """Say where the answers to a question stand: the first, then its repair.

        Raises:
            CacheBroken: the cache cannot be read.
        """
        stored = self._store.get(f"{rows.ANSWERS}{key}")
        found = rows.answers_in(stored.value) if stored else None
        if stored is None or found is None:
            return ()
        # With its replies, so that none is older than what refers to it.
        replies = (f"{rows.REPLY}{each.reply}" for each in found)
        self._use(stored, f"{rows.ANSWERS}{key}", *replies)
        return found

    def kept(self, key: str) -> Kept | None:
        """Give the statement that was found for a question, None where none was.

        Raises:
            CacheBroken: the cache cannot be read.
        """
        stored = self._store.get(f"{rows.ANSWERS}{key}")
        found = rows.kept_in(stored.value) if stored else None
        if stored is None or found is None:
            return None
        self._use(stored, f"{rows.ANSWERS}{key}", f"{rows.REPLY}{found.reply}")
        return found

    def read_ahead(self, keys: Iterable[str]) -> None:
        """Fetch at once what will be asked next about these questions.

        Raises:
            CacheBroken: the cache cannot be read.
        """
        self._store.read_ahead([f"{rows.ANSWERS}{key}" for key in keys])

    def knows(self, passage: Passage) -> bool:
        """Say whether there is an answer about a chunk or its section (E4).

        Raises:
            CacheBroken: the cache cannot be read.
        """
        return self.kept(passage.chunk_key) is not None or any(
            self.reply(located.reply) is not None
            for key in (passage.chunk_key, *passage.section_keys)
            for located in self.answers(key)[:1]
        )

    def holds(self, request: PlannedRequest) -> bool:
        """Say whether a whole request has its reply here; hashes all of it.

        Raises:
            CacheBroken: the cache cannot be read.
        """
        return self.reply(request.reply_key) is not None

    def store_reply(self, key: str, raw: str, *users: User) -> None:
        """Keep a raw reply and whom it is for; it is on the disk when this returns.

        Raises:
            CacheBroken: the cache cannot be written.
        """
        with self._store.transaction():
            day = self._today()
            self._store.put(f"{rows.REPLY}{key}", rows.of_reply(raw), day=day)
            for user in users:
                self._put_use(user, key)

    def note_uses(self, user: User, replies: Iterable[str]) -> None:
        """Remember that replies have served a document, to be noted in bulk.

        Raises:
            CacheBroken: the cache cannot be read.
        """
        start = rows.uses_of(user)
        wanted = {f"{start}{key}": key for key in replies}
        known = self._store.held(wanted)
        self._uses.update(
            (user, key) for row, key in wanted.items() if row not in known
        )
        if len(self._uses) >= _NOTED_AT_ONCE:
            self._note()

    def store_answers(
        self, key: str, answers: Sequence[Located], kept: Kept | None = None
    ) -> None:
        """Note where the answers to a question stand, and what was found in them.

        Raises:
            CacheBroken: the cache cannot be written.
        """
        day = self._today()
        with self._store.transaction():
            value = rows.of_answers(answers, kept)
            self._store.put(f"{rows.ANSWERS}{key}", value, day=day)
            self._store.note((f"{rows.REPLY}{each.reply}" for each in answers), day)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Store everything inside together, with one wait for the disk, or nothing.

        Nothing may be awaited inside: whatever else is stored meanwhile joins in.

        Raises:
            CacheBroken: the cache cannot be written.
        """
        with self._store.transaction():
            yield

    def months(self) -> Months:
        """Give what is spent by all runs on this cache, month by month."""
        return Months(self._store, now=self._now)

    @property
    def claims(self) -> Claims | None:
        """What others ask at the moment; None where no other machine can ask."""
        return self._store.claims

    def schedule(self, name: str) -> Schedule | None:
        """Give the rate of that name, for all; None where each process has its own."""
        return self._store.schedule(name)

    def close(self) -> None:
        """Note what was used, and let go of the place."""
        self._note()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _today(self) -> str:
        return self._now().astimezone(UTC).date().isoformat()

    def _put_use(self, user: User, reply: str) -> None:
        key = f"{rows.uses_of(user)}{reply}"
        self._store.put(key, rows.of_use(user.corpus), day=None)

    def _use(self, stored: Stored, *keys: str) -> None:
        """Remember that values were used, once a day."""
        if stored.day is not None and stored.day >= self._today():
            return
        self._used.update(keys)
        waited = self._now() - self._noted_at
        if len(self._used) >= _NOTED_AT_ONCE or waited >= _NOTED_AFTER:
            self._note()

    def _note(self) -> None:
        """Write down what was used.

        Where that cannot be written there is nothing to stop for: values are only
        taken to be older than they are, and whoever writes anything else will say.
        """
        if self._used or self._uses:
            with suppress(CacheBroken), self._store.transaction():
                self._store.note(sorted(self._used), self._today())
                # Somebody may have removed some since they were read.
                there = self._store.held(
                    {f"{rows.REPLY}{key}" for _, key in self._uses}
                )
                for user, key in sorted(self._uses):
                    if f"{rows.REPLY}{key}" in there:
                        self._put_use(user, key)
            self._used.clear()
            self._uses.clear()
        self._noted_at = self._now()
