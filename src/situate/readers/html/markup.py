"""Make markup safe to parse, and XHTML readable as HTML.

Lexbor looks at every open element for every tag, repeats unclosed formatting in
every block and compares every attribute of a tag with all others: nesting,
formatting and attributes without end would take it hours, and all memory. What
goes too far is taken out before it sees it; none of it is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal, TypeAlias

from situate.errors import ReadError
from situate.readers.html.elements import BLOCKS, names

if TYPE_CHECKING:
    from situate.readers.html.notes import Notes

_Kind: TypeAlias = Literal["plain", "part", "dropped", "free"]

_DEEPEST: dict[_Kind, int] = {
    # Chromium lets a tree grow to 512 levels (Blink's maximum DOM tree depth).
    "plain": 512,
    # Twice as deep as what is told apart once it is read (DESIGN C11).
    "part": 200,
}

_HEAD_CHARACTERS = 2_000
"""Where a document says that it is XHTML, if it does."""

# Attributes are copied with their element.
_COSTLY_CHARACTERS = 64

_MOST_ATTRIBUTES = 256
_LONG_TAG = 1_024
"""Shorter tags are not worth counting attributes in."""

_TAG = re.compile(
    r"""
      <!--(?:-?>|.*?(?:--!?>|\Z))
    | <!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)
    | <[!?][^>]*+>
    | <(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)
      (?:=\s*+(?:"[^"]*+"|'[^']*+')|[^>])*+>
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")

_XHTML = re.compile(
    r"\A\s*<\?xml\b|<!DOCTYPE[^>]*\bXHTML\b"
    r"|<html\b[^>]*\bxmlns\s*=\s*[\"']?http://www\.w3\.org/1999/xhtml",
    re.IGNORECASE,
)

_VOID = names(
    """
    area base basefont bgsound br col embed frame hr image img input link meta param
    source track wbr
    """
)

# An end tag of these may be left out; none nests in its own kind without another
# element between.
_ENDED_BY_OTHERS = names(
    """
    a body caption colgroup dd dt h1 h2 h3 h4 h5 h6 head html li optgroup option p rb
    rp rt tbody td tfoot th thead tr
    """
)

_PARTS = names(
    """
    article aside audio blockquote canvas details dialog dir dl figure footer main math
    menu nav noscript ol pre section select svg table template ul video
    """
)
"""Elements whose place is part of what a page says."""

_FOREIGN = frozenset({"math", "svg"})

_BREAKING_OUT = names(
    """
    blockquote body center dd div dl dt h1 h2 h3 h4 h5 h6 hr li listing menu ol p pre
    table ul
    """
)
"""Blocks that end a drawing or a formula which was left open."""

_FORMATTING = names("a b big code em font i nobr s small strike strong tt u")
"""What the parser opens again in every block, as HTML demands."""

_RAW = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed")
}


def prepare(
    text: str, source: str, notes: Notes, *, max_elements: int
) -> tuple[str, int]:
    """Take out of `text` what would keep a parser busy for ever.

    Gives the text and the number of its elements.

    Raises:
        ReadError: there are more elements than the limit.
    """
    is_xml = _XHTML.search(text[:_HEAD_CHARACTERS]) is not None
    scan = _Scan(text, is_xml=is_xml)
    elements = scan.run(max_elements)
    if elements > max_elements:
        message = (
            f"{source}: has more than {max_elements:,} elements, the limit; split it"
        )
        raise ReadError(message, refusal="limit")
    grown = max(scan.repeated, scan.repeated_characters // _COSTLY_CHARACTERS)
    if grown > max_elements:
        notes.repeated += scan.repeated
        scan = _Scan(text, is_xml=is_xml, without=_FORMATTING)
        scan.run(max_elements)
    notes.too_deep += scan.dropped
    notes.crowded += scan.crowded
    return scan.text(), elements


@dataclass(slots=True)
class _Scan:
    """One look at every tag."""

    source: str
    is_xml: bool
    without: frozenset[str] = frozenset()
    """Elements to take out wherever they stand."""
    repeated: int = 0
    """How often formatting would be opened again, at most."""
    repeated_characters: int = 0
    dropped: int = 0
    crowded: int = 0
    _pieces: list[str] = field(default_factory=list)
    _copied: int = 0
    _open: dict[str, list[_Kind]] = field(default_factory=dict)
    """For each name its open elements, in order."""
    _depth: dict[_Kind, int] = field(default_factory=dict)
    _foreign: int = 0
    """How many drawings and formulas are open, in which other rules hold."""
    _paragraph: bool = False
    """One is open, and no other block."""
    _formatting: list[int] = field(default_factory=list)
    """Lengths of the formatting tags that are open."""
    _formatting_characters: int = 0

    def run(self, most: int) -> int:
        """Look at the tags; gives their number, or the first above `most`."""
        text = self.source
        end = text.rfind(">") + 1
        count = position = 0
        while (found := _TAG.search(text, position, end)) is not None:
            position = found.end()
            name = found["name"]
            if name is None:
                if self.is_xml and found["data"] is not None:
                    self._replace(found, escape(found["data"]))
                continue
            name = name.lower()
            count += not found["end"] or self._opens(name)
            if count > most:
                break
            if found["end"]:
                self._ended(found, name)
                continue
            self._started(found, name)
            empty = self._is_empty(found, name)
            if name in _RAW and not empty and not self._foreign:
                close = _RAW[name].search(text, position, end)
                position = end if close is None else close.start()
            elif name == "plaintext":
                break
        return count

    def text(self) -> str:
        """Give the text that is safe to parse."""
        if not self._pieces:
            return self.source
        return "".join(self._pieces) + self.source[self._copied :]

    def _is_empty(self, found: re.Match[str], name: str) -> bool:
        """Tell whether a tag ends its element as well."""
        if name in _VOID:
            return True
        closes = self.source.startswith("/>", found.end() - 2)
        return closes and (self.is_xml or self._foreign > 0 or name in _FOREIGN)

    def _started(self, found: re.Match[str], name: str) -> None:
        if name in BLOCKS:
            self._repeat()
            self._paragraph = name == "p"
        if name in _BREAKING_OUT:
            self._foreign = 0
        if name in self.without:
            self._replace(found, "")
            return
        tag = found[0]
        empty = self._is_empty(found, name)
        ends = f"</{name}>" if empty and self.is_xml and name not in _VOID else ""
        if len(tag) > _LONG_TAG and _attributes(tag) > _MOST_ATTRIBUTES:
            self.crowded += 1
            self._replace(found, f"<{name}>{ends}")
        elif ends and not self._foreign:
            self._replace(found, f"{tag[:-2]}>{ends}")
        if not empty and name not in _RAW:
            self._nest(found, name)

    def _nest(self, found: re.Match[str], name: str) -> None:
        """Count an element that is left open, or take it out."""
        opened = self._open.setdefault(name, [])
        if name in _FORMATTING and not (name == "a" and opened):
            self._formatting.append(len(found[0]))
            self._formatting_characters += len(found[0])
        if name in _ENDED_BY_OTHERS and not self._foreign:
            if name == "a":
                opened[:] = ["free"]
            return
        kind: _Kind = "part" if name in _PARTS and not self._foreign else "plain"
        if self._depth.get(kind, 0) >= _DEEPEST[kind]:
            self.dropped += 1
            self._replace(found, self._border(name))
            kind = "dropped"
        opened.append(kind)
        self._depth[kind] = self._depth.get(kind, 0) + 1
        self._foreign += name in _FOREIGN

    def _opens(self, name: str) -> bool:
        """Tell whether an end tag makes an element of its own."""
        return name == "br" or (name == "p" and not self._paragraph)

    def _ended(self, found: re.Match[str], name: str) -> None:
        if name in BLOCKS:
            self._repeat()
            self._paragraph = False
        if name in self.without:
            self._replace(found, "")
            return
        opened = self._open.get(name)
        if not opened:
            return
        kind = opened.pop()
        if name in _FORMATTING and self._formatting:
            self._formatting_characters -= self._formatting.pop()
        if name in _FOREIGN:
            self._foreign = max(0, self._foreign - 1)
        if kind == "dropped":
            self._replace(found, self._border(name))
        if kind != "free":
            self._depth[kind] -= 1

    def _border(self, name: str) -> str:
        """Give what keeps words apart where a tag is taken out."""
        if self._foreign:
            return " "
        return "<hr>" if name in BLOCKS else ""

    def _repeat(self) -> None:
        self.repeated += len(self._formatting)
        self.repeated_characters += self._formatting_characters

    def _replace(self, found: re.Match[str], text: str) -> None:
        if self._copied > found.start():
            # A tag that was cut short above is taken out after all.
            self._pieces.pop()
            self._pieces.append(text)
            return
        self._pieces += (self.source[self._copied : found.start()], text)
        self._copied = found.end()


def _attributes(tag: str) -> int:
    """Count the attributes of a tag, on the high side."""
    bare = _QUOTED.sub("", tag)
    return len(bare.split()) + bare.count("=") + bare.count("/")
