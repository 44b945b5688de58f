"""Keeps vectors that cost, so that none is paid for twice.

They lie in a database of their own inside the cache directory, in the folder
`vectors`: they are many times the size of replies, and can be had again for cents.
Whoever wants the space back deletes the folder.
"""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from situate.compare.embedders.contract import PaidEmbedder
from situate.enrichment.cache.mounts import refuse_network
from situate.enrichment.cache.rows import SCHEMA
from situate.enrichment.cache.store import VECTORS, Store
from situate.enrichment.keys import canonical
from situate.errors import CacheBroken, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from situate.compare.embedders.contract import Embedder, Role, Rows
    from situate.model import JsonValue

_KIND = "vector:"

_LENGTH_ERROR = 1e-3
"""How far from 1 the length of a vector may be; of unit vectors in single precision
with 10,000 dimensions none is further than 1e-6."""


class Vectors:
    """An embedder that asks once for each text, and never for what is kept.

    Usable as the embedder it is made of. One whose vectors cost nothing is asked
    as it stands and nothing of it is kept.
    """

    def __init__(
        self, embedder: Embedder, directory: Path | None, *, mounts: str | None = None
    ) -> None:
        """Open the cache `directory`, making it for its owner alone if it is missing.

        None keeps nothing. `mounts` is what `/proc/self/mountinfo` says; None reads
        it.

        Raises:
            ConfigError: the directory is on a network file system, or what it holds
                is no cache of ours.
        """
        self.asked = 0
        """Texts that vectors were asked for, since they were not kept."""
        self._embedder = embedder
        self._notes: list[str] = []
        self._dimensions: int | None = None
        self._store: Store | None = None
        self._writes = True
        self._rows: dict[str, NDArray[np.float32]] = {}
        """Kept here alone where the disk keeps nothing, so that a text is asked for
        once all the same."""
        self._where = ""
        if directory is not None and isinstance(embedder, PaidEmbedder):
            self._where = str(directory / VECTORS)
            self._store = self._opened(directory, mounts)

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._embedder.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth saying about the cache: that it cannot be written, say."""
        return (*self._notes, *(self._store.warnings if self._store else ()))

    def embed(self, texts: Sequence[str], role: Role) -> Rows:
        """Give a row for each text, in their order; blank ones are zeros.

        Equal texts are asked for once. What is answered is kept before it is used,
        request by request, so that it is there when this is interrupted or fails.

        Raises:
            ConfigError: the embedder cannot be used as configured, or its vectors
                have other dimensions than those kept.
            ProviderError: a server did not answer, or not with vectors.
            CacheBroken: the cache cannot be read.
        """
        embedder = self._embedder
        if not isinstance(embedder, PaidEmbedder):
            return embedder.embed(texts, role)
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            if text.strip():
                places.setdefault(text, []).append(place)
        table = _Table(len(texts))
        keys = dict(zip(places, _keys(embedder, role, places), strict=True))
        missing = []
        for text, key in keys.items():
            row = self._kept(key)
            if row is None:
                missing.append(text)
            else:
                self._fill(table, places[text], row)

        def take(which: Sequence[int], rows: Rows) -> None:
            given = [missing[index] for index in which]
            self._keep([keys[text] for text in given], rows)
            self.asked += len(given)
            for text, row in zip(given, rows, strict=True):
                self._fill(table, places[text], row)

        if missing:
            embedder.ask(missing, role, take)
        return table.of(self._dimensions or 0)

    def close(self) -> None:
        """Let go of the database."""
        if self._store is not None:
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

    def _opened(self, directory: Path, mounts: str | None) -> Store | None:
        refuse_network(directory, mounts)
        try:
            # By itself: the parents of what is made are otherwise open to others.
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            return Store(directory / VECTORS, mounts=mounts)
        except OSError as error:
            self._note(f"{self._where!r} cannot be made: {error}")
        except ConfigError as error:
            # Anything else is a mistake to be put right before money is spent.
            if not isinstance(error.__cause__, OSError | sqlite3.OperationalError):
                raise
            self._note(str(error))
        return None

    def _note(self, trouble: str) -> None:
        self._notes.append(f"vectors are not kept: {trouble}")

    def _kept(self, key: str) -> NDArray[np.float32] | None:
        if (row := self._rows.get(key)) is not None:
            return row
        stored = self._store.get(f"{_KIND}{key}") if self._store else None
        return _vector_in(stored.value.get("vector")) if stored else None

    def _keep(self, keys: Sequence[str], rows: Rows) -> None:
        """Write rows together; when that fails, go on without writing."""
        store = self._store
        if store is None or not self._writes:
            self._rows.update(zip(keys, rows, strict=True))
            return
        try:
            with store.transaction():
                for key, row in zip(keys, rows, strict=True):
                    packed = row.astype("<f4").tobytes()
                    value: dict[str, JsonValue] = {
                        "schema": SCHEMA,
                        "vector": base64.b64encode(packed).decode("ascii"),
                    }
                    store.put(f"{_KIND}{key}", value, day=None)
        except CacheBroken as error:
            self._note(str(error))
            self._writes = False
            self._rows.update(zip(keys, rows, strict=True))

    def _fill(
        self, table: _Table, places: Sequence[int], row: NDArray[np.float32]
    ) -> None:
        self._dimensions = self._dimensions or len(row)
        if len(row) != self._dimensions:
            message = (
                f"embedder {self.name!r} has vectors of {self._dimensions} and of "
                f"{len(row)} dimensions; another model answers than before: give its "
                f"endpoint another name, or delete {self._where!r}"
            )
            raise ConfigError(message)
        table.fill(places, row)


class _Table:
    """Rows that come one after the other, in any order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._rows: Rows | None = None

    def fill(self, places: Sequence[int], row: NDArray[np.float32]) -> None:
        if self._rows is None:
            self._rows = np.zeros((self._count, len(row)), np.float32)
        self._rows[places] = row

    def of(self, dimensions: int) -> Rows:
        """Give all rows; `dimensions` is what they have where none has come."""
        if self._rows is None:
            return np.zeros((self._count, dimensions), np.float32)
        return self._rows


def _keys(embedder: PaidEmbedder, role: Role, texts: Iterable[str]) -> Iterable[str]:
    """Give the keys of vectors: hashes of all they depend on."""
    shared = canonical([dict(embedder.identity), role])
    for text in texts:
        yield hashlib.sha256(canonical([shared, text]).encode("ascii")).hexdigest()


def _vector_in(value: JsonValue) -> NDArray[np.float32] | None:
    """Read a stored vector; what is none is as good as missing."""
    if not isinstance(value, str):
        return None
    try:
        packed = base64.b64decode(value, validate=True)
        vector = np.frombuffer(packed, "<f4").astype(np.float32)
    except ValueError:
        return None
    squares = float(np.dot(vector, vector)) if np.isfinite(vector).all() else -1.0
    is_unit = abs(squares - 1) <= _LENGTH_ERROR
    return vector if len(vector) and (is_unit or squares == 0) else None
