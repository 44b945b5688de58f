"""Read a document as if its tracked changes were accepted, or all rejected.

Changes of formatting are not looked at: what is current is what holds, and what
was before stands where nobody asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from situate.readers.docx.names import attribute, child, name

if TYPE_CHECKING:
    from lxml.etree import _Element

    from situate.readers.docx.notices import Notice, Notices

Reading = Literal["accept", "original"]

_OUT: Final[dict[Reading, frozenset[str]]] = {
    "accept": frozenset({"w:del", "w:moveFrom"}),
    "original": frozenset({"w:ins", "w:moveTo"}),
}

_CELLS_OUT: Final[dict[Reading, str]] = {
    "accept": "w:cellDel",
    "original": "w:cellIns",
}

_NOTICED: Final[dict[str, Notice]] = {
    "w:ins": "inserted",
    "w:del": "deleted",
    "w:moveTo": "moved",
    "w:cellIns": "inserted",
    "w:cellDel": "deleted",
}

# Properties hold what was before a change; how a word is read is asked for where
# the word stands.
_NO_TEXT: Final = frozenset(
    {
        "w:pPr",
        "w:rPr",
        "w:tblPr",
        "w:tblPrEx",
        "w:tblGrid",
        "w:trPr",
        "w:tcPr",
        "w:sdtPr",
        "w:sdtEndPr",
        "w:sectPr",
        "w:rubyPr",
        "w:rt",
        "w:smartTagPr",
        "w:customXmlPr",
        "w:delInstrText",
    }
)


class Content:
    """Tells what of a document is read, given how its changes are taken."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._out = _OUT[reading]

    def skips(self, element: _Element, called: str) -> bool:
        """Tell whether an element is passed over with all it holds."""
        if called in _NO_TEXT or called in self._out:
            return True
        match called:
            case "mc:Choice" | "mc:Fallback":
                return _follows_another(element)
            case "w:tr":
                return self._marked(child(element, "w:trPr"))
            case "w:tc":
                cell = child(element, "w:tcPr")
                return child(cell, _CELLS_OUT[self._reading]) is not None
            case _:
                return called.startswith("m:") and called.endswith("Pr")

    def joins(self, paragraph: _Element) -> bool:
        """Tell whether the next paragraph goes on in one.

        Its end is out, or it is a letter that the next one begins with, dropped.
        """
        properties = child(paragraph, "w:pPr")
        frame = child(properties, "w:framePr")
        dropped = attribute(frame, "w:dropCap") in {"drop", "margin"}
        return dropped or self._marked(child(properties, "w:rPr"))

    def _marked(self, properties: _Element | None) -> bool:
        return properties is not None and any(
            name(below) in self._out for below in properties
        )


def notice(root: _Element, notices: Notices) -> None:
    """Count the tracked changes of a part."""
    tags = [f"{{*}}{called.removeprefix('w:')}" for called in _NOTICED]
    for element in root.iter(*tags):
        found = _NOTICED.get(name(element))
        if found is not None:
            notices.add(found)


def _follows_another(element: _Element) -> bool:
    """Tell whether the same content came in another form before."""
    return any(
        name(before) in {"mc:Choice", "mc:Fallback"}
        for before in element.itersiblings(preceding=True)
    )
