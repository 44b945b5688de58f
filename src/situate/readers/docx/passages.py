"""Give the text of a Word file in the plainest way there is.

Paragraph by paragraph, and of each its runs of text, by asking every run where it
stands. It shares the opening of the package with the reader and nothing else.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from situate.readers.decoding import clean
from situate.readers.docx.names import attribute, child, name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

    from situate.readers.docx.package import Package

_PARAGRAPHS: Final = frozenset({"w:p", "a:p"})
_TEXTS: Final = frozenset({"w:t", "a:t", "m:t"})
_SPACES: Final = frozenset({"w:tab", "w:ptab", "w:br", "w:cr", "a:br"})
_SAID: Final = _TEXTS | _SPACES | {"w:noBreakHyphen"}
_OUT: Final = frozenset({"w:del", "w:moveFrom", "w:pPr", "w:rPr"})
_SAID_TAGS: Final = tuple(f"{{*}}{said.partition(':')[2]}" for said in sorted(_SAID))
_ALTERNATIVES: Final = frozenset({"mc:Choice", "mc:Fallback"})
_ASKED: Final = _ALTERNATIVES | {"w:tr", "w:tc"}
_NOTES: Final = {
    "w:footnoteReference": "footnotes",
    "w:endnoteReference": "endnotes",
}


def texts(package: Package) -> Iterator[str]:
    """Yield every paragraph's text; notes come behind what first refers to them."""
    main = package.document()
    plain = _Plain()
    plain.find_codes(main)
    notes: dict[tuple[str, str | None], _Element] = {}
    for called, kind in _NOTES.items():
        root = package.parsed(package.main, kind)
        if root is not None:
            plain.find_codes(root)
            notes |= {(called, attribute(note, "w:id")): note for note in root}
    body = child(main, "w:body")
    for around in () if body is None else body:
        waiting = deque([around])
        while waiting:
            part = waiting.popleft()
            yield from plain.paragraphs(part)
            for element in part.iter("{*}footnoteReference", "{*}endnoteReference"):
                key = (name(element), attribute(element, "w:id"))
                if key in notes and not plain.is_out(element):
                    waiting.append(notes.pop(key))


class _Plain:
    """Asks of every run of text where it stands."""

    def __init__(self) -> None:
        self._codes: set[_Element] = set()
        self._out: dict[_Element, bool] = {}

    def paragraphs(self, part: _Element) -> Iterator[str]:
        """Yield the text of each paragraph in a part, and what stands in none."""
        for element in part.iter():
            called = name(element)
            alone = called in _TEXTS and _paragraph_of(element) is None
            if called in _PARAGRAPHS or alone:
                yield clean("".join(self._runs(element)))

    def is_out(self, element: _Element) -> bool:
        """Tell what is deleted, a property, or said before in another form."""
        return any(
            self._takes_out(above) for above in (element, *element.iterancestors())
        )

    def find_codes(self, root: _Element) -> None:
        """Find the texts that stand in the codes of fields."""
        # Of each story: the open fields, whether they are in their code; the codes.
        stories: dict[_Element | None, tuple[list[bool], list[list[_Element]]]] = {}
        for element in root.iter("{*}t", "{*}fldChar"):
            called = name(element)
            if called not in {"w:t", "w:fldChar"} or self.is_out(element):
                continue
            box = next(element.iterancestors("{*}txbxContent"), None)
            fields, codes = stories.setdefault(box, ([], []))
            kind = attribute(element, "w:fldCharType")
            if called == "w:t":
                if codes:
                    codes[0].append(element)
            elif kind == "begin":
                fields.append(True)
                codes.append([])
            elif fields and kind in {"separate", "end"}:
                if fields.pop():
                    self._codes.update(codes.pop())
                if kind == "separate":
                    fields.append(False)

    def _runs(self, around: _Element) -> Iterator[str]:
        """Yield what a paragraph says itself; how a word is read comes behind it."""
        aids: list[str] = []
        for element in around.iter(*_SAID_TAGS):
            called = name(element)
            if called not in _SAID or element in self._codes or self.is_out(element):
                continue
            own = _paragraph_of(element)
            if own is not around and own is not None:
                continue
            said = "-" if called == "w:noBreakHyphen" else element.text or " "
            if next(element.iterancestors("{*}rt"), None) is not None:
                aids.append(said)
                continue
            yield said
            if aids and next(element.iterancestors("{*}rubyBase"), None) is not None:
                yield from aids
                aids.clear()
        yield from aids

    def _takes_out(self, element: _Element) -> bool:
        called = name(element)
        if called in _OUT:
            return True
        if called not in _ASKED:
            return False
        if element not in self._out:
            self._out[element] = _is_out(element, called)
        return self._out[element]


def _paragraph_of(element: _Element) -> _Element | None:
    ancestors = element.iterancestors("{*}p")
    return next((above for above in ancestors if name(above) in _PARAGRAPHS), None)


def _is_out(element: _Element, called: str) -> bool:
    if called in _ALTERNATIVES:
        before = element.itersiblings(preceding=True)
        return any(name(other) in _ALTERNATIVES for other in before)
    if called == "w:tc":
        return child(element, "w:tcPr", "w:cellDel") is not None
    properties = child(element, "w:trPr")
    return properties is not None and any(name(below) in _OUT for below in properties)
