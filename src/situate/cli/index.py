"""`sync`, `ack`, `verify` and `revert`: what keeps a store true to a corpus."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations
from situate.cli.figures import many

if TYPE_CHECKING:
    from situate.config import Config
    from situate.index.inventory import Finding
    from situate.pipeline.living.sent import Sent

_SHOWN = 5
"""Ids that are named; `--json` gives all."""

Run = Annotated[str, typer.Argument(metavar="RUN", help="The name of a delta.")]
ConfigFile = Annotated[
    Path, typer.Option("--config", metavar="CONFIG", help="The corpus's TOML file.")
]
AllowDeletes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Let up to N chunks be deleted. [the share output.max_delete_share]",
    ),
]


def sync(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="The corpus's TOML file.")
    ],
    *,
    allow_deletes: AllowDeletes = None,
    as_json: Json = False,
) -> None:
    """Write what has changed since the last acknowledged delta, as a new one.

    Its name, the RUN to acknowledge, goes to stdout; nothing does where nothing has
    changed. It stands in NAME.delta/RUN beside the output: upserts, metadata updates
    and deletes as JSON lines, each to be taken in whatever was before. A document
    that cannot be read keeps its chunks; nothing is deleted because a folder is
    empty or a glob matches nothing, nor, where versions.keep is all, because a file
    is gone or holds another wording. No chunk waits for its statement.

    Exit codes: 0 done; 1 nothing written; 2 the config cannot be used; 3 written,
    but the listing is not complete, deletions were withheld, too many documents
    failed or statements are missing; 4 another run writes the same output; 130
    interrupted.
    """
    from situate.pipeline.living import syncing

    with console.errors():
        loaded = _load(config)
        with console.Terminal() as terminal:
            sent = syncing.sync(loaded, terminal, allow_deletes=allow_deletes)
    if as_json:
        console.as_json(_told(sent))
    _conclude(sent, as_json=as_json)


def ack(run: Run, *, config: ConfigFile, as_json: Json = False) -> None:
    """Say that a store has taken in a delta; the next one starts from there.

    Only the last delta can be acknowledged: it holds whatever those before it did.
    Saying it again changes nothing.

    Exit codes: 0 done; 2 it is not the last delta, or the config cannot be used; 4
    another run writes the same output.
    """
    from situate.pipeline.living import indexing

    with console.errors():
        loaded = _load(config)
        advanced = indexing.acknowledge(loaded, run)
    name = loaded.corpus.name
    if as_json:
        console.as_json({"corpus": name, "run": run, "advanced": advanced})
    console.say(f"{name}: {run} is {'' if advanced else 'already '}acknowledged")


def verify(
    *,
    against: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Ids the store holds: plain, or JSON lines with record_id or chunk_id "
            "and, where known, embed_hash, beside it or in metadata.",
        ),
    ],
    config: ConfigFile,
    allow_deletes: AllowDeletes = None,
    as_json: Json = False,
) -> None:
    """Compare what a store holds with what was acknowledged; write what repairs it.

    The repair is a delta as sync writes them, to be taken in and acknowledged.
    Chunks of documents that this index never had are reported and left alone. Where
    the store has a delta that waits for its acknowledgement, or none was acknowledged
    yet, RUN names that one, and nothing is written.

    Exit codes: 0 it agrees, or the repair is written; 2 a file cannot be read, or
    records are missing; 3 deletions were withheld; 4 another run writes the same
    output.
    """
    from situate.pipeline.living import indexing

    with console.errors():
        loaded = _load(config)
        finding, sent = indexing.verify(loaded, against, allow_deletes=allow_deletes)
    found = _found(finding)
    if as_json:
        console.as_json({**_told(sent), **found})
    for name, chunk_ids in found.items():
        if chunk_ids:
            are = "is" if len(chunk_ids) == 1 else "are"
            console.say(
                f"{many(len(chunk_ids), 'chunk')} {are} {name}: {_shown(chunk_ids)}"
            )
    _conclude(sent, as_json=as_json)


def revert(
    run: Run,
    *,
    config: ConfigFile,
    allow_deletes: AllowDeletes = None,
    as_json: Json = False,
) -> None:
    """Write the delta that leads back to before a run, and all that came after it.

    The last five acknowledged runs can be reverted, and one that waits for its
    acknowledgement. The next sync brings what the documents say then.

    Exit codes: 0 written; 2 nobody remembers the run, or records are missing; 3
    written, but deletions were withheld; 4 another run writes the same output.
    """
    from situate.pipeline.living import indexing

    with console.errors():
        sent = indexing.revert(_load(config), run, allow_deletes=allow_deletes)
    if as_json:
        console.as_json(_told(sent))
    _conclude(sent, as_json=as_json)


def _load(path: Path) -> Config:
    from situate.config import load

    (config,) = load([path], environment=os.environ)
    return config


def _told(sent: Sent) -> dict[str, object]:
    return {
        "corpus": sent.corpus,
        "kind": sent.kind,
        "run": sent.run,
        "folder": sent.folder,
        "exit_code": sent.exit_code,
        "reasons": sent.reasons,
        "upserts": sent.upserts,
        "metadata_updates": sent.metadata_updates,
        "deletes": sent.deletes,
        "withheld": sent.withheld,
        "withheld_ids": sent.withheld_ids,
        "agrees": sent.agrees,
        "documents": sent.outcomes,
        "failed": sent.failed,
        "statements": sent.stated,
    }


def _found(finding: Finding) -> dict[str, tuple[str, ...]]:
    return {
        "missing": finding.missing,
        "stale": finding.stale,
        "surplus": finding.surplus,
        "foreign": finding.foreign,
    }


def _conclude(sent: Sent, *, as_json: bool) -> None:
    """Name the delta and say what is in it, and why it is not all."""
    for reason in sent.reasons:
        console.say(f"{sent.corpus}: {reason}")
    if sent.withheld_ids:
        shown = _shown(sent.withheld_ids)
        console.say(f"{sent.corpus}: {sent.withheld:,} deletions wait: {shown}")
    console.say(f"{sent.corpus}: {_done(sent)}")
    if sent.run is not None and not as_json:
        console.line(sent.run)
    raise typer.Exit(sent.exit_code)


def _done(sent: Sent) -> str:
    """Say what a delta holds, and what is to be done with one that was sent before."""
    if sent.run is None:
        return "nothing to do"
    match sent.agrees:
        case "surely":
            return f"the store has all of {sent.run}, which waits: acknowledge it"
        case "perhaps":
            return (
                f"nobody can tell by ids and hashes whether the store has all of "
                f"{sent.run}, which waits: take it in (again), then acknowledge it"
            )
        case None:
            return (
                f"{many(sent.upserts, 'upsert')}, "
                f"{many(sent.metadata_updates, 'metadata update')}, "
                f"{many(sent.deletes, 'delete')} in {sent.folder}"
            )


def _shown(ids: tuple[str, ...]) -> str:
    more = "" if len(ids) <= _SHOWN else f" and {len(ids) - _SHOWN:,} more"
    return ", ".join(ids[:_SHOWN]) + more
