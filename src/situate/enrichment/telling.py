"""Names the language of a text where nobody does; judges nothing."""

from __future__ import annotations

import re

from situate.enrichment.language import EAST_ASIAN, script_of, spoken

_WORD = re.compile(r"[^\W\d_]+")


def told(text: str) -> str | None:
    """Name the language of a text by its script, else by its function words."""
    if script_of(text) == EAST_ASIAN:
        return "zh"
    return spoken(frozenset(_WORD.findall(text.casefold())))
