"""Rules that cannot be kept are refused when they are made."""

from __future__ import annotations

import pytest

from situate.chunking import Rules, chunk
from situate.errors import ConfigError
from situate.readers import read
from situate.tokens import load_counter


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


def test_the_least_of_sizes_still_comes_to_an_end() -> None:
    """Lists in lists leave no room beside their markers at the lowest limit."""
    text = "- intro:\n\n  1. below:\n\n     - " + "deep words " * 60 + "\n\n       more"
    document = read(text.encode(), "doc.md").document

    chunks = chunk(document, Rules(max_tokens=16), load_counter("cl100k_base"))

    assert chunks
    assert all(leaf.token_count <= 16 for leaf in chunks)


@pytest.mark.parametrize("limit", range(3, 40))
def test_a_shortened_breadcrumb_keeps_its_bound_where_texts_meet(limit: int) -> None:
    """C3: the last heading is cut to what is left, and the line is counted."""
    source = f"# Title of it\n\n## {'a' * 60} {'b' * 50}\n\n### {'c' * 90}\n\nText.\n"
    document = read(source.encode(), "doc.md").document
    counter = load_counter("cl100k_base")

    chunks = chunk(document, Rules(prefix_max_tokens=limit), counter)

    assert all(counter.count(each.breadcrumb_line) <= limit for each in chunks)
