"""The frontier says what a share of the statements brings, chosen or drawn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situate.compare.arms import Arm, Entry, above
from situate.compare.frontier import (
    SHARES,
    Advantage,
    Frontier,
    Outcomes,
    beating,
    frontier,
    outcomes,
    weighed,
)
from situate.compare.measures import Cuts
from situate.compare.mixing import pair
from situate.compare.questions import Excerpt, Question, word_counts
from situate.compare.statistics import difference, resample
from situate.compare.trial import Setting, try_arm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.compare.embedders.contract import Role, Rows
    from situate.compare.mixing import Pair
    from situate.compare.ranking import Retriever

WORDS: Final = tuple(f"word{number}" for number in range(60))
HALF: Final = SHARES.index(0.5)


@dataclass
class Hashed:
    """Gives every text a direction of its own, and keeps what it was asked."""

    name: str = "hashed"
    asked: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str], role: Role) -> Rows:  # noqa: ARG002 - as it is called
        """Give the same row for the same text, whatever its role."""
        self.asked.extend(texts)
        rows = np.stack(
            [
                np.random.default_rng(crc32(text.encode())).standard_normal(8)
                for text in texts
            ]
        )
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)


@dataclass(frozen=True)
class Shape:
    """What a corpus looks like."""

    entries: int = 60
    documents: int = 5
    most_tokens: int = 200
    budget: int = 500
    texts: int = 1_000
    """The fewer, the more entries are alike and tie."""
    unstated: float = 0.2
    seed: int = 0


def corpus(shape: Shape) -> tuple[Arm, Arm, tuple[Question, ...], Setting]:
    """Make arms without and with statements, questions, and how to ask them."""
    random = Random(shape.seed)  # noqa: S311 - made-up texts are no secret
    free, stated = [], []
    for number in range(shape.entries):
        doc_id = f"document-{number * shape.documents // shape.entries}"
        own = Random(random.randrange(shape.texts))  # noqa: S311 - as above
        text = " ".join(own.choices(WORDS, k=12))
        entry = Entry(
            entry_id=f"entry-{number}",
            doc_id=doc_id,
            text=text,
            breadcrumb="",
            statement=None,
            dense=text,
            lexical=("", text),
            spans=((number * 100, number * 100 + 100),),
            text_tokens=random.randint(0, shape.most_tokens),
            embed_tokens=10,
        )
        free.append(entry)
        statement = None
        if random.random() >= shape.unstated:
            statement = f"statement {own.random()}"
        dense = above(statement or "", text)
        stated.append(replace(entry, statement=statement, dense=dense))
    questions = [question(random, number, free) for number in range(8)]
    setting = Setting(
        retrievers=("bm25", "dense", "hybrid"),
        words=str.split,
        embedder=Hashed(),
        cuts=Cuts(budgets=(shape.budget,)),
    )
    return (
        Arm(name="free", kind="breadcrumb", entries=tuple(free)),
        Arm(name="stated", kind="statement", entries=tuple(stated), placing="dense"),
        tuple(questions),
        setting,
    )


def question(random: Random, number: int, entries: Sequence[Entry]) -> Question:
    """Ask for one or two passages, by place or by words, of documents not left out."""
    golden = random.sample(entries, k=random.randint(1, 2))
    about = {entry.doc_id for entry in golden}
    others = sorted({entry.doc_id for entry in entries} - about)
    return Question(
        qid=f"q{number}",
        query=" ".join(random.choices(WORDS, k=4)),
        gold=tuple(
            Excerpt(
                doc_id=entry.doc_id,
                start=entry.spans[0][0] + 30,
                # Now and then into the entry behind.
                end=entry.spans[0][0] + random.choice((70, 110)),
                words=word_counts(entry.text) if number % 4 == 3 else None,
            )
            for entry in golden
        ),
        excluded=frozenset(others[:1] if number % 2 else ()),
    )


def bought_by(arms: tuple[Arm, Arm], scores: Sequence[float], share: float) -> Arm:
    """Make the arm that has a share of the statements, the highest scores' first."""
    free, stated = arms
    places = [at for at, one in enumerate(stated.entries) if one.statement]
    places.sort(key=lambda at: (-scores[at], at))
    chosen = set(places[: round(share * len(places))])
    entries = tuple(
        stated.entries[at] if at in chosen else entry
        for at, entry in enumerate(free.entries)
    )
    return replace(stated, entries=entries)


SHAPES: Final = [
    pytest.param(Shape(), id="a corpus"),
    pytest.param(Shape(texts=6), id="entries alike"),
    pytest.param(Shape(entries=450, documents=9, budget=4_000), id="more than fused"),
    pytest.param(
        Shape(entries=460, documents=3, most_tokens=3, budget=5_000),
        id="a ranking ends before its budget",
    ),
    pytest.param(Shape(entries=4, documents=2, budget=10_000), id="few entries"),
    pytest.param(Shape(unstated=0.9), id="few statements"),
    # Of many seeds one whose ranking any other constant of the fusion would change.
    pytest.param(
        Shape(entries=160, documents=40, budget=2_500, seed=42), id="fused just so"
    ),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_share_is_worth_what_an_arm_with_these_statements_is(shape: Shape) -> None:
    """Mixing numbers is no other measurement than indexing the mixture."""
    free, stated, questions, setting = corpus(shape)
    assert setting.embedder is not None
    scores = np.random.default_rng(3).random(shape.entries).tolist()
    both = pair(free, stated, setting.embedder)

    found = outcomes(both, questions, setting, {"drawn": scores}, seed=1)

    for at, share in enumerate(SHARES):
        arm = bought_by((free, stated), scores, share)
        results = {one.retriever: one for one in try_arm(arm, questions, setting)}
        for retriever, recalls in found.recalls.items():
            wanted = results[retriever].measures[setting.cuts.primary]
            assert recalls[0, at].tolist() == list(wanted)


@given(seed=st.integers(0, 2**20), texts=st.integers(1, 80))
@settings(max_examples=15, deadline=None)
def test_any_corpus_measures_mixtures_as_arms(seed: int, texts: int) -> None:
    """Whatever ties, is left out or has no statement."""
    shape = Shape(entries=40, documents=3, budget=300, texts=texts, seed=seed)
    free, stated, questions, setting = corpus(shape)
    assert setting.embedder is not None
    scores = [float(at % 7) for at in range(shape.entries)]
    both = pair(free, stated, setting.embedder)

    found = outcomes(both, questions, setting, {"sevens": scores}, seed=seed)

    arm = bought_by((free, stated), scores, 0.5)
    for result in try_arm(arm, questions, setting):
        wanted = result.measures[setting.cuts.primary]
        assert found.recalls[result.retriever][0, HALF].tolist() == list(wanted)


@pytest.mark.parametrize(("gold", "recall"), [(0, 1.0), (1, 0.0)], ids=["1st", "2nd"])
def test_of_equal_fused_ranks_the_first_entry_stands_above(
    gold: int, recall: float
) -> None:
    """First by words and second by vectors is as good as the other way round."""
    free, stated, questions, setting = corpus(Shape(entries=2, documents=2))
    embedder = Hashed()
    query = "word1 word2"
    rows = embedder.embed([one.dense for one in free.entries], "document")
    nearest = int((rows @ embedder.embed([query], "query")[0]).argmax())
    lexical = [("", query if at != nearest else "word1 other") for at in range(2)]
    entries = [
        replace(one, lexical=words, text_tokens=100)
        for one, words in zip(free.entries, lexical, strict=True)
    ]
    free = replace(free, entries=tuple(entries))
    stated = replace(
        free, entries=(entries[0], replace(entries[1], statement="as it was"))
    )
    asked = replace(
        questions[0],
        query=query,
        gold=(
            Excerpt(doc_id=entries[gold].doc_id, start=gold * 100, end=gold * 100 + 9),
        ),
        excluded=frozenset(),
    )
    setting = replace(setting, retrievers=("hybrid",), cuts=Cuts(budgets=(100,)))

    found = outcomes(
        pair(free, stated, embedder), [asked], setting, {"any": [0.0, 0.0]}, seed=1
    )

    assert set(found.recalls["hybrid"].ravel().tolist()) == {recall}


def test_every_text_is_embedded_once() -> None:
    """A chunk without a statement is the same in both arms."""
    free, stated, questions, setting = corpus(Shape())
    embedder = Hashed()
    scores = {"none": [0.0] * 60}

    both = pair(free, stated, embedder)
    frontier(both, questions, replace(setting, embedder=embedder), scores, seed=1)

    texts = [one.dense for one in free.entries]
    texts += [one.dense for one in stated.entries if one.statement]
    assert embedder.asked == [*texts, *(one.query for one in questions)]


def test_a_seed_fixes_the_random_choices() -> None:
    """The same seed, the same page; another one, other draws."""
    free, stated, questions, setting = corpus(Shape())
    both = pair(free, stated, Hashed())
    scores = {"first": [-float(at) for at in range(60)]}

    one, same, other = (
        frontier(both, questions, setting, scores, seed=seed) for seed in (1, 1, 2)
    )

    assert one == same
    assert one.points != other.points


def test_of_equal_scores_the_first_entry_is_bought_first() -> None:
    """A score without an opinion buys from the top."""
    free, stated, questions, setting = corpus(Shape())
    both = pair(free, stated, Hashed())
    scores = {"equal": [0.0] * 60, "first": [-float(at) for at in range(60)]}

    found = outcomes(both, questions, setting, scores, seed=1)

    for recalls in found.recalls.values():
        assert (recalls[0] == recalls[1]).all()


def test_the_ends_are_the_arms_whatever_is_chosen() -> None:
    """With nothing or everything to buy there is nothing to choose."""
    free, stated, questions, setting = corpus(Shape())
    both = pair(free, stated, Hashed())

    found = frontier(both, questions, setting, {"first": range(60)}, seed=1)

    ends = [one for one in found.points if one.share in (0, 1)]
    assert len(ends) == 4
    for one in ends:
        assert one.mean == one.random_mean == one.random_low == one.random_high


@pytest.mark.parametrize(
    ("retrievers", "unstated"),
    [(("bm25", "bm25-fields"), 0.0), (("dense",), 1.0)],
    ids=["no dense retrieval", "no statements"],
)
def test_there_is_no_frontier_where_nothing_can_change(
    retrievers: tuple[Retriever, ...], unstated: float
) -> None:
    """A statement in the dense index is seen by dense retrieval alone."""
    free, stated, questions, setting = corpus(Shape(unstated=unstated))
    both = pair(free, stated, Hashed())
    setting = replace(setting, retrievers=retrievers)

    found = frontier(both, questions, setting, {"first": range(60)}, seed=1)

    assert (found.points, found.advantages, beating([found])) == ((), (), ())


@pytest.mark.parametrize(
    "scores",
    [[1.0] * 59, [1.0] * 59 + [float("nan")]],
    ids=["one too few", "no number"],
)
def test_a_score_has_a_number_for_each_entry(scores: list[float]) -> None:
    """A score of other entries would buy at random without saying so."""
    free, stated, questions, setting = corpus(Shape())
    both = pair(free, stated, Hashed())

    with pytest.raises(ValueError, match="'short' has not one finite number for each"):
        frontier(both, questions, setting, {"short": scores}, seed=1)


def test_arms_that_differ_in_words_are_refused() -> None:
    """Counts of words change with every mixture, vectors do not."""
    free, stated, _, _ = corpus(Shape())
    entries = tuple(replace(one, lexical=("more", one.text)) for one in stated.entries)

    with pytest.raises(ValueError, match="differ in more than what the dense index"):
        pair(free, replace(stated, entries=entries), Hashed())


def planted(
    *, questions: int = 120, documents: int = 40
) -> tuple[Pair, Setting, list[Question]]:
    """Make a corpus where a statement lets its own chunk be found and no other.

    Every question has a direction, which the statement of the chunk that answers it
    has, too; a third of the chunks answer something.
    """
    count = 3 * questions
    directions = np.eye(questions + 1, dtype=np.float32)
    entries = [
        Entry(
            entry_id=f"entry-{at}",
            doc_id=f"document-{at % documents}",
            text=f"text {at}",
            breadcrumb="",
            statement=None,
            dense="nowhere",
            lexical=("", "text"),
            spans=((at * 10, at * 10 + 10),),
            text_tokens=100,
            embed_tokens=100,
        )
        for at in range(count)
    ]

    class Directions:
        name = "directions"

        def embed(self, texts: Sequence[str], role: Role) -> Rows:  # noqa: ARG002 - as it is called
            known = [text.partition(" ")[2] for text in texts]
            return directions[[int(one) if one else questions for one in known]]

    stated = [
        replace(
            entry, statement="s", dense=f"about {at // 3}" if at % 3 == 0 else "nowhere"
        )
        for at, entry in enumerate(entries)
    ]
    asked = [
        Question(
            qid=f"q{number}",
            query=f"about {number}",
            gold=(
                Excerpt(
                    doc_id=entries[3 * number].doc_id,
                    start=30 * number,
                    end=30 * number + 10,
                ),
            ),
        )
        for number in range(questions)
    ]
    both = pair(
        Arm(name="free", kind="none", entries=tuple(entries)),
        Arm(name="stated", kind="statement", entries=tuple(stated), placing="dense"),
        Directions(),
    )
    setting = Setting(
        retrievers=("dense",),
        words=str.split,
        embedder=Directions(),
        cuts=Cuts(budgets=(300,)),
    )
    return both, setting, asked


def test_a_score_that_knows_beats_random_and_one_that_does_not_does_not() -> None:
    """What is there to be found is found, and nothing else."""
    both, setting, questions = planted()
    scores = {
        "knows": [float(at % 3 == 0) for at in range(360)],
        "guesses": np.random.default_rng(4).random(360).tolist(),
        "errs": [float(at % 3 != 0) for at in range(360)],
    }

    found = frontier(both, questions, setting, scores, seed=1)

    assert [one.score for one in beating([found])] == ["knows"]
    knows = next(p for p in found.points if (p.score, p.share) == ("knows", 0.25))
    errs = next(p for p in found.points if (p.score, p.share) == ("errs", 0.25))
    assert knows.mean > knows.random_high > knows.random_low > errs.mean


def test_random_choices_find_their_share() -> None:
    """Half of the statements bring half of the gain where each has its own."""
    both, setting, questions = planted()

    found = frontier(both, questions, setting, {"first": range(360)}, seed=1)

    points = {one.share: one for one in found.points}
    for share, one in points.items():
        assert one.random_mean == pytest.approx(
            points[0.0].mean + share * (points[1.0].mean - points[0.0].mean), abs=0.01
        )


def advantage(p: float = 0.001, low: float = 0.01, luck: float = 0.001) -> Advantage:
    """Make what a score has over random choices, over all shares."""
    return Advantage(
        retriever="dense",
        arm="stated",
        score="a",
        share=None,
        difference=replace(difference([1], [0], resample(["a"], seed=1)), p=p, low=low),
        luck=luck,
    )


@pytest.mark.parametrize(
    ("one", "beats"),
    [
        (advantage(p=0.05, luck=0.05), True),
        (advantage(p=0.051), False),
        (advantage(luck=0.051), False),
        (advantage(low=0.0), False),
        (replace(advantage(), share=0.5), False),
    ],
    ids=["both tests", "not documents", "not choices", "not above", "one share"],
)
def test_a_score_beats_random_where_both_tests_agree(
    one: Advantage, beats: bool
) -> None:
    """Other documents would say the same, and few random choices do as well."""
    found = Frontier(points=(), advantages=(one,))

    assert beating([found]) == ((one,) if beats else ())


@pytest.mark.parametrize("apart", [False, True], ids=["one arm", "two arms"])
@pytest.mark.parametrize("by", ["p", "luck"])
@pytest.mark.parametrize(("value", "beats"), [(0.025, True), (0.026, False)])
def test_scores_are_corrected_for_all_others(
    by: str, value: float, beats: bool, apart: bool
) -> None:
    """Holm's: of two the better has half of 0.05, under whatever arm they stand."""
    both = (advantage(**{by: value}), advantage(p=0.9))
    groups = [both[:1], both[1:]] if apart else [both]

    found = beating([Frontier(points=(), advantages=each) for each in groups])

    assert found == (both[:1] if beats else ())


def test_choices_by_luck_seldom_count_as_beating() -> None:
    """Of 40 corpora with three idle scores each, at most a twentieth has one that wins.

    Every choice finds what it finds by the toss of a coin, some documents more than
    others.
    """
    generator = np.random.default_rng(3)
    clusters = tuple(f"document-{number % 20}" for number in range(60))
    false = 0
    for seed in range(40):
        chances = generator.random(20)[np.arange(60) % 20]
        recalls = (generator.random((103, len(SHARES), 60)) < chances).astype(float)
        found = Outcomes(
            arm="stated",
            scores=("a", "b", "c"),
            recalls={"dense": recalls},
            clusters=clusters,
        )
        false += bool(beating([weighed(found, seed=seed)]))

    assert false <= 2
