"""OpenSearch from 3.1, where `hybrid` came to take `collapse`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from situate.export import bulk, queries
from situate.export.documents import metadata_of
from situate.export.mapping import mappings
from situate.export.store import shown
from situate.fields import typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.export.store import Target, Told
    from situate.model import JsonValue
    from situate.records import Record

_WINDOW: Final = 50


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """Tells OpenSearch of chunks."""

    target: Target

    holder: ClassVar[str] = "index"
    needs_vectors: ClassVar[bool] = False
    most_dimensions: ClassVar[int] = 16_000
    """Of `knn_vector`, by the documentation of its engines."""
    longest: ClassVar[int] = 32_000
    """Of a value in a flat object with its path: Lucene takes 32,766."""

    def refusal(self) -> str | None:
        """Say why both vendors refuse the name of the index."""
        return bulk.refusal(self.target.index)

    def files(self) -> Mapping[str, bytes]:
        """Give the index template, the queries and the pipeline that one needs."""
        target = self.target
        settings: Record = (
            {} if target.dimensions is None else {"settings": {"index": {"knn": True}}}
        )
        found: dict[str, JsonValue] = {
            "index-template.json": {
                "index_patterns": [target.index],
                "template": {**settings, "mappings": _mappings(target.dimensions)},
            },
            "queries/as-of.json": queries.filtered(queries.IN_FORCE),
            "queries/acl.json": queries.filtered(queries.ALLOWED, queries.CLEARED),
        }
        if target.dimensions is not None:
            found["queries/hybrid.json"] = _hybrid(target.dimensions)
            found["queries/hybrid-pipeline.json"] = _pipeline()
        return {name: shown(value) for name, value in found.items()}

    def too_long(self, record: Record) -> Mapping[str, int]:
        """Give the bytes of what is too long for a flat object, by custom key."""
        # Elasticsearch has `ignore_above` for this; a flat object has no such bound.
        custom = typed(dict, metadata_of(record)["custom"], "custom")
        found = {
            key: max(_sizes(value, f"custom.{key}")) for key, value in custom.items()
        }
        return {key: size for key, size in found.items() if size > self.longest}

    def put(self, record: Record, vector: list[float] | None) -> Told:
        """Write a whole record as `index`."""
        return bulk.put(record, vector)

    def update(self, record: Record, vector: list[float] | None) -> Told:
        """Write a record without its texts as `update`."""
        return bulk.update(record, vector)

    def delete(self, record: Record) -> Told:
        """Write `delete`."""
        return bulk.delete(record)

    def part(self, name: str, lines: Sequence[bytes]) -> bytes:  # noqa: ARG002 - all files are alike
        """Give the body of a request."""
        return b"".join(lines)


def _mappings(dimensions: int | None) -> Record:
    vector: JsonValue = {
        "type": "knn_vector",
        "dimension": dimensions,
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
    }
    custom: JsonValue = {"type": "flat_object"}
    return mappings(custom, None if dimensions is None else vector)


def _hybrid(dimensions: int) -> Record:
    near: Record = {"vector": queries.example(dimensions), "k": _WINDOW}
    return {
        "size": queries.SIZE,
        "_source": queries.SHOWN,
        "query": {
            "hybrid": {
                "queries": [queries.WORDS, {"knn": {"vector": near}}],
                "filter": {"bool": {"filter": [queries.SEARCHED]}},
                "pagination_depth": _WINDOW,
            }
        },
        "collapse": {"field": "group_id"},
    }


def _pipeline() -> Record:
    return {
        "description": "Brings the scores of words and vectors to one scale.",
        "phase_results_processors": [
            {
                "normalization-processor": {
                    "normalization": {"technique": "min_max"},
                    "combination": {"technique": "arithmetic_mean"},
                }
            }
        ],
    }


def _sizes(value: JsonValue, path: str) -> Iterator[int]:
    """Yield the bytes of all values that are no objects, each with its path."""
    yield 0
    waiting: list[tuple[str, JsonValue]] = [(path, value)]
    while waiting:
        where, found = waiting.pop()
        if isinstance(found, dict):
            waiting.extend((f"{where}.{key}", below) for key, below in found.items())
        elif isinstance(found, list):
            waiting.extend((where, below) for below in found)
        else:
            size = len(str(found).encode("utf-8", "replace"))
            yield len(where.encode("utf-8", "replace")) + size
