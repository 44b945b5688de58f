"""States and deltas that wait, as lines of JSON, and back.

The first line says what there is, the last one the hash of all before it: a file that
is not what was written is refused, as nobody can say what a store holds by it.
"""

from __future__ import annotations

import hashlib
import json
from itertools import chain
from typing import TYPE_CHECKING, Final

from situate.errors import RecordError
from situate.fields import Fields, typed
from situate.index.state import DocumentState, Hashes, Pending, State
from situate.records import from_line, to_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.index.state import Documents, Unsure
    from situate.model import JsonValue
    from situate.records import Record

SCHEMA: Final = 1
"""Version of these files."""


def state_lines(state: State) -> Iterator[bytes]:
    """Write a state: a line about it, then its surplus, then its documents."""
    head: Record = {
        "schema": SCHEMA,
        "number": state.number,
        "run": state.run,
        "corpus": state.corpus,
        "surplus": len(state.surplus),
        "documents": len(state.documents),
        "unread": [*sorted(state.unread)],
    }
    return _sealed(head, state.surplus, state.documents)


def pending_lines(pending: Pending) -> Iterator[bytes]:
    """Write a pending delta: a line about it, then chunks, then documents."""
    head: Record = {
        "schema": SCHEMA,
        "base": pending.base,
        "run": pending.run,
        "corpus": pending.corpus,
        "allowed": pending.allowed,
        "surplus": [*sorted(pending.surplus)],
        "unsure": len(pending.unsure),
        "documents": len(pending.documents),
        "unread": [*sorted(pending.unread)],
    }
    return _sealed(head, pending.unsure, pending.documents)


def read_state(lines: Iterator[tuple[str, bytes]], name: str) -> State:
    """Read a state back; lines come with `file:line`.

    Raises:
        RecordError: it is none, or not what was written.
    """
    sealed = _Sealed(lines, name)
    fields = _head(sealed)
    return State(
        number=fields.whole("number"),
        run=fields.text_or_none("run"),
        corpus=fields.text_or_none("corpus"),
        unread=frozenset(fields.listed("unread", str)),
        surplus=_unsure(sealed, fields.whole("surplus")),
        documents=_documents(sealed, fields.whole("documents")),
    )


def read_run(lines: Iterator[tuple[str, bytes]], name: str) -> str | None:
    """Read the run that led to a state, and nothing else of it.

    Raises:
        RecordError: it is no state.
    """
    return _head(_Sealed(lines, name)).text_or_none("run")


def read_pending(lines: Iterator[tuple[str, bytes]], name: str) -> Pending:
    """Read a pending delta back; lines come with `file:line`.

    Raises:
        RecordError: it is none, or not what was written.
    """
    sealed = _Sealed(lines, name)
    fields = _head(sealed)
    return Pending(
        base=fields.whole("base"),
        run=fields.text("run"),
        corpus=fields.text("corpus"),
        allowed=fields.whole("allowed"),
        unread=frozenset(fields.listed("unread", str)),
        surplus=frozenset(fields.listed("surplus", str)),
        unsure=_unsure(sealed, fields.whole("unsure")),
        documents=_documents(sealed, fields.whole("documents")),
    )


class _Sealed:
    """The lines of a file, hashed as they are read."""

    def __init__(self, lines: Iterator[tuple[str, bytes]], name: str) -> None:
        self._lines = lines
        self._name = name
        self._hashed = hashlib.sha256()

    def record(self) -> tuple[Record, str]:
        """Give what a line says, and where.

        Raises:
            RecordError: there is none left, or it is no object.
        """
        where, line = self._next()
        self._hashed.update(line)
        return from_line(line, where), where

    def end(self) -> None:
        """Hold what was read against the last line.

        Raises:
            RecordError: it is not what was written, or goes on.
        """
        hashed = self._hashed.hexdigest()
        where, line = self._next()
        if line != _seal(hashed):
            message = f"{where}: the lines before it are not what was written"
            raise RecordError(message)
        for beyond, _ in self._lines:
            message = f"{beyond}: there are more lines than the first says"
            raise RecordError(message)

    def _next(self) -> tuple[str, bytes]:
        found = next(self._lines, None)
        if found is None:
            message = f"{self._name}: ends too early"
            raise RecordError(message)
        return found


def _head(sealed: _Sealed) -> Fields:
    """Read the first line.

    Raises:
        RecordError: it is not of this version.
    """
    fields = Fields(*sealed.record())
    schema = fields.whole("schema")
    if schema != SCHEMA:
        message = f"{fields.name('schema')} is {schema}; this situate reads {SCHEMA}"
        raise RecordError(message)
    return fields


def _unsure(sealed: _Sealed, count: int) -> Unsure:
    found: Unsure = {}
    for _ in range(count):
        fields = Fields(*sealed.record())
        where = fields.name("may_be")
        found[fields.text("chunk_id")] = frozenset(
            None if value is None else Hashes.from_list(value, where)
            for value in typed(list, fields.take("may_be"), where)
        )
    return found


def _documents(sealed: _Sealed, count: int) -> Documents:
    """Read documents, and the end of the file behind them."""
    found: Documents = {}
    for _ in range(count):
        document = DocumentState.from_record(*sealed.record())
        found[document.key] = document
    sealed.end()
    return found


def _unsure_lines(unsure: Unsure) -> Iterator[bytes]:
    for chunk_id in sorted(unsure):
        lists: list[JsonValue] = [
            None if known is None else known.to_list() for known in unsure[chunk_id]
        ]
        # Sets have no order, and files of equal states are equal.
        lists.sort(key=json.dumps)
        yield to_line({"chunk_id": chunk_id, "may_be": lists})


def _document_lines(documents: Documents) -> Iterator[bytes]:
    for document in documents.values():
        yield to_line(document.to_record())


def _sealed(head: Record, unsure: Unsure, documents: Documents) -> Iterator[bytes]:
    hashed = hashlib.sha256()
    for line in chain(
        (to_line(head),), _unsure_lines(unsure), _document_lines(documents)
    ):
        hashed.update(line)
        yield line
    yield _seal(hashed.hexdigest())


def _seal(hashed: str) -> bytes:
    return to_line({"sha256": hashed})
