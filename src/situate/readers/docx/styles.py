"""Say what a paragraph style means: heading, caption, code, numbering, indent.

Styles inherit. Word writes the names of its own styles in English whatever its
language, and translates only their ids; other writers translate both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from situate.readers.docx.language import named
from situate.readers.docx.names import attribute, child, flag, name, number, value

if TYPE_CHECKING:
    from lxml.etree import _Element

Role = Literal["plain", "title", "caption", "code", "quote", "continued"]
"""`continued` is text that goes on below the number or bullet above it."""

_BODY_TEXT = 9
"""The outline level that says: no heading."""

_HEADINGS = (
    "heading|überschrift|titre|título|titulo|encabezado|titolo|kop|rubrik|overskrift|"
    "otsikko|nagłówek|nadpis|címsor|ba\u015fl\u0131k|заголовок|επικεφαλίδα|标题|標題|見出し|제목"
)
_HEADING = re.compile(rf"(?:{_HEADINGS})\s*\[?([1-9])\]?", re.IGNORECASE)

_ROLES: dict[str, Role] = {
    "title": "title",
    "titel": "title",
    "titre": "title",
    "título": "title",
    "titolo": "title",
    "caption": "caption",
    "beschriftung": "caption",
    "légende": "caption",
    "htmlpreformatted": "code",
    "preformattedtext": "code",
    "macrotext": "code",
    "sourcecode": "code",
    "code": "code",
    "codeblock": "code",
    "quote": "quote",
    "intensequote": "quote",
    "blocktext": "quote",
    "quotations": "quote",
    "listparagraph": "continued",
    "listcontinue": "continued",
    "listcontinue2": "continued",
    "listcontinue3": "continued",
    "listcontinue4": "continued",
    "listcontinue5": "continued",
}

# What is based on Title is often only meant to look like it: authors, subtitles.
_TITLE = re.compile("title|titel|titre|título|titolo")
_NO_TITLE = re.compile("sub|unter|under|sotto|sous")

_LISTS = re.compile(r"list(?:bullet|number)([2-5]?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a paragraph is by its style alone."""

    level: int | None = None
    """Of the heading, from 1; 10 says that it is none."""
    role: Role = "plain"
    num_id: str | None = None
    """The numbering; `0` takes it off."""
    list_level: int | None = None
    left: int | None = None
    """Indent in twentieths of a point."""
    hidden: bool = False
    """Its text is invisible."""
    list_depth: int | None = None
    """From 0, where only the style's name says that it makes a list."""


class Styles:
    """The styles of a document."""

    def __init__(self, root: _Element | None) -> None:
        self._styles: dict[str, _Element] = {}
        self._looks: dict[str, Look] = {}
        self._default: str | None = None
        self.languages = named(
            child(root, "w:docDefaults", "w:rPrDefault", "w:rPr", "w:lang")
        )
        """What text is in unless it says so."""
        for style in () if root is None else root:
            own = attribute(style, "w:styleId")
            if name(style) != "w:style" or own is None:
                continue
            self._styles.setdefault(own, style)
            default = attribute(style, "w:default") in {"1", "true", "on"}
            if default and attribute(style, "w:type") == "paragraph":
                self._default = own

    def look(self, style_id: str | None) -> Look:
        """Say what a paragraph of a style is; None stands for the default style."""
        style_id = self._default if style_id is None else style_id
        waiting: dict[str, _Element | None] = {}
        while style_id is not None and style_id not in self._looks:
            if style_id in waiting:
                # Styles based on each other in a circle are based on nothing.
                break
            waiting[style_id] = self._styles.get(style_id)
            style_id = value(waiting[style_id], "w:basedOn")
        look = self._looks.get(style_id or "", Look())
        for own, style in reversed(waiting.items()):
            look = self._looks[own] = _based_on(look, own, style)
        return look

    def first_row_differs(self, style_id: str | None) -> bool:
        """Tell whether a table style has the first row look unlike the others."""
        seen: set[str] = set()
        while style_id is not None and style_id not in seen:
            seen.add(style_id)
            style = self._styles.get(style_id)
            for part in () if style is None else style:
                kind = attribute(part, "w:type")
                if name(part) == "w:tblStylePr" and kind == "firstRow":
                    return True
            style_id = value(style, "w:basedOn")
        return False

    def num_id(self, style_id: str) -> str | None:
        """Give the numbering that a numbering style stands for."""
        return value(self._styles.get(style_id), "w:pPr", "w:numPr", "w:numId")


def _based_on(parent: Look, own: str, style: _Element | None) -> Look:
    """Say what a style is; one that the file does not define, by its id."""
    called = value(style, "w:name") or own
    properties = child(style, "w:pPr")
    level = _level(properties, called)
    num_id = value(properties, "w:numPr", "w:numId")
    list_level = number(value(properties, "w:numPr", "w:ilvl"))
    left = indent(properties)
    vanishes = child(style, "w:rPr", "w:vanish") is not None
    list_depth = _list_depth(called)
    return Look(
        level=parent.level if level is None else level,
        role=_role(called, parent),
        num_id=num_id or parent.num_id,
        list_level=parent.list_level if list_level is None else list_level,
        left=parent.left if left is None else left,
        hidden=flag(style, "w:rPr", "w:vanish") if vanishes else parent.hidden,
        list_depth=parent.list_depth if list_depth is None else list_depth,
    )


def outline_level(properties: _Element | None) -> int | None:
    """Give the level that outlines say, from 1; 10 says that it is no heading."""
    level = number(value(properties, "w:outlineLvl"))
    if level is None or level < 0:
        return None
    return min(level, _BODY_TEXT) + 1


def indent(properties: _Element | None) -> int | None:
    """Give the left indent of a paragraph in twentieths of a point."""
    found = child(properties, "w:ind")
    return number(attribute(found, "w:left") or attribute(found, "w:start"))


def _level(properties: _Element | None, called: str) -> int | None:
    level = outline_level(properties)
    if level is not None:
        return level
    found = _HEADING.fullmatch(called.strip())
    return int(found[1]) if found else None


def _role(called: str, parent: Look) -> Role:
    plain = _spaceless(called)
    if plain in _ROLES:
        return _ROLES[plain]
    if parent.role == "title" and (
        _TITLE.search(plain) is None or _NO_TITLE.search(plain) is not None
    ):
        return "plain"
    return parent.role


def _list_depth(called: str) -> int | None:
    found = _LISTS.fullmatch(_spaceless(called))
    if found is None:
        return None
    return int(found[1]) - 1 if found[1] else 0


def _spaceless(called: str) -> str:
    return re.sub(r"[\s_-]", "", called).casefold()
