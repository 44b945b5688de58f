"""`inspect`: a page for a person who judges a chunking."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console
from situate.cli.options import AsOf  # noqa: TC001 - typer reads annotations
from situate.validity import read_day

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.inspect.inspected import Inspection

_CHUNKS = ".jsonl"

Shown = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A document to cut, or a chunks file (.jsonl)."
    ),
]
Page = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="PAGE", help="Where to write the page. [stdout]"
    ),
]


def inspect(  # noqa: PLR0913 - an argument for each option
    file: Shown,
    *,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The document that a chunks file was cut from."
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Most tokens of a chunk's text. [512, or what the manifest says]",
        ),
    ] = None,
    min_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Sections of fewer tokens share a chunk. [32, or as in the manifest]",
        ),
    ] = None,
    granularity: Annotated[
        str | None,
        typer.Option(metavar="G", help="How to cut a document: as for chunk. [leaves]"),
    ] = None,
    as_of: AsOf = None,
    output: Page = None,
) -> None:
    """Show a chunking as one HTML page, to open in a browser.

    Documents are cut first. Blocks file and manifest are taken from beside a
    chunks file; with --source, boundaries are drawn on that document. With --as-of,
    chunks of a chunks file that are not in force on that day are left out. The page
    asks the network for nothing. Exit codes: 0 done; 2 a file or an option
    cannot be used.
    """
    from situate.inspect import page, view
    from situate.output import write_alone

    with console.errors():
        if file.suffix.lower() == _CHUNKS:
            from situate.inspect import of_chunks

            _refuse("granularity", granularity, "a chunks file is cut already")
            inspection = of_chunks(
                file, source=source, max_tokens=max_tokens, min_tokens=min_tokens
            )
            if as_of is not None:
                inspection = inspection.as_of(read_day(as_of))
        else:
            _refuse("source", source, "the document that is shown is its own source")
            _refuse("as-of", as_of, "a document is shown as a whole")
            flags = {"max_tokens": max_tokens, "min_tokens": min_tokens}
            inspection = _of_document(file, {**flags, "granularity": granularity})
        content = page(view(inspection))
        if output is None:
            console.data(content)
            return
        write_alone(output, content, kept=[file, *([source] if source else [])])
    _tell(inspection, output)


def _refuse(option: str, value: object, why: str) -> None:
    """End where an option has no meaning.

    Raises:
        ConfigError: it was given.
    """
    from situate.errors import ConfigError

    if value is not None:
        message = f"--{option}: {why}; leave it out"
        raise ConfigError(message)


def _of_document(file: Path, flags: Mapping[str, object]) -> Inspection:
    from situate.config import load_cutting
    from situate.inspect import of_document

    return of_document(file, load_cutting(flags, environment=os.environ))


def _tell(inspection: Inspection, output: Path) -> None:
    from situate.cli.figures import many

    chunks = sum(len(each.chunks) for each in inspection.documents)
    documents = many(len(inspection.documents), "document")
    console.say(f"{many(chunks, 'chunk')} of {documents} in {output}")
