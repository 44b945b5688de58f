"""What single keys cannot tell: values that contradict each other.

A key that would be ignored is a contradiction too, so that nobody relies on it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from situate.access import is_permission
from situate.config.keys import JOINS
from situate.files import identity
from situate.model import Metadata

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.config.keys import (
        CacheConfig,
        ChunkingConfig,
        Config,
        CuttingConfig,
        EnrichmentConfig,
        ReadingConfig,
    )


def contradictions(config: Config) -> Iterator[str]:
    """Yield what in one config contradicts itself, one sentence each."""
    yield from size_contradictions(config.chunking)
    yield from reading_contradictions(config.reading)
    yield from window_contradictions(config.cutting)
    yield from _enrichment(config.enrichment)
    yield from _cache(config.cache)
    yield from _dropped_conditions(config)
    path = config.output.path
    if path.suffix != ".jsonl":
        yield f"output.path is {str(path)!r}; allowed: a path that ends in .jsonl"


def size_contradictions(chunking: ChunkingConfig) -> Iterator[str]:
    """Yield what in the sizes of chunks contradicts itself."""
    if chunking.min_tokens > chunking.max_tokens:
        yield (
            f"chunking.min_tokens is {chunking.min_tokens}, above "
            f"chunking.max_tokens, which is {chunking.max_tokens}; lower the first"
        )
    if chunking.granularity != "multi" and chunking.embed == "paragraph":
        yield (
            "chunking.embed is 'paragraph', of which there are none with "
            f"chunking.granularity {chunking.granularity!r}; say 'multi' or remove it"
        )
    if chunking.granularity == "leaves" and chunking.container_max_tokens is not None:
        yield (
            "chunking.container_max_tokens has no effect with "
            "chunking.granularity 'leaves'; remove it or say 'tree'"
        )


def reading_contradictions(reading: ReadingConfig) -> Iterator[str]:
    """Yield what in the form of readings contradicts itself."""
    if reading.form == "text" and reading.heading_weight:
        yield (
            "reading.heading_weight has no effect with reading.form 'text'; "
            "remove it or say 'reading'"
        )


def clashes(configs: Sequence[Config]) -> Iterator[str]:
    """Yield what several configs of one run may not share."""
    names: dict[str, Config] = {}
    files: dict[str, Config] = {}
    for config in configs:
        first = names.setdefault(config.corpus.name, config)
        if first is not config:
            yield (
                f"{config.path}: corpus.name is {config.corpus.name!r}, "
                f"as in {first.path}; give each corpus its own"
            )
        for path in config.output.files:
            first = files.setdefault(identity(path), config)
            if first is not config:
                yield (
                    f"{config.path}: output.path would write {str(path)!r}, "
                    f"as would {first.path}; give each corpus its own"
                )
                break


def window_contradictions(cutting: CuttingConfig) -> Iterator[str]:
    """Yield that what is embedded may be longer than what the embedder reads."""
    window = cutting.embedder.window
    parts = (
        cutting.chunking.max_tokens,
        cutting.prefix.max_tokens,
        cutting.statement_max_tokens,
    )
    most = sum(parts) + JOINS
    if window is not None and most > window:
        yield (
            f"embedder.window is {window}, but an embed text may take {most} tokens: "
            f"chunking.max_tokens {parts[0]}, prefix.max_tokens {parts[1]}, "
            f"enrichment.statement_max_tokens {parts[2]}, {JOINS} to join them; "
            "lower one of these"
        )


def _enrichment(asked: EnrichmentConfig) -> Iterator[str]:
    if asked.enabled:
        for key in ("provider", "model", "prompt"):
            if getattr(asked, key) is None:
                yield f"enrichment.{key} is missing; it is needed when enabled"
    if asked.provider == "replay" and asked.base_url is not None:
        yield "enrichment.base_url has no effect with provider 'replay'; remove it"
    if asked.provider == "replay" and asked.mode == "batch":
        yield "enrichment.mode is 'batch', but provider 'replay' answers at once"
    if asked.provider != "replay" and asked.replay is not None:
        yield (
            "enrichment.replay has no effect without provider 'replay'; "
            "remove it or change the provider"
        )


def _cache(cache: CacheConfig) -> Iterator[str]:
    if cache.backend == "redis" and cache.url is None:
        yield (
            "cache.url is missing; backend 'redis' needs it, here or as "
            "SITUATE_CACHE_URL in the environment"
        )
    if cache.backend == "disk" and cache.url is not None:
        yield "cache.url has no effect with backend 'disk'; remove it or say 'redis'"


def _dropped_conditions(config: Config) -> Iterator[str]:
    """Yield conditions that nothing can meet, as what they ask for does not travel."""
    kept = config.metadata.keep
    if kept is None:
        return
    travelling = {each.name for each in fields(Metadata)} - {"custom"} | {*kept}
    for key in config.enrichment.enrich_when or {}:
        if key not in travelling and not is_permission(key):
            yield (
                f"enrichment.enrich_when asks for {key!r}, which metadata.keep drops: "
                "nothing could be asked about; add it to metadata.keep"
            )
