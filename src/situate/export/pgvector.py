"""PostgreSQL with pgvector: SQL that psql and drivers run as it is.

Every part is a transaction. A text is quoted so that no setting of a session reads
it otherwise: with backslashes only where it says that they escape.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from situate.errors import RecordError
from situate.export.documents import document_id, fields, metadata_of
from situate.export.flat import days, metadata_text
from situate.export.store import Told
from situate.fields import typed
from situate.index.parcel import TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.export.store import Target
    from situate.model import JsonValue
    from situate.records import Record

_UPSERTS: Final = "upserts-{:05}.sql"
_UPDATES: Final = "updates-{:05}.sql"
_DELETES: Final = "deletes-{:05}.sql"

_VECTOR: Final = "embedding"

_COLUMNS: Final[Mapping[str, str]] = {
    "id": "text PRIMARY KEY",
    "schema": "integer NOT NULL",
    "record_id": "text NOT NULL",
    "chunk_id": "text NOT NULL",
    "doc_id": "text NOT NULL",
    "doc_version": "text NOT NULL",
    "parent_record_id": "text",
    "parent_chunk_id": "text",
    "group_id": "text NOT NULL",
    "level": "text NOT NULL",
    "text": "text NOT NULL",
    "context_prefix": "text NOT NULL",
    "embed_text": "text NOT NULL",
    "lexical_text": "text NOT NULL",
    "block_ids": "text[] NOT NULL",
    "metadata": "jsonb NOT NULL",
    "embed": "boolean NOT NULL",
    "valid_from": "date",
    "valid_to": "date",
    "acl": "text[] NOT NULL",
    "classification": "text[] NOT NULL",
}
"""What each column is, but for that of vectors."""

_INDEXES: Final[Mapping[str, str]] = {
    "doc_id": "USING hash (doc_id)",
    "group_id": "(group_id)",
    "acl": "USING gin (acl)",
    "classification": "USING gin (classification)",
    "metadata": "USING gin (metadata jsonb_path_ops)",
}

MOST_INDEXED: Final = 2_000
"""Numbers of a vector that an index takes, of `halfvec` twice as many (README of
pgvector 0.8)."""

LONGEST: Final = 2_600
"""Bytes of a text that an index of lists takes: a third of a page (PostgreSQL 18,
"index row size exceeds maximum 2712")."""

_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,47}\Z")
"""PostgreSQL cuts names at 63 bytes; those of indexes are longer by their column."""

_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""As JSON writes it, and not a text that says so."""


@dataclass(frozen=True, slots=True)
class PgVector:
    """Tells PostgreSQL of chunks."""

    target: Target

    holder: ClassVar[str] = "table"
    needs_vectors: ClassVar[bool] = False
    most_dimensions: ClassVar[int] = 16_000
    """Of `vector`, by the README of pgvector 0.8."""

    def refusal(self) -> str | None:
        """Say why a table cannot have its name."""
        if not _NAME.match(self.target.index):
            return "it has to have 1 to 48 of a-z, 0-9 and _, a letter or _ first"
        return None

    def files(self) -> Mapping[str, bytes]:
        """Give what creates the table and its indexes where they are not there."""
        columns = ",\n".join(
            f'  "{name}" {kind}' for name, kind in self._columns().items()
        )
        index = "CREATE INDEX IF NOT EXISTS"
        table = self.target.index
        lines = [
            "BEGIN;",
            "CREATE EXTENSION IF NOT EXISTS vector;",
            f'CREATE TABLE IF NOT EXISTS "{table}" (\n{columns}\n);',
            *(
                f'{index} "{table}_{name}" ON "{table}" {how};'
                for name, how in self._indexes().items()
            ),
            "COMMIT;",
        ]
        return {"schema.sql": "".join(f"{line}\n" for line in lines).encode()}

    def too_long(self, record: Record) -> Mapping[str, int]:
        """Give the bytes of what is too long for the index of permissions, by key."""
        acl = typed(list, fields(record, None)["acl"], "acl")
        sizes = {str(term): len(str(term).encode("utf-8", "replace")) for term in acl}
        return {
            term.partition("=")[0]: size
            for term, size in sizes.items()
            if size > LONGEST
        }

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write the values of a row, in the order of its columns."""
        row = _row(record)
        values = [row[name] for name in _COLUMNS]
        if _VECTOR in self._columns():
            values.append(_vector(vector))
        return Told(part=_UPSERTS, line=_encoded(f"({', '.join(values)})", record))

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write a statement that sets the columns of a row, its texts apart.

        The vector stays, but for one that is given anew, and that of what is no
        longer to be found.
        """
        row = _row(record)
        name = row.pop("id")
        if _VECTOR in self._columns() and (
            vector is not None or not metadata_of(record)["embed"]
        ):
            row[_VECTOR] = _vector(vector)
        sets = ", ".join(f'"{column}" = {value}' for column, value in row.items())
        table = f'"{self.target.index}"'
        statement = f'UPDATE {table} SET {sets} WHERE "id" = {name};'  # noqa: S608 - all is quoted
        return Told(part=_UPDATES, line=_encoded(statement, record))

    def delete(self, record: Record) -> Told:
        """Write the id of a row."""
        name = _text(document_id(record), record)
        return Told(part=_DELETES, line=_encoded(name, record))

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:
        """Give a transaction."""
        table = f'"{self.target.index}"'
        named = [f'"{column}"' for column in self._columns()]
        if name == _UPSERTS:
            told = ",\n".join(f"{each} = excluded.{each}" for each in named[1:])
            before = f"INSERT INTO {table} ({', '.join(named)}) VALUES\n"
            behind = f'\nON CONFLICT ("id") DO UPDATE SET\n{told};'
            content = before.encode() + b",\n".join(lines) + behind.encode()
        elif name == _DELETES:
            before = f'DELETE FROM {table} WHERE "id" IN (\n'  # noqa: S608 - it is checked
            content = before.encode() + b",\n".join(lines) + b"\n);"
        else:
            content = b"\n".join(lines)
        head = b"BEGIN;\nSET LOCAL client_encoding = 'UTF8';\n"
        return head + content + b"\nCOMMIT;\n"

    def _columns(self) -> Mapping[str, str]:
        size = self.target.dimensions
        return _COLUMNS if size is None else {**_COLUMNS, _VECTOR: f"vector({size})"}

    def _indexes(self) -> Mapping[str, str]:
        size = self.target.dimensions
        if size is None or size > 2 * MOST_INDEXED:
            return _INDEXES
        how = (
            f"({_VECTOR} vector_cosine_ops)"
            if size <= MOST_INDEXED
            else f"(({_VECTOR}::halfvec({size})) halfvec_cosine_ops)"
        )
        return {**_INDEXES, _VECTOR: f"USING hnsw {how}"}


def _row(record: Record) -> dict[str, str]:
    """Give the values of a record's columns as SQL; without texts where it has none.

    Raises:
        RecordError: a date is none, or a value has no place in PostgreSQL.
    """
    known = fields(record, None)
    first, last = days(known["validity"])
    metadata = metadata_text(record)
    if _NUL.search(metadata):
        raise _nul(record)
    known |= {
        "id": document_id(record),
        "metadata": metadata,
        "embed": metadata_of(record)["embed"],
        "valid_from": first,
        "valid_to": last,
    }
    return {
        name: _literal(known[name], record)
        for name in _COLUMNS
        if name in record or name not in TEXTS
    }


def _literal(value: JsonValue, record: Record) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return _text(f"{{{','.join(map(_element, value))}}}", record)
    return _text(str(value), record)


def _element(value: JsonValue) -> str:
    """Write a text as it stands in the literal of an array."""
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _text(value: str, record: Record) -> str:
    """Quote a text.

    Raises:
        RecordError: it holds a NUL.
    """
    if "\0" in value:
        raise _nul(record)
    quoted = value.replace("'", "''")
    if "\\" not in quoted:
        return f"'{quoted}'"
    escaped = quoted.replace("\\", "\\\\")
    return f"E'{escaped}'"


def _nul(record: Record) -> RecordError:
    return RecordError(
        f"{record['chunk_id']!r} holds a NUL, which PostgreSQL keeps nowhere"
    )


def _vector(vector: list[float] | None) -> str:
    return "NULL" if vector is None else f"'{json.dumps(vector)}'"


def _encoded(text: str, record: Record) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        message = f"{record['chunk_id']!r} cannot be written as UTF-8: {error.reason}"
        raise RecordError(message) from error
