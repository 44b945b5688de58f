"""How often verdicts are wrong: `python -m benchmarks.verdicts [--corpora N]`.

Corpora whose true gain is known, decided on as `compare` decides: two enriched arms
under two retrievers, four verdicts a corpus. A keep of what gains nothing is false;
one of the four is enough to make a corpus a false one. Intervals are to hold the
truth 95 times in a hundred. About four minutes on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.measuring import markdown_table
from situate.compare.statistics import difference, level, resample
from situate.compare.verdicts import Candidate, verdicts
from tests.compare.known_truth import ARMS, RETRIEVERS, Truth, world

if TYPE_CHECKING:
    from situate.compare.comparison import Choice, Difference

SEED: Final = 20_261_130

# A fifth of what `compare` draws: the ends of one interval move by a hundredth of its
# width more, the coverage of thousands does not.
DRAWS: Final = 2_000

# The bounds of the design.
MOST_FALSE_KEEPS: Final = 0.05
COVERAGE: Final = (0.93, 0.97)

TRUTHS: Final = {
    "no effect": Truth(),
    "no effect, few differ": Truth(won=0.02, lost=0.02),
    "no effect, many differ": Truth(won=0.12, lost=0.12),
    "no effect, documents alike": Truth(related=0.05),
    "no effect, documents differ": Truth(related=0.4),
    "gain 0.03": Truth(won=0.07, lost=0.04),
    "gain 0.05": Truth(won=0.09, lost=0.04),
    "gain 0.08": Truth(won=0.12, lost=0.04),
    "gain 0.03, never lost": Truth(won=0.03, lost=0.0),
    "loss 0.05": Truth(won=0.04, lost=0.09),
}
"""All of 100 documents."""

SMALL: Final = {
    "no effect": {"won": 0.06, "lost": 0.06},
    "gain 0.05": {"won": 0.09, "lost": 0.04},
    "gain 0.03, never lost": {"won": 0.03, "lost": 0.0},
}

UNEVEN: Final = {
    "no effect, a third on one document": Truth(largest=1 / 3),
    "gain 0.05, a third on one document": Truth(won=0.09, lost=0.04, largest=1 / 3),
}


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was seen of one truth."""

    truth: Truth
    questions: int = 0
    corpora: int = 0
    any_keep: int = 0
    """Corpora with a keep."""
    choices: dict[Choice, int] = field(
        default_factory=lambda: {"keep": 0, "skip": 0, "undecided": 0}
    )
    found: int = 0
    """Verdicts whose p-value, not corrected, is at most 0.05."""
    covered: int = 0
    levels_covered: int = 0
    detectable: float = 0.0

    @property
    def verdicts(self) -> int:
        """The number of verdicts."""
        return sum(self.choices.values())

    @property
    def coverage(self) -> float:
        """The share of intervals of differences that hold the truth."""
        return self.covered / self.verdicts

    @property
    def level_coverage(self) -> float:
        """The share of intervals of the baselines' means that hold the truth."""
        return self.levels_covered / (self.corpora * len(RETRIEVERS))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--corpora", type=int, default=2_000, help="of 100 documents (default: 2000)"
    )
    corpora = parser.parse_args().corpora
    started = time.perf_counter()
    print(f"{corpora:,} corpora of 100 documents each, {DRAWS:,} draws, seed {SEED}\n")
    tallies = {name: tally(truth, corpora) for name, truth in TRUTHS.items()}
    report(tallies)
    print("Fewer documents, and documents of very different weight\n")
    others = {
        f"{name}, {documents} documents": Truth(documents=documents, **rates)
        for documents in (38, 20, 8)
        for name, rates in SMALL.items()
    } | UNEVEN
    report({name: tally(truth, corpora // 2) for name, truth in others.items()})
    missed = judge(tallies)
    print(f"{time.perf_counter() - started:.0f} seconds")
    sys.exit(missed)


def tally(truth: Truth, corpora: int, *, draws: int = DRAWS) -> Tally:
    """Decide on so many corpora."""
    counted = Tally(truth=truth)
    for number in range(corpora):
        generator = np.random.default_rng((SEED, number))
        drawn = world(truth, generator)
        resamples = resample(drawn.documents, seed=number, draws=draws)
        candidates = [
            Candidate(
                retriever=retriever,
                arm=arm,
                against="breadcrumb",
                measure="rec@2000r",
                difference=difference(ours, theirs, resamples),
                drafted=False,
                usd=None,
            )
            for retriever, arms, theirs in zip(
                RETRIEVERS, drawn.enriched, drawn.baseline, strict=True
            )
            for arm, ours in zip(ARMS, arms, strict=True)
        ]
        decided = verdicts(candidates)
        for verdict in decided:
            counted.choices[verdict.choice] += 1
            _add(counted, verdict.difference)
        counted.any_keep += any(verdict.choice == "keep" for verdict in decided)
        counted.levels_covered += sum(
            low <= truth.baseline <= high
            for _, low, high in (level(each, resamples) for each in drawn.baseline)
        )
        counted.questions += resamples.questions
        counted.corpora += 1
    return counted


def report(tallies: dict[str, Tally]) -> None:
    """Print what was seen of each truth."""
    markdown_table(
        [
            "truth", "questions", "keep", "skip", "undecided", "a keep in the corpus",
            "p at most 0.05", "detectable", "coverage", "of means",
        ],
        [
            [
                name,
                f"{seen.questions / seen.corpora:.0f}",
                *(f"{number / seen.verdicts:.1%}" for number in seen.choices.values()),
                f"{seen.any_keep / seen.corpora:.1%}",
                f"{seen.found / seen.verdicts:.1%}",
                f"{seen.detectable / seen.verdicts:.3f}",
                f"{seen.coverage:.1%}",
                f"{seen.level_coverage:.1%}",
            ]
            for name, seen in tallies.items()
        ],
    )  # fmt: skip


def judge(tallies: dict[str, Tally]) -> bool:
    """Say what is missed of the bounds above, and whether anything is."""
    least, most = COVERAGE
    missed = False
    for name, seen in tallies.items():
        if not least <= seen.coverage <= most:
            print(f"MISSED: coverage of {name!r} is {seen.coverage:.1%}")
            missed = True
        false = seen.any_keep / seen.corpora
        if seen.truth.gain <= 0 and false > MOST_FALSE_KEEPS:
            print(f"MISSED: a false keep in {false:.1%} of the corpora of {name!r}")
            missed = True
    return missed


def _add(counted: Tally, found: Difference) -> None:
    counted.found += found.p <= 0.05
    counted.covered += found.low <= counted.truth.gain <= found.high
    counted.detectable += found.detectable


if __name__ == "__main__":
    main()
