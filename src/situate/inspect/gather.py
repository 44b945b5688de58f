"""Reads what there is to see: a document, or a chunks file and what lies beside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from situate import manifest
from situate.check.files import Blocks, beside
from situate.check.source import owner
from situate.corpus import Source, path_id
from situate.errors import ReadError
from situate.files import opened
from situate.inspect.inspected import Facts, Inspected, Inspection, Warned
from situate.model import walk
from situate.pipeline.documents import Preparer
from situate.readers import decode, read
from situate.readers.options import DEFAULTS
from situate.records import read_chunks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from situate.config import CuttingConfig
    from situate.model import Chunk, Document
    from situate.readers import ReaderOptions


def of_document(path: Path, cutting: CuttingConfig) -> Inspection:
    """Read a document and cut it, as `chunk` does.

    Raises:
        ReadError: it cannot be read.
        ConfigError: the tokenizer cannot be loaded.
    """
    preparer = Preparer.cutting(cutting)
    doc_id = path_id(PurePath(path.name) if path.is_absolute() else path)
    prepared = preparer.prepare(Source(path=path, doc_id=doc_id))
    document = prepared.document
    inspected = Inspected(
        doc_id=document.doc_id,
        chunks=prepared.chunks,
        document=document,
        blocks=_facts(document),
        text=_text(path, prepared.chunks),
    )
    return Inspection(
        name=path_id(PurePath(path.name)),
        documents=(inspected,),
        warnings=tuple(
            Warned(doc_id=document.doc_id, message=message)
            for message in prepared.warnings
        ),
        max_tokens=cutting.chunking.max_tokens,
        min_tokens=cutting.chunking.min_tokens,
    )


def of_chunks(
    path: Path,
    *,
    source: Path | None = None,
    max_tokens: int | None = None,
    min_tokens: int | None = None,
) -> Inspection:
    """Read a chunks file, its blocks and its manifest where these lie beside it.

    `source` is the document that one of the documents was read from. The sizes
    serve where there is no manifest.

    Raises:
        RecordError: a file cannot be read, or is not what its name says.
        ReadError: the source cannot be read.
    """
    chunks: dict[str, list[Chunk]] = {}
    for chunk in read_chunks(path):
        chunks.setdefault(chunk.doc_id, []).append(chunk)
    listed = beside(path, "blocks.jsonl")
    blocks = None if listed is None else Blocks(listed)
    documents = {
        doc_id: Inspected(
            doc_id=doc_id,
            chunks=tuple(own),
            blocks=None if blocks is None else _listed(blocks, doc_id),
        )
        for doc_id, own in chunks.items()
    }
    warnings: list[Warned] = []
    if (about := beside(path, "manifest.json")) is not None:
        sizes, _ = manifest.read_sizes(about)
        max_tokens = max_tokens or sizes.max_tokens
        min_tokens = sizes.min_tokens if min_tokens is None else min_tokens
        warnings += (
            Warned(
                doc_id=note.doc_id,
                message=note.message.removeprefix(f"{note.doc_id}: "),
            )
            for note in manifest.read_notes(about)
        )
    if source is not None:
        doc_id = owner(source, path)
        options = DEFAULTS if about is None else manifest.read_options(about)
        documents[doc_id], said = _beside_source(documents[doc_id], source, options)
        known = {warned.message for warned in warnings if warned.doc_id == doc_id}
        warnings += (
            Warned(doc_id=doc_id, message=each) for each in said if each not in known
        )
    return Inspection(
        name=path_id(PurePath(path.name)),
        documents=tuple(documents.values()),
        warnings=tuple(warnings),
        max_tokens=max_tokens,
        min_tokens=min_tokens,
    )


def _beside_source(
    inspected: Inspected, source: Path, options: ReaderOptions
) -> tuple[Inspected, tuple[str, ...]]:
    """Lay a document's chunks beside its source, and say what does not fit."""
    data = _bytes(source, options.limits.max_bytes)
    found = read(data, source.as_posix(), options=options)
    warnings = found.warnings
    if found.document.version not in {each.doc_version for each in inspected.chunks}:
        warnings += (
            f"{source.name} is not the version that these chunks were cut from: "
            "boundaries may be drawn in wrong places",
        )
    text = _text(source, inspected.chunks)
    if text is not None and _end(inspected.chunks) > len(text):
        warnings += (
            f"{source.name} is shorter than what these chunks were cut from: "
            "their own texts are shown instead",
        )
        text = None
    laid = replace(
        inspected,
        document=found.document,
        blocks=inspected.blocks or _facts(found.document),
        text=text,
    )
    return laid, warnings


def _text(path: Path, chunks: Sequence[Chunk]) -> str | None:
    """Give the source's characters, if spans count them."""
    if not _end(chunks):
        return None
    return decode(_bytes(path, DEFAULTS.limits.max_bytes), path.as_posix()).text


def _end(chunks: Sequence[Chunk]) -> int:
    """Give where the last span ends; 0 without any."""
    return max(
        (span[1] for chunk in chunks for span in chunk.spans if span is not None),
        default=0,
    )


def _bytes(path: Path, most: int) -> bytes:
    """Read a source, no further than a reader would accept.

    Raises:
        ReadError: it cannot be read.
    """
    try:
        with opened(path) as file:
            return file.read(most + 1)
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise ReadError(message) from error


def _facts(document: Document) -> Mapping[str, Facts]:
    return {
        block.block_id: Facts(kind=block.kind, parts=block.part_count, span=block.span)
        for section, _ in walk(document.root)
        for block in section.blocks
    }


def _listed(blocks: Blocks, doc_id: str) -> Mapping[str, Facts] | None:
    found = blocks.take(doc_id)
    if found is None:
        return None
    return {
        block.block_id: Facts(kind=block.kind, parts=block.parts, span=block.span)
        for block in found[1]
    }
