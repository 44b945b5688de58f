"""A document's chunks as the bytes that a run writes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from situate.errors import RecordError
from situate.index.withholding import access
from situate.lines import Lines
from situate.model import digest
from situate.pipeline.documents import Failed, Prepared
from situate.records import blocks_record, to_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.corpus import Source
    from situate.model import Chunk, EnrichmentStatus, JsonValue, Level, Metadata
    from situate.pipeline.documents import Preparer


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What is published of a document, and what there is to count."""

    source: Source
    doc_id: str
    version: str
    metadata_hash: str
    """Of what the document says about itself."""
    effective_from: str | None
    access: Mapping[str, JsonValue]
    """What it says of who may see it and when it is in force."""
    warnings: tuple[str, ...]
    chunks: bytes
    """Its lines of the chunks file."""
    blocks: bytes
    """Its line of the blocks file."""
    levels: Mapping[Level, int]
    """How many records there are of each."""
    outcomes: Mapping[tuple[EnrichmentStatus, str | None], int]
    """What became of the wish for statements, with the reason."""


def write_one(preparer: Preparer, source: Source) -> Written | Failed:
    """Read, cut and write one document that nobody is asked about."""
    outcome = preparer.outcome(source)
    if isinstance(outcome, Prepared):
        return written(outcome, outcome.chunks)
    return outcome


def written(document: Prepared, chunks: Sequence[Chunk]) -> Written | Failed:
    """Write a document whole or not at all."""
    lines = Lines()
    try:
        return Written(
            source=document.source,
            doc_id=document.document.doc_id,
            version=document.document.version,
            metadata_hash=_hash(document.document.metadata),
            effective_from=document.effective_from,
            access=access(document.document.metadata),
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


def _hash(metadata: Metadata) -> str:
    """Hash metadata, whatever the order of its keys.

    Raises:
        RecordError: a value has no place in JSON.
    """
    try:
        return digest(json.dumps(asdict(metadata), sort_keys=True))
    except (ValueError, TypeError, RecursionError) as error:
        message = f"metadata cannot be written as JSON: {error}"
        raise RecordError(message) from error
