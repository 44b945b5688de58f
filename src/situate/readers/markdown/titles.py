"""Read a heading as plain text.

What marks text up goes (emphasis, link targets, image targets, tags, comments,
attributes); what is said stays (link text, alt text, code, formulas).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from situate.readers.decoding import clean
from situate.readers.markdown.hidden import without_data

if TYPE_CHECKING:
    from collections.abc import Mapping

# `{#id .class key=value}`; anything else in braces is part of the heading.
_ATTRIBUTE = r"(?:[#.][^\s{}]+|[\w-]+=(?:\"[^\"{}]*\"|[^\s{}\"]+))"
_ATTRIBUTES = re.compile(rf"\{{ ?{_ATTRIBUTE}(?: {_ATTRIBUTE})* ?\}}")

_NAMED = re.compile(r"(?<=[\s{])([\w-]+)=(\"[^\"{}]*\"|[^\s{}\"]+)")

_BREAKING_TAG = re.compile(r"<(?:br|hr)\b", re.IGNORECASE)


class Titles:
    """Reads the headings of one text; `copy` is what the parser read for it."""

    def __init__(self, text: str, copy: str) -> None:
        self._text = text
        self._copy = copy

    def piece(self, event: str | Mapping[str, Any], start: int, end: int) -> str:
        """Give what an event inside a heading says."""
        if isinstance(event, str):
            return " "
        if "Text" in event:
            # A decoded entity or escape differs from its source.
            said: str = event["Text"]
            return self._text[start:end] if self._copy[start:end] == said else said
        if "Code" in event:
            return _code(self._text[start:end])
        if "InlineMath" in event or "DisplayMath" in event:
            return self._text[start:end]
        if "InlineHtml" in event and _BREAKING_TAG.match(event["InlineHtml"]):
            return " "
        return ""


def plain(pieces: str) -> tuple[str, Mapping[str, tuple[str, ...]] | None]:
    """Give a title in one line, and what its attributes say: every value of a key."""
    title = " ".join(without_data(clean(pieces)).split())
    if title.endswith("}"):
        opening = title.rfind("{")
        if opening > 0 and _ATTRIBUTES.fullmatch(title, opening):
            said: dict[str, tuple[str, ...]] = {}
            for found in _NAMED.finditer(title, opening):
                value = found[2].strip('"')
                said[found[1]] = (*said.get(found[1], ()), value)
            return title[:opening].rstrip(), said
    return title, None


def _code(source: str) -> str:
    ticks = len(source) - len(source.lstrip("`"))
    said = source[ticks : len(source) - ticks].replace("\n", " ")
    if said[:1] == said[-1:] == " " and said.strip(" "):
        return said[1:-1]
    return said
