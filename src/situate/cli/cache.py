"""`cache ...`: looking after the answers that are paid for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from situate.enrichment.cache import Place

app = typer.Typer(
    help="Look after the answers that are paid for.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_SHOWN = 20
"""Findings of one kind that are written for people; JSON has all."""

ConfigFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CONFIG]", help="The TOML file of a corpus that names the cache."
    ),
]
Directory = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="The folder of the cache, in the place of CONFIG."
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write JSON to stdout instead of text.")
]


@app.command()
def stats(
    config: ConfigFile = None, *, directory: Directory = None, as_json: Json = False
) -> None:
    """Say what a cache holds, since when, and what was spent month by month.

    Dollars are those of all runs on it, by calendar month in UTC, with what was set
    aside for requests whose run was killed. Exit codes: 0 told; 1 the cache cannot
    be read; 2 there is none.
    """
    from situate.cli.figures import many
    from situate.pipeline import upkeep

    with console.errors():
        place = _place(config, directory)
        found = upkeep.statistics(place)
    if as_json:
        console.as_json(found)
        return
    console.line(str(place))
    console.line(f"answers    {found.answers:,}")
    console.line(
        f"replies    {found.replies:,}, "
        f"{found.unreferenced_replies:,} with no answer in use"
    )
    console.line(
        f"documents  {found.documents:,}, "
        f"{found.unattributed_replies:,} replies do not say for which"
    )
    if found.foreign_rows:
        console.line(f"foreign    {many(found.foreign_rows, 'row')}; see verify")
    console.line(f"bytes      {found.bytes:,}")
    if found.newest_use is not None:
        console.line(f"used       from {found.oldest_use} to {found.newest_use}")
    _tell_spending(found.spent_usd)


@app.command()
def verify(
    config: ConfigFile = None, *, directory: Directory = None, as_json: Json = False
) -> None:
    """Look at every row of a cache, and name what is broken or not ours.

    Nothing is changed, and nothing in it is run or opened. Exit codes: 0 all is
    well; 1 something is wrong; 2 there is no cache.
    """
    from situate.cli.figures import many
    from situate.pipeline import upkeep

    with console.errors():
        verdict = upkeep.verify(_place(config, directory))
    findings = verdict.findings
    if as_json:
        console.as_json(verdict)
    else:
        for finding in findings[:_SHOWN]:
            console.line(f"{finding.subject}: {finding.message}")
        if len(findings) > _SHOWN:
            console.say(f"{len(findings) - _SHOWN:,} more are not shown")
    wrong = f"{len(findings):,} wrong" if findings else "all is well"
    console.say(f"{many(verdict.rows, 'row')}: {wrong}")
    raise typer.Exit(1 if findings else 0)


@app.command("export")
def export_file(
    config: ConfigFile = None,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to write the answers."
        ),
    ],
    directory: Directory = None,
    as_json: Json = False,
) -> None:
    """Write replies and answers to a file, one JSON object a line.

    The file appears whole and replaces an earlier export only. What was spent stays
    where it was spent. Exit codes: 0 written; 1 the cache cannot be read or the file
    not written; 2 there is no cache, or another file is in the way.
    """
    from situate.pipeline import upkeep

    with console.errors():
        exported = upkeep.export(_place(config, directory), output)
    if as_json:
        console.as_json(exported)
    if exported.left_out:
        console.say(f"{exported.left_out:,} rows are not ours and left out; see verify")
    console.say(f"{_counted(exported.replies, exported.answers)} in {output}")


@app.command("import")
def import_file(
    config: ConfigFile = None,
    *,
    source: Annotated[
        Path,
        typer.Option(
            "-i", "--input", metavar="FILE", help="What `cache export` has written."
        ),
    ],
    directory: Directory = None,
    as_json: Json = False,
) -> None:
    """Put the answers of another cache into this one.

    It is made where it is missing. Nothing that is here is replaced: where a line
    says something else, what is here stays and the key is told. Exit codes: 0 all of
    the file is here; 1 the cache cannot be written; 2 a file cannot be used; 3 some
    lines are not ours or differ from what is here.
    """
    from situate.pipeline import upkeep

    with console.errors():
        taken = upkeep.take_in(_place(config, directory), source)
    if as_json:
        console.as_json(taken)
    differing = [f"{key}: something else is here; it stays" for key in taken.conflicts]
    for messages in (taken.refused, differing):
        for message in messages[:_SHOWN]:
            console.say(message)
        if len(messages) > _SHOWN:
            console.say(f"{len(messages) - _SHOWN:,} more are not shown")
    console.say(
        f"{_counted(taken.replies, taken.answers)} taken in, "
        f"{taken.known:,} were here already"
    )
    raise typer.Exit(3 if taken.refused or taken.conflicts else 0)


@app.command()
def prune(
    config: ConfigFile = None,
    *,
    not_used_since: Annotated[
        str, typer.Option(metavar="DATE", help="A day in UTC, like 2026-06-30.")
    ],
    directory: Directory = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove replies and answers that no run has used since the start of a day.

    They are paid for again when they are wanted again. Runs may go on meanwhile.
    Exit codes: 0 done; 1 the cache cannot be read or written; 2 DATE is no day or
    still to come, or there is no cache.
    """
    from situate.pipeline import upkeep

    with console.errors():
        place = _place(config, directory)
        gone = upkeep.prune(place, not_used_since, rehearsal=dry_run)
    if as_json:
        console.as_json(gone)
    verb = "would be removed" if dry_run else "removed"
    console.say(f"{_counted(gone.replies, gone.answers)} {verb}, {gone.bytes:,} bytes")


def _place(config: Path | None, directory: Path | None) -> Place:
    """Give the folder or the server of the cache that is meant.

    Raises:
        ConfigError: none is named, or two, or the config cannot be used.
    """
    from situate.config import load
    from situate.errors import ConfigError

    if (config is None) == (directory is None):
        message = "name a CONFIG or a --directory, one of them"
        raise ConfigError(message)
    if config is None:
        return Path(directory or "")
    (loaded,) = load([config], environment=os.environ)
    return loaded.cache.place


def _counted(replies: int, answers: int) -> str:
    from situate.cli.figures import many

    word = "reply" if replies == 1 else "replies"
    return f"{replies:,} {word} and {many(answers, 'answer')}"


def _tell_spending(spent_usd: Mapping[str, Decimal]) -> None:
    from situate.cli.figures import dollars

    for month, usd in spent_usd.items():
        console.line(f"spent      {dollars(usd)} in {month}")
