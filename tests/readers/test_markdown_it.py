"""Our blocks against those of markdown-it-py, an independent implementation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from situate.readers import read
from tests.readers.markdown_it_oracle import expected, found
from tests.readers.strategies import SHARED_LINES, documents

BY_HAND = {
    "list before definitions": "- a\n- b\n\n[x]: /y\n[z]: /u\n\ntext",
    "list before an indented paragraph": "- a\n\n   text\n\n - b",
    "table below a paragraph": "Prices.\nPart | Price\n--- | ---\nA | 1\n\nEnd",
    "tab in a delimiter row": "a | b\n---\t| ---\n1 | 2",
    "fence in an item": "- open\n  ```\n    login\n  ```\n- next\n\n```\n# daily\n```",
    "html around Markdown": "<div>\n\n*text*\n\n</div>\ntext",
    "lazy quotation": "> one\ntwo\n\n> three\n- four",
    "code after a list": "- a\n\n      inside\n\n<b>x</b>\n\n    outside",
    "footnotes": "Text.[^1]\n\n[^1]: one\n[^2]: two\n\nEnd",
}


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND)
def test_constructs_that_parsers_dispute_agree(text: str) -> None:
    """Kind, first and last line of every top-level block are the same."""
    document = read(text.encode(), "doc.md").document

    assert sorted(found(document, text)) == sorted(expected(text))


@settings(max_examples=300)
@given(documents(SHARED_LINES))
def test_mixtures_of_lines_agree(text: str) -> None:
    """Kind, first and last line of every top-level block are the same."""
    document = read(text.encode(), "doc.md").document

    assert sorted(found(document, text)) == sorted(expected(text))
