"""A corpus's TOML file, checked whole before any work and frozen.

pydantic is used in here and nowhere else: what leaves are plain dataclasses.
"""

from situate.config.keys import (
    CacheConfig,
    ChunkingConfig,
    Config,
    CorpusConfig,
    CuttingConfig,
    EmbedderConfig,
    EnrichmentConfig,
    LimitsConfig,
    MetadataConfig,
    OutputConfig,
    PrefixConfig,
    ReaderConfig,
    ReadingConfig,
)
from situate.config.load import SECTIONS, load, load_cutting
from situate.config.versions import VersionsConfig

__all__ = [
    "SECTIONS",
    "CacheConfig",
    "ChunkingConfig",
    "Config",
    "CorpusConfig",
    "CuttingConfig",
    "EmbedderConfig",
    "EnrichmentConfig",
    "LimitsConfig",
    "MetadataConfig",
    "OutputConfig",
    "PrefixConfig",
    "ReaderConfig",
    "ReadingConfig",
    "VersionsConfig",
    "load",
    "load_cutting",
]
