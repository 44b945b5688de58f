"""`queries`: questions that a corpus's own documents give, and a model if asked."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from situate.cli import console
from situate.errors import ConfigError

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
            metavar="LIST",
            help="Of headings, references, definitions, model, by commas; model asks "
            "the config's provider, which costs money.",
        ),
    ] = "headings,references,definitions",
    per_document: Annotated[
        int, typer.Option(min=1, help="Most questions that a document answers.")
    ] = 8,
    per_section: Annotated[
        int, typer.Option(min=1, help="Most questions that a section answers.")
    ] = 2,
    ask_about: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="CHUNKS",
            help="Chunks drawn for the kind model, one question each; the most per "
            "document and section hold for them by themselves.",
        ),
    ] = 100,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who drafts, for the kind model; the config's model if unset. It "
            "should not be the one that writes the statements.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where they go; stdout if unset."),
    ] = None,
) -> None:
    """Draft questions from headings, cross-references and definitions, or by a model.

    Every line is marked as drafted: such questions show how arms differ, and alone
    never earn a verdict of keep.

    Nobody is asked but for the kind model: then one question is asked for each chunk
    drawn, its price said first, within the config's limits. The model that writes the
    statements should not write the questions: it would find its own words again.
    Name another with --model, or a config of its own. The answer to such a question
    is its whole chunk, which is fair between arms over the same chunks alone.

    Exit codes: 0 drafted; 1 no document can be read, nothing in them gives a
    question, or no request can succeed; 2 the config or an option cannot be used; 3
    drafted, but the model was stopped by budget, outage or cache; 4 `forget` is at
    work on the ledger.
    """
    from situate.cli.options import choices
    from situate.compare.drafting import MODEL, SOURCES, Limits
    from situate.config import load
    from situate.output import write_alone
    from situate.pipeline.comparison.drafting import Wanted, drafted
    from situate.pipeline.comparison.questioning import Questioning

    with console.errors():
        chosen = choices("--kinds", kinds, (*SOURCES, MODEL))
        if model is not None and MODEL not in chosen:
            message = "--model is for questions of the kind model; name it in --kinds"
            raise ConfigError(message)
        limits = Limits(
            chunks=ask_about, per_document=per_document, per_section=per_section
        )
        asked = Questioning(limits=limits, model=model) if MODEL in chosen else None
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            wanted = Wanted(
                kinds=[kind for kind in SOURCES if kind in chosen],
                per_document=per_document,
                per_section=per_section,
                seed=seed,
                asked=asked,
            )
            found = drafted(loaded, wanted, terminal)
        if out is None:
            console.data(found.lines)
        else:
            write_alone(out, found.lines, kept=found.kept)
    said = f"{found.count:,} questions drafted"
    console.say(f"{said} into {out}" if out else said)
    raise typer.Exit(0 if found.complete else 3)
