"""Finds quotations of a statement that do not stand in what was shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from situate.enrichment.grounding.forms import IDEOGRAPH, folded

if TYPE_CHECKING:
    from situate.enrichment.grounding.evidence import Evidence

_QUOTED = re.compile(
    r"\"([^\"]++)\"|\u201c([^\u201c\u201d]++)[\u201d\u201c]|"
    r"\u201e([^\u201c\u201d\u201e]++)[\u201c\u201d]|\u00ab([^\u00ab\u00bb]++)\u00bb|"
    r"\u00bb([^\u00ab\u00bb]++)\u00ab|\u2039([^\u2039\u203a]++)\u203a|"
    r"\u203a([^\u2039\u203a]++)\u2039|\u300c([^\u300c\u300d]++)\u300d|"
    r"\u300e([^\u300e\u300f]++)\u300f|"
    r"(?<!\w)['\u2018\u2019\u201a]((?:[^'\u2018\u2019]|(?<=\w)['\u2019](?=\w))++)['\u2018\u2019](?!\w)"
)
_SIGN = re.compile(r"[\"\u201c\u201e\u00ab\u00bb\u2039\u203a\u300c\u300e'\u2018\u2019]")
_LEFT_OUT = re.compile(r"\u2026|\.{3}|\[[^\]]{0,40}\]")
_FEWEST_IDEOGRAPHS = 4
"""A shorter quotation is a word."""


def quotations(text: str, evidence: Evidence) -> list[str]:
    """Give the quotations of two words and more that were not shown."""
    if _SIGN.search(text) is None:
        return []
    return [
        match[0]
        for match in _QUOTED.finditer(text)
        if any(
            not _stands(part, evidence)
            for part in _LEFT_OUT.split(match[match.lastindex or 0])
        )
    ]


def _stands(quoted: str, evidence: Evidence) -> bool:
    words = folded(quoted)
    if len(IDEOGRAPH.findall(quoted)) >= _FEWEST_IDEOGRAPHS:
        return words.replace(" ", "") in evidence.folded.replace(" ", "")
    return words.count(" ") < 3 or words in evidence.folded
