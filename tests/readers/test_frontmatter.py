"""What a document says about itself above its text."""

from __future__ import annotations

import pytest

from situate.readers import Read, read
from tests.readers.trees import blocks


def read_text(text: str, *, doc_type: str | None = None) -> Read:
    """Read a document called rules/leave.md."""
    return read(text.encode(), "rules/leave.md", doc_type=doc_type)


YAML = """---
title: "Leave:
  who may take it"
doc_type: policy
effective_from: 2025-04-01
effective_to: 2026-03-31 23:59:59
language: no
source: https://example.org/leave
doc_id: hr-007
version: 1.10
owner: {team: HR, floors: [1, 2.5, 007, yes, null, true]}
reviewed: 2025-01-02
---
# Leave
"""

TOML = """+++
title = "Leave: who may take it"
doc_type = "policy"
effective_from = 2025-04-01
effective_to = 2026-03-31T23:59:59Z
language = "no"
source = "https://example.org/leave"
doc_id = "hr-007"
version = "1.10"
reviewed = 2025-01-02
[owner]
team = "HR"
floors = [1, 2.5, "007", "yes", true]
+++
# Leave
"""


@pytest.mark.parametrize("text", [YAML, TOML], ids=["YAML", "TOML"])
def test_known_keys_become_metadata_and_the_rest_custom(text: str) -> None:
    """Texts stay as written: no is Norwegian, 1.10 a version, 007 a code."""
    result = read_text(text, doc_type="handbook")

    document, metadata = result.document, result.document.metadata
    assert (document.doc_id, document.version) == ("hr-007", "1.10")
    assert metadata.title == "Leave: who may take it"
    assert (metadata.doc_type, metadata.language) == ("policy", "no")
    assert (metadata.effective_from, metadata.effective_to) == (
        "2025-04-01",
        "2026-03-31",
    )
    assert metadata.source == "https://example.org/leave"
    assert set(metadata.custom) == {"owner", "reviewed"}
    assert metadata.custom["reviewed"] == "2025-01-02"
    assert metadata.custom["owner"]["floors"][:4] == [1, 2.5, "007", "yes"]  # type: ignore[index, call-overload] # nested as above
    assert [block.text for block in blocks(document)] == ["# Leave"]
    assert result.warnings == ()


def test_without_front_matter_the_path_names_the_document() -> None:
    """`source` is the default id; the corpus gives the default type."""
    document = read_text("text", doc_type="handbook").document

    assert document.doc_id == "rules/leave.md"
    assert document.metadata.source == "rules/leave.md"
    assert document.metadata.doc_type == "handbook"
    assert document.metadata.custom == {}


@pytest.mark.parametrize(
    "block",
    [
        "---\n---\n",
        "---\n# only a comment\n---\n",
        "---\ntitle:\neffective_to: ~\n...\n",
        "+++\n+++\n",
    ],
    ids=["empty", "comment", "empty values", "empty TOML"],
)
def test_empty_front_matter_says_nothing(block: str) -> None:
    """Fences around nothing are neither text nor a warning."""
    result = read_text(block + "Text.")

    assert [each.text for each in blocks(result.document)] == ["Text."]
    assert result.document.metadata.title is None
    assert result.document.metadata.custom == {}
    assert result.warnings == ()


BROKEN = {
    "no YAML": "---\ntitle: Fees: what we charge\n\teffective_from: soon\n: :\n---\n",
    "no TOML": "+++\ntitle = Fees\n+++\n",
    "too many values": "---\na: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + "".join(
        f"{key}: &{key} [{','.join(['*' + before] * 10)}]\n"
        for before, key in zip("abcd", "bcde", strict=True)
    )
    + "---\n",
    "alias in itself": "---\na: &a [*a]\n---\n",
    "too deep": "---\na: " + "[" * 40 + "]" * 40 + "\n---\n",
    "TOML too deep": "+++\na = " + "[" * 40 + "]" * 40 + "\n+++\n",
    "too long": "---\n" + "key: value\n" * 7_000 + "---\n",
    "huge number": "+++\na = " + "9" * 5_000 + "\n+++\n",
    "list as key": "---\n? [a]\n: b\n? [c]\n: d\n---\n".replace("? [a]", "x: y\n? [a]"),
}


@pytest.mark.parametrize("block", BROKEN.values(), ids=BROKEN)
def test_front_matter_that_cannot_be_read_stays_as_text(block: str) -> None:
    """It is neither lost nor a heading, and a warning says why."""
    result = read_text(block + "# Fees\n\nText.")

    kept, *rest = blocks(result.document)
    assert kept.kind == "code"
    assert kept.text in block
    assert block.count("\n") == kept.text.count("\n") + 3
    assert [each.text for each in rest] == ["# Fees", "Text."]
    assert "front matter was kept as text" in result.warnings[0]
    assert result.document.metadata.custom == {}


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nNote: a break stands above.\n\n---\n\nText.",
        "---\nJust a line.\n---\n",
        "---\ntitle: never closed\n\nText.",
        "text first\n---\ntitle: x\n---\n",
        "--- title: x\n---\n",
    ],
    ids=["blank line", "no mapping", "not closed", "not first", "text on the fence"],
)
def test_thematic_breaks_are_no_front_matter(text: str) -> None:
    """What Markdown reads there stays Markdown."""
    result = read_text(text)

    shown = " ".join(block.text for block in blocks(result.document))
    assert all(word in shown for word in text.split() if word.strip("-"))
    assert result.document.metadata.title is None
    assert result.warnings == ()


@pytest.mark.parametrize(
    "value",
    ["soon", "2025-02-30", "01.04.2025", "20250401", "2025", "[2025-01-01]"],
)
def test_a_date_is_never_guessed(value: str) -> None:
    """What is no ISO date is warned of and kept under custom, raw."""
    result = read_text(f"---\neffective_from: {value}\n---\nText.")

    metadata = result.document.metadata
    assert metadata.effective_from is None
    assert "effective_from" in metadata.custom
    assert "is no ISO date" in result.warnings[0]


def test_contradictions_are_warnings() -> None:
    """A validity that ends before it begins, a key that stands twice."""
    result = read_text(
        "---\ntitle: A\ntitle: B\n"
        "effective_from: 2026-01-01\neffective_to: 2025-01-01\n---\nText."
    )

    assert result.document.metadata.title == "B"
    assert result.document.metadata.effective_from == "2026-01-01"
    assert [warning.split(":")[0] for warning in result.warnings] == [
        "front matter",
        "front matter",
    ]
    assert "stands twice" in result.warnings[0]
    assert "is after" in result.warnings[1]


def test_a_title_that_is_no_text_goes_under_custom() -> None:
    """A list has no place in a field of text."""
    result = read_text("---\ntitle: [a, b]\n---\nText.")

    assert result.document.metadata.title is None
    assert result.document.metadata.custom == {"title": ["a", "b"]}
    assert "title is no text" in result.warnings[0]


def test_escapes_smuggle_no_control_characters_in() -> None:
    """YAML and TOML can write what a text file cannot."""
    yaml = read_text('---\ntitle: "a\\0b\\uFEFF"\nk: ["\\e[0m"]\n---\n').document
    toml = read_text('+++\ntitle = "a\\u0000b"\n+++\n').document

    assert (yaml.metadata.title, toml.metadata.title) == ("ab", "ab")
    assert yaml.metadata.custom == {"k": ["[0m"]}


def test_numbers_that_json_cannot_hold_stay_text() -> None:
    """No infinity, no integer beyond 64 bits."""
    custom = read_text(
        "---\na: .inf\nb: 1.0e999\nc: 12345678901234567890\nd: 12:30\n---\n"
    ).document.metadata.custom

    assert custom == {
        "a": ".inf",
        "b": "1.0e999",
        "c": "12345678901234567890",
        "d": "12:30",
    }
