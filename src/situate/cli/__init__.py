"""The command `situate`.

Commands read their arguments, call one function and show what it gives. What
is slow to import is imported by the command that needs it, so that `--help`
answers at once.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from situate.cli import batch, console, corpora, files


def _show_version(wanted: bool) -> None:
    if wanted:
        console.text(f"situate {version('situate')}")
        raise typer.Exit


app = typer.Typer(
    name="situate",
    help="Cut documents along their structure into chunks that make sense alone.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(corpora.run)
app.command()(files.chunk)
app.command()(corpora.plan)
app.command()(files.check)
app.command()(files.show)
app.add_typer(batch.app, name="batch")


@app.callback()
def _situate(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and stop.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Hold what stands before a command."""


def main() -> None:
    """Run the command line."""
    app()
