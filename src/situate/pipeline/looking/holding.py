"""One record of an index, and those that stand beside it.

What a store has acknowledged is read, with the names and dates that it was sent with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.index.folder import IndexFolder
from situate.index.names import chunk_id_of, doc_id_of, key_of, record_id
from situate.index.wordings import as_sent
from situate.pipeline.looking.showing import chosen, spellings
from situate.records import from_line, from_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.config import Config
    from situate.index.state import Documents, DocumentState
    from situate.model import Chunk


def find_held(
    name: str, config: Config, *, day: str | None = None
) -> tuple[Chunk, tuple[Chunk, ...]]:
    """Find a chunk of an index, and all of its wording that stand beside it.

    `name` is a record's or a chunk's. Of several wordings that have the chunk it is
    the one in force on a day, an ISO date, else the one that begins last.

    Raises:
        RecordError: the index has none, or cannot be read.
    """
    folder = IndexFolder(config.output.index)
    documents = folder.acknowledged().documents
    for spelled in spellings(name):
        if found := list(_wordings(spelled, documents, folder)):
            best = chosen([chunk for chunk, _ in found], day)
            return next(each for each in found if each[0] is best)
    message = f"{config.path}: what was acknowledged has no record {name!r}"
    raise RecordError(message)


def _wordings(
    name: str, documents: Documents, folder: IndexFolder
) -> Iterator[tuple[Chunk, tuple[Chunk, ...]]]:
    """Yield a chunk in all its wordings, each with those beside it, the last last."""
    wanted = key_of(name)
    wordings = [
        document
        for document in documents.values()
        if wanted == document.key or (wanted == doc_id_of(wanted) == document.doc_id)
    ]
    wordings.sort(key=lambda document: document.effective_from or "")
    for document in wordings:
        own = record_id(chunk_id_of(name), document.label)
        if own in document.chunks:
            chunks = _chunks(folder, document)
            yield chunks[own], tuple(chunks.values())


def _chunks(folder: IndexFolder, document: DocumentState) -> dict[str, Chunk]:
    return {
        name: from_record(as_sent(from_line(line, name), document), name)
        for name, line in folder.records(document).items()
    }
