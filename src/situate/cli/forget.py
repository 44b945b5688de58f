"""`forget`: everything that is derived from a document, removed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations
from situate.cli.index import ConfigFile  # noqa: TC001 - as above

if TYPE_CHECKING:
    from situate.pipeline.living.forgetting import Receipt


def forget(
    doc_id: Annotated[
        str, typer.Argument(metavar="DOC_ID", help="The id of a document.")
    ],
    *,
    config: ConfigFile,
    as_json: Json = False,
) -> None:
    """Remove everything that is derived from a document, and give a receipt.

    Its file has to be gone first, or deleted in a manifest. Published chunks, the
    index and its deltas, replies in the cache, ledgers and comparisons lose it; where
    a store may have it, a delta is written that deletes it there, to be acknowledged.
    The receipt says what was removed, what stays and why, and what situate cannot
    reach. Doing it again changes nothing, and completes what was interrupted.

    Exit codes: 0 done, also where nothing was left; 1 the cache or a file cannot be
    written; 2 the document is still there, a batch that asks about it is open, DOC_ID
    is the path of another document and no id, or a file cannot be read; 4 another
    command writes the same output or notes what it spends in a ledger of it.
    """
    from situate.config import load
    from situate.pipeline.living import forgetting

    with console.errors():
        (loaded,) = load([config], environment=os.environ)
        receipt = forgetting.forget(loaded, doc_id)
    if as_json:
        console.as_json(receipt)
    else:
        _show(receipt)


def _show(receipt: Receipt) -> None:
    """Write a receipt for people."""
    console.line(f"{receipt.corpus}: {receipt.doc_id}")
    for each in receipt.removed:
        console.line(f"removed    {each.count:>6,} {each.artefact:<10} {each.where}")
    if not receipt.is_known:
        console.line(
            f"nothing is known under {receipt.doc_id!r}, nothing was removed"
            f"{' of it' if receipt.removed else ''}"
        )
    elif not receipt.removed:
        console.line("removed    nothing: a delta that waits is all that names it")
    if receipt.run is not None:
        console.line(f"delta      {receipt.folder}")
    for stays in receipt.kept:
        console.line(f"kept       {stays}")
    for elsewhere in receipt.beyond:
        console.line(f"beyond     {elsewhere}")
