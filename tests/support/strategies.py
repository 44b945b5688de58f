"""Random documents for the rules that hold for every tree."""

from __future__ import annotations

from hypothesis import strategies as st

from situate.model import Block, Document, Metadata
from tests.support.documents import (
    Draft,
    bullets,
    code,
    document,
    paragraph,
    quote,
    section,
    table,
)

_SENTENCE = (
    "the cover limit applies to renewals except where Annex 3 says otherwise 12.5 % "
    "Müller naïve 报销 上限 🦊 e\u0301tude antidisestablishmentarianism <|endoftext|> "
    "e.g. No. 5 (a) x=y; https://example.org/a?b=c"
)
_WORDS = _SENTENCE.split()

words = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=30).map(" ".join)
ends = st.sampled_from([".", ":", "!", "?", "", "。"])
sentences = st.builds(lambda text, end: text + end, words, ends)
texts = st.lists(sentences, min_size=1, max_size=8).map(" ".join)
short = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4).map(" ".join)
lines = st.one_of(st.just(""), short.map(lambda text: "    " + text), short)


@st.composite
def tables(draw: st.DrawFn) -> Block:
    """Draw a table of any shape, now and then with a very long cell."""
    width = draw(st.integers(1, 4))
    cell = st.one_of(short, st.just(""), texts)
    rows = st.lists(st.lists(cell, min_size=width, max_size=width), max_size=12)
    header = draw(st.lists(short, min_size=width, max_size=width))
    return table(header, draw(rows))


plain = st.one_of(
    texts.map(paragraph),
    st.builds(
        lambda items, loose: bullets(items, loose=loose),
        st.lists(st.one_of(short, texts), min_size=1, max_size=10),
        st.booleans(),
    ),
    st.lists(lines, min_size=1, max_size=25).map(code),
    tables(),
    st.integers(1, 9).map(lambda n: paragraph(f"Table {n}: limits and excesses")),
)
blocks = st.one_of(
    plain,
    st.lists(plain, min_size=1, max_size=4).map(lambda parts: quote(*parts)),
    texts.map(lambda text: paragraph(text, "html")),
)
headings = st.one_of(short, words)
validity = st.one_of(
    st.none(),
    st.none(),
    st.none(),
    st.sampled_from(["2025-01-01", "2026-01-01"]).map(
        lambda day: Metadata(effective_from=day)
    ),
)


def _below(children: st.SearchStrategy[Draft], least: int) -> st.SearchStrategy[Draft]:
    return st.builds(
        lambda title, own, below, metadata: section(
            title, *own, *below, metadata=metadata
        ),
        headings,
        st.lists(blocks, min_size=least, max_size=4),
        st.lists(children, max_size=4),
        validity,
    )


def _drafts(least: int) -> st.SearchStrategy[Draft]:
    return st.recursive(
        st.builds(
            lambda title, own: section(title, *own),
            headings,
            st.lists(blocks, min_size=least, max_size=3),
        ),
        lambda children: _below(children, least),
        max_leaves=8,
    )


documents: st.SearchStrategy[Document] = st.builds(
    lambda above, below: document(*above, *below),
    st.lists(blocks, max_size=2),
    st.lists(_drafts(0), max_size=4),
)
filled: st.SearchStrategy[Document] = st.builds(
    lambda above, below: document(*above, *below),
    st.lists(blocks, max_size=2),
    st.lists(_drafts(1), min_size=1, max_size=4),
)
"""Documents with sections, none of which is a heading alone."""
