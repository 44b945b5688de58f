"""The page that a person judges on: two unnamed rankings per question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate import standalone
from situate.compare.blind.seating import page_id
from situate.standalone.elements import make, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from situate.compare.blind.seating import Pair, Passage
    from situate.model import JsonValue
    from situate.records import Record

CHOICES: Final = {
    "left": "Left is better",
    "right": "Right is better",
    "same": "Both the same",
    "neither": "Neither helps",
}
"""What a judge may say, in the order of the keys 1 to 4."""

_HERE: Final = "situate.compare.blind"
_SHARED: Final = "situate.standalone"


def page(corpus: str, pairs: Sequence[Pair]) -> bytes:
    """Write the page; nothing in it tells whose a ranking is.

    Judgements stay in the page until the person saves them: one JSON object a line
    with `page`, `qid` and `choice`.
    """
    view: Record = {
        "page": page_id(pairs),
        "choices": [[name, text] for name, text in CHOICES.items()],
        "questions": [
            {
                "qid": pair.qid,
                "query": pair.query,
                "left": _passages(pair.left),
                "right": _passages(pair.right),
            }
            for pair in pairs
        ],
    }
    design = standalone.Design(
        tool="situate compare, blind",
        style=standalone.asset(_SHARED, "theme.css")
        + standalone.asset(_HERE, "page.css"),
        script=standalone.asset(_SHARED, "elements.js")
        + standalone.asset(_HERE, "page.js"),
    )
    return standalone.page(design, corpus, write(*_frame(corpus)), view)


def _passages(passages: Sequence[Passage]) -> list[JsonValue]:
    return [[passage.heading, passage.text] for passage in passages]


def _frame(corpus: str) -> tuple[Element, ...]:
    skip = make("a", {"class": "skip", "href": "#query"}, "Skip to the question")
    top = make(
        "header",
        {"class": "top"},
        make("p", {"class": "eyebrow"}, "Which ranking serves the question better?"),
        make("h1", {"dir": "auto"}, corpus),
        make(
            "p",
            {"class": "facts"},
            "Two rankings per question, seated by chance. Judge what they bring, best "
            "first; how long it is does not count. Keys 1 to 4 judge, the arrows go "
            "on and back.",
        ),
        make(
            "noscript",
            None,
            make(
                "p",
                {"class": "notice"},
                "This page draws itself with JavaScript of its own; allow it to judge.",
            ),
        ),
    )
    main = make(
        "main",
        {"id": "main"},
        make("h2", {"id": "query", "tabindex": "-1", "dir": "auto"}),
        make(
            "div",
            {"class": "sides"},
            *(
                make(
                    "section",
                    {"aria-labelledby": f"{side}-title"},
                    make("h3", {"id": f"{side}-title"}, side.capitalize()),
                    make("ol", {"id": side}),
                )
                for side in ("left", "right")
            ),
        ),
    )
    bar = make(
        "footer",
        {"class": "bar", "id": "bar"},
        make("div", {"class": "choices", "id": "choices", "role": "group",
                     "aria-label": "Judgement"}),
        make("div", {"class": "steps", "id": "steps"}),
        make("p", {"class": "status", "id": "status", "role": "status"}),
    )  # fmt: skip
    return skip, top, main, bar
