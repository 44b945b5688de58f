"""`compare`: whether the sentence is worth its price on a corpus of the user's."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Annotated

import typer

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations
from situate.cli.options import choices, listed, named, one_of, wholes
from situate.errors import ConfigError

_Config = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="A corpus's TOML file.")
]


def compare(  # noqa: PLR0913 - one for each choice a comparison has
    config: _Config,
    *,
    queries: Annotated[
        Path | None,
        typer.Option(help="Questions: JSON lines of qid, query and gold."),
    ] = None,
    query_log: Annotated[
        Path | None,
        typer.Option(
            help="Questions without labels, to be judged: a page to judge on is "
            "written for those on which arms differ."
        ),
    ] = None,
    judged: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=FILE",
            help="What a person judged on such a page, and its key; repeatable.",
        ),
    ] = None,
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Of none, breadcrumb, statement, breadcrumb+statement, separated by "
            "commas; all that the prompts allow if unset.",
        ),
    ] = None,
    prompts: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Prompts to compare, separated by commas; the config's if unset.",
        ),
    ] = None,
    statement_in: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Dense, both, or dense,both: which indexes hold it.",
        ),
    ] = "dense",
    retrievers: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Of bm25, dense, hybrid; and bm25-fields, hybrid-fields, where the "
            "breadcrumb is a field of its own.",
        ),
    ] = "bm25,dense,hybrid",
    k: Annotated[
        str,
        typer.Option(
            "--k", metavar="LIST", help="Entries, by commas, where recall is taken."
        ),
    ] = "1,5,10,20",
    budget: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Tokens to fill, by commas; the first decides the verdict.",
        ),
    ] = "2000,5000",
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="fixed:TOKENS", help="Token windows to compare with; repeatable."
        ),
    ] = None,
    chunks: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="Chunks made elsewhere, as an arm; repeatable."
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Rankings made elsewhere, as lines of qid and chunk_ids.",
        ),
    ] = None,
    hand_over: Annotated[
        str,
        typer.Option(
            "--return",
            metavar="LEVEL",
            help="Leaf, or section: what is handed over for a leaf that is found.",
        ),
    ] = "leaf",
    levels: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Leaf, or document,leaf: rank documents first, then inside the best.",
        ),
    ] = "leaf",
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="One of static, which is offline, openai:MODEL, or module:function.",
        ),
    ] = "static",
    embedder_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where it listens, for a server of OpenAI's protocol.",
        ),
    ] = None,
    reranker: Annotated[
        str | None,
        typer.Option(metavar="MODULE:FUNCTION", help="Orders the first 50 anew."),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(help="Least gain worth paying for, in recall from 0 to 1."),
    ] = 0.02,
    seed: Annotated[int, typer.Option(min=0, help="Of everything drawn.")] = 0,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Where the report goes, JSON beside it; beside the output if unset.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether the model's sentence is worth its price, on your own questions.

    The documents are read and cut once. Every arm indexes the same leaves: none,
    the breadcrumb, the statement, or both. Statements that are not at hand are asked
    for as `run` would, within `enrichment.max_usd`, and their price is said first.
    The verdict goes by recall within the first budget of tokens that an answering
    model reads, on differences paired by question and clustered by document.

    Exit codes: 0 compared, whatever the verdict; 1 no document can be read, or no
    request can succeed; 2 a config, an option or a file of questions cannot be used;
    3 compared, but some statements could not be had; 4 another comparison
    writes the same report, or `forget` is at work; 130 interrupted.
    """
    from situate.cli.figures import comparison_lines
    from situate.config import load

    with console.errors():
        with console.installed("compare"):
            # Used deep inside; missing, they are found before anything is paid for.
            for package in ("bm25s", "Stemmer"):
                importlib.import_module(package)
            from situate.compare.arms import KINDS
            from situate.compare.measures import Cuts
            from situate.compare.ranking import FUSION_DEPTH, RETRIEVERS
            from situate.compare.summary import Terms
            from situate.compare.trial import RETURNED
            from situate.pipeline.comparison import comparing
            from situate.pipeline.comparison.arming import Request
        (loaded,) = load([config], environment=os.environ)
        request = Request(
            queries=queries,
            query_log=query_log,
            judged=tuple(named("--judged", each) for each in judged or ()),
            kinds=choices("--arms", arms, KINDS) if arms is not None else (),
            prompts=listed(prompts) if prompts is not None else (),
            placings=choices("--statement-in", statement_in, ("dense", "both")),
            retrievers=choices("--retrievers", retrievers, RETRIEVERS),
            windows=tuple(_window(each) for each in baseline or ()),
            chunk_files=tuple(named("--chunks", each) for each in chunks or ()),
            run_files=tuple(named("--run", each) for each in run or ()),
            returned=one_of("--return", hand_over, RETURNED),
            drilled=_drilled(levels),
            embedder=embedder,
            base_url=embedder_url,
            reranker=reranker,
            terms=Terms(
                cuts=Cuts(
                    ks=wholes("--k", k, most=FUSION_DEPTH),
                    budgets=wholes("--budget", budget),
                ),
                margin=_gain(margin),
                seed=seed,
            ),
            report=report,
        )
        with console.Terminal() as terminal:
            result = comparing.compare(loaded, request, terminal)
    if as_json:
        console.data(result.json)
    else:
        for line in comparison_lines(result.comparison):
            console.line(line)
    for path in result.written:
        console.say(f"written: {path}")
    for reason in result.short:
        console.say(f"incomplete: {reason}")
    raise typer.Exit(3 if result.short else 0)


def _drilled(levels: str) -> bool:
    """Say whether documents are ranked first.

    Raises:
        ConfigError: the levels are no such list.
    """
    parts = listed(levels)
    if parts not in (("leaf",), ("document", "leaf")):
        message = f"--levels: {levels!r} is neither leaf nor document,leaf"
        raise ConfigError(message)
    return len(parts) > 1


def _gain(margin: float) -> float:
    """Check the margin before anything is spent on it.

    Raises:
        ConfigError: it is no gain of recall.
    """
    if not 0 < margin < 1:
        message = f"--margin: {margin} is not between 0 and 1"
        raise ConfigError(message)
    return margin


def _window(value: str) -> int:
    """Read `fixed:400`.

    Raises:
        ConfigError: it is something else.
    """
    kind, _, size = value.partition(":")
    if kind != "fixed":
        message = f"--baseline: {value!r} is not fixed:TOKENS"
        raise ConfigError(message)
    (tokens, *more) = wholes("--baseline", size)
    if more:
        message = f"--baseline: {value!r} is several; give the option once for each"
        raise ConfigError(message)
    return tokens
