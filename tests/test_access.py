"""Who may see a section is said by the key that says it of what is around."""

from __future__ import annotations

import pytest

from situate.access import closed_otherwise
from situate.readers import read


def told(*lines: str) -> list[str]:
    """Read a document and give what is said of its keys."""
    document = read("\n\n".join(lines).encode(), "pay.md").document
    return list(closed_otherwise(document))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            (
                "---\nacl_groups: [staff]\n---\n# Pay",
                "All.",
                "## Bands {acl_read=hr}",
                "Sixty.",
            ),
            id="document",
        ),
        pytest.param(
            (
                "# Pay {acl_groups=staff}",
                "All.",
                "## Bands {acl_read=hr}",
                "Sixty.",
            ),
            id="section",
        ),
    ],
)
def test_a_section_closed_by_another_key_is_warned_of(lines: tuple[str, ...]) -> None:
    """S6: a search by the key around it would show the section to others."""
    (warning,) = told(*lines)

    assert "'Bands' says acl_read, and what is around it acl_groups" in warning


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("# Pay", "All.", "## Bands {acl_read=hr}", "Sixty."), id="open"),
        pytest.param(
            (
                "---\nacl_read: [staff]\nacl_write: [hr]\n---\n# Pay",
                "All.",
                "## Bands {acl_read=hr classification=secret}",
                "Sixty.",
            ),
            id="same",
        ),
    ],
)
def test_a_section_closed_by_the_same_key_is_not(lines: tuple[str, ...]) -> None:
    """Nor is one in a document that is open, nor a class."""
    assert told(*lines) == []


def test_a_key_is_told_once() -> None:
    """However many sections it closes."""
    sections = [f"## Part {number} {{acl_read=hr}}\n\nText." for number in range(3)]

    assert len(told("---\nacl_groups: [staff]\n---\n# Pay", *sections)) == 1
