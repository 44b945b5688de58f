"""The command `situate`.

Commands read their arguments, call one function and show what it gives. What
is slow to import is imported by the command that needs it, so that `--help`
answers at once.
"""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import (
    batch,
    cache,
    compare,
    console,
    corpora,
    diff,
    export,
    files,
    forget,
    index,
    inspecting,
    queries,
    serve,
    survey,
    why,
)

if TYPE_CHECKING:
    from types import FrameType

_INTERRUPTED = 130


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
app.command()(why.why)
app.command()(survey.survey)
app.command()(inspecting.inspect)
app.command()(compare.compare)
app.command()(diff.diff)
app.command()(index.sync)
app.command()(index.ack)
app.command()(index.verify)
app.command()(index.revert)
app.command()(forget.forget)
app.command()(export.export)
app.command()(serve.serve)
app.add_typer(queries.app, name="queries")
app.add_typer(batch.app, name="batch")
app.add_typer(cache.app, name="cache")


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
    """Run the command line; end as a shell expects of a program.

    Whoever is told to stop tidies up first, whichever signal says so.
    """
    console.complete_streams()
    caught = _listen()
    try:
        app()
    except OSError as error:
        console.give_up(error)
        raise SystemExit(1) from error
    except SystemExit as end:
        if caught and end.code == _INTERRUPTED:
            raise SystemExit(128 + caught[0]) from end
        raise


def _listen() -> list[int]:
    """Treat a request to end, or a lost terminal, as Ctrl-C; give what came."""
    caught: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        if callable(interrupt):
            interrupt(number, frame)

    if sys.platform != "win32" and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell lets what runs in the background ignore Ctrl-C: it does not reach
        # us, and yet there has to be a way to stop for other signals to take.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # `nohup` has seen to it that SIGHUP is ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)
    return caught
