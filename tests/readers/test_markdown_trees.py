"""What every Markdown construct becomes, on documents small enough to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.readers.trees import load, save
from tests.support.fixtures import regenerating

if TYPE_CHECKING:
    from tests.readers.trees import Case

FIXTURES = sorted(Path(__file__).with_name("fixtures").glob("*.md"))

if regenerating():
    for path in FIXTURES:
        save(path, list(load(path)))

CASES = [
    pytest.param(case, id=f"{path.stem}: {case.name}")
    for path in FIXTURES
    for case in load(path)
]


@pytest.mark.parametrize("case", CASES)
def test_a_document_gives_the_tree_written_beside_it(case: Case) -> None:
    """DESIGN 2 and 4: sections, blocks and parts, text as in the source."""
    tree = case.tree()

    assert tree == case.expected


def test_every_fixture_file_holds_cases() -> None:
    """A file that parses to nothing would pass unseen."""
    assert all(list(load(path)) for path in FIXTURES)
    assert len(CASES) > 25
