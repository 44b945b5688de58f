"""The rules a single record keeps or breaks on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.check.findings import Finding
from situate.records import HASHES, disagreements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from situate.check.findings import Limits
    from situate.model import Chunk, JsonValue


def examine_record(
    record: Mapping[str, JsonValue],
    chunk: Chunk,
    *,
    limits: Limits | None,
    source_length: int | None,
) -> Iterator[Finding]:
    """Yield the rules one record breaks, whatever stands around it."""
    for name in disagreements(record, chunk):
        yield Finding(
            rule="hash" if name.removeprefix("metadata.") in HASHES else "derivation",
            subject=chunk.chunk_id,
            message=f"{name} is not what follows from the record",
        )
    yield from _identity(chunk)
    yield from _held(chunk)
    yield from _status(chunk)
    if limits is not None:
        yield from _sizes(chunk, limits)
    if source_length is not None:
        yield from _inside(chunk, source_length)


def _inside(chunk: Chunk, length: int) -> Iterator[Finding]:
    for span in chunk.spans:
        if span is not None and span[1] > length:
            yield Finding(
                rule="span",
                subject=chunk.chunk_id,
                message=f"spans to {span[1]}, the source has {length} characters",
            )


def _identity(chunk: Chunk) -> Iterator[Finding]:
    quoted = chunk.doc_id.replace("%", "%25").replace(":", "%3A")
    whole = f"{quoted}:{chunk.section_id}"
    number = chunk.chunk_id.removeprefix(f"{whole}:")
    if chunk.chunk_id != whole and not number.isdecimal():
        yield Finding(
            rule="identity",
            subject=chunk.chunk_id,
            message=f"should be {whole!r}, or that with a colon and a number",
        )
    if chunk.section_ids is not None and (
        len(chunk.section_ids) < 2 or chunk.section_ids[0] != chunk.section_id
    ):
        yield Finding(
            rule="identity",
            subject=chunk.chunk_id,
            message="section_ids should be two or more, section_id the first of them",
        )


def _held(chunk: Chunk) -> Iterator[Finding]:
    """A chunk has a text, and says of which blocks."""
    if not chunk.text.strip():
        yield Finding(
            rule="C2-lineage", subject=chunk.chunk_id, message="text is blank"
        )
    if not chunk.block_ids:
        yield Finding(
            rule="C2-lineage", subject=chunk.chunk_id, message="holds no block"
        )
    for block_id in chunk.parts.keys() - set(chunk.block_ids):
        yield Finding(
            rule="C2-lineage",
            subject=chunk.chunk_id,
            message=f"holds a part of {block_id}, which is not among its blocks",
        )


def _status(chunk: Chunk) -> Iterator[Finding]:
    status, statement = chunk.enrichment.status, chunk.enrichment.statement
    if (status == "statement") != bool(statement):
        yield Finding(
            rule="E10-status",
            subject=chunk.chunk_id,
            message=f"enrichment is {status!r}, the statement {statement!r}",
        )
    if status in {"skipped", "fallback"} and not chunk.enrichment.reason:
        yield Finding(
            rule="E10-status",
            subject=chunk.chunk_id,
            message=f"enrichment is {status!r} without a reason",
        )
    if not chunk.embed and status != "off":
        yield Finding(
            rule="E10-status",
            subject=chunk.chunk_id,
            message=f"enrichment of a container is {status!r}, not 'off'",
        )


def _sizes(chunk: Chunk, limits: Limits) -> Iterator[Finding]:
    count = limits.counter.count
    tokens = count(chunk.text)
    if tokens != chunk.token_count:
        yield _size(chunk, f"token_count is {chunk.token_count}, the text has {tokens}")
    bounds = (
        ("text", tokens, _most(chunk, limits)),
        ("breadcrumb line", count(chunk.breadcrumb_line), limits.prefix_max_tokens),
        ("statement", count(chunk.statement or ""), limits.statement_max_tokens),
    )
    for name, size, most in bounds:
        if most is not None and size > most:
            yield _size(chunk, f"the {name} has {size} tokens, {most} are allowed")


def _most(chunk: Chunk, limits: Limits) -> int:
    return limits.max_tokens if chunk.embed else limits.container_max_tokens


def _size(chunk: Chunk, message: str) -> Finding:
    return Finding(rule="C3-size", subject=chunk.chunk_id, message=message)
