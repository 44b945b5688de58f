"""A document's chunks as the bytes that a run writes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.lines import Lines
from situate.pipeline.documents import Failed, Prepared
from situate.records import blocks_record, to_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.corpus import Source
    from situate.model import Chunk, EnrichmentStatus, Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is published of a document, and what there is to count."""

    source: Source
    doc_id: str
    warnings: tuple[str, ...]
    chunks: bytes
    """Its lines of the chunks file."""
    blocks: bytes
    """Its line of the blocks file."""
    levels: Mapping[Level, int]
    """How many records there are of each."""
    outcomes: Mapping[tuple[EnrichmentStatus, str | None], int]
    """What became of the wish for statements, with the reason."""


def written(document: Prepared, chunks: Sequence[Chunk]) -> Written | Failed:
    """Write a document whole or not at all."""
    lines = Lines()
    try:
        return Written(
            source=document.source,
            doc_id=document.document.doc_id,
            warnings=document.warnings,
            chunks=b"".join([lines.line(chunk) for chunk in chunks]),
            blocks=to_line(blocks_record(document.document)),
            levels=Counter(chunk.level for chunk in chunks),
            outcomes=Counter(
                (chunk.enrichment.status, chunk.enrichment.reason) for chunk in chunks
            ),
        )
    except RecordError as error:
        return Failed(source=document.source, reason=str(error))
