"""Chunks and blocks as JSON lines, and back.

A record carries what is derived from its chunk as well, so that nobody has to
derive it again; reading one checks that the two agree. Lines are the same bytes
on every machine.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from situate.errors import RecordError
from situate.fields import Fields, kind_of, span
from situate.files import opened
from situate.model import (
    Chunk,
    Enrichment,
    EnrichmentStatus,
    Level,
    Metadata,
    PromptReference,
    digest,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from situate.model import Box, Document, JsonValue, Span

SCHEMA: Final = 1
"""Version of the record; raised when a reader of the old one would go wrong."""

HASHES: Final = ("content_hash", "embed_hash", "lexical_hash", "metadata_hash")
"""The keys of `metadata` that are hashes, and in no hash themselves."""

KEYS: Final = (
    "schema",
    "chunk_id",
    "doc_id",
    "doc_version",
    "parent_chunk_id",
    "level",
    "text",
    "context_prefix",
    "block_ids",
    "metadata",
    "embed_text",
    "lexical_text",
)
"""The keys of a record, in order."""

OF_DELTAS: Final = ("record_id", "parent_record_id")
"""Keys that a delta puts beside them: under which names a store has records."""

Record = dict[str, "JsonValue"]


def to_record(chunk: Chunk) -> Record:
    """Give a chunk's record: JSON values, keys in the order of the contract."""
    embed_text, lexical_text = chunk.embed_text, chunk.lexical_text
    metadata = _metadata(chunk)
    metadata |= {
        "content_hash": digest(chunk.text),
        "embed_hash": digest(embed_text),
        "lexical_hash": digest(lexical_text),
        "metadata_hash": metadata_hash(metadata),
    }
    return {
        "schema": SCHEMA,
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "doc_version": chunk.doc_version,
        "parent_chunk_id": chunk.parent_chunk_id,
        "level": chunk.level,
        "text": chunk.text,
        "context_prefix": chunk.context_prefix,
        "block_ids": list(chunk.block_ids),
        "metadata": metadata,
        "embed_text": embed_text,
        "lexical_text": lexical_text,
    }


def metadata_hash(metadata: Mapping[str, JsonValue]) -> str:
    """Hash `metadata`, but for the hashes in it."""
    hashed = {key: value for key, value in metadata.items() if key not in HASHES}
    return digest(
        json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )


def from_record(record: Mapping[str, JsonValue], where: str) -> Chunk:
    """Give the chunk a record was made from; `where` names it in errors.

    Raises:
        RecordError: a field is missing, unknown or of the wrong type, or what
            is derived from other fields does not agree with them.
    """
    chunk = parse(record, where)
    for field in disagreements(record, to_record(chunk)):
        message = f"{where}: {field} does not agree with the rest of the record"
        raise RecordError(message)
    return chunk


def parse(record: Mapping[str, JsonValue], where: str) -> Chunk:
    """Give the chunk a record describes, without checking what is derived.

    Raises:
        RecordError: a field is missing, unknown or of the wrong type.
    """
    fields = Fields(record, where)
    schema = fields.whole("schema")
    if schema != SCHEMA:
        message = f"{where}: schema is {schema}; this situate reads {SCHEMA}"
        raise RecordError(message)
    context_prefix = fields.text("context_prefix")
    embed_text = fields.text("embed_text")
    fields.text("lexical_text")
    for key in OF_DELTAS:
        if key in fields:
            fields.text_or_none(key)
    metadata = fields.nested("metadata")
    for key in HASHES:
        metadata.text(key)
    enrichment = _enrichment(metadata.nested("enrichment"))
    text = fields.text("text")
    embed_form = metadata.choice("embed_form", ("text", "reading"))
    above = f"{context_prefix}\n\n" if context_prefix else ""
    chunk = Chunk(
        chunk_id=fields.text("chunk_id"),
        doc_id=fields.text("doc_id"),
        doc_version=fields.text("doc_version"),
        parent_chunk_id=fields.text_or_none("parent_chunk_id"),
        level=cast("Level", fields.choice("level", get_args(Level))),
        text=text,
        reading=text if embed_form == "text" else embed_text.removeprefix(above),
        breadcrumb_line=_breadcrumb_line(context_prefix, enrichment.statement),
        block_ids=fields.listed("block_ids", str),
        parts={
            block_id: span(part, metadata.name("parts"))
            for block_id, part in metadata.object("parts").items()
        },
        spans=metadata.spans("spans"),
        pages=metadata.listed("pages", int),
        corpus=metadata.text_or_none("corpus"),
        breadcrumb=metadata.listed("breadcrumb", str),
        section_id=metadata.text("section_id"),
        section_ids=metadata.listed_or_none("section_ids", str),
        ordinal=metadata.whole("ordinal"),
        token_count=metadata.whole("token_count"),
        embed=metadata.flag("embed"),
        embed_form=cast("Literal['text', 'reading']", embed_form),
        forced_split=metadata.flag("forced_split"),
        enrichment=enrichment,
        metadata=_inherited(metadata),
    )
    metadata.end()
    fields.end()
    if len(chunk.spans) != len(chunk.block_ids):
        message = f"{metadata.name('spans')} are not as many as block_ids"
        raise RecordError(message)
    return chunk


def enrichment_in(record: Mapping[str, JsonValue], where: str) -> Enrichment:
    """Give what a record says of the wish for a statement, and read nothing else.

    Raises:
        RecordError: it says nothing of it, or not in the form of a record.
    """
    return _enrichment(Fields(record, where).nested("metadata").nested("enrichment"))


def disagreements(
    record: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]
) -> list[str]:
    """Name the fields of a record that its chunk would write differently."""
    stored: dict[str, Any] = dict(record)
    wanted: dict[str, Any] = dict(expected)
    wrong = [key for key in KEYS if key != "metadata" and stored[key] != wanted[key]]
    wrong.extend(
        f"metadata.{key}"
        for key, value in wanted["metadata"].items()
        if stored["metadata"][key] != value
    )
    return wrong


def blocks_record(document: Document) -> Record:
    """Give a document's line of the blocks file: its blocks in reading order.

    A box is `[page, left, top, right, bottom]`, in points with two decimals.
    """
    return {
        "schema": SCHEMA,
        "doc_id": document.doc_id,
        "doc_version": document.version,
        "blocks": [
            {
                "block_id": block.block_id,
                "section_id": section.section_id,
                "kind": block.kind,
                "span": _pair(block.span),
                "parts": block.part_count,
                "boxes": [_box(box) for box in block.boxes],
            }
            for section, _ in walk(document.root)
            for block in section.blocks
        ],
    }


def to_line(record: Mapping[str, JsonValue]) -> bytes:
    """Write a record as one line of UTF-8, its line break included.

    Raises:
        RecordError: a value has no place in JSON or in UTF-8.
    """
    try:
        text = json.dumps(
            record, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
        return text.encode("utf-8") + b"\n"
    except (ValueError, TypeError, RecursionError) as error:
        name = record.get("chunk_id", record.get("doc_id"))
        message = f"{name!r} cannot be written as JSON: {error}"
        raise RecordError(message) from error


def from_line(line: bytes, where: str) -> Record:
    """Read one line as a JSON object; `where` names it in errors.

    A byte-order mark, which some editors put before the first line, is no part
    of it.

    Raises:
        RecordError: it is not UTF-8, not JSON, not an object, or says one key twice.
    """
    try:
        value = json.loads(
            line.decode("utf-8-sig"),
            parse_constant=_no_constant,
            object_pairs_hook=_no_key_twice,
        )
    except (ValueError, RecursionError) as error:
        message = f"{where}: not a line of JSON: {error}"
        raise RecordError(message) from error
    if not isinstance(value, dict):
        message = f"{where}: a JSON object was expected, not {kind_of(value)}"
        raise RecordError(message)
    return value


def read_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file one by one, each with `file:line`.

    Raises:
        RecordError: the file cannot be read.
    """
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                yield f"{path}:{number}", line
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}"
        raise RecordError(message) from error


def read_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the chunks of a file one by one.

    Raises:
        RecordError: as `from_record`, and when the file cannot be read.
    """
    for where, line in read_lines(path):
        yield from_record(from_line(line, where), where)


def _metadata(chunk: Chunk) -> Record:
    """Give `metadata` in the order of the contract, its hashes still blank."""
    of_document = chunk.metadata
    enrichment = chunk.enrichment
    prompt = enrichment.prompt
    return {
        "corpus": chunk.corpus,
        "title": of_document.title,
        "doc_type": of_document.doc_type,
        "effective_from": of_document.effective_from,
        "effective_to": of_document.effective_to,
        "source": of_document.source,
        "language": of_document.language,
        "breadcrumb": list(chunk.breadcrumb),
        "section_id": chunk.section_id,
        "section_ids": (None if chunk.section_ids is None else list(chunk.section_ids)),
        "ordinal": chunk.ordinal,
        "token_count": chunk.token_count,
        **dict.fromkeys(HASHES),
        "spans": [_pair(pair) for pair in chunk.spans],
        "pages": list(chunk.pages),
        "parts": {block_id: list(part) for block_id, part in chunk.parts.items()},
        "embed": chunk.embed,
        "embed_form": chunk.embed_form,
        "forced_split": chunk.forced_split,
        "enrichment": {
            "status": enrichment.status,
            "statement": enrichment.statement,
            "reason": enrichment.reason,
            "model": enrichment.model,
            "prompt": (
                None if prompt is None else {"name": prompt.name, "hash": prompt.hash}
            ),
            "view": enrichment.view,
        },
        "custom": dict(of_document.custom),
    }


def _enrichment(fields: Fields) -> Enrichment:
    prompt = fields.take("prompt")
    enrichment = Enrichment(
        status=cast(
            "EnrichmentStatus", fields.choice("status", get_args(EnrichmentStatus))
        ),
        statement=fields.text_or_none("statement"),
        reason=fields.text_or_none("reason"),
        model=fields.text_or_none("model"),
        prompt=None
        if prompt is None
        else _prompt(Fields(prompt, fields.name("prompt"))),
        view=fields.text_or_none("view"),
    )
    fields.end()
    return enrichment


def _inherited(fields: Fields) -> Metadata:
    return Metadata(
        title=fields.text_or_none("title"),
        doc_type=fields.text_or_none("doc_type"),
        effective_from=fields.text_or_none("effective_from"),
        effective_to=fields.text_or_none("effective_to"),
        source=fields.text_or_none("source"),
        language=fields.text_or_none("language"),
        custom=fields.object("custom"),
    )


def _prompt(fields: Fields) -> PromptReference:
    reference = PromptReference(name=fields.text("name"), hash=fields.text("hash"))
    fields.end()
    return reference


def _breadcrumb_line(context_prefix: str, statement: str | None) -> str:
    """Undo the join of breadcrumb line and statement."""
    if not statement:
        return context_prefix
    return context_prefix.removesuffix(statement).removesuffix("\n")


def _box(box: Box) -> JsonValue:
    edges = (box.left, box.top, box.right, box.bottom)
    return [box.page, *(round(edge, 2) for edge in edges)]


def _pair(pair: Span | None) -> JsonValue:
    return None if pair is None else [*pair]


def _no_key_twice(pairs: list[tuple[str, JsonValue]]) -> Record:
    """Refuse what one reader would take for the first value, another for the last."""
    record: Record = {}
    for key, value in pairs:
        if key in record:
            message = f"{key!r} stands twice in one object"
            raise ValueError(message)
        record[key] = value
    return record


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON"
    raise ValueError(message)
