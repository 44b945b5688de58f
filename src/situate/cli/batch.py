"""`batch`: asking by way of a vendor's batch system, or of files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console

if TYPE_CHECKING:
    from situate.enrichment.batches import Collected, Ticket
    from situate.pipeline.batches import Standing

app = typer.Typer(
    help="Ask for statements in a vendor's batches, at the batch price, or by file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigFile = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The TOML file of a corpus.")
]

Json = Annotated[
    bool, typer.Option("--json", help="Write the report to stdout as JSON.")
]


@app.command()
def submit(config: ConfigFile, *, as_json: Json = False) -> None:
    """Hand in, as batches, what has no answer and is in no batch.

    What that costs in dollars is said first. What may cross `enrichment.max_usd`
    waits for the next time. Answers come with `situate batch collect`, within a day.
    Exit codes: 0 everything is handed in; 1 nothing is; 2 a config cannot be
    used; 3 something waits, may or may not be handed in, or fits no batch; 4 another
    command works on the same tickets.
    """
    from situate.config import load
    from situate.pipeline import batches

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            done = batches.submit(loaded, terminal)
    if as_json:
        console.as_json(
            {
                "offer": done.offer,
                "tickets": [_summary(ticket) for ticket in done.tickets],
                "too_long": done.too_long,
                "stopped": done.stopped,
                "messages": done.messages,
            }
        )
    for message in done.messages:
        console.say(message)
    for ticket in done.tickets:
        where = f"as {ticket.batch_id}" if ticket.batch_id else ticket.reason or "?"
        console.say(
            f"ticket {ticket.ticket}: {ticket.requests:,} requests, "
            f"{ticket.state} {where}"
        )
    if done.too_long:
        shown = ", ".join(done.too_long[:5])
        console.say(f"{len(done.too_long):,} chunks fit no batch: {shown}")
    if done.stopped is not None:
        console.say(f"not everything was handed in: {done.stopped}")
    raise typer.Exit(0 if done.is_certain else 3)


@app.command()
def status(config: ConfigFile, *, as_json: Json = False) -> None:
    """Show every ticket, and how far its batch is.

    Exit codes: 0 no batch is open; 2 a config cannot be used; 3 one is.
    """
    from situate.config import load
    from situate.pipeline import batches

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            found = batches.status(loaded, terminal)
    if as_json:
        console.as_json([_standing(each) for each in found])
    else:
        _table([_standing(each) for each in found])
    raise typer.Exit(3 if any(each.ticket.is_open for each in found) else 0)


@app.command()
def collect(
    config: ConfigFile,
    *,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Look again, less and less often, until all end."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Put the answers of batches that are over where the next run finds them.

    Exit codes: 0 every request has its answer; 1 the key or the cache cannot be
    used; 2 a config cannot be used; 3 a batch is still open, or requests got no
    answer; 4 another command works on the same tickets.
    """
    from situate.config import load
    from situate.pipeline import batches

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            report = batches.collect(loaded, terminal, wait=wait)
    _tell(report, as_json=as_json)


@app.command()
def cancel(
    config: ConfigFile,
    tickets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TICKET]...", help="Which; all open ones without."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Stop batches. What was answered by then is paid for, and taken in.

    Vendors may take minutes to stop; `situate batch collect` takes in the rest.
    Exit codes as for `collect`.
    """
    from situate.config import load
    from situate.pipeline import batches

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            report = batches.cancel(loaded, terminal, names=tickets or ())
    _tell(report, as_json=as_json)


@app.command()
def resolve(
    config: ConfigFile,
    ticket: Annotated[str, typer.Argument(metavar="TICKET", help="Which.")],
    *,
    batch: Annotated[
        str | None,
        typer.Option(metavar="ID", help="It runs, under this id of the vendor's."),
    ] = None,
    lost: Annotated[
        bool, typer.Option("--lost", help="It does not; submit it again.")
    ] = False,
) -> None:
    """Say what became of a batch where situate cannot find it out.

    Look at the vendor's list of batches first: what is called lost and runs is
    paid for twice. Exit codes: 0 done; 2 there is no such ticket, or it is over.
    """
    from situate.config import load
    from situate.pipeline import batches

    if (batch is None) != lost:
        message = "say either --batch ID or --lost"
        raise typer.BadParameter(message)
    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            found = batches.resolve(loaded, terminal, name=ticket, batch_id=batch)
    console.say(f"ticket {found.ticket} is {found.state}")


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

    What has an answer in the cache, or in the cassette under replay, is left out,
    and what an open batch asks about. Nothing is sent.
    """
    from situate.config import load
    from situate.pipeline import by_file

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            count = by_file.export(loaded, output, terminal)
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
    chunk has its answer; 2 the file is about other requests; 3 some have none.
    """
    from situate.config import load
    from situate.pipeline import by_file

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        with console.Terminal() as terminal:
            report = by_file.take_in(loaded, replies, terminal, model=model)
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
    if report.is_foreign:
        console.say(
            f"nothing in {replies} belongs to this corpus as {config} asks about it "
            f"now; its first custom_id is {report.unknown[0]!r}"
        )
        raise typer.Exit(2)
    raise typer.Exit(3 if report.missing else 0)


def _tell(report: Collected, *, as_json: bool) -> None:
    """Say what a look at the batches brought, and end as it deserves."""
    if as_json:
        console.as_json(report)
    for message in report.messages:
        console.say(message)
    for words, number in (
        ("are still worked on", report.pending),
        ("may or may not be with the vendor", report.unclear),
        ("are in batches the vendor does not give", report.stuck),
        ("were refused with their batch and can be submitted again", report.failed),
        ("chunks got no answer; `situate run` asks about them live", report.ask_live),
        ("came twice", len(report.doubled)),
        ("belong to no request", len(report.unknown)),
    ):
        if number:
            console.say(f"{number:,} {words}")
    console.say(f"{report.answered:,} answers taken in")
    raise typer.Exit(0 if report.is_complete else 3)


def _standing(found: Standing) -> dict[str, object]:
    vendor = found.vendor
    return {
        **_summary(found.ticket),
        "vendor": vendor.status if vendor else None,
        "done": vendor.succeeded + vendor.failed if vendor else None,
        "message": found.message,
    }


def _summary(ticket: Ticket) -> dict[str, object]:
    """Give a ticket without the keys of its requests, of which it may have many."""
    return {
        "ticket": ticket.ticket,
        "state": ticket.state,
        "batch": ticket.batch_id,
        "corpus": ticket.corpus,
        "created": ticket.created,
        "requests": ticket.requests,
        "answered": ticket.answered,
        "ask_live": len(ticket.ask_live),
        "cost_usd": ticket.cost_usd,
    }


def _table(rows: list[dict[str, object]]) -> None:
    """Write rows under their names, each column as wide as it has to be."""
    if not rows:
        return
    lines = [list(rows[0])]
    lines += [["-" if v is None else str(v) for v in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (c.ljust(w) for c, w in zip(line, widths, strict=True))
        console.line("  ".join(cells).rstrip())
