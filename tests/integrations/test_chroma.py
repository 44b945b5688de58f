"""docs/chroma.md, with Chroma in its persistent mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from tests.support.store_pages import StorePage

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore")  # a client's warnings are its own


class TestChroma(StorePage):
    """The store that the page fills."""

    store: ClassVar[str] = "chroma"

    def rows(self, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield all records; zeros are no vector."""
        collection = names["client"].get_collection("policies", embedding_function=None)
        found = collection.get(include=["documents", "metadatas", "embeddings"])
        columns = (found[key] for key in ("documents", "metadatas", "embeddings"))
        for text, metadata, vector in zip(*columns, strict=True):
            assert bool(any(vector)) is metadata["searched"]
            yield {**metadata, "text": text, "vector": vector}

    def close(self, names: dict[str, Any]) -> None:
        """Let go of the folder, whose name the next test has for another."""
        names["client"].close()
