"""Whatever the bytes, reading and cutting end, and every size is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Granularity, Rules, chunk
from situate.readers import read
from situate.tokens import TokenCounter, load_counter

EXACT = load_counter("cl100k_base")


class Inexact:
    """A tokenizer of which nothing is known but its counts."""

    name = "inexact"
    splits_at_lines = False

    def count(self, text: str) -> int:
        """Count as the exact one does."""
        return EXACT.count(text)


COUNTERS: tuple[TokenCounter, ...] = (EXACT, Inexact())

EMPTY_COLUMNS = "|" * 80 + "\n|" + "-|" * 80 + "\n"

MARKS = [
    *("|", " |", "|-|", "\\|", "\n", "\n\n", "  ", "    ", "\t", "\u00a0"),
    *("```", "~~~", "> ", "- ", "1. ", "# ", "## ", "=====", "-----", "---\n"),
    *("$$", "<!--", "-->", "<div>", "<b>", "&amp;", "[^a]: ", "[b]: /u"),
    *("word", "text: ", "Table 1: x", "a" * 300, "*" * 40),
    *("。", "本", "e\u0301", "🦊", EMPTY_COLUMNS),
]

noise = st.lists(
    st.builds(
        lambda mark, times: mark * times,
        st.sampled_from(MARKS),
        st.sampled_from([1, 1, 1, 2, 3, 40]),
    ),
    min_size=1,
    max_size=60,
).map("".join)


@given(
    text=noise,
    limit=st.sampled_from([16, 24, 32, 64, 128]),
    granularity=st.sampled_from(["leaves", "tree"]),
    counter=st.sampled_from(COUNTERS),
)
def test_any_mixture_of_marks_is_cut_within_the_limit(
    text: str, limit: int, granularity: Granularity, counter: TokenCounter
) -> None:
    """C3: sizes are exact and bounded, also where a document is all structure."""
    document = read(text.encode(), "noise.md").document

    chunks = chunk(document, Rules(max_tokens=limit, granularity=granularity), counter)

    for each in chunks:
        assert each.text.strip()
        assert each.token_count == counter.count(each.text)
        assert not each.embed or each.token_count <= limit


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(EMPTY_COLUMNS + "======", id="row smaller than what is left"),
        pytest.param("1. " * 40, id="markers alone above the limit"),
        pytest.param("~~~\n" + "\u00a0" * 400 + "\n~~~", id="line of blanks"),
        pytest.param("# a b c d\n\nuse x::y;\n\nuse zz::*;", id="joined by its end"),
        pytest.param(f"<!--><!--\n\u00a0{EMPTY_COLUMNS}-->-", id="hidden rows"),
    ],
)
@pytest.mark.parametrize("counter", COUNTERS, ids=["exact", "inexact"])
def test_what_once_was_too_big_or_crashed_is_cut(
    text: str, counter: TokenCounter
) -> None:
    """C3: where not even the repeats fit, the limit wins over them."""
    document = read(text.encode(), "noise.md").document

    chunks = chunk(document, Rules(max_tokens=16, min_tokens=0), counter)

    assert all(counter.count(each.text) <= 16 for each in chunks)
