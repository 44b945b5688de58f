"""Rules that cannot be kept are refused when they are made."""

from __future__ import annotations

import pytest

from situate.chunking import Rules
from situate.errors import ConfigError


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 15},
        {"min_tokens": -1},
        {"container_max_tokens": 1},
        {"prefix_max_tokens": -1},
        {"granularity": "paragraphs"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_rule_nothing_can_be_cut_to_is_named(wrong: dict[str, object]) -> None:
    """The message says which, and what would do."""
    (name,) = wrong

    with pytest.raises(ConfigError, match=name):
        Rules(**wrong)  # type: ignore[arg-type] # what a caller gets wrong
