"""Puts verdict, tables, plots and the browser of questions into one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate import standalone
from situate.compare.report import words
from situate.compare.report.frontier import frontier
from situate.compare.report.plots import plots
from situate.compare.report.tables import Order, arms, measures
from situate.compare.report.verdicts import knowledge, verdicts
from situate.compare.report.view import view
from situate.standalone.elements import make, write

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from situate.compare.comparison import Comparison

_HERE: Final = "situate.compare.report"
_SHARED: Final = "situate.standalone"


def page(comparison: Comparison) -> bytes:
    """Write the report: the same bytes for the same comparison."""
    order = Order.of(comparison)
    skip = {"class": "skip", "href": "#questions"}
    parts = [
        *([make("a", skip, "Skip to the questions")] if comparison.shown else []),
        _top(comparison),
        make(
            "main",
            {"id": "report"},
            verdicts(comparison),
            knowledge(comparison),
            measures(comparison, order) if comparison.standings else None,
            plots(comparison, order) if comparison.standings else None,
            frontier(comparison),
            arms(comparison, order),
            _browser() if comparison.shown else None,
        ),
    ]
    design = standalone.Design(
        tool="situate compare",
        style=standalone.asset(_SHARED, "theme.css")
        + standalone.asset(_HERE, "page.css"),
        script="\n".join(
            [
                standalone.asset(_SHARED, "elements.js"),
                *(standalone.asset(_HERE, f"{name}.js") for name in _SCRIPTS),
            ]
        ),
    )
    return standalone.page(
        design, comparison.corpus, write(*parts), view(comparison, order)
    )


_SCRIPTS: Final = ("questions", "list", "opened", "browser")


def _top(comparison: Comparison) -> Element:
    facts = (
        words.many(comparison.questions, "question"),
        words.many(comparison.documents, "document"),
        words.many(len(comparison.arms), "arm"),
    )
    return make(
        "header",
        {"class": "top"},
        make("p", {"class": "eyebrow"}, "situate compare"),
        make("h1", {"dir": "auto"}, comparison.corpus),
        make("p", {"class": "facts"}, " · ".join(facts)),
    )


def _browser() -> Element:
    """Give the frame that the page's script fills."""
    return make(
        "section",
        {"class": "wide browser", "aria-labelledby": "questions", "id": "browser"},
        make("h2", {"id": "questions", "tabindex": "-1"}, "Questions"),
        make(
            "noscript",
            None,
            make(
                "p",
                {"class": "notice"},
                "The questions draw themselves with JavaScript of this page's own; "
                "allow it to see them.",
            ),
        ),
        make("form", {"class": "filters", "id": "filters", "role": "search",
                      "aria-label": "Filter questions"}),
        make("p", {"class": "status", "id": "status", "role": "status"}),
        make(
            "div",
            {"class": "panes"},
            make("div", {"id": "list", "class": "list", "role": "listbox",
                         "tabindex": "0", "aria-label": "Questions"}),
            make("article", {"id": "opened", "class": "opened", "tabindex": "-1",
                             "aria-label": "One question"}),
        ),
    )  # fmt: skip
