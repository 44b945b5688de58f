"""Measures: how much of the gold a ranking brings, and how soon."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.compare.measures import Cuts, covers, score
from situate.compare.questions import Excerpt, word_counts


@dataclass(frozen=True)
class Passage:
    """A retrieved passage of a document of 1,000 characters."""

    spans: tuple[tuple[int, int], ...]
    text_tokens: int = 100
    embed_tokens: int = 120
    doc_id: str = "policy"
    text: str = "words of no account"


GOLD = (Excerpt(doc_id="policy", start=100, end=200),)
ELSEWHERE = Passage(spans=((500, 900),))
CUTS = Cuts(ks=(1, 5), budgets=(250, 1000))


def test_an_excerpt_is_found_when_entries_together_cover_most_of_it() -> None:
    """Two halves find what neither finds alone."""
    halves = [Passage(spans=((100, 150),)), Passage(spans=((150, 185),))]

    found = score(halves, GOLD, CUTS)

    assert found["rec@1"] == 0
    assert found["rec@5"] == 1


def test_the_same_passage_twice_covers_no_more() -> None:
    """Overlap and repetition earn nothing."""
    half = Passage(spans=((100, 150),))

    found = score([half, half, half], GOLD, CUTS)

    assert found["rec@5"] == 0
    assert found["ndcg@10"] == pytest.approx(0.5)


def test_other_documents_with_the_same_places_do_not_count() -> None:
    """Places are places of a document."""
    other = Passage(spans=((0, 1000),), doc_id="contract")

    found = score([other], GOLD, CUTS)

    assert found["rec@5"] == found["mrr@10"] == found["ndcg@10"] == 0
    assert found["fail@20"] == 1


def test_a_budget_takes_entries_in_order_until_it_is_full() -> None:
    """What stands behind the tokens that are read is not read."""
    answer = Passage(spans=((100, 200),))

    soon = score([ELSEWHERE, answer], GOLD, CUTS)
    late = score([ELSEWHERE, ELSEWHERE, ELSEWHERE, answer], GOLD, CUTS)

    assert soon["rec@250r"] == 1
    assert late["rec@250r"] == 0
    assert late["rec@1000r"] == 1


def test_the_entry_that_a_budget_ends_in_is_read_as_far_as_it_fits() -> None:
    """Of an answer that half fits, half is read."""
    begins = Passage(spans=((100, 300),))
    ends = Passage(spans=((0, 200),))

    found = [
        score([ELSEWHERE, ELSEWHERE, passage], GOLD, CUTS)["rec@250r"]
        for passage in (begins, ends)
    ]

    assert found == [1, 0]


def test_budgets_of_what_is_read_and_of_what_is_embedded_are_told_apart() -> None:
    """A long prefix costs where it is counted."""
    answer = Passage(spans=((100, 200),), text_tokens=100, embed_tokens=1000)
    before = Passage(spans=((500, 900),), text_tokens=100, embed_tokens=240)

    found = score([before, answer], GOLD, CUTS)

    assert found["rec@250r"] == 1
    assert found["rec@250t"] == 0


def test_the_first_entry_with_half_an_excerpt_ranks_for_mrr() -> None:
    """MRR looks at what one entry covers alone."""
    found = score([ELSEWHERE, Passage(spans=((150, 200),))], GOLD, CUTS)

    assert found["mrr@10"] == 0.5


def test_ndcg_counts_what_an_entry_adds() -> None:
    """A perfect ranking is 1; the second place counts less than the first."""
    answer = Passage(spans=((100, 200),))

    first, second = (
        score(ranking, GOLD, CUTS)["ndcg@10"]
        for ranking in ([answer], [ELSEWHERE, answer])
    )

    assert first == 1
    assert second == pytest.approx(1 / math.log2(3))


def test_an_excerpt_matched_by_words_is_found_in_another_form() -> None:
    """A table's row counts where a chunk says its cells, whatever stands between."""
    row = "| Winter tyres | 45.00 |"
    gold = (Excerpt(doc_id="policy", start=0, end=24, words=word_counts(row)),)
    said = Passage(spans=(), text="Winter: tyres at 45.00 a piece")
    unsaid = Passage(spans=((0, 24),), text="Summer tyres cost 30.00")

    assert score([said], gold, CUTS)["rec@1"] == 1
    assert score([unsaid], gold, CUTS)["rec@1"] == 0


def test_a_share_of_the_excerpts_is_a_share_of_the_recall() -> None:
    """A question with two answers is half answered by one."""
    gold = (*GOLD, Excerpt(doc_id="policy", start=700, end=800))

    found = score([Passage(spans=((100, 200),))], gold, CUTS)

    assert found["rec@1"] == 0.5


def test_what_an_entry_covers_alone_is_its_largest_share() -> None:
    """The report marks entries that hold gold."""
    assert covers(Passage(spans=((100, 160),)), GOLD) == pytest.approx(0.6)
    assert covers(ELSEWHERE, GOLD) == 0


PASSAGES = st.lists(
    st.builds(
        Passage,
        spans=st.tuples(st.integers(0, 30), st.integers(1, 30)).map(
            lambda pair: ((10 * pair[0], 10 * (pair[0] + pair[1])),)
        ),
        text_tokens=st.integers(1, 200),
        embed_tokens=st.integers(1, 200),
        doc_id=st.sampled_from(["policy", "contract"]),
    ),
    max_size=30,
)


@given(PASSAGES)
def test_every_measure_lies_between_nothing_and_all(passages: list[Passage]) -> None:
    """Measures are shares, and recall never falls as more is taken."""
    found = score(passages, GOLD, CUTS)

    assert set(found) == set(CUTS.measures)
    assert all(0 <= value <= 1 for value in found.values())
    assert found["rec@1"] <= found["rec@5"]
    assert found["rec@250r"] <= found["rec@1000r"]
    assert found["rec@250t"] <= found["rec@1000t"]


@given(PASSAGES)
def test_what_stands_behind_the_last_cut_changes_nothing(
    passages: list[Passage],
) -> None:
    """A ranking is looked at so far and no further."""
    full = [*passages, *[ELSEWHERE] * 40]

    found = score(full, GOLD, CUTS)

    assert score([*full, Passage(spans=((100, 200),))], GOLD, CUTS) == found


def test_a_passage_without_tokens_takes_no_budget() -> None:
    """Nothing is divided by the tokens of an empty text."""
    empty = Passage(spans=((100, 200),), text_tokens=0, embed_tokens=0)

    assert score([empty], GOLD, CUTS)["rec@250r"] == 1
