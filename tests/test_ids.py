"""Texts stand in ids without parting them, and come back as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from situate.model import document_of, quoted, unquoted

TEXTS = st.text(st.sampled_from("%:@A0235a/é"))
"""With all that is quoted, and all that quoting writes."""


@given(text=TEXTS)
def test_a_quoted_text_comes_back_whatever_it_was_quoted_for(text: str) -> None:
    """Those of labels, which `@` parts as well, and those of documents."""
    assert unquoted(quoted(text)) == text
    assert unquoted(quoted(text, marks=":@")) == text


@given(text=TEXTS)
def test_a_quoted_text_parts_no_id(text: str) -> None:
    """None of the marks is left in it."""
    assert ":" not in quoted(text)
    assert not set(quoted(text, marks=":@")) & {":", "@"}


@given(text=TEXTS)
def test_an_id_says_which_document_it_is_of(text: str) -> None:
    """Whatever that is called."""
    assert document_of(f"{quoted(text)}:_top:0") == text
