"""What stands first: the verdicts, and what to know before believing them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, get_args

from situate.compare.comparison import Choice
from situate.compare.report import words
from situate.standalone.elements import breakable, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from situate.compare.comparison import ArmFacts, Comparison, Origin, Verdict

ORIGINS: Final[dict[Origin, str]] = {
    "given": "given with gold",
    "drafted": "drafted from the documents",
    "judged": "out of a query log, judged by a person",
}

_CAUTION: Final = " (drafted questions alone never earn a keep)"


def verdicts(comparison: Comparison) -> Element:
    """Say per retriever and arm what to do, why, and what it costs."""
    facts = {arm.name: arm for arm in comparison.arms}
    retrievers = tuple(dict.fromkeys(each.retriever for each in comparison.verdicts))
    return make(
        "section",
        {"class": "verdicts", "aria-labelledby": "verdict"},
        make("h2", {"id": "verdict"}, "Verdict"),
        make("p", {"class": "lead"}, _lead(comparison.verdicts)),
        *(
            make(
                "section",
                {"class": "retriever", "aria-labelledby": f"verdict-{place}"},
                make("h3", {"id": f"verdict-{place}"}, retriever),
                make(
                    "div",
                    None,
                    *(
                        _verdict(each, facts.get(each.arm))
                        for each in comparison.verdicts
                        if each.retriever == retriever
                    ),
                ),
            )
            for place, retriever in enumerate(retrievers)
        ),
    )


def _lead(found: Sequence[Verdict]) -> str:
    if not found:
        return (
            "There is none. What to know, below, says why; the figures still compare "
            "what was indexed."
        )
    several = len({each.arm for each in found}) > 1
    clauses = []
    for choice in get_args(Choice):
        arms = Counter(each.retriever for each in found if each.choice == choice)
        where = [
            f"{retriever} ({words.many(count, 'arm')})" if several else retriever
            for retriever, count in arms.items()
        ]
        if where:
            clauses.append(f"{choice} under {words.listed(where)}")
    sentence = "; ".join(clauses)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _verdict(verdict: Verdict, facts: ArmFacts | None) -> Element:
    difference = verdict.difference
    figures = (
        ("per recovered question", words.usd(verdict.usd_per_recovered)),
        ("once, at most", words.usd(verdict.usd)),
        ("recovered, net", f"{verdict.recovered:,}"),
        ("index growth", words.growth(facts.growth if facts else None)),
        (
            "gain and 95 % interval",
            f"{words.signed(difference.mean)} "
            f"({words.signed_interval(difference.low, difference.high)})",
        ),
        ("after Holm", words.p_value(verdict.p_adjusted)),
    )
    if verdict.usd_per_recovered is None and verdict.recovered <= 0:
        figures = (("per recovered question", "none recovered"), *figures[1:])
    return make(
        "article",
        {"class": f"verdict is-{verdict.choice}"},
        make(
            "h4",
            None,
            make("span", {"class": "choice"}, verdict.choice.capitalize()),
            " ",
            make("span", {"class": "arm"}, *breakable(verdict.arm)),
            " ",
            make("span", {"class": "against"}, f"against {verdict.against}"),
        ),
        make("p", {"class": "reason"}, verdict.reason),
        make(
            "dl",
            None,
            *(
                make("div", None, make("dt", None, name), make("dd", None, value))
                for name, value in figures
            ),
        ),
    )


def knowledge(comparison: Comparison) -> Element:
    """Say what the figures rest on: questions, documents, seed, and what failed."""
    return make(
        "section",
        {"class": "knowledge", "aria-labelledby": "know"},
        make("h2", {"id": "know"}, "What to know"),
        make(
            "ul",
            {"class": "notes"},
            *(make("li", {"dir": "auto"}, note) for note in comparison.notes),
        )
        if comparison.notes
        else None,
        make(
            "dl",
            {"class": "grounds"},
            *(
                make("div", None, make("dt", None, name), make("dd", None, value))
                for name, value in _grounds(comparison)
            ),
        ),
    )


def _grounds(comparison: Comparison) -> Iterator[tuple[str, str]]:
    questions = words.many(comparison.questions, "question")
    clusters = words.many(comparison.clusters, "document")
    yield "Questions", f"{questions} about {clusters}; each document is one sample"
    yield (
        "Origin",
        "; ".join(
            f"{count:,} {ORIGINS[origin]}{_CAUTION if origin == 'drafted' else ''}"
            for origin, count in comparison.origins.items()
            if count
        ),
    )
    yield "Corpus", words.many(comparison.documents, "document")
    primary = words.measure(comparison.primary)
    yield "Decided by", f"{primary}: {words.meaning(comparison.primary)}"
    yield "Margin", f"{words.share(comparison.margin)}: less is not worth paying for"
    yield "Embedder", comparison.embedder or "none: nothing was embedded"
    yield "Seed", f"{comparison.seed}, of every resampling"
    yield from comparison.made.items()
