"""Rows that are documents: what whoever fills a table says of each."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from situate.corpus import Source
from situate.errors import ConfigError, ReadError
from situate.given import find_sidecar
from situate.pipeline.documents import Failed
from situate.pipeline.handed import Handed, source_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import pyarrow as pa

    from situate.model import JsonValue

    Batch: TypeAlias = "Mapping[str, Sequence[object]] | pa.Table | pa.RecordBatch"
    Row: TypeAlias = Mapping[str, object]

COLUMNS = ("name", "content", "path", "doc_id", "version", "metadata")
"""What is known of a row; of others nothing is taken."""

SOURCE = "source"
"""The column of a run on Ray: a `Source` as it was found, which needs no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """The documents of a batch."""

    sources: tuple[Source, ...]
    """One for each row."""
    refused: Mapping[Path, Failed]
    """Those that are none, by their `path`."""


def documents(batch: Batch) -> Documents:
    """Read the rows of a batch; one that is no document is a value.

    Raises:
        ConfigError: no column says what is to be read.
    """
    columns = _columns(batch)
    if not columns.keys() & {"content", "path", SOURCE}:
        message = (
            f"a batch with the columns {', '.join(sorted(columns)) or 'of nothing'} "
            "holds no documents; give name and content, or path"
        )
        raise ConfigError(message)
    sources, refused = [], {}
    names = tuple(columns)
    for number, values in enumerate(zip(*columns.values(), strict=True)):
        row = {
            name: None if _is_nan(value) else value
            for name, value in zip(names, values, strict=True)
        }
        try:
            source = _source(row)
        except ReadError as error:
            # Neither what is handed over nor an absolute path is called like this.
            source = Source(path=Path("..", str(number)), doc_id=_shown(row))
            refused[source.path] = Failed(source=source, reason=str(error))
        sources.append(source)
    return Documents(sources=tuple(sources), refused=refused)


def _columns(batch: Batch) -> Mapping[str, Sequence[object]]:
    """Give the columns that are known, as values of Python."""
    known = (*COLUMNS, SOURCE)
    if isinstance(batch, Mapping):
        return {name: _listed(batch[name]) for name in known if name in batch}
    return {
        name: batch.column(name).to_pylist()
        for name in known
        if name in batch.schema.names
    }


def _listed(column: Sequence[object]) -> Sequence[object]:
    # Those of NumPy hold numbers and texts of its own.
    plain = getattr(column, "tolist", None)
    return column if plain is None else cast("list[object]", plain())


def _is_nan(value: object) -> bool:
    """Tell what pandas has in the place of nothing."""
    return isinstance(value, float) and math.isnan(value)


def _source(row: Row) -> Source:
    """Give a row the form in which documents are read.

    Raises:
        ReadError: it has no name or nothing to read, or says what cannot be.
    """
    found = row.get(SOURCE)
    if isinstance(found, Source):
        return found
    path, doc_id = _text(row, "path"), _text(row, "doc_id")
    content = row.get("content")
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    if not isinstance(content, bytes) and (content is not None or path is None):
        message = f"{_shown(row)}: content is no bytes, and no path is given"
        raise ReadError(message)
    name = _text(row, "name") or (path and _named(path)) or doc_id
    if name is None:
        message = "a row has neither name, path nor doc_id; name it like a file"
        raise ReadError(message)
    handed = Handed(
        name=name,
        content=content or b"",
        doc_id=doc_id,
        version=_text(row, "version"),
        metadata=_metadata(row, name),
    )
    source = source_of(handed)
    if content is not None or path is None:
        return source
    return replace(
        source,
        content=None,
        path=Path(path).absolute(),
        sidecar=find_sidecar(Path(path)),
    )


def _named(path: str) -> str:
    """Give a file's path as it is given, its name alone where that is absolute."""
    return Path(path).name if Path(path).is_absolute() else path


def _text(row: Row, key: str) -> str | None:
    """Give a text, None where nothing is said.

    Raises:
        ReadError: it is something else.
    """
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value
    message = f"{_shown(row)}: {key} is {value!r}, which is no text"
    raise ReadError(message)


def _metadata(row: Row, name: str) -> Mapping[str, JsonValue]:
    """Give what is said, as a struct or as JSON; nulls of a struct say nothing.

    Raises:
        ReadError: it is neither.
    """
    said = row.get("metadata")
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError) as error:
            message = f"{name!r}: metadata is no JSON: {error}"
            raise ReadError(message) from error
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        message = f"{name!r}: metadata is no object of keys and values"
        raise ReadError(message)
    return {key: value for key, value in said.items() if value is not None}


def _shown(row: Row) -> str:
    """Name a row that may have no name, in characters that can be written."""
    for key in ("name", "path", "doc_id"):
        if row.get(key) is not None:
            return str(row[key]).encode("utf-8", "backslashreplace").decode()
    return "a row without a name"
