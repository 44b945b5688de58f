"""`export`: what a store is to be told, as the store takes it in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from situate.cli import console, options
from situate.cli.corpora import Json  # noqa: TC001 - typer reads annotations

if TYPE_CHECKING:
    from situate.pipeline.exporting import Exported


Source = Annotated[
    Path,
    typer.Argument(
        metavar="PATH", help="A chunks file, or the folder of a delta, as of sync."
    ),
]
To = Annotated[
    str,
    typer.Option(
        metavar="STORE",
        help="elasticsearch, opensearch, qdrant, lancedb, chroma or pgvector.",
    ),
]
Index = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="The index, collection or table that is to be filled."
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="FOLDER", help="Where to write; an earlier export is replaced."
    ),
]
Dimensions = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Numbers of a vector. [no field for them]"),
]
VectorFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Vectors, as JSON lines with embed_hash and vector. [none are sent]",
    ),
]


def export(  # noqa: PLR0913 - each is an option of its own
    source: Source,
    *,
    to: To,
    index: Index,
    out: Out,
    dimensions: Dimensions = None,
    vectors: VectorFile = None,
    as_json: Json = False,
) -> None:
    """Write what a search server or a vector store is to be told, as it takes it in.

    Of a chunks file every record is indexed; of a delta upserts are indexed, metadata
    updates laid over what is there, deletes deleted. The files of changes, of 10 MB
    at most, may be sent in any order and again; their names go to stdout. Nothing is
    sent from here, and no state advances.

    Exit codes: 0 written; 2 a file, or the name or size of the index, cannot be used,
    or a package is missing; 3 written, but the file of vectors lacks some, or values
    too long for the store are left out; 4 another run writes the folder.
    """
    from situate.export import STORES
    from situate.export.store import Target
    from situate.pipeline import exporting

    with console.errors():
        name = options.one_of("--to", to, tuple(STORES))
        store = STORES[name](Target(index=index, dimensions=dimensions))
        request = exporting.Request(source=source, folder=out, vectors=vectors)
        found = exporting.export(store, request)
    if as_json:
        console.as_json(found)
    else:
        for part in found.parts:
            console.line(str(found.folder / part))
    _conclude(found)


def _conclude(found: Exported) -> None:
    from situate.cli.figures import many

    counts, parts = found.changes, len(found.parts)
    console.say(
        f"{counts['upsert']:,} to index, {counts['metadata_update']:,} to update, "
        f"{counts['delete']:,} to delete, in {parts:,} "
        f"{'file' if parts == 1 else 'files'} in {found.folder}"
    )
    for each in found.left_out:
        more = each.records - 1
        console.say(
            f"left out: metadata.custom.{each.key:.60} of {each.chunk_id!r}, whose "
            f"{each.bytes:,} bytes are too many for the store"
            + (f"; the same of {many(more, 'more record')}" if more else "")
        )
    if found.without_vector:
        console.say(
            f"records to be embedded that have no vector: {found.without_vector:,}; "
            "no search by vectors finds them"
        )
    if found.without_vector or found.left_out:
        raise typer.Exit(3)
