"""Rows that are chunks, one table for all that comes of documents.

A document gives a row for each of its chunks, in order, and one more that ends it:
with its line of the blocks file, or with why there is nothing of it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from situate import parquet
from situate.errors import ConfigError, Locked, SituateError
from situate.pipeline.documents import Failed
from situate.pipeline.written import Written
from situate.ray import spending

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from situate.corpus import Source
    from situate.manifest import Spent
    from situate.model import Chunk

Status = Literal["chunk", "document", "error", "spent", "stopped"]
"""`chunk`: a chunk; `document`: the end of one that is whole; `error`: one that is not
taken in; `spent`: what a worker has spent since it last said so; `stopped`: why a run
of the engine can have no end."""

_WITH_A_CODE = {kind.__name__: kind for kind in (ConfigError, Locked)}
"""Errors that end a run in a way of their own."""

Outcome: TypeAlias = "Written | Failed | Spent"


@cache
def schema() -> pa.Schema:
    """Give the Arrow schema of all rows that come out; needs pyarrow.

    `line` is a line of JSON with its line break: of a chunk in the chunks file, of a
    document in the blocks file. `details` is JSON: what a run counts of a document,
    why one is refused, or what was spent.
    """
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("status", pa.string(), nullable=False),
            pa.field("error", pa.string()),
            pa.field("name", pa.string()),
            pa.field("doc_id", pa.string()),
            pa.field("chunk_id", pa.string()),
            pa.field("embed", pa.bool_()),
            pa.field("embed_text", pa.string()),
            pa.field("line", pa.binary()),
            pa.field("details", pa.string()),
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row; what it does not say is null."""

    status: Status
    error: str | None = None
    name: str | None = None
    doc_id: str | None = None
    chunk_id: str | None = None
    embed: bool | None = None
    embed_text: str | None = None
    line: bytes | None = None
    details: str | None = None


class Rows:
    """A table being filled."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []

    def add(self, outcome: Written | Failed, chunks: Sequence[Chunk]) -> None:
        """Add a document with the chunks that its lines were written from."""
        if isinstance(outcome, Failed):
            self._rows.append(
                _Row(
                    status="error",
                    error=_writable(outcome.reason),
                    name=_writable(outcome.source.doc_id),
                    details=json.dumps(
                        {"reason": outcome.reason, "refusal": outcome.refusal}
                    ),
                )
            )
            return
        name, doc_id = _writable(outcome.source.doc_id), outcome.doc_id
        lines = outcome.chunks.split(b"\n")
        self._rows += [
            _Row(
                status="chunk",
                name=name,
                doc_id=doc_id,
                chunk_id=chunk.chunk_id,
                embed=chunk.embed,
                embed_text=chunk.embed_text,
                line=line + b"\n",
            )
            for chunk, line in zip(chunks, lines[:-1], strict=True)
        ]
        self._rows.append(
            _Row(
                status="document",
                name=name,
                doc_id=doc_id,
                line=outcome.blocks,
                details=_details(outcome),
            )
        )

    def spend(self, spent: Spent) -> None:
        """Add what was spent."""
        self._rows.append(_Row(status="spent", details=spending.to_json(spent)))

    def stop(self, error: SituateError) -> None:
        """Add why no document can be worked on."""
        details = json.dumps({"error": type(error).__name__})
        row = _Row(status="stopped", error=_writable(str(error)), details=details)
        self._rows.append(row)

    def table(self) -> pa.Table:
        """Give all rows so far."""
        import pyarrow as pa

        columns = {
            field.name: [getattr(row, field.name) for row in self._rows]
            for field in schema()
        }
        return pa.table(columns, schema=schema())


def records(rows: pa.Table) -> pa.Table:
    """Give the chunks among rows with the typed columns of `situate.parquet.schema`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = rows.filter(pc.equal(rows["status"], "chunk"))
    read = (json.loads(line) for line in chunks["line"].to_pylist())
    return pa.Table.from_batches(parquet.batches(read), schema=parquet.schema())


def outcomes(
    tables: Iterable[pa.Table], sources: Iterator[Source]
) -> Iterator[Outcome]:
    """Read documents back from tables, in whose order their `sources` are.

    A document may lie in several tables.

    Raises:
        SituateError: a row says why there are no more.
    """
    lines: list[bytes] = []
    for table in tables:
        columns = table.select(["status", "line", "doc_id", "details", "error"])
        for status, line, doc_id, details, error in zip(
            *columns.to_pydict().values(), strict=True
        ):
            match status:
                case "chunk":
                    lines.append(line)
                case "document":
                    chunks = b"".join(lines)
                    lines.clear()
                    yield _written(
                        next(sources), doc_id, details, chunks=chunks, blocks=line
                    )
                case "error":
                    yield Failed(source=next(sources), **json.loads(details))
                case "spent":
                    yield spending.from_json(details)
                case "stopped":
                    named = json.loads(details)["error"]
                    raise _WITH_A_CODE.get(named, SituateError)(error)


def _details(written: Written) -> str:
    return json.dumps(
        {
            "version": written.version,
            "metadata_hash": written.metadata_hash,
            "effective_from": written.effective_from,
            "access": written.access,
            "warnings": written.warnings,
            "levels": written.levels,
            "outcomes": [
                [status, reason, count]
                for (status, reason), count in written.outcomes.items()
            ],
        }
    )


def _written(
    source: Source, doc_id: str, said: str, *, chunks: bytes, blocks: bytes
) -> Written:
    details = json.loads(said)
    outcomes = details.pop("outcomes")
    return Written(
        source=source,
        doc_id=doc_id,
        chunks=chunks,
        blocks=blocks,
        warnings=tuple(details.pop("warnings")),
        outcomes=Counter({(status, reason): n for status, reason, n in outcomes}),
        **details,
    )


def _writable(text: str) -> str:
    """Give a text without what no table has a place for."""
    return text.encode("utf-8", "backslashreplace").decode()
