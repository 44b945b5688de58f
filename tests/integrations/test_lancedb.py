"""docs/lancedb.md, with LanceDB."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tests.support.store_pages import StorePage

pytestmark = pytest.mark.filterwarnings("ignore")  # a client's warnings are its own


class TestLanceDB(StorePage):
    """The store that the page fills."""

    store: ClassVar[str] = "lancedb"

    def rows(self, names: dict[str, Any]) -> list[dict[str, Any]]:
        """Give all rows."""
        rows: list[dict[str, Any]] = (
            names["database"].open_table("policies").to_arrow().to_pylist()
        )
        return rows
