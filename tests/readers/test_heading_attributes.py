"""What a heading says of its section holds for all below it (C12)."""

from __future__ import annotations

from situate.chunking import Rules, chunk
from situate.model import Metadata, walk
from situate.readers import Read, read
from situate.tokens import load_counter

SOURCE = """\
---
title: Travel
effective_from: 2024-01-01
owner: HR
---

# Travel

All of it.

## Rates {#rates effective_from=2025-01-01 effective_to=2025-12-31 region="EMEA"}

From this year.

### Hotels

Below the rates.

## Trains {#trains .short}

As ever.
"""


def sections(source: str) -> tuple[Read, dict[str, Metadata]]:
    """Read a document and give the metadata of every section by its id."""
    found = read(source.encode(), "travel.md")
    metadata: dict[str, Metadata] = {}
    for section, above in walk(found.document.root):
        said = [each.metadata for each in (*above, section) if each.metadata]
        metadata[section.section_id] = (said or [found.document.metadata])[-1]
    return found, metadata


def test_attributes_hold_from_their_heading_downwards() -> None:
    """Sections below inherit them, neighbours do not."""
    _, metadata = sections(SOURCE)

    rates = metadata["travel/rates"]
    assert (rates.effective_from, rates.effective_to) == ("2025-01-01", "2025-12-31")
    assert rates.custom == {"owner": "HR", "region": "EMEA"}
    assert metadata["travel/rates/hotels"] == rates
    assert metadata["travel/trains"].effective_from == "2024-01-01"


def test_a_key_that_is_said_twice_has_both_values() -> None:
    """Several groups may see a section."""
    _, metadata = sections("# Pay {acl_groups=hr acl_groups=board}\n\nBands.\n")

    assert metadata["pay"].custom == {"acl_groups": ["hr", "board"]}


def test_attributes_are_no_part_of_a_title() -> None:
    """Breadcrumbs and ids are made of what is said."""
    found, metadata = sections(SOURCE)

    assert "travel/rates" in metadata
    titles = [section.title for section, _ in walk(found.document.root)]
    assert titles == ["", "Travel", "Rates", "Hotels", "Trains"]


def test_sections_that_differ_never_share_a_chunk() -> None:
    """However small they are."""
    document, _ = sections(SOURCE)

    chunks = chunk(document.document, Rules(), load_counter("cl100k_base"))

    dates = {each.section_id: each.metadata.effective_from for each in chunks}
    assert dates["travel/rates"] == "2025-01-01"
    assert dates["travel/trains"] == "2024-01-01"
    assert all("Trains" not in c.text or "Hotels" not in c.text for c in chunks)


def test_a_date_that_is_none_is_warned_about_by_its_heading() -> None:
    """Prose is not parsed for dates, and what looks like one is not guessed."""
    found, metadata = sections("# Fees {effective_from=03/04/2024}\n\nText.\n")

    assert metadata["fees"].effective_from is None
    assert metadata["fees"].custom == {"effective_from": "03/04/2024"}
    assert any("heading 'Fees': effective_from" in said for said in found.warnings)


def test_a_heading_without_named_attributes_changes_nothing() -> None:
    """An anchor is a name for links, no metadata."""
    found, _ = sections("# Fees {#fees .a}\n\nText.\n")

    assert all(section.metadata is None for section, _ in walk(found.document.root))


def test_what_is_said_of_documents_alone_is_no_attribute() -> None:
    """A key that is left out is told."""
    found, metadata = sections('# Fees {title="Own" version=3 fee=4}\n\nText.\n')

    assert metadata["fees"].custom == {"fee": "4"}
    assert "heading 'Fees': title, version cannot be said of a section" in (
        found.warnings
    )


def test_dates_are_held_against_what_is_inherited() -> None:
    """A section cannot begin to hold after its document has ended."""
    source = (
        "---\neffective_to: 2024-12-31\n---\n# B {effective_from=2025-01-01}\n\nx\n"
    )

    found, _ = sections(source)

    assert any("is after effective_to 2024-12-31" in each for each in found.warnings)
