"""`survey`: what lies in folders, before anything is configured."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from situate.pipeline.looking.surveying import Survey, Surveyed

_SHOWN = 100
"""Files that are named; `--json` gives them all."""

_LEFT = 2
"""Columns of words; those of numbers stand behind them."""


def survey(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Files, and folders with all below them."),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Say what lies there and what would become of it; nothing is configured yet.

    Files are read and cut as `chunk` does. A table of states and formats with
    numbers and sizes, what the readable files lack (title, effective_from, ACL; front
    matter and sidecars are read), their languages, then a line for each file that
    is not simply read: scanned, encrypted, of an old format, empty, no text,
    beyond a limit, with tracked changes, the same bytes as another, better read
    by Docling. Linked folders and names that start with a dot are passed over.

    Exit codes: 0 a file can be read; 1 none can; 2 nothing is at a path.
    """
    from situate.config import load_cutting
    from situate.pipeline.looking.surveying import survey as look

    with console.errors():
        cutting = load_cutting({}, environment=os.environ)
        with console.Terminal() as terminal:
            found = look(paths, cutting, terminal)
    for message in found.closed:
        console.say(message)
    if as_json:
        console.as_json(_as_json(found))
    else:
        _show(found)
    if not found.readable:
        console.say("no file can be read")
        raise typer.Exit(1)


def _as_json(found: Survey) -> dict[str, object]:
    return {
        "kinds": [
            {"state": state, "kind": kind, "files": count, "bytes": size}
            for (state, kind), (count, size) in found.kinds().items()
        ],
        "files": [{**asdict(each), "kind": each.kind} for each in found.files],
        "closed": found.closed,
    }


def _show(found: Survey) -> None:
    for line in (*_table(found), *_facts(found)):
        console.line(line)
    remarks = [
        (each, said) for each in found.files if (said := "; ".join(_remarks(each)))
    ]
    for each, said in remarks[:_SHOWN]:
        console.line(f"{each.path}: {said}")
    if len(remarks) > _SHOWN:
        console.say(
            f"{len(remarks) - _SHOWN:,} more are not shown; --json gives every file"
        )


def _table(found: Survey) -> Iterator[str]:
    """Put states and formats below each other, with their sum."""
    kinds = found.kinds()
    rows = [("state", "format", "files", "size")]
    rows += [
        (state, kind, f"{count:,}", _size(size))
        for (state, kind), (count, size) in kinds.items()
    ]
    total = sum(size for _, size in kinds.values())
    rows.append(("total", "", f"{len(found.files):,}", _size(total)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(
            cell.ljust(width) if place < _LEFT else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()


def _facts(found: Survey) -> Iterator[str]:
    """Say what the readable files are together, and what they lack."""
    from situate.cli.figures import many

    known = [contents for _, contents in found.readable]
    if not known:
        return
    sections = many(sum(each.sections for each in known), "section")
    leaves = sum(each.leaves for each in known)
    yield (
        f"{many(len(known), 'readable file')}: {sections}, {leaves:,} "
        f"{'leaf' if leaves == 1 else 'leaves'}"
    )
    yield (
        f"without title {_count(not each.title for each in known)}, "
        f"without effective_from {_count(not each.effective_from for each in known)}, "
        f"without ACL {_count(not each.acl for each in known)}"
    )
    yield f"languages {_shares(each.language or 'unknown' for each in known)}"
    structures = [each.structure for each in known if each.structure is not None]
    if structures:
        yield f"structure of PDFs by {_shares(structures)}"


def _remarks(each: Surveyed) -> Iterator[str]:
    """Yield why a file is not simply read.

    The table alone tells of files that nothing here is meant to read.
    """
    if each.state == "unsupported" and each.format is None and each.docling is None:
        return
    if each.state == "empty":
        yield "has no text" if each.bytes else "is empty"
    elif each.state == "scan":
        yield "has no text layer, as a scan"
    elif each.format is None and each.state == "unsupported":
        yield "there is no reader for it"
    elif each.reason is not None:
        yield each.reason.removeprefix(f"{each.path}: ")
    if each.duplicate_of is not None:
        yield f"same bytes as {each.duplicate_of}"
    if each.contents is not None and each.contents.tracked_changes:
        yield "has tracked changes"
    if each.docling is not None:
        yield each.docling


def _count(lacking: Iterable[bool]) -> str:
    return f"{sum(lacking):,}"


def _shares(names: Iterable[str]) -> str:
    counts: Sequence[tuple[str, int]] = Counter(names).most_common()
    return ", ".join(f"{name} {count:,}" for name, count in counts)


def _size(number: int) -> str:
    """Give a size with one decimal, in units of a thousand."""
    size = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{number} B" if unit == "B" else f"{size:,.1f} {unit}"
