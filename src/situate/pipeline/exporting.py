"""Writes the files of a store from a chunks file or a delta.

They appear as one folder, whole or not at all. What is read is checked line by line
as it passes, so that memory holds the files that are being filled, one of each kind
of change at most, and the places of the vectors.
"""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from situate import files
from situate.access import is_permission
from situate.errors import ConfigError, RecordError
from situate.export.documents import metadata_of
from situate.export.vectors import Vectors
from situate.fields import Fields, typed
from situate.index.parcel import FILES, TEXTS
from situate.output import held, put, writing
from situate.pipeline import exported
from situate.records import from_line, parse, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from situate.export.store import Store, Told
    from situate.index.delta import Op
    from situate.records import Record

MOST_BYTES: Final = 10_000_000
"""Of a file of changes. Both servers take requests of 100 MB by default, the smaller
machines of hosted OpenSearch 10 MiB (Amazon OpenSearch Service, network quotas)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be exported, and where to."""

    source: Path
    """A chunks file, or the folder of a delta."""
    folder: Path
    vectors: Path | None = None
    """JSON lines, each with an `embed_hash` and the vector of that text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A key of `metadata.custom` that is too long for a store."""

    key: str
    chunk_id: str
    """The first record that has to do without."""
    bytes: int
    """Of its value there, with the path to it."""
    records: int
    """How many have to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What was written."""

    folder: Path
    parts: tuple[str, ...]
    """Files of changes, to be sent in any order."""
    changes: Mapping[Op, int]
    without_vector: int
    """Records to be embedded for which the file of vectors has none."""
    left_out: tuple[LeftOut, ...]


def export(store: Store, request: Request, *, most_bytes: int = MOST_BYTES) -> Exported:
    """Write what sets a store up and what it is to be told.

    A file of changes above `most_bytes` holds a single change.

    Raises:
        ConfigError: the target cannot have this name or size, vectors come without a
            size or are missing, a package is, the source is a table, or the folder
            holds what no export has written.
        RecordError: a file cannot be read, or holds what the store would refuse.
        Locked: another run writes the folder.
        SituateError: the folder cannot be written.
    """
    _check(store, request)
    place = files.resolved(request.folder)
    with held(place), writing(place), ExitStack() as stack:
        setup = store.files()
        exported.check(place)
        draft = place.with_name(f".{place.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        stack.callback(shutil.rmtree, draft, ignore_errors=True)
        draft.mkdir()
        for name, content in setup.items():
            (draft / name).parent.mkdir(exist_ok=True)
            put(draft / name, [content])
        told = _tell(store, request, draft, most_bytes)
        put(draft / exported.LIST, [exported.listing(draft)])
        exported.remove(place)
        draft.replace(place)
        files.sync_folder(place.parent)
    return told


def _tell(store: Store, request: Request, draft: Path, most_bytes: int) -> Exported:
    """Write the changes.

    Raises:
        OSError: the file system refuses.
        RecordError: a file cannot be read, or holds what the store would refuse.
    """
    counts: Counter[Op] = Counter()
    lacking = 0
    left_out: dict[str, LeftOut] = {}
    with ExitStack() as stack:
        dimensions = store.target.dimensions
        known = None
        if request.vectors is not None and dimensions is not None:
            known = stack.enter_context(Vectors(request.vectors, dimensions))
        parts = _Parts(store, draft, most_bytes)
        for op, record in _changes(request.source):
            counts[op] += 1
            if op == "delete":
                parts.add(store.delete(record))
                continue
            if long := store.too_long(record):
                record = _without(record, long, left_out)  # noqa: PLW2901 - what is left of it
            vector = None if known is None else _vector(record, known)
            if op == "metadata_update":
                parts.add(store.update(record, vector))
                continue
            parts.add(store.put(record, vector))
            lacking += (
                known is not None
                and vector is None
                and metadata_of(record)["embed"] is True
            )
        parts.finish()
    return Exported(
        folder=request.folder,
        parts=tuple(parts.names),
        changes={op: counts[op] for op in FILES},
        without_vector=lacking,
        left_out=tuple(left_out.values()),
    )


def _without(
    record: Record, long: Mapping[str, int], left_out: dict[str, LeftOut]
) -> Record:
    """Give a record without custom keys, and note them.

    Raises:
        RecordError: one says who may see it.
    """
    chunk_id = str(record["chunk_id"])
    for key, size in long.items():
        if is_permission(key):
            message = (
                f"{chunk_id!r}: metadata.custom.{key:.60} has {size:,} bytes, too many "
                "for the store, and says who may see it"
            )
            raise RecordError(message)
        first = LeftOut(key=key, chunk_id=chunk_id, bytes=size, records=0)
        known = left_out.get(key, first)
        left_out[key] = replace(known, records=known.records + 1)
    metadata = metadata_of(record)
    custom = typed(dict, metadata["custom"], "custom")
    kept = {key: custom[key] for key in custom if key not in long}
    return {**record, "metadata": {**metadata, "custom": kept}}


class _Parts:
    """Files of changes being filled, none larger than it has to be."""

    def __init__(self, store: Store, folder: Path, most_bytes: int) -> None:
        self._store = store
        self._folder = folder
        self._most = most_bytes
        self._open: dict[str, _Part] = {}
        self.names: list[str] = []

    def add(self, told: Told) -> None:
        """Put a change into a file of its kind.

        Raises:
            OSError: the file system refuses.
        """
        part = self._open.setdefault(told.part, _Part())
        if part.lines and part.bytes + len(told.line) > self._most:
            self._write(told.part, part)
        part.lines.append(told.line)
        part.bytes += len(told.line)

    def finish(self) -> None:
        """Write what is left.

        Raises:
            OSError: the file system refuses.
        """
        for pattern, part in self._open.items():
            self._write(pattern, part)

    def _write(self, pattern: str, part: _Part) -> None:
        part.number += 1
        name = pattern.format(part.number)
        put(self._folder / name, [self._store.part(pattern, part.lines)])
        self.names.append(name)
        part.lines.clear()
        part.bytes = 0


@dataclass(slots=True)
class _Part:
    """A file of changes that is not yet written."""

    lines: list[bytes] = field(default_factory=list)
    bytes: int = 0
    number: int = 0
    """Of the last one of its kind that was."""


def _changes(source: Path) -> Iterator[tuple[Op, Record]]:
    """Yield what is to be done, with the record it is to be done with.

    Raises:
        RecordError: a file cannot be read, or a line is no record.
    """
    if not files.is_folder(source):
        for where, line in read_lines(source):
            yield "upsert", _whole(from_line(line, where), where)
        return
    for op, name in FILES.items():
        for where, line in read_lines(source / name):
            record = from_line(line, where)
            match op:
                case "upsert":
                    yield op, _whole(record, where)
                case "metadata_update":
                    # Its texts are no part of it, and all else is as in any record.
                    parse({**record, **dict.fromkeys(TEXTS, "")}, where)
                    yield op, record
                case "delete":
                    Fields(record, where).text("chunk_id")
                    yield op, record


def _whole(record: Record, where: str) -> Record:
    parse(record, where)
    return record


def _vector(record: Record, known: Vectors) -> list[float] | None:
    metadata = metadata_of(record)
    return known.get(str(metadata["embed_hash"])) if metadata["embed"] else None


def _check(store: Store, request: Request) -> None:
    """Refuse what no target can be.

    Raises:
        ConfigError: it has an impossible name or size, vectors come without one or do
            not come where they are needed, or the source is a table.
    """
    target = store.target
    if request.source.suffix == ".parquet":
        message = f"{request.source}: is a table; give the .jsonl beside it"
        raise ConfigError(message)
    if reason := store.refusal():
        message = (
            f"--index: {target.index!r} cannot be the name of "
            f"{'an' if store.holder == 'index' else 'a'} {store.holder}: {reason}"
        )
        raise ConfigError(message)
    if target.dimensions is None:
        if request.vectors is not None:
            message = "--vectors needs --dimensions, the numbers of a vector"
            raise ConfigError(message)
    elif not 1 <= target.dimensions <= store.most_dimensions:
        message = (
            f"--dimensions: {target.dimensions:,} goes beyond 1 to "
            f"{store.most_dimensions:,}"
        )
        raise ConfigError(message)
    if store.needs_vectors and request.vectors is None:
        message = (
            "--dimensions and --vectors are needed: this store keeps no record "
            "without a vector"
        )
        raise ConfigError(message)
