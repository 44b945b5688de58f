"""`queries`: questions that a corpus's own documents give."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from situate.cli import console

app = typer.Typer(
    help="Draft questions to compare on.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _queries() -> None:
    """Hold what stands before a command."""


@app.command()
def make(  # noqa: PLR0913 - one for each choice there is
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A corpus's TOML file.")
    ],
    *,
    kinds: Annotated[
        str,
        typer.Option(
            metavar="LIST", help="Of headings, references, definitions, by commas."
        ),
    ] = "headings,references,definitions",
    per_document: Annotated[
        int, typer.Option(min=1, help="Most questions that a document answers.")
    ] = 8,
    per_section: Annotated[
        int, typer.Option(min=1, help="Most questions that a section answers.")
    ] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where they go; stdout if unset."),
    ] = None,
) -> None:
    """Draft questions from headings, cross-references and definitions; ask nobody.

    Every line is marked as drafted: such questions show how arms differ, and alone
    never earn a verdict of keep.

    Exit codes: 0 drafted; 1 no document can be read, or nothing in them gives a
    question; 2 the config or an option cannot be used.
    """
    from situate.cli.options import choices
    from situate.compare.drafting import SOURCES
    from situate.config import load
    from situate.output import write_alone
    from situate.pipeline.drafting import drafted

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            lines, count = drafted(
                loaded,
                terminal,
                kinds=choices("--kinds", kinds, SOURCES),
                most=(per_document, per_section),
                seed=seed,
            )
        if out is None:
            console.data(lines)
        else:
            write_alone(out, lines, kept=[config])
    console.say(f"{count:,} questions drafted" + (f" into {out}" if out else ""))
