"""LanceDB: Arrow files with a schema of their own, for `merge_insert`.

A column that is null in all rows of a file would get no type, hence the schema. What
stands in no file of an update, its texts and mostly its vector, stays as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Final

from situate.export.documents import document_id, metadata_of
from situate.export.flat import COLUMNS, flat
from situate.export.store import Told
from situate.index.parcel import TEXTS
from situate.parquet import require
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.export.flat import Kind
    from situate.export.store import Target
    from situate.records import Record

_UPSERTS: Final = "upserts-{:05}.arrow"
_UPDATES: Final = "updates-{:05}.arrow"
_REVECTORED: Final = "updates-vectors-{:05}.arrow"
_DELETES: Final = "deletes-{:05}.jsonl"

MOST_IDS: Final = 500
"""Of a predicate: it is parsed as one expression."""

_NAME: Final = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,199}\Z")


@dataclass(frozen=True, slots=True)
class LanceDB:
    """Tells LanceDB of chunks."""

    target: Target

    holder: ClassVar[str] = "table"
    needs_vectors: ClassVar[bool] = False
    most_dimensions: ClassVar[int] = 65_536
    """LanceDB names no limit; no embedder comes near this one."""

    def refusal(self) -> str | None:
        """Say why LanceDB refuses the name of the table; it is that of a folder."""
        if not _NAME.match(self.target.index):
            return (
                "it has to have 1 to 200 of the characters a-z, A-Z, 0-9, _, - and ., "
                "the last two not first"
            )
        return None

    def files(self) -> Mapping[str, bytes]:
        """Give a table without rows, to create one like it.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        return {"table.arrow": _arrow([], self._schema(frozenset()))}

    def too_long(self, record: Record) -> Mapping[str, int]:  # noqa: ARG002 - a store may have to look
        """Find nothing: a column takes texts of any length."""
        return {}

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write the row of a whole record."""
        return Told(part=_UPSERTS, line=to_line(_row(record, vector)))

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write the row of a record without its texts.

        The vector stays, but for one that is given anew, and that of what is no
        longer to be found.
        """
        stays = metadata_of(record)["embed"] and vector is None
        part = _UPDATES if stays else _REVECTORED
        return Told(part=part, line=to_line(_row(record, vector)))

    def delete(self, record: Record) -> Told:
        """Write the id of a record."""
        named = {"chunk_id": record["chunk_id"], "id": document_id(record)}
        return Told(part=_DELETES, line=to_line(named))

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:
        """Give a table, or of deletes a predicate on each line, as a JSON text."""
        rows = [json.loads(line) for line in lines]
        if name == _DELETES:
            return _predicates([row["id"] for row in rows])
        without = {
            _UPSERTS: frozenset[str](),
            _UPDATES: frozenset({*TEXTS, "vector"}),
            _REVECTORED: frozenset(TEXTS),
        }
        return _arrow(rows, self._schema(without[name]))

    def _schema(self, without: frozenset[str]) -> Any:
        """Give the Arrow schema of a table, but for some columns.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        require("an export to LanceDB")
        import pyarrow as pa

        kinds: Mapping[Kind, Any] = {
            "text": pa.string(),
            "count": pa.int64(),
            "flag": pa.bool_(),
            "day": pa.date32(),
            "texts": pa.list_(pa.string()),
            "counts": pa.list_(pa.int64()),
        }
        columns = [
            pa.field(name, kinds[kind], nullable=name != "id")
            for name, kind in COLUMNS.items()
        ]
        if (size := self.target.dimensions) is not None:
            columns.append(pa.field("vector", pa.list_(pa.float32(), size)))
        return pa.schema([each for each in columns if each.name not in without])


def _row(record: Record, vector: list[float] | None) -> Record:
    return {**flat(record), "vector": None if vector is None else [*vector]}


def _arrow(rows: Sequence[dict[str, Any]], schema: Any) -> bytes:
    """Write rows as an Arrow IPC file."""
    import pyarrow as pa

    days = [name for name, kind in COLUMNS.items() if kind == "day"]
    for row in rows:
        row.update({name: date.fromisoformat(row[name]) for name in days if row[name]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _predicates(ids: Sequence[str]) -> bytes:
    """Write predicates of `Table.delete`, in which a quote is doubled."""
    quoted = ["'" + each.replace("'", "''") + "'" for each in ids]
    return b"".join(
        json.dumps(f"id IN ({', '.join(quoted[start : start + MOST_IDS])})").encode()
        + b"\n"
        for start in range(0, len(quoted), MOST_IDS)
    )
