"""Records as Arrow tables and Parquet files: one schema, row groups of a bounded size.

What stores filter and join by has a typed column. `metadata` stands beside it whole, as
the JSON of the record, so that a record comes back as the same bytes. pyarrow is an
extra, and is imported by the functions that need it. It alone decides the bytes: the
same records give the same file under the same version of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, Literal, Protocol, get_args

from situate.errors import ConfigError, RecordError
from situate.files import opened
from situate.model import Level
from situate.records import KEYS, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    import pyarrow as pa
    import pyarrow.parquet as pq

    from situate.model import JsonValue
    from situate.records import Record

GROUP_ROWS: Final = 8_192
"""Most rows of a row group."""

GROUP_CHARACTERS: Final = 16 * 1024 * 1024
"""Characters of texts and metadata from which a row group takes no further row."""

_VERSION: Final = b"situate.schema"

_LEVELS: Final = get_args(Level)

_Kind = Literal["text", "texts", "whole", "wholes", "flag", "day", "level", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column, and where in a record its values stand."""

    name: str
    kind: _Kind
    path: tuple[str, ...]
    can_be_null: bool = False
    is_hot: bool = True
    """Whether it is filtered by, so that statistics and a dictionary are worth it."""


def _columns() -> Iterator[_Column]:
    """Yield the columns in their order."""
    yield _Column(name="schema", kind="whole", path=("schema",))
    for name in ("chunk_id", "doc_id", "doc_version"):
        yield _Column(name=name, kind="text", path=(name,))
    name = "parent_chunk_id"
    yield _Column(name=name, kind="text", path=(name,), can_be_null=True)
    yield _Column(name="level", kind="level", path=("level",))
    for name in ("text", "context_prefix", "embed_text", "lexical_text"):
        yield _Column(name=name, kind="text", path=(name,), is_hot=False)
    yield _Column(name="block_ids", kind="texts", path=("block_ids",), is_hot=False)
    for name, kind, can_be_null in _OF_METADATA:
        path = ("metadata", name)
        yield _Column(name=name, kind=kind, path=path, can_be_null=can_be_null)
    for name, can_be_null in (("status", False), ("statement", True), ("reason", True)):
        yield _Column(
            name=f"enrichment_{name}",
            kind="text",
            path=("metadata", "enrichment", name),
            can_be_null=can_be_null,
            is_hot=name != "statement",
        )
    yield _Column(name="metadata", kind="json", path=("metadata",), is_hot=False)


_OF_METADATA: Final[tuple[tuple[str, _Kind, bool], ...]] = (
    ("corpus", "text", True),
    ("title", "text", True),
    ("doc_type", "text", True),
    ("effective_from", "day", True),
    ("effective_to", "day", True),
    ("source", "text", True),
    ("language", "text", True),
    ("breadcrumb", "texts", False),
    ("section_id", "text", False),
    ("ordinal", "whole", False),
    ("token_count", "whole", False),
    ("content_hash", "text", False),
    ("embed_hash", "text", False),
    ("lexical_hash", "text", False),
    ("metadata_hash", "text", False),
    ("pages", "wholes", False),
    ("embed", "flag", False),
)
"""Keys of `metadata` with a column of their name, its kind, whether it can be null."""

_COLUMNS: Final = tuple(_columns())

_HOT: Final = [column.name for column in _COLUMNS if column.is_hot]


class Sink(Protocol):
    """What takes the bytes of a file in, one after another."""

    def write(self, data: bytes, /) -> object:
        """Append."""


def require(what: str) -> None:
    """Make sure that Parquet can be read and written; `what` wants it, in the error.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401 - whether it can be is the question
    except ImportError as error:
        message = f"{what} needs pyarrow; pip install 'situate[parquet]'"
        raise ConfigError(message) from error


@cache
def schema() -> pa.Schema:
    """Give the Arrow schema of all tables: names, types and what can be null.

    Its metadata names the version of the record (`situate.schema`) and the situate
    that makes the table (`situate.version`). Needs pyarrow, as all below do.
    """
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "whole": pa.int32(),
        "wholes": pa.list_(pa.int32()),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "level": pa.dictionary(pa.int8(), pa.string()),
        "json": pa.string(),
    }
    return pa.schema(
        [
            pa.field(column.name, types[column.kind], nullable=column.can_be_null)
            for column in _COLUMNS
        ],
        metadata={_VERSION: str(SCHEMA), "situate.version": version("situate")},
    )


def batches(records: Iterable[Mapping[str, JsonValue]]) -> Iterator[pa.RecordBatch]:
    """Yield records as batches of `schema`, in order, each a row group in size.

    A batch has at most `GROUP_ROWS` rows and ends with the row that brings it to
    `GROUP_CHARACTERS`; no more is held at once. What a delta puts beside the keys of a
    record has no column.

    Raises:
        RecordError: a value is missing or has no place in its column.
    """
    group = _Group()
    for record in records:
        group.add(record)
        if group.is_full:
            yield group.batch()
            group = _Group()
    if group.has_rows:
        yield group.batch()


def records(batches: Iterable[pa.RecordBatch]) -> Iterator[Record]:
    """Yield the records that batches of `schema` hold: `batches`, undone."""
    for batch in batches:
        columns = [batch.column(key).to_pylist() for key in KEYS]
        for row in zip(*columns, strict=True):
            record = dict(zip(KEYS, row, strict=True))
            yield {**record, "metadata": json.loads(record["metadata"])}


def read(path: Path) -> Iterator[Record]:
    """Yield the records of a file that `Writer` wrote, a row group at a time.

    Raises:
        RecordError: the file cannot be read, or is no such file.
    """
    with _reading(path) as file:
        if file is None:
            message = f"{path}: is not of situate; Parquet with its schema was expected"
            raise RecordError(message)
        for number in range(file.num_row_groups):
            yield from records(file.read_row_group(number).to_batches())


def is_ours(path: Path) -> bool:
    """Tell whether a Parquet file is one that `Writer` wrote.

    Raises:
        RecordError: the file cannot be read, or is no Parquet.
    """
    with _reading(path) as file:
        return file is not None


@contextmanager
def _reading(path: Path) -> Iterator[pq.ParquetFile | None]:
    """Open a file; give None where somebody else wrote it.

    Raises:
        RecordError: it cannot be read, or has the schema of another version.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with opened(path) as handle, pq.ParquetFile(handle) as file:
            said = (file.schema_arrow.metadata or {}).get(_VERSION)
            if said not in (None, str(SCHEMA).encode()):
                message = (
                    f"{path}: schema is {said.decode()!r}; this situate reads {SCHEMA}"
                )
                raise RecordError(message)
            yield None if said is None else file
    except (OSError, pa.ArrowException) as error:
        message = f"{path}: cannot be read as Parquet: {error}"
        raise RecordError(message) from error


class Writer:
    """A Parquet file being written, a row group at a time.

        with Writer(draft) as writer:
            writer.write(record)
            writer.end()

    What has no `end` when the block ends is no file that could be read.
    """

    def __init__(self, sink: Sink) -> None:
        import pyarrow.parquet as pq

        self._sink = _Outlet(sink)
        self._group = _Group()
        self._file = pq.ParquetWriter(
            self._sink,
            schema(),
            compression="zstd",
            use_dictionary=_HOT,
            write_statistics=_HOT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A writer that is not closed closes itself when it is collected, long after
        # the sink has gone.
        self._sink.shut()
        self._file.close()

    def write(self, record: Mapping[str, JsonValue]) -> None:
        """Append a record.

        Raises:
            RecordError: a value is missing or has no place in its column.
            OSError: the sink refuses.
        """
        self._group.add(record)
        if self._group.is_full:
            self._put()

    def end(self) -> None:
        """Write what is left, and where everything stands.

        Raises:
            RecordError: a value has no place in its column.
            OSError: the sink refuses.
        """
        if self._group.has_rows:
            self._put()
        self._file.close()

    def _put(self) -> None:
        group, self._group = self._group, _Group()
        self._file.write_batch(group.batch())


class _Outlet:
    """A sink as pyarrow wants it: one that knows its place, and can be shut."""

    def __init__(self, sink: Sink) -> None:
        self._sink: Sink | None = sink
        self._place = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Append, or drop what comes after `shut`."""
        if self._sink is not None:
            self._sink.write(data)
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        """Say how much was written."""
        return self._place

    def flush(self) -> None:
        """Leave that to the sink."""

    def close(self) -> None:
        """Leave the sink open: who made it closes it."""
        self.closed = True

    def shut(self) -> None:
        """Let nothing more reach the sink."""
        self._sink = None


class _Group:
    """Rows that become one row group."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._characters = 0

    def add(self, record: Mapping[str, JsonValue]) -> None:
        """Take a record in.

        Raises:
            RecordError: a value is missing or is of another kind.
        """
        row = tuple(_value(record, column) for column in _COLUMNS)
        self._rows.append(row)
        self._characters += sum(len(value) for value in row if isinstance(value, str))

    @property
    def has_rows(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._rows)

    @property
    def is_full(self) -> bool:
        """Whether the next row belongs into the next group."""
        return len(self._rows) >= GROUP_ROWS or self._characters >= GROUP_CHARACTERS

    def batch(self) -> pa.RecordBatch:
        """Give all rows, column by column.

        Raises:
            RecordError: a value is not of its column's type.
        """
        import pyarrow as pa

        arrays = []
        columns = zip(*self._rows, strict=True)
        for field, values in zip(schema(), columns, strict=True):
            try:
                arrays.append(_array(field.type, values))
            except (TypeError, ValueError) as error:
                message = f"column {field.name!r} of a table: {error}"
                raise RecordError(message) from error
        return pa.RecordBatch.from_arrays(arrays, schema=schema())


def _value(record: Mapping[str, JsonValue], column: _Column) -> object:
    """Take out what stands in a column.

    Raises:
        RecordError: it is missing, null where it cannot be, or is no day.
    """
    value: JsonValue | Mapping[str, JsonValue] = record
    for key in column.path:
        if not isinstance(value, Mapping) or key not in value:
            raise _misplaced(record, column, "is missing")
        value = value[key]
    if value is None and not column.can_be_null:
        raise _misplaced(record, column, "is null")
    try:
        match column.kind:
            case "json":
                return _json(value)
            case "day":
                return None if value is None else date.fromisoformat(str(value))
            case "level":
                return _LEVELS.index(value)
    except ValueError as error:
        raise _misplaced(record, column, f"is {value!r:.100}") from error
    return value


def _json(value: object) -> str:
    """Write JSON as a line of the chunks file has it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _misplaced(
    record: Mapping[str, JsonValue], column: _Column, found: str
) -> RecordError:
    name = record.get("chunk_id")
    return RecordError(f"{name!r}: {'.'.join(column.path)} {found}")


def _array(kind: pa.DataType, values: Sequence[object]) -> pa.Array:
    """Make a column; levels stand in one dictionary, whichever of them there are."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        places = pa.array(values, kind.index_type)
        return pa.DictionaryArray.from_arrays(places, pa.array(_LEVELS))
    return pa.array(values, kind)
