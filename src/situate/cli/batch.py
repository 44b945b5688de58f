"""`batch export` and `batch import`: asking by way of files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from situate.cli import console

app = typer.Typer(
    help="Ask for statements by way of files, through any batch system.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigFile = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The TOML file of a corpus.")
]


@app.command("export")
def export_file(
    config: ConfigFile,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to write the requests."
        ),
    ],
) -> None:
    """Write the requests a run would send, one JSON object a line.

    Requests with an answer in the cache, or in the cassette under replay, are
    left out. Nothing is sent.
    """
    from situate.config import load
    from situate.pipeline import batch

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            count = batch.export(loaded, output, terminal)
    console.say(f"{count:,} requests in {output}")


@app.command("import")
def import_file(
    config: ConfigFile,
    replies: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Replies, one JSON object a line."),
    ],
    *,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The model that answered, where a line names none."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the report to stdout as JSON.")
    ] = False,
) -> None:
    """Take replies in, so that the next run finds them and asks nobody.

    They are matched by custom_id, never by order, and go to the cache, under
    replay to the cassette that enrichment.replay names. Exit codes: 0 every
    request has its reply; 3 some have none.
    """
    from situate.config import load
    from situate.pipeline import batch

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            report = batch.take_in(loaded, replies, terminal, model=model)
    if as_json:
        console.as_json(report)
    for message in report.errored:
        console.say(message)
    for name, ids in (
        ("came twice", report.doubled),
        ("belong to no request", report.unknown),
        ("have no reply", report.missing),
    ):
        if ids:
            console.say(f"{len(ids):,} {name}: {', '.join(ids[:5])}")
    console.say(f"{report.imported:,} replies taken in")
    raise typer.Exit(3 if report.missing else 0)
