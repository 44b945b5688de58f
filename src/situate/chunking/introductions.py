"""Text that belongs to the block next to it: lead-ins and captions (C4, C5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from situate.chunking.sentences import count_sentences, last_sentence

if TYPE_CHECKING:
    from situate.model import Block

LEAD_IN_TOKENS = 60
"""Longest lead-in; twice as long changed nothing on four public corpora (2026-11)."""

_INTRODUCED = frozenset({"list", "table", "code", "math"})
_COLONS = (":", "\uff1a")
_MARKS = "*_`\"'’”») "  # what may close a sentence after its colon

# The word for a table in the languages of the corpora seen, then its number.
_CAPTION = re.compile(
    r"[\W_]*(?:table|tabelle|tab|tableau|tabla|cuadro|tabella|tabela|tabel|tabell|"
    r"taulukko|táblázat|таблица|表格?)[.\s]*(?:no|nr|n)?[.°º\s]*"
    r"(?:[A-Z]{1,3}[-.]?)?\d",
    re.IGNORECASE,
)


_FIGURE_CAPTION = re.compile(
    r"[\W_]*(?:figure|fig|abbildung|abb|figura|figur|figuur|ábra|рисунок|рис|图|圖|図)"
    r"[.\s]*(?:no|nr|n)?[.°º\s]*(?:[A-Z]{1,3}[-.]?)?\d",
    re.IGNORECASE,
)

# One image and nothing else, perhaps inside a link.
_IMAGE = re.compile(
    r"\[?!\[[^\]\n]*+\](?:\([^()\n]*+\)|\[[^\]\n]*+\])[\s\](]*+[^()\s]*+\)?"
)


def is_figure(block: Block) -> bool:
    """Tell whether a paragraph is an image alone."""
    text = block.text
    return (
        block.kind == "paragraph"
        and text.startswith(("![", "[!["))
        and _IMAGE.fullmatch(text) is not None
    )


def is_figure_caption(block: Block) -> bool:
    """Tell whether a paragraph is one line that names and numbers a figure."""
    return (
        block.kind == "paragraph"
        and "\n" not in block.text
        and _FIGURE_CAPTION.match(block.text) is not None
    )


def is_caption(block: Block) -> bool:
    """Tell whether a paragraph is one line that names and numbers a table."""
    return (
        block.kind == "paragraph"
        and "\n" not in block.text
        and _CAPTION.match(block.text) is not None
    )


def may_be_introduced(block: Block) -> bool:
    """Tell whether a block is of a kind that lead-ins stand before."""
    return block.kind in _INTRODUCED


def is_lead_in(
    block: Block, introduced: Block, tokens: int, language: str | None
) -> bool:
    """Tell whether a paragraph of `tokens` introduces the block directly after it."""
    if block.kind != "paragraph" or not may_be_introduced(introduced):
        return False
    if tokens > LEAD_IN_TOKENS:
        return False
    if block.text.rstrip(_MARKS).endswith(_COLONS):
        return True
    return introduced.kind == "list" and count_sentences(block.text, language) == 1


def repeated(block: Block, language: str | None) -> str:
    """Give what later pieces repeat: a caption whole, a lead-in's last sentence."""
    return block.text if is_caption(block) else last_sentence(block.text, language)
