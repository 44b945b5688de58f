"""Find the language that code is written in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from situate.readers.html.elements import value

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from situate.readers.html.elements import Attributes

_NAME = re.compile(r"[\w+#.-]{1,30}")

# Highlight.js, Prism and CommonMark write language-, others the rest.
_PREFIXES = ("language-", "lang-", "highlight-source-", "highlight-")
_MARKS = frozenset({"brush:", "sourcecode"})
_NO_LANGUAGE = frozenset({"default", "none", "plaintext", "notranslate"})

# Sphinx names the language two elements above the code, GitHub one.
_ABOVE = 2


def language(node: LexborNode, attributes: Attributes) -> str:
    """Give the language of preformatted text, "" when nothing names it."""
    found = _named(attributes)
    inner = node.first_child
    while inner is not None and not inner.is_element_node:
        inner = inner.next
    if not found and inner is not None and inner.tag == "code":
        found = _named(inner.attributes)
    above = node.parent
    for _ in range(_ABOVE):
        if found or above is None or above.tag != "div":
            break
        found = _named(above.attributes)
        above = above.parent
    return found


def _named(attributes: Attributes) -> str:
    for key in ("data-lang", "data-language"):
        if _NAME.fullmatch(value(attributes, key)):
            return value(attributes, key)
    words = value(attributes, "class").split()
    for index, word in enumerate(words):
        for prefix in _PREFIXES:
            if word.startswith(prefix):
                return _checked(word.removeprefix(prefix))
        if word in _MARKS and index + 1 < len(words):
            return _checked(words[index + 1].rstrip(";"))
    return ""


def _checked(name: str) -> str:
    return name if _NAME.fullmatch(name) and name not in _NO_LANGUAGE else ""
