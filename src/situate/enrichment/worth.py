"""Which chunks no sentence can help (E13).

A document that is one chunk has its title and headings in front of it already, and
so has a chunk beside which nothing may be shown (S6); a heading alone, a list of
links, an include directive, encoded data or a column of digits says nothing that a
sentence could put in its place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.enrichment.reasons import SkipReason
    from situate.model import Chunk

_LINK = re.compile(r"!?\[[^\[\]\n]*+\]\([^()\s]*+\)|<?https?://[^\s<>]++>?")
_HEADING = re.compile(r"^#{1,6} .*+$", re.MULTILINE)
_DIRECTIVE = re.compile(r"\{\{[<%].*?[%>]\}\}|\{%.*?%\}|^#include .*+$", re.MULTILINE)
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{60,}+")
_LETTERS = re.compile(
    r"[^\W\d_]{2,}+|[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)

_CLUTTER = (
    (("#",), _HEADING),
    (("](", "://"), _LINK),
    (("{{", "{%", "#include"), _DIRECTIVE),
    (("",), _ENCODED),
)
"""What is no prose, behind what stands in every instance of it."""

_FEWEST_WORDS = 2
"""A lone word beside headings, links and data is their label."""


def unasked(leaves: Sequence[Chunk]) -> dict[int, SkipReason]:
    """Give the leaves that are not asked about, by their number.

    `leaves` are all of a document that may be shown together.
    """
    if len(leaves) == 1:
        return {0: "one_chunk"}
    return {
        number: "no_prose" for number, leaf in enumerate(leaves) if not has_prose(leaf)
    }


def has_prose(leaf: Chunk) -> bool:
    """Tell whether words are left without headings, links, directives and data."""
    text = leaf.text
    for signs, pattern in _CLUTTER:
        if any(sign in text for sign in signs):
            text = pattern.sub(" ", text)
    return any(
        number >= _FEWEST_WORDS
        for number, _ in enumerate(_LETTERS.finditer(text), start=1)
    )
