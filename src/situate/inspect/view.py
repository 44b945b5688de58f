"""What the page shows, as values JSON can hold; pure, and the same every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.check.findings import heads
from situate.inspect.flow import flow
from situate.inspect.inspected import roles as roles_of
from situate.inspect.outline import rows
from situate.inspect.summary import outside, summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.inspect.inspected import Facts, Inspected, Inspection, Role
    from situate.model import Chunk, JsonValue
    from situate.records import Record


def view(inspection: Inspection) -> Record:
    """Give everything a page needs; indices count a document's own chunks.

    What is null, false or empty is left out of a chunk.
    """
    roles = [roles_of(each.chunks) for each in inspection.documents]
    documents = [
        _document(each, own)
        for each, own in zip(inspection.documents, roles, strict=True)
    ]
    return {
        "name": inspection.name,
        "max_tokens": inspection.max_tokens,
        "min_tokens": inspection.min_tokens,
        "warnings": [
            {"doc_id": warned.doc_id, "message": warned.message}
            for warned in inspection.warnings
        ],
        "summary": summary(
            [chunk for each in inspection.documents for chunk in each.chunks],
            [role for own in roles for role in own],
            inspection.max_tokens,
        ),
        "documents": [*documents],
    }


def _document(inspected: Inspected, roles: tuple[Role, ...]) -> Record:
    chunks = inspected.chunks
    index_of = {chunk.chunk_id: index for index, chunk in enumerate(chunks)}
    segments = (
        None if inspected.text is None else flow(inspected, inspected.text, roles)
    )
    return {
        "doc_id": inspected.doc_id,
        "about": _about(inspected),
        "outside": None if segments is None else outside(segments),
        "rows": [
            [row.depth, row.title, row.chunk, row.elsewhere]
            for row in rows(inspected, roles)
        ],
        "chunks": [
            _chunk(chunk, role, index_of, inspected.blocks)
            for chunk, role in zip(chunks, roles, strict=True)
        ],
        "flow": None
        if segments is None
        else [
            [segment.chunk, [[text, owner] for text, owner in segment.pieces]]
            for segment in segments
        ],
    }


def _about(inspected: Inspected) -> Record:
    """Give what a document says of itself, in the words of its records."""
    first = inspected.chunks[0] if inspected.chunks else None
    if first is not None:
        metadata, version = first.metadata, first.doc_version
    elif inspected.document is not None:
        metadata, version = inspected.document.metadata, inspected.document.version
    else:
        return {}
    about: Record = {
        "title": metadata.title,
        "doc_type": metadata.doc_type,
        "language": metadata.language,
        "source": metadata.source,
        "corpus": None if first is None else first.corpus,
        "version": version,
        **{f"custom.{key}": value for key, value in metadata.custom.items()},
    }
    return {key: value for key, value in about.items() if value is not None}


def _chunk(
    chunk: Chunk,
    role: Role,
    index_of: Mapping[str, int],
    facts: Mapping[str, Facts] | None,
) -> Record:
    enrichment = chunk.enrichment
    parent = chunk.parent_chunk_id
    known: Record = {
        "parent": None if parent is None else index_of.get(parent, parent),
        "breadcrumb": chunk.breadcrumb_line,
        "heading": chunk.breadcrumb[-1] if chunk.breadcrumb else None,
        "reading": None if chunk.reading == chunk.text else chunk.reading,
        "statement": enrichment.statement,
        "reason": enrichment.reason,
        "model": enrichment.model,
        "prompt": None if enrichment.prompt is None else enrichment.prompt.name,
        "view": enrichment.view,
        "effective_from": chunk.metadata.effective_from,
        "effective_to": chunk.metadata.effective_to,
        "sections": [*(chunk.section_ids or ())],
        "pages": [*chunk.pages],
        # A parent's blocks are those of all its children.
        "blocks": [] if role == "parent" else _lineage(chunk, facts or {}),
        "embed": chunk.embed,
        "forced": chunk.forced_split,
        "bare": all(heads(block_id) for block_id in chunk.block_ids),
    }
    return {
        "id": chunk.chunk_id,
        "level": chunk.level,
        "role": role,
        "ordinal": chunk.ordinal,
        "section": chunk.section_id,
        "tokens": chunk.token_count,
        "status": enrichment.status,
        "block_count": len(chunk.block_ids),
        "text": chunk.text,
        **{
            key: value
            for key, value in known.items()
            # Index 0 is a parent like any other.
            if value is not None and value is not False and value not in ("", [])
        },
    }


def _lineage(chunk: Chunk, facts: Mapping[str, Facts]) -> list[JsonValue]:
    """Give block id, kind, span, held parts, number of parts; null where unknown."""
    lineage: list[JsonValue] = []
    for block_id, span in zip(chunk.block_ids, chunk.spans, strict=True):
        known, part = facts.get(block_id), chunk.parts.get(block_id)
        lineage.append(
            [
                block_id,
                None if known is None else known.kind,
                None if span is None else [*span],
                None if part is None else [*part],
                None if known is None else known.parts,
            ]
        )
    return lineage
