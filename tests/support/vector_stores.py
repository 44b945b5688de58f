"""Stores that hold what the files of an export tell them, as each vendor says it does.

What they do is held to the real ones by `make integrations`; these are for rules over
many random indexes. SQL is read as PostgreSQL reads it, whatever its settings: with
backslashes in `E'...'` alone.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

Rows = dict[str, dict[str, Any]]
"""What a store holds, by id."""


def qdrant(rows: Rows, part: Path) -> None:
    """Do the operations of a request to `points/batch`."""
    for operation in json.loads(part.read_bytes())["operations"]:
        ((name, told),) = operation.items()
        _OPERATIONS[name](rows, told)


def _upsert(rows: Rows, told: Any) -> None:
    for point in told["points"]:
        rows[point["id"]] = {**point["payload"], **point["vector"]}


def _delete(rows: Rows, told: Any) -> None:
    for key in told["points"]:
        rows.pop(key, None)


def _set_payload(rows: Rows, told: Any) -> None:
    for row in _has_id(rows, told["filter"]):
        row.update(told["payload"])
        for key, value in told["payload"].items():
            if value is None:
                del row[key]


def _delete_vectors(rows: Rows, told: Any) -> None:
    for row in _has_id(rows, told["filter"]):
        row.pop(*told["vector"], None)


def _update_vectors(rows: Rows, told: Any) -> None:
    for point in told["points"]:
        # The server fails the request where there is no such point.
        if point["id"] in rows:
            rows[point["id"]].update(point["vector"])


def _has_id(rows: Rows, asked: Any) -> Iterator[dict[str, Any]]:
    ((condition,),) = asked.values()
    for key in condition["has_id"]:
        if key in rows:
            yield rows[key]


_OPERATIONS: Final[Mapping[str, Callable[[Rows, Any], None]]] = {
    "upsert": _upsert,
    "delete": _delete,
    "set_payload": _set_payload,
    "delete_vectors": _delete_vectors,
    "update_vectors": _update_vectors,
}


def lancedb(rows: Rows, part: Path) -> None:
    """Merge a table by its id, or delete by predicates."""
    import pyarrow as pa

    if part.suffix == ".jsonl":
        for line in part.read_text("utf-8").splitlines():
            _, _, ids = json.loads(line).partition("id IN (")
            for found in re.findall(r"'((?:[^']|'')*)'", ids):
                rows.pop(found.replace("''", "'"), None)
        return
    for row in pa.ipc.open_file(part).read_all().to_pylist():
        if part.name.startswith("upserts"):
            rows[row["id"]] = row
        elif row["id"] in rows:
            rows[row["id"]].update(row)


def chroma(rows: Rows, part: Path) -> None:
    """Call a collection's methods, which merge metadata and know no null."""
    for line in part.read_text("utf-8").split("\n")[:-1]:
        ((method, told),) = json.loads(line).items()
        assert len(told["ids"]) == len({*told["ids"]}) <= 300
        assert all(len(column) == len(told["ids"]) for column in told.values())
        for number, key in enumerate(told["ids"]):
            one = {name: column[number] for name, column in told.items()}
            if method == "delete":
                rows.pop(key, None)
            elif method == "upsert" or key in rows:
                _merge(rows.setdefault(key, {}), one)


def _merge(row: dict[str, Any], one: dict[str, Any]) -> None:
    for name in ("documents", "embeddings"):
        if name in one:
            row[name] = one[name]
    for key, value in one["metadatas"].items():
        # What Chroma 1.5 refuses.
        assert not isinstance(value, dict)
        assert value != []
        if isinstance(value, list):
            assert len({type(each) for each in value}) == 1
        row[key] = value
        if value is None:
            del row[key]


def pgvector(rows: Rows, part: Path) -> None:
    """Run a transaction."""
    begin, encoding, *statements, commit = _statements(part.read_text("utf-8"))
    assert (begin, encoding[-1], commit) == (["BEGIN"], ("UTF8",), ["COMMIT"])
    for statement in statements:
        match statement:
            case ["INSERT", "INTO", _, *rest]:
                end = rest.index("VALUES")
                columns = [each for each in rest[:end] if each not in {"(", ")", ","}]
                values = rest[end + 1 : rest.index("ON")]
                for row in _lists(values):
                    found = dict(zip(columns, row, strict=True))
                    rows[found["id"]] = found
            case ["UPDATE", _, "SET", *rest, "WHERE", "id", "=", (key,)]:
                sets = {rest[at]: _value(rest[at + 2]) for at in range(0, len(rest), 4)}
                if key in rows:
                    rows[key].update(sets)
            case ["DELETE", "FROM", _, "WHERE", "id", "IN", *ids]:
                for key in next(_lists(ids)):
                    rows.pop(key, None)
            case _:
                raise AssertionError(statement)


_TOKEN: Final = re.compile(
    r"E'(?P<escaped>(?:[^'\\]|\\\\|'')*)'|'(?P<plain>(?:[^'\\]|'')*)'"
    r'|"(?P<name>\w+)"|(?P<mark>[(),;=])|(?P<word>[\w.]+)|\s+'
)


def _statements(sql: str) -> Iterator[list[Any]]:
    """Yield statements as words; a text is a tuple of itself."""
    place, statement = 0, list[Any]()
    while place < len(sql):
        token = _TOKEN.match(sql, place)
        assert token, sql[place : place + 40]
        place = token.end()
        if token["mark"] == ";":
            yield statement
            statement = []
        elif (text := token["plain"]) is not None:
            statement.append((text.replace("''", "'"),))
        elif (text := token["escaped"]) is not None:
            statement.append((text.replace("''", "'").replace("\\\\", "\\"),))
        elif word := token["name"] or token["mark"] or token["word"]:
            statement.append(word)
    assert not statement


def _lists(words: list[Any]) -> Iterator[list[Any]]:
    """Yield what stands in brackets."""
    found = list[Any]()
    for word in words:
        if word == ")":
            yield found
            found = []
        elif word not in {"(", ","}:
            found.append(_value(word))


def _value(word: Any) -> Any:
    match word:
        case (text,):
            return text
        case "NULL":
            return None
        case "TRUE" | "FALSE":
            return word == "TRUE"
    return int(word)


def array(literal: str) -> list[str]:
    """Read the literal of an array of texts."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', literal, re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", each, flags=re.DOTALL) for each in found]


STORES: Final[Mapping[str, Callable[[Rows, Path], None]]] = {
    "qdrant": qdrant,
    "lancedb": lancedb,
    "chroma": chroma,
    "pgvector": pgvector,
}
"""How each takes in a part."""
