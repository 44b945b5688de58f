"""What a report says beside its figures, so that nobody takes them for more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from situate.compare import notes
from situate.compare.arms import Arm, Entry
from situate.compare.comparison import FrontierPoint
from situate.compare.frontier import Advantage, Frontier
from situate.compare.outside import Run
from situate.compare.questions import Excerpt, Question
from situate.compare.statistics import difference, resample
from situate.compare.trial import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.compare.comparison import Origin

SETTING = Setting(retrievers=("bm25",), words=str.split, embedder=None)


def asked(origins: Sequence[Origin], kind: str | None = None) -> list[Question]:
    """Make questions, each about a document of its own."""
    return [
        Question(
            qid=f"q{number}",
            query="?",
            gold=(Excerpt(doc_id=f"{number}.md", start=0, end=5),),
            origin=origin,
            kind=kind,
        )
        for number, origin in enumerate(origins)
    ]


def arm_of(tokens: int) -> Arm:
    """Make an arm of one entry with so many tokens."""
    entry = Entry(
        entry_id="a",
        doc_id="a.md",
        text="a",
        breadcrumb="",
        statement=None,
        dense="a",
        lexical=("", "a"),
        spans=((0, 1),),
        text_tokens=tokens,
        embed_tokens=tokens,
    )
    return Arm(name="none", kind="none", entries=(entry,))


def test_it_is_said_which_questions_decided() -> None:
    """Where the tables count more than the verdicts do."""
    mixed = asked([*["given"] * 3, *["drafted"] * 2])

    assert list(notes.of_questions(mixed, ())) == [
        "verdicts go by the 3 questions that were given; tables and plots count the 2 "
        "drafted ones, too"
    ]
    assert not list(notes.of_questions(mixed[:3], ()))


def test_questions_drafted_from_headings_are_said_to_favour_headings() -> None:
    """The breadcrumb is made of the words they ask for."""
    (note,) = notes.of_questions(asked(["drafted"] * 4, "heading"), ())

    assert note.startswith("4 questions were drafted from headings: they favour")


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        (
            ["q1"],
            ["run:engine has no ranking for 2 of 3 questions; there it found nothing"],
        ),
        (["q0", "q1", "q2"], []),
    ],
    ids=["two are missing", "none is missing"],
)
def test_questions_that_a_run_leaves_out_are_counted(
    ranked: list[str], expected: list[str]
) -> None:
    """An empty ranking is a ranking; none may be a mistake of the file's."""
    arm = replace(arm_of(5), name="run:engine", kind="run")
    run = Run(arm=arm, rankings=dict.fromkeys(ranked, ()))

    assert list(notes.of_questions(asked(["given"] * 3), [run])) == expected


@pytest.mark.parametrize(
    ("tokens", "share"),
    [(1_000, "100%"), (4_000, "50%"), (39_999, "5%"), (40_000, None), (0, "100%")],
    ids=["more than all", "half", "hardly", "enough", "nothing"],
)
def test_a_budget_that_holds_much_of_the_corpus_is_noted(
    tokens: int, share: str | None
) -> None:
    """Where nearly everything is read, every arm finds it."""
    found = [
        note.partition(", so that")[0]
        for note in notes.of_budget([arm_of(tokens), arm_of(10)], SETTING)
    ]

    assert found == (
        []
        if share is None
        else [f"2,000 tokens are {share} of the corpus's {tokens:,}"]
    )


def chosen(p: float) -> Frontier:
    """Measure a score that has so much over random choices."""
    alike = resample(["a document"], seed=1, draws=1)
    point = FrontierPoint(
        retriever="dense",
        arm="stated",
        score="short text",
        share=0.5,
        mean=0.6,
        random_mean=0.5,
        random_low=0.4,
        random_high=0.6,
    )
    advantage = Advantage(
        retriever="dense",
        arm="stated",
        score="short text",
        share=None,
        difference=replace(difference([1], [0], alike), mean=0.1, low=0.05, p=p),
        luck=0.001,
    )
    return Frontier(points=(point,), advantages=(advantage,))


@pytest.mark.parametrize(
    ("frontiers", "expected"),
    [
        (
            [chosen(0.01)],
            [
                "dense: choosing chunks of stated by 'short text' beat random choices "
                "of the same share by +0.100"
            ],
        ),
        (
            [chosen(0.06)],
            ["no way to choose which chunks to spend on beat a random choice"],
        ),
        ([Frontier(points=(), advantages=())], []),
        ([], []),
    ],
    ids=["one beats", "none beats", "nothing to choose", "no frontier"],
)
def test_it_is_said_whether_choosing_was_better_than_chance(
    frontiers: list[Frontier], expected: list[str]
) -> None:
    """Where there was anything to choose."""
    assert list(notes.of_frontiers(frontiers)) == expected
