"""What a store wants to be told, written as the store takes it in.

A store is a module of its own that knows three things: the files that set it up and
query it, how it is told of a chunk, and what it refuses. `STORES` names those there
are. Nothing here reads or writes a file but a file of vectors, and nothing talks to
a server: what is written is sent by whoever has the right to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.export.chroma import Chroma
from situate.export.elasticsearch import Elasticsearch
from situate.export.lancedb import LanceDB
from situate.export.opensearch import OpenSearch
from situate.export.pgvector import PgVector
from situate.export.qdrant import Qdrant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from situate.export.store import Store, Target

STORES: Final[Mapping[str, Callable[[Target], Store]]] = {
    "elasticsearch": Elasticsearch,
    "opensearch": OpenSearch,
    "qdrant": Qdrant,
    "lancedb": LanceDB,
    "chroma": Chroma,
    "pgvector": PgVector,
}
"""By the name a user has for them; each tells of one target."""

__all__ = ["STORES"]
