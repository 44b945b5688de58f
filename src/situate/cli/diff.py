"""`diff`: what became of the chunks of one output in another."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations
from situate.cli.options import AsOf, read_as_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.diff import Difference, Entry, Kind

_SIGNS: Mapping[Kind, str] = {
    "added": "+",
    "removed": "-",
    "changed": "~",
    "moved": ">",
}


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A chunks file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A later chunks file.")],
    *,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Say which chunks were added, removed, changed or moved.

    One line for each: + added, - removed, ~ changed and in what, > moved. A chunk
    is known by its id. It is unchanged while its texts, breadcrumb, statement,
    parent and metadata are the same; ordinals, hashes, parts and places in the
    source do not count. It is moved when it stands before or after others of its
    document than it did, or when it goes on under another id with its text, be it
    below another heading. With --as-of, of both files what is in force on that day.
    Counts come last, on stderr.

    Exit codes: 0 compared, equal or not; 2 a file cannot be read.
    """
    from situate.diff import diff as compare

    with console.errors():
        found = compare(old, new, day=read_as_of(as_of))
    if as_json:
        console.as_json(_as_json(found))
    else:
        for entry in found:
            if entry.kind != "unchanged":
                console.line(_line(entry))
    if len(found.documents) > 1:
        for doc_id in found.documents:
            counts = found.counts(doc_id)
            if sum(counts.values()) > counts["unchanged"]:
                console.say(f"{doc_id}: {_told(counts)}")
    console.say(_told(found.counts()))


def _line(entry: Entry) -> str:
    name = entry.chunk_id
    if entry.was not in {None, name}:
        name = f"{entry.was} -> {name}"
    changes = ", ".join(entry.changes)
    return f"{_SIGNS[entry.kind]} {name}" + (f": {changes}" if changes else "")


def _told(counts: Mapping[Kind, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def _as_json(found: Difference) -> dict[str, object]:
    """Give the chunks by what became of them, and the counts of each document."""
    lists: dict[str, list[object]] = {kind: [] for kind in found.counts()}
    for entry in found:
        told: dict[str, object] = {"chunk_id": entry.chunk_id}
        if entry.kind == "moved":
            told["was"] = entry.was
        if entry.kind in {"moved", "changed"}:
            lists[entry.kind].append(told | {"changes": entry.changes})
        else:
            lists[entry.kind].append(entry.chunk_id)
    documents = {doc_id: found.counts(doc_id) for doc_id in found.documents}
    return {**lists, "documents": documents}
