"""The fields of an index, but for what each vendor calls differently.

Strict: a key that is not here is an error of the store's. Every text that may grow
has a bound above which it is stored and not indexed; without it one long heading
would have its whole record refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.export.languages import ANALYSERS, STANDARD

if TYPE_CHECKING:
    from situate.model import JsonValue
    from situate.records import Record

LONGEST: Final = 8191
"""Characters of a term: Lucene takes 32,766 bytes, and a character has up to four."""

_KEYWORD: Final[JsonValue] = {"type": "keyword", "ignore_above": LONGEST}
_STORED: Final[JsonValue] = {"type": "text", "index": False}
_COUNT: Final[JsonValue] = {"type": "integer"}
_FLAG: Final[JsonValue] = {"type": "boolean"}
_DAY: Final[JsonValue] = {"type": "date", "format": "strict_date"}


def mappings(custom: JsonValue, vector: JsonValue) -> Record:
    """Give the mappings; `custom` and `vector` are the vendor's, the latter or null."""
    properties: Record = {
        "schema": _COUNT,
        "chunk_id": _KEYWORD,
        "record_id": _KEYWORD,
        "doc_id": _KEYWORD,
        "doc_version": _KEYWORD,
        "parent_chunk_id": _KEYWORD,
        "parent_record_id": _KEYWORD,
        "level": _KEYWORD,
        "text": _STORED,
        "context_prefix": _STORED,
        "block_ids": _KEYWORD,
        "metadata": {"type": "object", "dynamic": "strict", "properties": _own(custom)},
        "embed_text": _STORED,
        "lexical_text": _STORED,
        "group_id": _KEYWORD,
        "validity": {"type": "date_range", "format": "strict_date"},
        "acl": _KEYWORD,
        "classification": _KEYWORD,
        "lexical": {
            "type": "object",
            "dynamic": "strict",
            "properties": {
                name: {"type": "text", "analyzer": name}
                for name in sorted({*ANALYSERS.values(), STANDARD})
            },
        },
    }
    if vector is not None:
        properties["vector"] = vector
    return {"dynamic": "strict", "properties": properties}


def _own(custom: JsonValue) -> Record:
    """Give the fields of a record's metadata."""
    keywords = ("corpus", "title", "doc_type", "source", "language", "breadcrumb")
    ids = ("section_id", "section_ids")
    hashes = ("content_hash", "embed_hash", "lexical_hash", "metadata_hash")
    return {
        **dict.fromkeys((*keywords, *ids, *hashes, "embed_form"), _KEYWORD),
        **dict.fromkeys(("effective_from", "effective_to"), _DAY),
        **dict.fromkeys(("ordinal", "token_count", "pages"), _COUNT),
        **dict.fromkeys(("embed", "forced_split"), _FLAG),
        "spans": {"type": "integer", "index": False, "doc_values": False},
        # Its keys are ids of blocks, which nobody can list.
        "parts": {"type": "object", "enabled": False},
        "enrichment": {
            "type": "object",
            "dynamic": "strict",
            "properties": {
                **dict.fromkeys(("status", "reason", "model", "view"), _KEYWORD),
                "statement": _STORED,
                "prompt": {
                    "type": "object",
                    "dynamic": "strict",
                    "properties": {"name": _KEYWORD, "hash": _KEYWORD},
                },
            },
        },
        "custom": custom,
    }
