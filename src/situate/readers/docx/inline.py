"""Read what runs hold: text, breaks, symbols, fields, pictures and formulas."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from situate.readers.decoding import clean
from situate.readers.docx.fields import form_value, sequence
from situate.readers.docx.language import Languages, named
from situate.readers.docx.maths import Piece, linear
from situate.readers.docx.names import attribute, child, flag, local, value
from situate.readers.docx.story import Formula, Picture, Reference
from situate.readers.docx.symbols import character, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lxml.etree import _Element

    from situate.readers.docx.body import Scene
    from situate.readers.docx.package import Relationship
    from situate.readers.docx.story import Inline

_SPACES: Final[dict[str, str]] = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "a:br": "\n",
    # Nobody searches for a word with the hyphen that does not break.
    "w:noBreakHyphen": "-",
}

_PICTURES: Final = frozenset({"w:drawing", "w:pict", "w:object"})


@dataclass(slots=True)
class _Drawing:
    """A drawing whose end has not been met yet."""

    owner: _Element
    alts: dict[str, None] = field(default_factory=dict)
    """Alternative texts, each once, in their order."""
    name: str = ""
    shape: str | None = None
    """The text of the shape that is open; it counts if there is a picture in it."""
    has_picture: bool = False
    is_object: bool = False
    is_decorative: bool = False


class Runs:
    """Reads what stands inside paragraphs."""

    def __init__(
        self,
        scene: Scene,
        relationships: Mapping[str, Relationship],
        inline: Callable[[], Inline],
    ) -> None:
        """`inline` gives the paragraph that is open."""
        self._scene = scene
        self._relationships = relationships
        self._inline = inline
        self._drawings: list[_Drawing] = []
        self._maths: list[Piece] = []
        self._code: list[str] = []
        self._languages = Languages()
        self._font: str | None = None
        self._hidden = False
        self.languages: Counter[str] = Counter()

    def begin(self, called: str, element: _Element) -> None:
        """Read an element that begins inside a paragraph."""
        match called:
            case "w:t" | "w:delText" | "a:t" | "m:t":
                self._text(element.text or "")
            case "w:r":
                self._open_run(child(element, "w:rPr"))
            case "w:sym":
                self._symbol(element)
            case "w:fldChar":
                self._field(element)
            case "w:instrText":
                self._code.append(element.text or "")
            case "w:fldSimple":
                self._caption(attribute(element, "w:instr") or "")
            case "w:footnoteReference" | "w:endnoteReference":
                self._reference(called, element)
            case "w:commentReference":
                self._scene.notices.add("comment")
            case _:
                self._other(called, element)

    def end(self, called: str, element: _Element) -> None:
        """Close a drawing, a formula or a reading aid that ends."""
        if self._drawings and self._drawings[-1].owner is element:
            self._picture(self._drawings.pop())
        elif self._maths and self._maths[-1].owner is element:
            text = linear(self._maths.pop())
            if self._maths:
                self._maths[-1].parts.append((called, text))
            elif text.strip():
                # A sign nobody sees stands between a function and its argument.
                text = text.replace("\u2061", " ")
                self._inline().pieces.append(Formula(text=text))
        elif called == "w:ruby":
            self._ruby(element)

    def _other(self, called: str, element: _Element) -> None:
        if called in _SPACES:
            self._say(_SPACES[called])
        elif called in _PICTURES:
            is_object = called == "w:object"
            self._drawings.append(_Drawing(element, is_object=is_object))
        elif called.startswith("m:") and called != "m:r":
            self._maths.append(Piece(element, called))
        elif called == "dgm:relIds":
            self._diagram(element)
        elif self._drawings:
            self._drawing(called, element, self._drawings[-1])

    def _say(self, text: str) -> None:
        if self._maths:
            self._maths[-1].parts.append(("", text))
        else:
            self._inline().pieces.append(text)

    def _open_run(self, properties: _Element | None) -> None:
        self._languages = named(child(properties, "w:lang"))
        self._font = attribute(child(properties, "w:rFonts"), "w:ascii")
        self._hidden = self._hides(properties)

    def _hides(self, properties: _Element | None) -> bool:
        if child(properties, "w:vanish") is not None:
            return flag(properties, "w:vanish")
        style_id = value(properties, "w:rStyle")
        return style_id is not None and self._scene.styles.look(style_id).hidden

    def _text(self, text: str) -> None:
        if not text:
            return
        if not text.isascii():
            text = shown(text, self._font)
        self._say(text)
        self.languages[self._languages.of(text)] += len(text)
        if self._hidden and text.strip():
            self._scene.notices.add("hidden")
            self._hidden = False

    def _symbol(self, element: _Element) -> None:
        font, code = attribute(element, "w:font"), attribute(element, "w:char")
        found = character(font, code)
        if found is None:
            self._scene.notices.add("symbol")
        else:
            self._say(found)

    def _field(self, element: _Element) -> None:
        if attribute(element, "w:fldCharType") == "begin":
            if said := form_value(child(element, "w:ffData")):
                self._say(said)
        else:
            self._caption("".join(self._code))
        self._code.clear()

    def _caption(self, code: str) -> None:
        counted = sequence(code)
        if counted is not None:
            inline = self._inline()
            inline.captions = inline.captions or counted

    def _reference(self, called: str, element: _Element) -> None:
        kind = called.removeprefix("w:").removesuffix("Reference")
        label = self._scene.notes.label(kind, attribute(element, "w:id"))
        if label is None:
            self._scene.notices.add("lost_note")
        else:
            self._inline().pieces.append(Reference(label=label))

    def _ruby(self, element: _Element) -> None:
        """Say how a word is read behind it, as Word does where it cannot above."""
        aid = child(element, "w:rt")
        said = "".join(
            below.text or ""
            for below in (() if aid is None else aid.iter())
            if local(below) == "t"
        )
        if said.strip():
            self._say(f"({said})")

    def _drawing(self, called: str, element: _Element, drawing: _Drawing) -> None:
        match called:
            case "wp:docPr" | "pic:cNvPr":
                said = attribute(element, "descr") or attribute(element, "title")
                self._alt(said, drawing)
            case "a:blip":
                drawing.has_picture = True
                target = attribute(element, "r:embed") or attribute(element, "r:link")
                drawing.name = drawing.name or self._file(target)
            case "v:imagedata":
                drawing.has_picture = True
                drawing.name = drawing.name or self._file(attribute(element, "r:id"))
                self._alt(drawing.shape, drawing)
            case "adec:decorative":
                drawing.is_decorative |= attribute(element, "val") in {"1", "true"}
            case "c:chart":
                self._scene.notices.add("chart")
            case "o:OLEObject":
                self._scene.notices.add("object")
            case _ if called.startswith("v:"):
                drawing.shape = attribute(element, "alt")

    def _alt(self, said: str | None, drawing: _Drawing) -> None:
        alt = " ".join(clean(said or "").split())
        if alt:
            drawing.alts[alt] = None

    def _file(self, relationship: str | None) -> str:
        found = self._relationships.get(relationship or "")
        if found is None or found.target.startswith("data:"):
            return ""
        path, _, _ = found.target.partition("?")
        return "".join(clean(path).rpartition("/")[2].split())

    def _picture(self, drawing: _Drawing) -> None:
        if drawing.is_decorative:
            return
        self._inline().pieces += [
            Picture(alt=alt, name=drawing.name) for alt in drawing.alts
        ]
        if drawing.has_picture and not drawing.alts and not drawing.is_object:
            self._scene.notices.add("picture")

    def _diagram(self, element: _Element) -> None:
        """Read the texts of a SmartArt diagram, which lie in a part of their own."""
        found = self._relationships.get(attribute(element, "r:dm") or "")
        root = None if found is None else self._scene.package.parse(found.target)
        for below in () if root is None else root.iter():
            if local(below) == "t" and below.text:
                self._say(f" {below.text} ")
