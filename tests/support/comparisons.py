"""Comparisons of any size out of nothing: figures that look real and mean nothing."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Final

from situate.compare.comparison import (
    ArmFacts,
    Comparison,
    Difference,
    FrontierPoint,
    Hit,
    Shown,
    ShownEntry,
    Standing,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.compare.comparison import Choice

ARMS: Final = (
    "none",
    "breadcrumb",
    "statement situating-v1",
    "breadcrumb+statement situating-v1",
    "breadcrumb+statement findable-v1",
    "breadcrumb+statement findable-v1, dense",
)
BASE: Final = "breadcrumb"
RETRIEVERS: Final = ("bm25", "dense", "hybrid")
MEASURES: Final = (
    "rec@2000r", "rec@5000r", "rec@2000t", "rec@5000t", "rec@1", "rec@5", "rec@10",
    "rec@20", "mrr@10", "ndcg@10", "fail@20",
)  # fmt: skip

_CHOICES: Final[dict[str, Choice]] = {
    "bm25": "skip",
    "dense": "undecided",
    "hybrid": "keep",
}
_REASONS: Final[dict[Choice, str]] = {
    "keep": "It gains 0.041 recall in 2,000 tokens of text (95 % interval 0.012 to "
    "0.071, p = 0.018 after Holm), above the margin of 0.010.",
    "skip": "No gain worth paying for: the interval, 0.002 to 0.006, lies below the "
    "margin of 0.010.",
    "undecided": "No difference is shown; with these questions a true gain of 0.036 "
    "would have been found four times in five, and the margin is 0.010.",
}
_PROSE: Final = """
the policy covers every employee whose contract began before January and who has given
notice in writing to the office in charge of leave travel insurance and allowances for
journeys abroad within twelve months after the claim was settled
"""


def sentence(random: Random, count: int) -> str:
    """Make a sentence of so many words."""
    words = " ".join(random.choices(_PROSE.split(), k=count))
    return f"{words[0].upper()}{words[1:]}."


def comparison(
    *, questions: int = 12, entries: int = 40, hits: int = 5, seed: int = 1
) -> Comparison:
    """Make a comparison of all arms under all retrievers."""
    random = Random(seed)  # noqa: S311 - made-up figures are no secret
    standings = [
        _standing(random, retriever, arm, measure)
        for retriever in RETRIEVERS
        for arm in ARMS
        for measure in MEASURES
    ]
    shown_entries = tuple(_entry(random, number) for number in range(entries))
    origins = ["given", "drafted", "judged"]
    shown = tuple(
        _shown(random, number, shown_entries, hits) for number in range(questions)
    )
    return Comparison(
        corpus="Staff handbook",
        documents=100,
        questions=questions + 1,
        clusters=38,
        origins={
            origin: sum(each.origin == origin for each in shown) for origin in origins
        },
        primary="rec@2000r",
        margin=0.01,
        seed=7,
        embedder="wordllama l2_supercat, 256 dimensions",
        verdicts=tuple(_verdict(each) for each in standings if _is_judged(each)),
        arms=tuple(_facts(name) for name in ARMS),
        standings=tuple(standings),
        frontier=tuple(_frontier(random)),
        milliseconds={
            f"{retriever} / {arm}": random.uniform(1, 9)
            for retriever in RETRIEVERS
            for arm in ARMS
        },
        notes=(
            "3 questions were left out: their excerpt stands in no document.",
            "94 chunks were not asked about: headings and link lists cannot gain.",
        ),
        shown=shown,
        entries=shown_entries,
    )


def _standing(random: Random, retriever: str, arm: str, measure: str) -> Standing:
    mean, half = random.uniform(0.4, 0.8), random.uniform(0.03, 0.06)
    gain = random.gauss(0.015, 0.02) if arm != "none" else random.gauss(-0.03, 0.01)
    reach = random.uniform(0.012, 0.035)
    difference = Difference(
        mean=gain,
        low=gain - reach,
        high=gain + reach,
        p=0.2,
        detectable=0.036,
        questions=186,
        clusters=38,
        won=21,
        lost=12,
    )
    against = BASE if arm != BASE else None
    return Standing(
        retriever=retriever,
        arm=arm,
        measure=measure,
        mean=mean,
        low=mean - half,
        high=mean + half,
        against=against,
        difference=difference if against else None,
    )


def _is_judged(standing: Standing) -> bool:
    return standing.measure == "rec@2000r" and standing.arm in ARMS[3:]


def _verdict(standing: Standing) -> Verdict:
    assert standing.difference is not None
    choice = _CHOICES[standing.retriever]
    keeps = choice == "keep"
    return Verdict(
        retriever=standing.retriever,
        arm=standing.arm,
        against=BASE,
        choice=choice,
        reason=_REASONS[choice],
        difference=standing.difference,
        p_adjusted=0.018 if keeps else 0.61,
        recovered=9 if keeps else 0,
        usd=Decimal("1.37"),
        usd_per_recovered=Decimal("0.1522") if keeps else None,
    )


def _facts(name: str) -> ArmFacts:
    kind, _, prompt = name.partition(" ")
    asked = "statement" in kind
    kinds = ("none", "breadcrumb", "statement", "breadcrumb+statement")
    return ArmFacts(
        name=name,
        kind=next(each for each in kinds if each == kind),  # type: ignore[arg-type]  # one of the four
        prompt=prompt.partition(",")[0] if asked else None,
        statement_in=("dense" if "dense" in name else "both") if asked else None,
        entries=793,
        text_tokens=162_034,
        embed_tokens=174_210 if not asked else 197_455,
        growth=None if name == BASE else 1.133 if asked else 0.93,
        statements=699 if asked else 0,
        added_words=0.934 if asked else None,
        usd=Decimal("1.37") if asked else None,
    )


def _frontier(random: Random) -> list[FrontierPoint]:
    scores = ("missing title words", "rare words", "anaphora density", "short text")
    points = []
    for retriever in ("dense", "hybrid"):
        for share in (0.0, 0.125, 0.25, 0.5, 0.75, 1.0):
            middle = 0.564 + 0.05 * share
            reach = 0.012 * (1 - abs(2 * share - 1))
            points += [
                FrontierPoint(
                    retriever=retriever,
                    arm=ARMS[4],
                    score=score,
                    share=share,
                    mean=middle + random.gauss(0, reach / 2 + 1e-9),
                    random_mean=middle,
                    random_low=middle - reach,
                    random_high=middle + reach,
                )
                for score in scores
            ]
    return points


def _entry(random: Random, number: int) -> ShownEntry:
    paragraphs = [sentence(random, random.randint(12, 40)) for _ in range(3)]
    return ShownEntry(
        entry_id=f"policies/leave-{number % 9}.md:leave/days/part-{number}",
        doc_id=f"policies/leave-{number % 9}.md",
        breadcrumb=f"[handbook] Leave policy {number % 9} > Days > Part {number}",
        statement=sentence(random, 18) if number % 2 else None,
        text="\n\n".join(paragraphs),
    )


def _shown(
    random: Random, number: int, entries: Sequence[ShownEntry], hits: int
) -> Shown:
    place = random.randrange(len(entries))
    gold = entries[place]
    words = gold.text.split("\n\n")[1]

    def ranked(retriever: str, arm: str) -> tuple[Hit, ...]:
        found = random.sample(range(len(entries)), hits)
        if (number + len(retriever) + len(arm)) % 3:
            found[number % hits] = place
        return tuple(
            Hit(entry=each, covers=1.0 if each == place else 0.0) for each in found
        )

    retrieved = {
        retriever: {arm: ranked(retriever, arm) for arm in ARMS}
        for retriever in RETRIEVERS
    }
    return Shown(
        qid=f"q{number}",
        query=f"Question {number}: {sentence(random, 14)[:-1].lower()}?",
        kind=("link", "lookup")[number % 2],
        origin="drafted" if number % 4 == 0 else "given",
        gold=((gold.doc_id, words),),
        hits=retrieved,
        primary={
            retriever: {
                arm: float(any(hit.covers for hit in ranking))
                for arm, ranking in arms.items()
            }
            for retriever, arms in retrieved.items()
        },
    )
