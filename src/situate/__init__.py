"""Structure-first chunks with their context, ready to embed."""

from situate.chunking import Rules, chunk
from situate.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    ConfigError,
    ContextTooLong,
    Locked,
    ModelUnknown,
    ProviderError,
    ProviderUnusable,
    QuotaExhausted,
    RateLimited,
    ReadError,
    RecordError,
    RequestRejected,
    SituateError,
    TransientError,
    UnsupportedParameter,
)
from situate.model import (
    Block,
    Chunk,
    Document,
    Enrichment,
    Metadata,
    Section,
    walk,
)
from situate.readers import Read, read
from situate.records import from_record, read_chunks, to_line, to_record
from situate.tokens import TokenCounter, load_counter

__all__ = [
    "AuthenticationFailed",
    "Block",
    "BudgetExceeded",
    "Chunk",
    "ConfigError",
    "ContextTooLong",
    "Document",
    "Enrichment",
    "Locked",
    "Metadata",
    "ModelUnknown",
    "ProviderError",
    "ProviderUnusable",
    "QuotaExhausted",
    "RateLimited",
    "Read",
    "ReadError",
    "RecordError",
    "RequestRejected",
    "Rules",
    "Section",
    "SituateError",
    "TokenCounter",
    "TransientError",
    "UnsupportedParameter",
    "chunk",
    "from_record",
    "load_counter",
    "read",
    "read_chunks",
    "to_line",
    "to_record",
    "walk",
]
