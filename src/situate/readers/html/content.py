"""Tell what of a page is content, and count what is not.

Menus and page footers, what is hidden, and what stands in for sound and pictures
are left out and counted; scripts, styles, templates and comments just left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from situate.readers.html.elements import (
    FALLBACKS,
    UNSEEN,
    is_permalink,
    is_undisplayed,
    value,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from situate.readers.html.elements import Attributes
    from situate.readers.html.notes import Notes, Reason
    from situate.readers.html.survey import Survey

# MediaWiki's links beside every heading.
_MENU_CLASSES = frozenset({"mw-editsection"})

# These are told from content by their names alone.
_TELLING = frozenset({"button", "datalist", "dialog", "footer", "nav"})

_AROUND_CONTROLS = frozenset({"code", "div", "span"})


class Content:
    """Judges the elements of one page, or of one book.

    With `everything`, menus and hidden elements are content too: for pages that
    have nothing else to say.
    """

    def __init__(self, notes: Notes, *, everything: bool = False) -> None:
        self._notes = notes
        self._everything = everything

    def omits(
        self, node: LexborNode, tag: str, attributes: Attributes, survey: Survey
    ) -> bool:
        """Tell whether an element is no content, and count what it says."""
        reason = self._reason(node, tag, attributes, survey)
        if reason is None or (self._everything and reason in {"menu", "hidden"}):
            return False
        if reason != "unseen":
            self._notes.left_out(reason, len(node.text(separator=" ").split()))
        return True

    def _reason(
        self, node: LexborNode, tag: str, attributes: Attributes, survey: Survey
    ) -> Reason | Literal["unseen"] | None:
        if tag in FALLBACKS:
            return "fallback"
        if tag in UNSEEN or (tag == "a" and is_permalink(node, attributes)):
            return "unseen"
        if not attributes and tag not in _TELLING:
            return None
        if node.mem_id in survey.around_main:
            return None
        if _is_menu(node, tag, attributes, survey):
            return "menu"
        return _hidden(node, tag, attributes)


def _is_menu(
    node: LexborNode, tag: str, attributes: Attributes, survey: Survey
) -> bool:
    if tag == "nav" or value(attributes, "role") in {"navigation", "contentinfo"}:
        return True
    if tag == "footer":
        return node.mem_id not in survey.parts
    if tag == "button":
        return _in_code(node)
    return not _MENU_CLASSES.isdisjoint((attributes.get("class") or "").split())


def _in_code(node: LexborNode) -> bool:
    """Tell whether a control is drawn over preformatted text, to copy it."""
    above = node.parent
    while above is not None and above.tag in _AROUND_CONTROLS:
        above = above.parent
    return above is not None and above.tag == "pre"


def _hidden(
    node: LexborNode, tag: str, attributes: Attributes
) -> Literal["hidden", "unseen"] | None:
    """Tell how an element is hidden from readers.

    A closed tab and text that a search would open are a click away, and content.
    Formulas are often written twice: for the eye, hidden from screen readers,
    and for those, hidden from the eye.
    """
    if tag == "datalist" or (tag == "dialog" and "open" not in attributes):
        return "hidden"
    aside = value(attributes, "aria-hidden") == "true"
    if aside and _beside_formula(node):
        return "unseen"
    undrawn = is_undisplayed(attributes) or (
        "hidden" in attributes and value(attributes, "hidden") != "until-found"
    )
    if not undrawn and not aside:
        return None
    if value(attributes, "role") == "tabpanel":
        return None
    return None if undrawn and _is_formula(node) else "hidden"


def _beside_formula(node: LexborNode) -> bool:
    before = node.prev
    return before is not None and before.is_element_node and _is_formula(before)


def _is_formula(node: LexborNode) -> bool:
    """Tell whether an element is a formula, or holds one and nothing else."""
    while node.tag != "math":
        only = node.first_child
        if only is None or not only.is_element_node or only.next is not None:
            return False
        node = only
    return True
