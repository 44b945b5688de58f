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


class Title:
    """Collects the plain text of one heading from its events."""

    def __init__(self, text: str, copy: str) -> None:
        self._text = text
        self._copy = copy
        self._parts: list[str] = []

    def take(self, event: str | Mapping[str, Any], start: int, end: int) -> None:
        """Add what an event says; `copy` is what the parser read for `text`."""
        if isinstance(event, str):
            self._parts.append(" ")
        elif "Text" in event:
            # A decoded entity or escape differs from its source.
            same = self._copy[start:end] == event["Text"]
            self._parts.append(self._text[start:end] if same else event["Text"])
        elif "Code" in event:
            self._parts.append(_code(self._text[start:end]))
        elif "InlineMath" in event or "DisplayMath" in event:
            self._parts.append(self._text[start:end])
        elif "InlineHtml" in event and _BREAKING_TAG.match(event["InlineHtml"]):
            self._parts.append(" ")

    def plain(self) -> tuple[str, Mapping[str, str]]:
        """Give the title in one line, and what its attributes say."""
        title = " ".join(without_data(clean("".join(self._parts))).split())
        if title.endswith("}"):
            opening = title.rfind("{")
            if opening > 0 and _ATTRIBUTES.fullmatch(title, opening):
                said = {
                    found[1]: found[2].strip('"')
                    for found in _NAMED.finditer(title, opening)
                }
                return title[:opening].rstrip(), said
        return title, {}


def _code(source: str) -> str:
    ticks = len(source) - len(source.lstrip("`"))
    said = source[ticks : len(source) - ticks].replace("\n", " ")
    if said[:1] == said[-1:] == " " and said.strip(" "):
        return said[1:-1]
    return said
