"""Numbered clauses of Markdown become sections where that is asked for."""

from __future__ import annotations

import pytest

from situate.model import walk
from situate.readers import ReaderOptions, read

SOURCE = """\
# Agreement

## Part A

1.1 Fees. The Customer pays the fees.

1.2 Term. The agreement runs for a year and may be ended by:

(a) the Customer;

(b) the Supplier.

1.3 Law. The law of the land applies.

| a | b |
| - | - |
| 1 | 2 |
"""


def titles(source: str, *, numbering: bool | None) -> list[tuple[int, str]]:
    """Give the level and title of every section."""
    options = ReaderOptions(legal_numbering=numbering)
    document = read(source.encode(), "agreement.md", options=options).document
    return [(section.level, section.title) for section, _ in walk(document.root)][1:]


def test_clauses_stand_below_the_heading_above_them() -> None:
    """Their levels begin where the headings end."""
    found = titles(SOURCE, numbering=True)

    assert [title for _, title in found[:2]] == ["Agreement", "Part A"]
    assert [title[:3] for _, title in found[2:]] == ["1.1", "1.2", "1.3"]
    assert {level > 2 for level, _ in found[2:]} == {True}


@pytest.mark.parametrize("numbering", [None, False])
def test_they_stay_paragraphs_otherwise(numbering: bool | None) -> None:
    """Whoever writes Markdown marks the headings that are meant."""
    found = titles(SOURCE, numbering=numbering)

    assert [title for _, title in found] == ["Agreement", "Part A"]


def test_nothing_but_paragraphs_is_looked_at() -> None:
    """Points become a list, a table stays what it is, and nothing is lost."""
    options = ReaderOptions(legal_numbering=True)
    document = read(SOURCE.encode(), "agreement.md", options=options).document

    blocks = [block for section, _ in walk(document.root) for block in section.blocks]

    kinds = [block.kind for block in blocks]
    assert kinds.count("list") == 1
    assert kinds[-1] == "table"
    said = "".join("".join(block.text.split()) for block in blocks)
    assert said == "".join(SOURCE.split())


LISTS = """\
# Agreement

1. Definitions

1.1 The Supplier is the one named above.

1.2 The Customer is the other one.

2. Liability

2.1 The Supplier is liable.

- not a clause
"""


def test_a_numbered_list_may_be_clauses() -> None:
    """Markdown takes `2.` for a list; with what stands below it is a clause."""
    found = [title for _, title in titles(LISTS, numbering=True)]

    assert found[:2] == ["Agreement", "1. Definitions"]
    assert [title[:3] for title in found[2:]] == ["1.1", "1.2", "2. ", "2.1"]


def test_a_numbered_list_beside_clauses_stays_a_list() -> None:
    """Nothing of it is lost, and it keeps its items."""
    source = SOURCE + "\n1. first\n2. second\n"
    options = ReaderOptions(legal_numbering=True)
    document = read(source.encode(), "agreement.md", options=options).document

    blocks = [block for section, _ in walk(document.root) for block in section.blocks]

    assert blocks[-1].kind == "list"
    assert blocks[-1].part_count == 2
