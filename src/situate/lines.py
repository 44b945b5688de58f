"""A chunk's line of JSON, written without building its record first.

`records` says what a record is; what is written here is the same to the byte, in
half the time: texts that stand in a record more than once are quoted once, and
what the chunks of a section share is written once for all of them.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted
from typing import TYPE_CHECKING, NamedTuple

from situate.errors import RecordError
from situate.model import digest
from situate.records import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from situate.model import Chunk, Enrichment, JsonValue, Metadata, Span

    class Encode(Protocol):
        """Writes a value as JSON."""

        def __call__(self, value: object, /) -> str:
            """Write it.

            Raises:
                ValueError: JSON has no place for it.
            """


_encode: Encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
).encode
_encode_sorted: Encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True
).encode


class Lines:
    """Writes the chunks of documents, one after the other."""

    def __init__(self) -> None:
        self._metadata: Metadata | None = None
        self._corpus: str | None = None
        self._shared: _Shared | None = None
        self._enrichment: Enrichment | None = None
        self._outcome = self._sorted_outcome = ""

    def line(self, chunk: Chunk) -> bytes:
        """Give a chunk's record as one line of UTF-8, its line break included.

        Raises:
            RecordError: a value has no place in JSON or in UTF-8.
        """
        try:
            return self._line(chunk).encode("utf-8")
        except (ValueError, TypeError, RecursionError) as error:
            message = f"{chunk.chunk_id!r} cannot be written as JSON: {error}"
            raise RecordError(message) from error

    def _line(self, chunk: Chunk) -> str:
        prefix, line = chunk.context_prefix, chunk.breadcrumb_line
        embed_text = f"{prefix}\n\n{chunk.reading}" if prefix else chunk.reading
        text = quoted(chunk.text)
        reading = text if chunk.reading == chunk.text else quoted(chunk.reading)
        shown = quoted(prefix)
        embed_hash = digest(embed_text)
        if prefix == line:
            lexical, lexical_hash = shown, embed_hash
        else:
            lexical = quoted(line)
            lexical_hash = digest(chunk.lexical_text)
        above = f'{{"schema":{SCHEMA},"chunk_id":{quoted(chunk.chunk_id)}'
        parent = chunk.parent_chunk_id
        hashes = (digest(chunk.text), embed_hash, lexical_hash)
        return (
            f'{above},"doc_id":{quoted(chunk.doc_id)}'
            f',"doc_version":{quoted(chunk.doc_version)}'
            f',"parent_chunk_id":{"null" if parent is None else quoted(parent)}'
            f',"level":"{chunk.level}","text":{text},"context_prefix":{shown}'
            f',"block_ids":{_list(map(quoted, chunk.block_ids))}'
            f',"metadata":{self._described(chunk, hashes)}'
            f',"embed_text":{_joined(shown, reading)}'
            f',"lexical_text":{_joined(lexical, reading)}}}\n'
        )

    def _described(self, chunk: Chunk, hashes: tuple[str, str, str]) -> str:
        """Write `metadata`; the last of the hashes is over everything but them."""
        shared = self._share(chunk)
        sections = chunk.section_ids
        breadcrumb = _list(map(quoted, chunk.breadcrumb))
        embed = "true" if chunk.embed else "false"
        forced = "true" if chunk.forced_split else "false"
        pages = _list(map(str, chunk.pages))
        parts = _encode(chunk.parts) if chunk.parts else "{}"
        ids = (
            f'"section_id":{quoted(chunk.section_id)},"section_ids":'
            f"{'null' if sections is None else _list(map(quoted, sections))}"
        )
        spans = _list(map(_pair, chunk.spans))
        whole = digest(
            f'{{"breadcrumb":{breadcrumb},{shared.corpus_to_dates},"embed":{embed}'
            f',"embed_form":"{chunk.embed_form}","enrichment":{self._sorted_outcome}'
            f',"forced_split":{forced},{shared.language},"ordinal":{chunk.ordinal}'
            f',"pages":{pages}'
            f',"parts":{_encode_sorted(chunk.parts) if len(chunk.parts) > 1 else parts}'
            f',{ids},{shared.source},"spans":{spans},{shared.title}'
            f',"token_count":{chunk.token_count}}}'
        )
        of_text, of_embed_text, of_lexical_text = hashes
        return (
            f'{{{shared.corpus_to_language},"breadcrumb":{breadcrumb},{ids}'
            f',"ordinal":{chunk.ordinal},"token_count":{chunk.token_count}'
            f',"content_hash":"{of_text}","embed_hash":"{of_embed_text}"'
            f',"lexical_hash":"{of_lexical_text}","metadata_hash":"{whole}"'
            f',"spans":{spans},"pages":{pages},"parts":{parts},"embed":{embed}'
            f',"embed_form":"{chunk.embed_form}","forced_split":{forced}'
            f',"enrichment":{self._outcome},{shared.custom}}}'
        )

    def _share(self, chunk: Chunk) -> _Shared:
        """Write what chunks with the same metadata, or none asked, have in common."""
        if chunk.enrichment is not self._enrichment:
            self._enrichment = chunk.enrichment
            outcome = _enrichment(chunk.enrichment)
            self._outcome = _encode(outcome)
            self._sorted_outcome = _encode_sorted(outcome)
        metadata, corpus = chunk.metadata, chunk.corpus
        if (
            self._shared is None
            or metadata is not self._metadata
            or corpus != self._corpus
        ):
            self._metadata, self._corpus = metadata, corpus
            self._shared = _Shared.of(metadata, corpus)
        return self._shared


class _Shared(NamedTuple):
    """Keys of `metadata` that are the same for many chunks, as they stand there.

    Those of a record are in its order, those of what is hashed in their own.
    """

    corpus_to_language: str
    custom: str
    corpus_to_dates: str
    language: str
    source: str
    title: str

    @classmethod
    def of(cls, metadata: Metadata, corpus: str | None) -> _Shared:
        """Write what a section says about itself."""
        name = f'"corpus":{_encode(corpus)}'
        title = f'"title":{_encode(metadata.title)}'
        doc_type = f'"doc_type":{_encode(metadata.doc_type)}'
        dates = (
            f'"effective_from":{_encode(metadata.effective_from)}'
            f',"effective_to":{_encode(metadata.effective_to)}'
        )
        source = f'"source":{_encode(metadata.source)}'
        language = f'"language":{_encode(metadata.language)}'
        custom = dict(metadata.custom)
        return cls(
            corpus_to_language=f"{name},{title},{doc_type},{dates},{source},{language}",
            custom=f'"custom":{_encode(custom)}',
            corpus_to_dates=f'{name},"custom":{_encode_sorted(custom)},{doc_type},{dates}',
            language=language,
            source=source,
            title=title,
        )


def _list(values: Iterable[str]) -> str:
    return "[" + ",".join(values) + "]"


def _pair(pair: Span | None) -> str:
    return "null" if pair is None else f"[{pair[0]},{pair[1]}]"


def _joined(above: str, below: str) -> str:
    """Join two quoted texts by a blank line."""
    return below if above == '""' else f"{above[:-1]}\\n\\n{below[1:]}"


def _enrichment(enrichment: Enrichment) -> dict[str, JsonValue]:
    prompt = enrichment.prompt
    return {
        "status": enrichment.status,
        "statement": enrichment.statement,
        "reason": enrichment.reason,
        "model": enrichment.model,
        "prompt": (
            None if prompt is None else {"name": prompt.name, "hash": prompt.hash}
        ),
        "view": enrichment.view,
    }
