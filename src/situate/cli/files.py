"""`chunk`, `check` and `show`: what works on files named one by one."""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations
from situate.cli.options import AsOf, read_as_of

if TYPE_CHECKING:
    from situate.check import Report
    from situate.check.coverage import Coverage
    from situate.model import Chunk

_SHOWN = 10
"""Passages that are shown; `--json` gives a thousand."""

_IN_MEMORY = 16 * 1024 * 1024
"""Bytes of chunks that wait in memory until all files are read."""

ChunksFile = Annotated[Path, typer.Argument(metavar="CHUNKS", help="A chunks file.")]
ChunkId = Annotated[str, typer.Argument(metavar="CHUNK_ID", help="Which chunk.")]
Holding = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The chunks file that holds it.")
]
Indexed = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="CONFIG",
        help="In place of --chunks: the corpus whose index holds it, as acknowledged.",
    ),
]
Source = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The document that was read."),
]


def chunk(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Documents to cut.")
    ],
    *,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most tokens of a chunk's text. [512]"),
    ] = None,
    min_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Sections of fewer tokens share a chunk. [32]"),
    ] = None,
    granularity: Annotated[
        str | None,
        typer.Option(
            metavar="G",
            help="leaves; tree for their parents, multi for their blocks as well. "
            "[leaves]",
        ),
    ] = None,
    blocks: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to list the blocks, for check."),
    ] = None,
) -> None:
    """Cut documents and write their chunks to stdout as JSON lines.

    Nobody is asked anything. Nothing is written unless every file can be read.
    Exit codes: 0 done; 2 a file or an option cannot be used.
    """
    from situate.config import load_cutting
    from situate.pipeline.single import chunk_files

    flags = {
        "max_tokens": max_tokens,
        "min_tokens": min_tokens,
        "granularity": granularity,
    }
    with console.errors(), _waiting() as chunks:
        cutting = load_cutting(flags, environment=os.environ)
        with console.Terminal() as terminal:
            chunk_files(
                paths,
                cutting,
                chunks=chunks,
                blocks=blocks,
                watcher=terminal,
            )
        chunks.seek(0)
        console.copy(chunks)


def _waiting() -> BinaryIO:
    """Give a file that holds chunks back until all are there."""
    # It is a binary file in all but name.
    return cast("BinaryIO", tempfile.SpooledTemporaryFile(_IN_MEMORY))


def check(
    chunks: ChunksFile,
    *,
    blocks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The blocks file. [NAME.blocks.jsonl beside CHUNKS]"
        ),
    ] = None,
    source: Source = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Most tokens of a chunk's text. [what the manifest says]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Name every rule of the contract that a chunks file breaks.

    Each line holds the rule, the chunk and what is wrong. With --source, lines
    about it follow: the share of its letters and digits that are in a chunk's
    text, its headings that are in a text or a breadcrumb, and the passages with
    words that are in no chunk, which break no rule. Exit codes: 0 all rules
    hold; 1 one is broken; 2 a file cannot be read.
    """
    from situate import check as checking
    from situate.config import load_cutting
    from situate.pipeline.documents import options_of

    with console.errors():
        cutting = load_cutting({}, environment=os.environ)
        report = checking.check(
            chunks,
            blocks=blocks,
            source=source,
            max_tokens=max_tokens,
            options=options_of(cutting),
        )
    if as_json:
        console.as_json(report)
    else:
        for finding in report.findings:
            console.line(f"{finding.rule} {finding.subject}: {finding.message}")
        if report.coverage is not None:
            _tell(str(source), report.coverage)
    _conclude(report)


def _tell(source: str, coverage: Coverage) -> None:
    """Say how much of a source reached a leaf, and what did not."""
    from situate.cli.figures import many

    # Never rounded up: what is lost shows, however little it is.
    percent = math.floor(coverage.share * 10_000) / 100
    console.line(
        f"{source}: {percent:.2f} % of {many(coverage.characters, 'character')} "
        f"reached a leaf; {coverage.headings_found:,} of "
        f"{many(coverage.headings, 'heading')}; "
        f"{many(coverage.unplaced, 'passage')} not placed"
    )
    for unplaced in coverage.passages[:_SHOWN]:
        console.line(
            f"{source}: not placed: {unplaced.missing!r} of {unplaced.passage!r}"
        )
    if coverage.unplaced > _SHOWN:
        console.say(f"{coverage.unplaced - _SHOWN:,} more are not shown")
    for warning in coverage.warnings:
        console.say(f"{source}: {warning}")


def _conclude(report: Report) -> None:
    from situate.cli.figures import many

    for message in report.not_checked:
        console.say(message)
    broken = sum(report.broken.values())
    hidden = broken - len(report.findings)
    if hidden:
        console.say(f"{hidden:,} more are not shown")
    rules = ", ".join(f"{rule} {count:,}" for rule, count in report.broken.items())
    if broken:
        verdict = f"{broken:,} times a rule is broken ({rules})"
    elif report.not_checked:
        verdict = "all that was checked holds"
    else:
        verdict = "all rules hold"
    chunks, documents = (
        many(report.chunks, "chunk"),
        many(report.documents, "document"),
    )
    console.say(f"{chunks} of {documents}: {verdict}")
    raise typer.Exit(1 if broken else 0)


def show(  # noqa: PLR0913 - an argument for each option
    chunk_id: ChunkId,
    *,
    chunks: Holding = None,
    config: Indexed = None,
    source: Source = None,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Show a chunk: what stands above it, and its passage of the source.

    Without --source, or where the reader knows no place in it, the chunk's own
    text. Of several wordings in an index the one in force on --as-of, else the one
    that begins last. Exit codes: 0 shown; 2 there is no such chunk, it is not in
    force then, or a file cannot be read.
    """
    from situate.pipeline.looking.showing import Shown, find_chunk, passage
    from situate.records import to_record

    with console.errors():
        day = read_as_of(as_of)
        if config is not None:
            chunk, _, _ = held(chunk_id, chunks, config, day)
            shown = Shown(chunk=chunk, passage=passage(chunk, source))
        else:
            shown = find_chunk(chunk_id, needed(chunks), source=source, day=day)
    if as_json:
        console.as_json(to_record(shown.chunk) | {"passage": shown.passage})
        return
    parts = (shown.chunk.context_prefix, shown.passage or shown.chunk.text)
    console.text("\n\n".join(part for part in parts if part))


def needed(chunks: Path | None) -> Path:
    """Give the chunks file that a chunk is looked for in.

    Raises:
        ConfigError: none is named.
    """
    from situate.errors import ConfigError

    if chunks is None:
        message = "--chunks or --config is missing: where is the chunk?"
        raise ConfigError(message)
    return chunks


def held(
    name: str, chunks: Path | None, config: Path, day: str | None
) -> tuple[Chunk, tuple[Chunk, ...], Path]:
    """Find a chunk, and those beside it, in what was acknowledged of an index.

    Also where the corpus's chunks file would be.

    Raises:
        ConfigError: the config cannot be used, or a chunks file is named as well.
        RecordError: the index has no such chunk.
    """
    from situate.config import load
    from situate.errors import ConfigError
    from situate.pipeline.looking.holding import find_held

    if chunks is not None:
        message = "--config: the chunk is looked for in --chunks; leave one out"
        raise ConfigError(message)
    (loaded,) = load([config], environment=os.environ)
    chunk, document = find_held(name, loaded, day=day)
    return chunk, document, loaded.output.path
