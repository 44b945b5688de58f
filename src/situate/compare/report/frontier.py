"""Which chunks to spend on: each score's choice against choices by chance."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final

from situate.compare.report import words
from situate.compare.report.scale import scale
from situate.standalone.elements import make

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from situate.compare.comparison import Comparison, FrontierPoint
    from situate.compare.report.scale import Scale

# In units of the drawing, about pixels of a telephone.
_WIDTH: Final = 360.0
_HEIGHT: Final = 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 18.0, 10.0, 36.0

_MARKERS: Final = ("circle", "square", "triangle", "diamond", "cross", "ring")
"""A shape and a class each, so that no line is known by colour alone."""


def frontier(comparison: Comparison) -> Element | None:
    """Draw the primary measure against the share enriched; None without points."""
    if not comparison.frontier:
        return None
    curves: dict[tuple[str, str], list[FrontierPoint]] = {}
    for point in comparison.frontier:
        curves.setdefault((point.retriever, point.arm), []).append(point)
    scores = tuple(dict.fromkeys(point.score for point in comparison.frontier))
    primary = words.measure(comparison.primary)
    return make(
        "section",
        {"class": "wide", "aria-labelledby": "frontier"},
        make("h2", {"id": "frontier"}, "Which chunks to spend on"),
        make(
            "p",
            {"class": "about"},
            f"{primary[0].upper()}{primary[1:]} when only a share of the chunks has a "
            "statement. The band holds 95 % of choices by chance of the same share, "
            "the dashed line is their mean. A line above the band here and there is "
            "luck; whether a score beat chance over all shares is said under What to "
            "know.",
        ),
        _legend(scores),
        make(
            "div",
            {"class": "frontiers"},
            *(
                _figure(f"{arm} under {retriever}", points, scores)
                for (retriever, arm), points in curves.items()
            ),
        ),
    )


def _legend(scores: Sequence[str]) -> Element:
    items = []
    for score, marker in zip(scores, cycle(_MARKERS), strict=False):
        sample = make(
            "svg",
            {"width": "34", "height": "14", "aria-hidden": "true", "class": marker},
            make("line", {"class": "curve", "x1": "0", "x2": "34", "y1": "7",
                          "y2": "7"}),
            _marker(marker, 17, 7),
        )  # fmt: skip
        items.append(make("li", None, sample, score))
    return make("ul", {"class": "legend"}, *items)


def _figure(
    title: str, points: Sequence[FrontierPoint], scores: Sequence[str]
) -> Element:
    reach = [
        value
        for each in points
        for value in (each.mean, each.random_low, each.random_high)
    ]
    axis = scale(reach, 4)
    # The band is that of the shares, whatever score comes first.
    shares = {point.share: point for point in points}
    band = [shares[share] for share in sorted(shares)]
    chart = make(
        "svg",
        {
            "viewBox": f"0 0 {_WIDTH:g} {_HEIGHT:g}",
            "role": "img",
            "aria-label": f"Frontier of {title}; the table below has the figures",
        },
        *_grid(axis),
        make(
            "path",
            {
                "class": "band",
                "d": _path(
                    [(p.share, p.random_high) for p in band]
                    + [(p.share, p.random_low) for p in reversed(band)],
                    axis,
                )
                + "Z",
            },
        ),
        make(
            "path",
            {
                "class": "chance",
                "d": _path([(p.share, p.random_mean) for p in band], axis),
            },
        ),
        *(
            _curve(marker, [p for p in points if p.score == score], axis)
            for score, marker in zip(scores, cycle(_MARKERS), strict=False)
            if any(p.score == score for p in points)
        ),
    )
    return make(
        "figure",
        None,
        make("figcaption", None, title),
        chart,
        _above(points, scores),
        make(
            "details",
            None,
            make("summary", None, "The figures"),
            _listing(title, points, scores),
        ),
    )


def _grid(axis: Scale) -> list[Element]:
    shapes = []
    for mark in axis.marks:
        y = f"{_y(axis, mark):.1f}"
        ends = {"x1": f"{_LEFT:g}", "x2": f"{_WIDTH - _RIGHT:g}", "y1": y, "y2": y}
        shapes.append(make("line", {"class": "grid", **ends}))
        label = {"x": f"{_LEFT - 6:g}", "y": y, "dy": "4", "text-anchor": "end"}
        digits = 2 if axis.step >= 0.01 else 3
        shapes.append(make("text", label, f"{mark:.{digits}f}"))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        label = {
            "x": f"{_x(share):.1f}",
            "y": f"{_HEIGHT - _BOTTOM + 15:g}",
            "text-anchor": "middle",
        }
        shapes.append(make("text", label, f"{share:.0%}"))
    label = {
        "x": f"{_x(0.5):.1f}", "y": f"{_HEIGHT - 4:g}", "text-anchor": "middle"
    }  # fmt: skip
    shapes.append(make("text", label, "share of the chunks enriched"))
    return shapes


def _curve(marker: str, points: Sequence[FrontierPoint], axis: Scale) -> Element:
    ordered = sorted(points, key=lambda point: point.share)
    line = _path([(point.share, point.mean) for point in ordered], axis)
    return make(
        "g",
        {"class": marker},
        make("path", {"class": "curve", "d": line}),
        *(_marker(marker, _x(p.share), _y(axis, p.mean)) for p in ordered),
    )


def _marker(marker: str, x: float, y: float) -> Element:
    outline = {
        "square": f"M{x - 3.5:.1f} {y - 3.5:.1f}h7v7h-7Z",
        "triangle": f"M{x:.1f} {y - 4.5:.1f}l4.5 8h-9Z",
        "diamond": f"M{x:.1f} {y - 5:.1f}l4.5 5l-4.5 5l-4.5 -5Z",
        "cross": f"M{x - 3.5:.1f} {y - 3.5:.1f}l7 7m0 -7l-7 7",
    }.get(marker)
    if outline is not None:
        return make("path", {"class": "marker", "d": outline})
    centre = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3.8"}
    return make("circle", {"class": "marker", **centre})


def _above(points: Sequence[FrontierPoint], scores: Sequence[str]) -> Element:
    """Say in words what the drawing shows."""
    # At none and at all there is nothing to choose.
    inner = [point for point in points if 0 < point.share < 1]
    counts = []
    for score in scores:
        own = [point for point in inner if point.score == score]
        over = sum(point.mean > point.random_high for point in own)
        if over:
            counts.append(f"{score} at {over} of {len(own)} shares")
    said = words.listed(counts) if counts else "no score at any share"
    return make("p", {"class": "soft"}, f"Above chance: {said}.")


def _listing(
    title: str, points: Sequence[FrontierPoint], scores: Sequence[str]
) -> Element:
    rows = []
    for share in sorted({point.share for point in points}):
        at = {point.score: point for point in points if point.share == share}
        band = next(iter(at.values()))
        rows.append(
            make(
                "tr",
                None,
                make("th", {"scope": "row"}, words.percent(share)),
                make("td", None, words.interval(band.random_low, band.random_high)),
                *(
                    make("td", None, words.share(at[s].mean) if s in at else "")
                    for s in scores
                ),
            )
        )
    heads = ("share", "by chance, 95 %", *scores)
    return make(
        "div",
        {"class": "scroller", "role": "region", "tabindex": "0",
         "aria-label": f"Frontier of {title}"},
        make(
            "table",
            None,
            make(
                "thead",
                None,
                make("tr", None, *(make("th", {"scope": "col"}, h) for h in heads)),
            ),
            make("tbody", None, *rows),
        ),
    )  # fmt: skip


def _path(points: Sequence[tuple[float, float]], axis: Scale) -> str:
    return "M" + "L".join(
        f"{_x(share):.1f} {_y(axis, value):.1f}" for share, value in points
    )


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(axis: Scale, value: float) -> float:
    return _TOP + (1 - axis.at(value)) * (_HEIGHT - _TOP - _BOTTOM)
