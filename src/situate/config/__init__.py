"""A corpus's TOML file, checked whole before any work and frozen.

pydantic is used in here and nowhere else: what leaves are plain dataclasses.
"""

from situate.config.keys import (
    CacheConfig,
    ChunkingConfig,
    Config,
    CorpusConfig,
    EmbedderConfig,
    EnrichmentConfig,
    OutputConfig,
    PrefixConfig,
    ReadingConfig,
)
from situate.config.load import SECTIONS, load, load_sizes

__all__ = [
    "SECTIONS",
    "CacheConfig",
    "ChunkingConfig",
    "Config",
    "CorpusConfig",
    "EmbedderConfig",
    "EnrichmentConfig",
    "OutputConfig",
    "PrefixConfig",
    "ReadingConfig",
    "load",
    "load_sizes",
]
