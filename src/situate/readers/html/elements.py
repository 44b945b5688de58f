"""Name the elements of HTML by what they mean for reading.

What is in no set here is inline: it neither separates words nor joins them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from situate.readers.decoding import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborNode

Attributes: TypeAlias = "Mapping[str, str | None]"


def names(words: str) -> frozenset[str]:
    """Give the names in a text."""
    return frozenset(words.split())


HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

LISTS = frozenset({"ul", "ol", "menu", "dir"})

VERBATIM = frozenset({"pre", "listing", "xmp", "plaintext"})

CODE = frozenset({"code", "kbd", "samp", "tt", "var"})

BOLD = frozenset({"b", "strong"})

BLOCKS = names(
    """
    address article aside blockquote body caption center col colgroup dd details
    dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4
    h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p
    plaintext pre search section select summary table tbody td textarea tfoot th
    thead tr ul xmp
    """
)
"""What stands on lines of its own."""

BOXES = names(
    """
    button desc embed foreignObject iframe img input meter object progress svg text
    title video
    """
)
"""Inline, but drawn apart: no word runs over their borders."""

UNSEEN = names(
    """
    base head link meta param script source style template track
    """
)
"""Never drawn, whatever they hold."""

FALLBACKS = names("audio canvas iframe noembed noframes noscript video")
"""Their text is for programs that cannot show them."""

# What a link to its own heading is called; it says nothing about the heading.
_PERMALINKS = frozenset("¶#§🔗⚓↩↵\u200b\ufe0e\ufe0f\xa0 ")

_LONGEST_MARK = 3
"""Characters of the number or sign of a note."""

_TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})

_HIDING = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def value(attributes: Attributes, name: str) -> str:
    """Give an attribute in lower case without blanks around it, "" for none."""
    return (attributes.get(name) or "").strip().lower()


def is_undisplayed(attributes: Attributes) -> bool:
    """Tell whether an element's own style keeps it from being drawn."""
    style = attributes.get("style")
    return style is not None and _HIDING.search(style) is not None


def heading_level(tag: str, attributes: Attributes) -> int | None:
    """Give the level of a heading, by its name or its role."""
    if tag in HEADINGS:
        level = HEADINGS[tag]
    elif value(attributes, "role") == "heading":
        level = 2  # WAI-ARIA 1.2: a heading without a level is of the second
    else:
        return None
    written = value(attributes, "aria-level")
    return int(written) if written.isdecimal() and int(written[:3]) > 0 else level


def is_permalink(node: LexborNode, attributes: Attributes) -> bool:
    """Tell whether a link is nothing but a sign that leads to where it stands."""
    if not (attributes.get("href") or "").startswith("#"):
        return False
    only = node.first_child
    if only is None or only.next is not None or not only.is_text_node:
        return False
    return _PERMALINKS.issuperset(only.text_content or "")


def note_reference(sup: LexborNode) -> str | None:
    """Give a raised link to a note as it is written in a line; None for others.

    Without brackets its number would end the word before it.
    """
    link = sup.css_first("a")
    said = " ".join(sup.text().split())
    if link is None or not (link.attributes.get("href") or "").startswith("#"):
        return None
    is_mark = len(said) <= _LONGEST_MARK and not said.startswith("[") and said
    return f"[{said}]" if is_mark else None


def formula(math: LexborNode, attributes: Attributes) -> tuple[str, bool]:
    """Give a formula's text, and whether that is TeX.

    Its author's TeX where there is some, else its symbols with spaces between.
    """
    text, is_tex = _formula(math, attributes)
    return " ".join(clean(text).split()), is_tex


def _formula(math: LexborNode, attributes: Attributes) -> tuple[str, bool]:
    tokens: list[str] = []
    for node in math.traverse(include_text=True):
        tag = node.tag
        if tag == "annotation" and "tex" in value(node.attributes, "encoding"):
            tex = node.text()
            if tex.strip():
                return tex, True
        elif tag in _TOKENS:
            tokens.append(node.text())
    written = attributes.get("alttext") or ""
    if written.strip():
        return written, True
    if not tokens:
        below = math.traverse(include_text=True)
        tokens = [node.text_content or "" for node in below if node.is_text_node]
    return " ".join(tokens), False
