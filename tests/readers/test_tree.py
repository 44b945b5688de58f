"""Ids, nesting and versions, whatever the format."""

from __future__ import annotations

import pytest

from situate.model import Document, Metadata, walk
from situate.readers import read
from situate.readers.tree import MAX_LEVEL, Outline, slug


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Terms & Conditions: v2.1", "terms-conditions-v2-1"),
        ("2024", "section-2024"),
        ("٣", "section-٣"),
        ("", "section"),
        ("🦊 ❤️", "section"),
        ("_top", "top"),
        ("a:b/c~d#e", "a-b-c-d-e"),
        ("Réunion", "réunion"),
        ("Re\u0301union", "réunion"),
        ("हिन्दी में", "हिन्दी-में"),
        ("第一章 总则", "第一章-总则"),
    ],
)
def test_a_slug_keeps_letters_digits_and_marks(title: str, expected: str) -> None:
    """Lower case, one hyphen for the rest; never empty, never digits alone."""
    assert slug(title) == expected


def test_long_slugs_are_cut_and_stay_apart() -> None:
    """Two long headings that begin alike do not depend on their order."""
    first, second = slug("obligation " * 30 + "one"), slug("obligation " * 30 + "two")

    assert first != second
    assert max(len(first), len(second)) <= 60


def test_levels_beyond_the_limit_are_flattened_with_a_warning() -> None:
    """C11: nesting is bounded, and no heading is lost."""
    outline = Outline()
    for level in range(1, 151):
        outline.heading(level=level, title=f"h{level}", text=f"h{level}")

    result = outline.read(doc_id="d", version=None, metadata=Metadata())

    sections = [section for section, _ in walk(result.document.root)]
    assert len(sections) == 151
    assert (
        max(len(ancestors) for _, ancestors in walk(result.document.root)) == MAX_LEVEL
    )
    assert "50 headings nest deeper" in result.warnings[0]


def version(text: str | bytes, source: str = "doc.md") -> str:
    """Give the version of a document with this text."""
    data = text.encode() if isinstance(text, str) else text
    return read(data, source).document.version


BASE = "# Fees\n\nText.\n\n- a\n- b\n"


@pytest.mark.parametrize(
    "same",
    [
        BASE.replace("\n", "\r\n"),
        "\ufeff" + BASE,
        BASE.encode("utf-16"),
        "---\ntitle: Other\n---\n" + BASE,
        BASE + "\n\n<!-- reviewed -->\n",
    ],
    ids=["CRLF", "byte-order mark", "UTF-16", "metadata", "comment"],
)
def test_a_resaved_file_is_the_same_version(same: str | bytes) -> None:
    """The version is a hash of headings, kinds and texts."""
    assert version(same) == version(BASE)
    assert version(same, "elsewhere/copy.md") == version(BASE)


@pytest.mark.parametrize(
    "other",
    [
        BASE.replace("# Fees", "## Fees"),
        BASE.replace("Text.", "Text!"),
        BASE.replace("Text.", "> Text."),
        BASE.replace("- b", "- b\n\nmore"),
        BASE.replace("Text.\n", "Text.\n\nText.\n"),
    ],
    ids=["level", "text", "kind", "added block", "repeated block"],
)
def test_another_structure_or_text_is_another_version(other: str) -> None:
    """What a chunk could show differently changes the version."""
    assert version(other) != version(BASE)


def test_block_ids_count_from_the_heading() -> None:
    """The heading is block 0 of its section; above the first it is `_top`."""
    document: Document = read(b"a\n\nb\n\n# H\n\nc", "doc.md").document

    ids = [
        [block.block_id for block in section.blocks]
        for section, _ in walk(document.root)
    ]

    assert ids == [[], ["_top#0", "_top#1"], ["h#0", "h#1"]]
