"""Every chunking rule on documents small enough to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fixtures import Case, load, regenerating, save, show

FILES = sorted((Path(__file__).parent.parent / "fixtures" / "chunking").glob("*.md"))
CASES = [(path, case) for path in FILES for case in load(path)]


@pytest.mark.parametrize(
    ("path", "case"), CASES, ids=[f"{path.stem}: {case.name}" for path, case in CASES]
)
def test_a_document_gives_the_chunks_of_its_fixture(path: Path, case: Case) -> None:
    """Input and expected chunks stand side by side."""
    if regenerating():
        save(path, list(load(path)))
        pytest.skip(f"{path.name} was rewritten; review its diff")

    chunks = case.chunks()

    assert show(chunks) == case.expected
