"""Tables: what each arm is made of, and every measure of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from situate.compare.report import words
from situate.standalone.elements import breakable, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from situate.compare.comparison import ArmFacts, Comparison, Standing

SIGNIFICANT: Final = 0.05
"""Level of the tests, on p-values after Holm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Retrievers, arms and measures in the order that everything shows them in."""

    retrievers: tuple[str, ...]
    arms: tuple[str, ...]
    measures: tuple[str, ...]
    """The primary measure first."""

    @classmethod
    def of(cls, comparison: Comparison) -> Order:
        """Take it from arms and standings as they come."""
        standings = comparison.standings
        primary = dict.fromkeys(
            each.measure for each in standings if each.measure == comparison.primary
        )
        rest = dict.fromkeys(each.measure for each in standings)
        return cls(
            retrievers=tuple(dict.fromkeys(each.retriever for each in standings)),
            arms=tuple(
                dict.fromkeys(
                    [arm.name for arm in comparison.arms]
                    + [each.arm for each in standings]
                )
            ),
            measures=tuple(primary | rest),
        )


def arms(comparison: Comparison, order: Order) -> Element:
    """Tell what every arm is made of and how long a question takes."""
    timed = [
        retriever
        for retriever in order.retrievers
        if any(f"{retriever} / {arm}" in comparison.milliseconds for arm in order.arms)
    ]
    heads = (
        "entries", "tokens of text", "tokens embedded", "index growth", "statements",
        "of these with new words", "dollars, once", "not found in source",
        *(f"ms a question, {retriever}" for retriever in timed),
    )  # fmt: skip
    rows = []
    for arm in comparison.arms:
        cells = [*_made_of(arm)]
        for retriever in timed:
            spent = comparison.milliseconds.get(f"{retriever} / {arm.name}")
            cells.append(_DASH if spent is None else f"{spent:.1f}")
        rows.append(_row(arm.name, _kind(arm), (make("td", None, c) for c in cells)))
    return make(
        "section",
        {"class": "wide", "aria-labelledby": "arms"},
        make("h2", {"id": "arms"}, "Arms"),
        make(
            "p",
            {"class": "about"},
            "All arms that situate makes hold the same chunks; they differ in what is "
            "put in front of them. New words are content words that neither breadcrumb "
            "nor text has. Times are medians on the machine that made this page.",
        ),
        _scroller("Arms", _table(heads, rows)),
    )


def _made_of(arm: ArmFacts) -> Iterator[str]:
    yield f"{arm.entries:,}"
    yield f"{arm.text_tokens:,}"
    yield f"{arm.embed_tokens:,}"
    yield words.growth(arm.growth)
    yield f"{arm.statements:,}" if arm.statements else _DASH
    yield _DASH if arm.added_words is None else words.percent(arm.added_words)
    yield words.usd(arm.usd) if arm.usd is not None or arm.statements else _DASH
    yield f"{arm.unplaced:,}" if arm.unplaced else _DASH


def _kind(arm: ArmFacts) -> str | None:
    indexes = {"dense": "statement in the dense index alone", "both": None, None: None}
    said = [
        arm.kind if arm.kind != arm.name else None,
        f"prompt {arm.prompt}" if arm.prompt and arm.prompt not in arm.name else None,
        indexes[arm.statement_in],
    ]
    return " · ".join(part for part in said if part) or None


def measures(comparison: Comparison, order: Order) -> Element:
    """Give every measure of every arm with its interval, and its difference."""
    standings = {(s.retriever, s.arm, s.measure): s for s in comparison.standings}
    adjusted = {(v.retriever, v.arm): v.p_adjusted for v in comparison.verdicts}
    return make(
        "section",
        {"class": "wide", "aria-labelledby": "measures"},
        make("h2", {"id": "measures"}, "Measures"),
        make(
            "p",
            {"class": "about"},
            "Each mean stands with its 95 % interval; below it the difference from the "
            "arm it is held against, with the interval of that. Intervals are of a "
            "bootstrap over documents, with one question won and one lost added, so "
            "that a few questions are never sure. The test decides on "
            f"{words.measure(comparison.primary)} alone, corrected by Holm over all "
            "verdicts: where it finds a difference it says so in words. The other "
            "intervals are not corrected, and among so many some exclude zero by "
            "chance.",
        ),
        *(
            make(
                "div",
                None,
                make("h3", None, retriever),
                _measured(retriever, order, standings, adjusted),
            )
            for retriever in order.retrievers
        ),
        _glossary(order),
    )


def _measured(
    retriever: str,
    order: Order,
    standings: Mapping[tuple[str, str, str], Standing],
    adjusted: Mapping[tuple[str, str], float],
) -> Element:
    rows = []
    for arm in order.arms:
        found = [standings.get((retriever, arm, name)) for name in order.measures]
        if not any(found):
            continue
        against = next((each.against for each in found if each and each.against), None)
        cells = []
        for name, standing in zip(order.measures, found, strict=True):
            # Only the primary measure is tested.
            p = adjusted.get((retriever, arm)) if name == order.measures[0] else None
            cells.append(_standing(standing, p))
        rows.append(_row(arm, f"against {against}" if against else None, cells))
    heads = tuple(words.measure(name) for name in order.measures)
    return _scroller(f"Measures under {retriever}", _table(heads, rows))


def _standing(standing: Standing | None, p_adjusted: float | None) -> Element:
    if standing is None:
        return make("td", None, _DASH)
    difference = standing.difference
    lines = [
        make("b", None, words.share(standing.mean)),
        make("small", None, words.interval(standing.low, standing.high)),
    ]
    if difference is not None:
        apart = difference.low > 0 or difference.high < 0
        lines += [
            make(
                "span",
                {"class": "apart" if apart else "difference"},
                words.signed(difference.mean),
            ),
            make("small", None, words.signed_interval(difference.low, difference.high)),
        ]
    if p_adjusted is not None:
        found = p_adjusted < SIGNIFICANT
        lines.append(
            make(
                "small",
                {"class": "found" if found else "open"},
                "significant" if found else "not significant",
            )
        )
    return make("td", {"class": "figure"}, *lines)


def _glossary(order: Order) -> Element:
    known = [(words.measure(name), words.meaning(name)) for name in order.measures]
    return make(
        "details",
        {"class": "glossary"},
        make("summary", None, "What the measures say"),
        make(
            "dl",
            None,
            *(
                make("div", None, make("dt", None, name), make("dd", None, meaning))
                for name, meaning in known
                if meaning
            ),
        ),
    )


def _row(
    name: str, below: str | None, cells: Iterator[Element] | list[Element]
) -> Element:
    small = make("small", None, below) if below else None
    return make(
        "tr", None, make("th", {"scope": "row"}, *breakable(name), small), *cells
    )


def _table(heads: tuple[str, ...], rows: list[Element]) -> Element:
    return make(
        "table",
        None,
        make(
            "thead",
            None,
            make(
                "tr",
                None,
                make("th", {"scope": "col"}, "arm"),
                *(make("th", {"scope": "col"}, head) for head in heads),
            ),
        ),
        make("tbody", None, *rows),
    )


def _scroller(name: str, table: Element) -> Element:
    """Let a table that is wider than the page scroll inside itself, by keys too."""
    return make(
        "div",
        {"class": "scroller", "role": "region", "aria-label": name, "tabindex": "0"},
        table,
    )


_DASH: Final = "\N{EN DASH}"
