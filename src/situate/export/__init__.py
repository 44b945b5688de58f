"""What a store wants to be told, written as the store takes it in.

A store is a module of its own that knows three things: the files that set it up and
query it, how it is told of a chunk, and what it refuses. `STORES` names those there
are. Nothing here reads or writes a file but a file of vectors, and nothing talks to
a server: what is written is sent by whoever has the right to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.export.elasticsearch import Elasticsearch
from situate.export.opensearch import OpenSearch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.export.store import Store

STORES: Final[Mapping[str, Store]] = {
    "elasticsearch": Elasticsearch(),
    "opensearch": OpenSearch(),
}
"""By the name a user has for them."""

__all__ = ["STORES"]
