"""`run` and `plan`: what works on whole corpora."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from situate.cli import console

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from situate.pipeline.run import Engine

Configs = Annotated[
    list[Path],
    typer.Argument(metavar="CONFIG", help="TOML files, one for each corpus."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write JSON to stdout instead of text.")
]


def run(
    configs: Configs,
    *,
    engine: Annotated[
        Literal["ray"] | None,
        typer.Option(help="Work on Ray Data instead of in this process. [no]"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            metavar="N",
            help="Processes of the engine. [as many as there are processors]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read, cut, enrich where the config says so, and write chunks.

    Corpora are worked on one after another. What enrichment will cost, in
    dollars, is said before anything is sent, and `enrichment.max_usd` is never
    crossed. Output appears whole or not at all.

    Exit codes: 0 done; 1 nothing published; 2 a config cannot be used; 3
    published, but too many documents failed or enrichment stopped early; 4
    another run writes the same output; 130 interrupted.
    """
    from situate.cli.figures import result_lines
    from situate.config import load
    from situate.pipeline import run as pipeline

    with console.errors():
        loaded = load(configs, environment=os.environ)
        with _started(engine, workers) as started, console.Terminal() as terminal:
            results = pipeline.run(loaded, terminal, started)
    if as_json:
        console.as_json(results)
    for result in results:
        console.say("\n  ".join(result_lines(result)))
    raise typer.Exit(pipeline.exit_code(results))


def _started(
    engine: Literal["ray"] | None, workers: int | None
) -> AbstractContextManager[Engine | None]:
    """Give what a run works on; None where that is this process.

    Raises:
        ConfigError: there are workers and no engine.
    """
    from situate.errors import ConfigError

    if engine is not None:
        from situate.pipeline.parallel import processors
        from situate.ray.engine import Engine

        return Engine(workers or processors())
    if workers is not None:
        message = "--workers is for --engine ray; a run takes all processors itself"
        raise ConfigError(message)
    return nullcontext()


def plan(
    configs: Configs,
    *,
    egress: Annotated[
        bool,
        typer.Option(
            "--egress",
            help="Say instead to which host each document would go, in bytes.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a run would send and cost; send nothing.

    In requests, tokens, dollars and hours; with --egress, in bytes of the requests as
    they would go on the wire, document by document, with the host they go to and the
    organisation's file that allows it.

    Answers that are in the cache already are not counted, but under replay.
    Documents are read and cut as in a run. Exit codes: 0 done; 1 a glob matches
    nothing, or no document can be read; 2 a config cannot be used.
    """
    from situate.cli.figures import forecast_lines
    from situate.config import load
    from situate.pipeline.jobs import forecasts

    if egress:
        _egress_plans(configs, as_json=as_json)
        return
    with console.errors():
        loaded = load(configs, environment=os.environ)
        with console.Terminal() as terminal:
            found = forecasts(loaded, terminal)
    if as_json:
        console.as_json(found)
    else:
        for forecast in found:
            console.text("\n  ".join(forecast_lines(forecast)))


def _egress_plans(configs: list[Path], *, as_json: bool) -> None:
    """Show what would leave the machine."""
    from situate.cli.egress import as_values, lines
    from situate.config import load
    from situate.pipeline.egress import egress_plans

    with console.errors():
        loaded = load(configs, environment=os.environ)
        with console.Terminal() as terminal:
            found = egress_plans(loaded, terminal)
    if as_json:
        console.as_json([as_values(each) for each in found])
        return
    for each in found:
        for line in lines(each):
            console.line(line)
