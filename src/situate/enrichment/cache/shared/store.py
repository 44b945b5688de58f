"""Rows on a server: written together or not at all, read by everybody at once."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from situate.enrichment.cache import rows
from situate.enrichment.cache.shared.claims import ServerClaims
from situate.enrichment.cache.shared.connection import AT_ONCE, Connection, named
from situate.enrichment.cache.shared.greeting import promises
from situate.enrichment.cache.shared.schedule import ServerSchedule
from situate.enrichment.cache.storage import Stored
from situate.errors import CacheBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import date

    from situate.addresses import Server
    from situate.model import JsonValue

_Result = TypeVar("_Result")

_PATIENCE_SECONDS = 10
"""How long others may come in between before it is taken for a failure."""

_MOST_AHEAD = 10_000
"""Values that are kept for `get` to ask for, those of many documents."""

_NOTE = """
for _, key in ipairs(KEYS) do
  if redis.call('TYPE', key).ok == 'hash' then
    local day = redis.call('HGET', key, 'day')
    if redis.call('HEXISTS', key, 'value') == 1 and (not day or day < ARGV[1]) then
      redis.call('HSET', key, 'day', ARGV[1])
    end
  end
end
"""

_REMOVE_UNUSED = """
local gone = 0
for _, key in ipairs(KEYS) do
  if redis.call('TYPE', key).ok == 'hash' then
    local day = redis.call('HGET', key, 'day')
    if not day then
      redis.call('HSET', key, 'day', ARGV[2])
    elseif day < ARGV[1] then
      gone = gone + redis.call('DEL', key)
    end
  end
end
return gone
"""

_REMOVE_ORPHANS = """
for at = 1, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[at + 1]) == 0 then
    redis.call('DEL', KEYS[at])
  end
end
"""


@dataclass(slots=True)
class _Changes:
    """What a transaction is going to write."""

    puts: dict[str, Stored | None]
    """None for what is removed."""
    notes: dict[str, str]


class ServerStore:
    """Values by key, each with the day it was used last."""

    def __init__(self, server: Server) -> None:
        """Open a server.

        Raises:
            ConfigError: it cannot be asked, or does not keep what it is given.
        """
        self.place = server
        self._connection = Connection(server)
        self._client = self._connection.client
        promised = promises(self._connection)
        self.is_sealed = promised.is_sealed
        self.warnings = promised.warnings
        self.claims = ServerClaims(self._connection)
        self._changes: _Changes | None = None
        self._ahead: dict[str, Stored] = {}

    def schedule(self, name: str) -> ServerSchedule:
        """Give the rate of that name, for all."""
        return ServerSchedule(self._connection, name)

    def get(self, key: str) -> Stored | None:
        """Give a value; None when there is none, or none of ours.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        if self._changes is not None and key in self._changes.puts:
            return self._changes.puts[key]
        if (found := self._ahead.pop(key, None)) is not None:
            return found
        ((_, value, day),) = self._connection.fields([key])
        return _stored(value, day)

    def read_ahead(self, keys: Collection[str]) -> None:
        """Fetch at once what `get` will be asked for next.

        What is not there is asked for again: somebody may store it meanwhile.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        if len(self._ahead) > _MOST_AHEAD:
            # Of documents whose asking has stopped.
            self._ahead.clear()
        self._ahead.update(
            (key, stored)
            for key, value, day in self._connection.fields(keys)
            if (stored := _stored(value, day)) is not None
        )

    def holds(self, key: str) -> bool:
        """Say whether there is a row, be it ours or not.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        return bool(self.held([key]))

    def held(self, keys: Collection[str]) -> set[str]:
        """Say which of some keys have a row, be it ours or not.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        written = {} if self._changes is None else self._changes.puts
        found = {key for key in keys if written.get(key) is not None}
        rest = iter([key for key in keys if key not in written])
        while batch := list(islice(rest, AT_ONCE)):
            with self._connection.failures():
                pipe = self._client.pipeline(transaction=False)
                for key in batch:
                    pipe.exists(named(key))
                there = pipe.execute()
            found.update(
                key for key, is_there in zip(batch, there, strict=True) if is_there
            )
        return found

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything inside or nothing.

        Raises:
            CacheBroken: the server cannot be written.
        """
        if self._changes is not None:
            yield
            return
        with self._changing() as changes:
            yield
            with self._connection.failures(), self._client.pipeline() as pipe:
                _write(pipe, changes)
                pipe.execute()

    def atomically(
        self, work: Callable[[], _Result], *, reading: Collection[str]
    ) -> _Result:
        """Do work in a transaction that nobody comes between.

        Raises:
            CacheBroken: the server cannot be written, or others come in between for
                too long.
        """
        import redis

        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until:
            with (
                self._changing() as changes,
                self._connection.failures(),
                self._client.pipeline() as pipe,
            ):
                pipe.watch(*map(named, reading))
                result = work()
                pipe.multi()
                _write(pipe, changes)
                try:
                    pipe.execute()
                except redis.WatchError:
                    continue
                return result
        message = (
            f"cache {str(self.place)!r} cannot be written: others wrote in between "
            f"for {_PATIENCE_SECONDS} s"
        )
        raise CacheBroken(message)

    def put(self, key: str, value: Mapping[str, JsonValue], *, day: str | None) -> None:
        """Write a value, inside a transaction."""
        self._written.puts[key] = Stored(value=value, day=day)

    def note(self, keys: Iterable[str], day: str) -> None:
        """Note, inside a transaction, that values were used on a day."""
        for key in keys:
            put = self._written.puts.get(key)
            if put is None:
                self._written.notes[key] = day
            elif put.day is None or put.day < day:
                self._written.puts[key] = Stored(value=put.value, day=day)

    def remove(self, keys: Iterable[str]) -> None:
        """Remove rows, inside a transaction."""
        self._written.puts.update(dict.fromkeys(keys))

    def remove_unused(self, kind: str, *, before: date, today: date) -> int:
        """Remove the rows of a kind that were not used since a day; say how many.

        Raises:
            CacheBroken: the server cannot be written; what is removed stays so.
        """
        return sum(
            self._run(_REMOVE_UNUSED, names, str(before), str(today))
            for names in _batches(map(named, self._connection.keys(kind)))
        )

    def remove_orphans(self) -> None:
        """Remove uses of replies that are gone.

        Raises:
            CacheBroken: as for `remove_unused`.
        """
        pairs = (
            name
            for key in self._connection.keys(rows.USE)
            for name in (named(key), named(f"{rows.REPLY}{key.rpartition(':')[2]}"))
        )
        for names in _batches(pairs):
            self._run(_REMOVE_ORPHANS, names)

    def size(self) -> int:
        """Give the bytes of keys and values.

        Raises:
            CacheBroken: the server cannot be asked.
        """
        return size(self._connection)

    def shrink(self) -> None:
        """Leave it to the server, which has its memory back at once."""

    def rebuild(self) -> bool:
        """Leave it to the server: its files are written anew when it says so."""
        return True

    def empty_log(self) -> bool:
        """Leave it to the server."""
        return True

    def close(self) -> None:
        """Let go of the server."""
        self.claims.close()
        self._connection.close()

    @property
    def _written(self) -> _Changes:
        if self._changes is None:
            message = "nothing is written outside a transaction"
            raise RuntimeError(message)
        return self._changes

    @contextmanager
    def _changing(self) -> Iterator[_Changes]:
        if self.is_sealed:
            message = f"cache {str(self.place)!r} is read-only: the server is a copy"
            raise CacheBroken(message)
        self._changes = changes = _Changes({}, {})
        try:
            yield changes
        finally:
            self._changes = None
            for key in changes.puts:
                self._ahead.pop(key, None)

    def _run(self, script: str, names: Collection[bytes], *values: str) -> int:
        with self._connection.failures():
            return int(self._client.eval(script, len(names), *names, *values) or 0)


def size(connection: Connection) -> int:
    """Give the bytes of all keys and values.

    Raises:
        CacheBroken: the server cannot be asked.
    """
    return sum(
        len(key) + len(value)
        for key, value, _ in connection.fields(connection.keys())
        if isinstance(value, bytes)
    )


def _stored(value: Any, day: Any) -> Stored | None:
    """Read a row; None when it is none of ours."""
    if not isinstance(value, bytes):
        return None
    try:
        parsed = json.loads(value)
        noted = None if day is None else day.decode("ascii")
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or parsed.get("schema") != rows.SCHEMA:
        return None
    return Stored(value=parsed, day=noted)


def _write(pipe: Any, changes: _Changes) -> None:
    for key, put in changes.puts.items():
        # Whatever kind of thing stands there goes.
        pipe.delete(named(key))
        if put is not None:
            text = json.dumps(put.value, separators=(",", ":"))
            noted = {} if put.day is None else {"day": put.day}
            pipe.hset(named(key), mapping={"value": text, **noted})
    by_day: dict[str, list[bytes]] = {}
    for key, day in changes.notes.items():
        by_day.setdefault(day, []).append(named(key))
    for day, names in by_day.items():
        for batch in _batches(names):
            pipe.eval(_NOTE, len(batch), *batch, day)


def _batches(names: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(names)
    while batch := list(islice(rest, AT_ONCE)):
        yield batch
