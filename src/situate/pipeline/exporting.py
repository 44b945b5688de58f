"""Writes the files of a store from a chunks file or a delta.

They appear as one folder, whole or not at all. What is read is checked line by line
as it passes, so that memory holds one record and the places of the vectors.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from situate import files
from situate.access import is_permission
from situate.errors import ConfigError, RecordError
from situate.export.documents import metadata_of
from situate.export.store import check_name
from situate.export.vectors import Vectors
from situate.fields import Fields, typed
from situate.index.parcel import FILES, TEXTS
from situate.output import Draft, held, put, writing
from situate.pipeline import exported
from situate.records import from_line, parse, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from situate.export.store import Store, Target
    from situate.index.delta import Op
    from situate.model import JsonValue
    from situate.records import Record

MOST_BYTES: Final = 10_000_000
"""Of a file of changes. Both servers take requests of 100 MB by default, the smaller
machines of hosted OpenSearch 10 MiB (Amazon OpenSearch Service, network quotas)."""

_NUMBERS: Final = re.compile(r"\[\s+(?:-?[0-9.]+,\s+)*-?[0-9.]+\s+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be exported, and where to."""

    source: Path
    """A chunks file, or the folder of a delta."""
    folder: Path
    target: Target
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
        ConfigError: the index cannot have this name or size, vectors come without a
            size, or the folder holds what no export has written.
        RecordError: a file cannot be read, or holds what the store would refuse.
        Locked: another run writes the folder.
        SituateError: the folder cannot be written.
    """
    _check(store, request)
    place = files.resolved(request.folder)
    with held(place), writing(place), ExitStack() as stack:
        setup = store.files(request.target)
        exported.check(place)
        draft = place.with_name(f".{place.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        stack.callback(shutil.rmtree, draft, ignore_errors=True)
        draft.mkdir()
        for name, value in setup.items():
            (draft / name).parent.mkdir(exist_ok=True)
            put(draft / name, [_json(value)])
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
        dimensions = request.target.dimensions
        known = None
        if request.vectors is not None and dimensions is not None:
            known = stack.enter_context(Vectors(request.vectors, dimensions))
        parts = stack.enter_context(_Parts(draft / store.part, most_bytes))
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
    """Files of changes being written, none larger than it has to be."""

    def __init__(self, pattern: Path, most_bytes: int) -> None:
        self._pattern = pattern
        self._most = most_bytes
        self._draft: Draft | None = None
        self.names: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._draft is not None:
            self._draft.discard()

    def add(self, lines: bytes) -> None:
        """Write a change, whose lines stay together.

        Raises:
            OSError: the file system refuses.
        """
        draft = self._draft
        if draft is not None and draft.digest.bytes + len(lines) > self._most:
            self.finish()
        if self._draft is None:
            name = self._pattern.name.format(len(self.names) + 1)
            self._draft = Draft(self._pattern.with_name(name))
            self.names.append(name)
        self._draft.write(lines)

    def finish(self) -> None:
        """Bring the last of them onto the disk.

        Raises:
            OSError: the file system refuses.
        """
        if self._draft is not None:
            self._draft.finish()
            self._draft.publish()
            self._draft = None


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
    """Refuse what no index can be.

    Raises:
        ConfigError: it has an impossible name or size, or vectors come without one.
    """
    check_name(request.target.index)
    dimensions = request.target.dimensions
    if dimensions is None:
        if request.vectors is not None:
            message = "--vectors needs --dimensions, the numbers of a vector"
            raise ConfigError(message)
    elif not 1 <= dimensions <= store.most_dimensions:
        message = (
            f"--dimensions: {dimensions:,} goes beyond 1 to {store.most_dimensions:,}"
        )
        raise ConfigError(message)


def _json(value: JsonValue) -> bytes:
    """Write a value for people, the numbers of a vector on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    text = _NUMBERS.sub(lambda found: " ".join(found[0].split()), text)
    return text.encode() + b"\n"
