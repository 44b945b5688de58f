"""A plot per measure: differences with their intervals, beside a line at nothing.

Every row is drawn on its own in percentages of its width, so that a plot fits any
page without its letters changing size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.compare.report import words
from situate.compare.report.scale import scale
from situate.standalone.elements import breakable, make

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from situate.compare.comparison import Comparison, Difference, Standing
    from situate.compare.report.scale import Scale
    from situate.compare.report.tables import Order


def plots(comparison: Comparison, order: Order) -> Element:
    """Draw every measure's differences, the primary measure's with the margin."""
    return make(
        "section",
        {"class": "wide", "aria-labelledby": "plots"},
        make("h2", {"id": "plots"}, "Differences"),
        make(
            "p",
            {"class": "about"},
            "A point is what an arm's mean has over that of the arm it is held "
            "against, a bar its 95 % interval. The line is no difference; where the "
            "measure that decides is drawn, the band around it holds what is not "
            f"worth paying for (margin {words.share(comparison.margin)}).",
        ),
        make(
            "div",
            {"class": "plots"},
            *(
                _plot(comparison, order, name)
                for name in order.measures
                if any(
                    each.difference is not None and each.measure == name
                    for each in comparison.standings
                )
            ),
        ),
    )


def _plot(comparison: Comparison, order: Order, name: str) -> Element:
    margin = comparison.margin if name == comparison.primary else None
    drawn = [
        (standing, standing.difference)
        for standing in comparison.standings
        if standing.measure == name and standing.difference is not None
    ]
    ends = [end for _, each in drawn for end in (each.low, each.high, each.mean)]
    axis = scale([0.0, *ends, *([-margin, margin] if margin is not None else [])])
    against = {standing.against for standing, _ in drawn}
    rows = []
    for retriever in order.retrievers:
        own = {
            standing.arm: (standing, difference)
            for standing, difference in drawn
            if standing.retriever == retriever
        }
        if not own:
            continue
        head = {"scope": "rowgroup", "colspan": "3"}
        rows.append(make("tr", {"class": "group"}, make("th", head, retriever)))
        rows += [
            _row(
                own[arm],
                axis,
                margin,
                None if len(against) == 1 else f"against {own[arm][0].against}",
            )
            for arm in order.arms
            if arm in own
        ]
    said = [
        words.measure(name),
        f"against {against.copy().pop()}" if len(against) == 1 else "",
        "less is better" if name.startswith("fail@") else "",
        "decides" if margin is not None else "",
    ]
    return make(
        "figure",
        None,
        make(
            "table",
            {"class": "forest"},
            make("caption", None, " · ".join(filter(None, said))),
            make(
                "thead",
                None,
                make(
                    "tr",
                    {"class": "hidden"},
                    *(
                        make("th", {"scope": "col"}, head)
                        for head in ("arm", "plot", "difference, 95 % interval")
                    ),
                ),
            ),
            make("tbody", None, *rows),
            make("tfoot", None, _axis(axis)),
        ),
    )


def _row(
    drawn: tuple[Standing, Difference],
    axis: Scale,
    margin: float | None,
    against: str | None,
) -> Element:
    standing, difference = drawn
    low, mean, high = (
        axis.at(end) for end in (difference.low, difference.mean, difference.high)
    )
    apart = difference.low > 0 or difference.high < 0
    middle = "50%"
    strip = _strip(
        None
        if margin is None
        else make(
            "rect",
            {
                "class": "margin",
                "x": _part(axis.at(-margin)),
                "width": _part(axis.at(margin) - axis.at(-margin)),
                "height": "100%",
            },
        ),
        _upright(axis.at(0), "zero", "0", "100%"),
        make(
            "line",
            {"class": "bar", "x1": _part(low), "x2": _part(high), "y1": middle,
             "y2": middle},
        ),
        _upright(low, "bar", "35%", "65%"),
        _upright(high, "bar", "35%", "65%"),
        make(
            "circle",
            {"class": "point apart" if apart else "point", "cx": _part(mean),
             "cy": middle, "r": "4"},
        ),
    )  # fmt: skip
    return make(
        "tr",
        None,
        make(
            "th",
            {"scope": "row"},
            *breakable(standing.arm),
            make("small", None, against) if against else None,
        ),
        make("td", {"class": "strip"}, strip),
        make(
            "td",
            {"class": "said"},
            make("b", None, words.signed(difference.mean)),
            " ",
            make("small", None, words.signed_interval(difference.low, difference.high)),
        ),
    )


def _axis(axis: Scale) -> Element:
    labels = []
    for mark in axis.marks:
        text = {"x": _part(axis.at(mark)), "y": "15", "text-anchor": "middle"}
        # On a narrow page there is room for every other label.
        if round(mark / axis.step) % 2:
            text["class"] = "minor"
        digits = 2 if axis.step >= 0.01 else 3
        label = f"{mark:.{digits}f}".replace("-", words.MINUS)
        labels.append(make("text", text, label))
        labels.append(_upright(axis.at(mark), "tick", "0", "4"))
    return make(
        "tr",
        {"aria-hidden": "true"},
        make("td", None),
        make("td", {"class": "strip axis"}, _strip(*labels)),
        make("td", None),
    )


def _strip(*shapes: Element | None) -> Element:
    # The row's text says all of it.
    return make("svg", {"aria-hidden": "true", "width": "100%"}, *shapes)


def _upright(at: float, kind: str, top: str, bottom: str) -> Element:
    x = _part(at)
    line = {"class": kind, "x1": x, "x2": x, "y1": top, "y2": bottom}
    return make("line", line)


def _part(value: float) -> str:
    return f"{value * 100:.2f}%"
