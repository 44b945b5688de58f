"""docs/qdrant.md, with qdrant-client in its local mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from tests.support.store_pages import StorePage

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore")  # a client's warnings are its own


class TestQdrant(StorePage):
    """The store that the page fills."""

    store: ClassVar[str] = "qdrant"

    def rows(self, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield all points."""
        points, _ = names["client"].scroll("policies", limit=9_999, with_vectors=True)
        for point in points:
            yield {**point.payload, "vector": point.vector.get("dense")}

    def close(self, names: dict[str, Any]) -> None:
        """Let go of the folder."""
        names["client"].close()
