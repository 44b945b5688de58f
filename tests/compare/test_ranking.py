"""Rankings: the same entries by every retriever, ties by their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situate.compare.arms import Entry
from situate.compare.lexical import BM25, analyzer, prevailing
from situate.compare.ranking import RETRIEVERS, Index, best, fuse, looked_into, reranked


def entry(number: int, text: str, *, line: str = "", doc_id: str = "policy") -> Entry:
    """Make an entry that is indexed under its line."""
    return Entry(
        entry_id=f"{doc_id}:{number}",
        doc_id=doc_id,
        text=text,
        breadcrumb=line,
        statement=None,
        dense=f"{line} {text}",
        lexical=(line, text),
        spans=((0, 1),),
        text_tokens=1,
        embed_tokens=1,
    )


ENTRIES = [
    entry(0, "Dogs are allowed on Fridays", line="Office"),
    entry(1, "Cats are never allowed", line="Office"),
    entry(2, "Fees are due in March", line="Dogs", doc_id="fees"),
]
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)


def index(*retrievers: str) -> Index:
    """Index the entries."""
    return Index(ENTRIES, retrievers, analyzer("en"), VECTORS)  # type: ignore[arg-type]  # names are checked where users give them


def test_a_lexical_ranking_holds_only_what_has_a_word_of_the_question() -> None:
    """An engine gives nothing where there is nothing to give."""
    one = index("bm25")

    ranking = one.ranking("bm25", one.scores("a dog on a friday", None))

    assert ranking == [0, 2]


def test_breadcrumb_and_reading_are_scored_as_fields_of_their_own() -> None:
    """Each is measured by its like, so that a long text does not dilute its line."""
    words = analyzer("en")
    lines = BM25([entry.lexical[0] for entry in ENTRIES], words)
    readings = BM25([entry.lexical[1] for entry in ENTRIES], words)

    scores = index("bm25-fields").scores("dogs allowed", None)["bm25-fields"]

    both = lines.scores("dogs allowed") + readings.scores("dogs allowed")
    assert scores == pytest.approx(both)


def test_a_dense_ranking_goes_by_the_angle() -> None:
    """Every entry has a place in it."""
    one = index("dense")

    scores = one.scores("", np.array([0, 1], np.float32))

    assert one.ranking("dense", scores) == [1, 2, 0]


def test_hybrid_fuses_the_ranks_of_both() -> None:
    """What stands high in both stands highest."""
    one = index("hybrid")

    scores = one.scores("dogs", np.array([0.6, 0.8], np.float32))

    assert one.ranking("hybrid", scores)[0] == 2


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_excluded_documents_are_in_no_ranking(retriever: str) -> None:
    """The page a question was taken from would answer it with itself."""
    one = index(*RETRIEVERS)
    scores = one.scores("dogs allowed fees", np.array([0.6, 0.8], np.float32))

    ranking = one.ranking(retriever, scores, excluded={"policy"})  # type: ignore[arg-type]  # a parameter's names

    assert ranking == [2]


def test_drilling_down_ranks_inside_the_best_documents_alone() -> None:
    """Documents say where to look."""
    one = index("dense")
    scores = one.scores("", np.array([0, 1], np.float32))

    assert one.ranking("dense", scores, within={"fees"}) == [2]
    assert looked_into(one, "dense", scores, ()) == {"policy", "fees"}


def test_dense_retrieval_without_vectors_is_refused() -> None:
    """A ranking is never made up."""
    with pytest.raises(ValueError, match="needs vectors"):
        Index(ENTRIES, ("dense",), analyzer("en"), None)


def test_a_reranker_orders_what_stands_first_and_nothing_else() -> None:
    """It is asked about what the dense index has of an entry."""

    class Shortest:
        name = "shortest"

        def score(self, query: str, texts: list[str]) -> np.ndarray:
            assert texts[0] == f"Office {query} are allowed on Fridays"
            return np.array([-len(text) for text in texts], float)

    order = reranked([0, 1, 2, *[1] * 60], "Dogs", ENTRIES, Shortest())  # type: ignore[arg-type]  # a list is a sequence

    assert order[:2] == [2, 1]
    assert len(order) == 63


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, -np.inf]), min_size=1, max_size=40),
    st.integers(1, 50),
)
def test_the_best_are_those_a_full_sort_gives(values: list[float], most: int) -> None:
    """Equal scores go by place, also at the end of the ranking."""
    scores = np.array(values, np.float32)

    ranking = best(scores, most)

    everything = sorted(range(len(values)), key=lambda place: (-values[place], place))
    assert ranking == everything[:most]


def test_fusion_is_blind_to_the_order_of_equal_ranks() -> None:
    """Entries of equal ranks go by their place."""
    assert fuse([[1, 0], [0, 1]]) == [0, 1]


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "granting holidays", "granted holiday"),
        ("de", "Kündigungen der Verträge", "Kündigung der Vertrag"),
        ("fr-CA", "congés payés", "congé payé"),
        (None, "The fees", "fee"),
    ],
    ids=["English", "German", "Canadian French", "unknown, so English"],
)
def test_forms_of_a_word_are_one_word(
    language: str | None, one: str, other: str
) -> None:
    """Words are stems of the corpus's language."""
    words = analyzer(language)

    assert words(one)[-1] == words(other)[-1]


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    """Else a sentence would be a word, and no question would have it."""
    words = analyzer("zh")

    assert words("年假规定 A4") == ["年假", "假规", "规定", "a4"]
    assert set(words("年假")) <= set(words("员工年假规定"))


def test_a_text_without_words_is_indexed_and_never_found() -> None:
    """An empty reading is no error."""
    found = BM25(["", "?!", "fees"], analyzer("en")).scores("fees")

    assert list(found > 0) == [False, False, True]


def test_the_language_of_a_corpus_is_that_of_most_documents() -> None:
    """Those that name none have no say."""
    assert prevailing([None, "de", "en", "de", None, None]) == "de"
    assert prevailing([None]) is None
