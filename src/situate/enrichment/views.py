"""What a model is shown of a document: all of it, a window, or what is around.

Pure text: which stretches belong together, and how they are written down. What is
asked about them stands in the prompt, and who is asked is nobody's concern here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.errors import ConfigError
from situate.prompts import marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.enrichment.settings import Settings, View
    from situate.model import Chunk, Section
    from situate.pricing import ModelFacts
    from situate.prompts import Prompt
    from situate.tokens import TokenCounter

GAP = "\n\n"
_LEFT_OUT = "[...]"

WINDOW_TOKENS = 8_000
"""Longest stretch that is marked at once: about there whole documents stop being
cheaper to send once than their windows (arithmetic of 2026-11), and vendors' own
examples use documents of that size."""

MOST_MARKED = 64
"""Chunks of one request: a capable model lost no marker among 169 (2026-11), and an
answer of 64 sentences still fits the output limit of every model listed."""

_LEAST_FILLED = 0.7
"""Of a window's share of the document: from there on it may close at a heading."""

_OUTLINE_TOKENS = 300
NEIGHBOUR_TOKENS = 600
"""Before and after a chunk, each."""

_FULL_TOKENS = 4_000
"""Longest document that a model without structured output sees whole per chunk."""

MOST_CRUMBS_TOKENS = 128
"""A breadcrumb line, and a little more, where only a bound is wanted."""

MARKER_TOKENS = 9
"""A marker and its line breaks."""

GAP_TOKENS = 4
"""The mark of what is left out, and its line breaks."""

_MARGIN = 1.5
"""How far a vendor's own count may be above ours when a context is to be kept."""


def view_of(settings: Settings, prompt: Prompt, facts: ModelFacts, tokens: int) -> View:
    """Choose what chunks of a document of so many tokens are asked with.

    Marking is cheapest wherever an answer for many chunks can be relied on.

    Raises:
        ConfigError: the view is `marked`, and the prompt cannot ask that way.
    """
    if settings.view == "marked" and not prompt.can_mark:
        message = (
            f"prompt {prompt.name!r} has no parts <!-- marked-system --> and "
            "<!-- marked-chunks -->; name another view"
        )
        raise ConfigError(message)
    if settings.view != "auto":
        return settings.view
    if facts.structured_output != "none" and prompt.can_mark:
        return "marked"
    return "full" if tokens <= _fitting(facts, _FULL_TOKENS) else "window"


def windows(leaves: Sequence[Chunk], facts: ModelFacts) -> list[range]:
    """Divide a document's leaves into stretches that are marked together.

    They are about equally long; each ends where the highest heading begins
    near its end, so that neighbours stay together.
    """
    most = _fitting(facts, WINDOW_TOKENS)
    sizes = [leaf.token_count + MARKER_TOKENS for leaf in leaves]
    rest = sum(sizes)
    count = max(-(-rest // most), -(-len(leaves) // MOST_MARKED), 1)
    found: list[range] = []
    first = used = 0
    for index, size in enumerate(sizes):
        held, left = index - first, count - len(found)
        is_full = used + size > most or held >= MOST_MARKED
        # An early end must not cost one more window.
        has_room = rest <= (left - 1) * most
        has_room = has_room and len(leaves) - index <= (left - 1) * MOST_MARKED
        # Of what the windows that are left share equally.
        filled = max(
            used * left / (used + rest), held * left / (held + len(leaves) - index)
        )
        if held and (is_full or (has_room and _closes(leaves, index, filled))):
            found.append(range(first, index))
            first, used = index, 0
        used += size
        rest -= size
    if leaves:
        found.append(range(first, len(leaves)))
    return found


def _closes(leaves: Sequence[Chunk], index: int, filled: float) -> bool:
    """Tell whether a window that is nearly full ends before a leaf."""
    if filled >= 1:
        return True
    is_main = len(leaves[index].breadcrumb) <= 1 < len(leaves[index - 1].breadcrumb)
    return is_main and filled >= _LEAST_FILLED


def _fitting(facts: ModelFacts, tokens: int) -> int:
    """Give how much of a document a model's context has room for."""
    if facts.context_window is None:
        return tokens
    return max(1, min(tokens, int(facts.context_window / _MARGIN / 2)))


def whole(sections: Iterable[Section]) -> str:
    """Give the blocks of sections in reading order."""
    return GAP.join(
        block.text
        for section in sections
        for block in section.blocks
        if block.text.strip()
    )


def stretch(leaves: Sequence[Chunk], window: range, outline: str) -> str:
    """Give a window as a text without markers: what its answers depend on."""
    return _framed(
        GAP.join(leaves[index].text for index in window), leaves, window, outline
    )


def marked(leaves: Sequence[Chunk], window: range, outline: str) -> tuple[str, str]:
    """Give a window with a marker before every leaf, and how markers begin.

    A leaf's number is its place in the window, from 1.
    """
    begin = marker(stretch(leaves, window, outline))
    text = GAP.join(
        f"[{begin}.{number}]\n{leaves[index].text}"
        for number, index in enumerate(window, 1)
    )
    return _framed(text, leaves, window, outline), begin


def around(
    leaves: Sequence[Chunk], index: int, window: range, outline: str
) -> tuple[str, int]:
    """Give what stands around a leaf in a window, with a gap where it is itself.

    And how many tokens the leaves around it have.
    """
    before = _near(leaves, range(index - 1, window.start - 1, -1))[::-1]
    after = _near(leaves, range(index + 1, window.stop))
    texts = [leaf.text for leaf in before], [leaf.text for leaf in after]
    framed = [*([outline] if outline else []), *texts[0], _LEFT_OUT, *texts[1]]
    return GAP.join(framed), sum(leaf.token_count for leaf in (*before, *after))


def outline_of(sections: Iterable[Section], counter: TokenCounter) -> str:
    """List the headings of sections, the deepest left out first where too many."""
    headings = [(section.level, section.title) for section in sections if section.title]
    for deepest in sorted({level for level, _ in headings}, reverse=True):
        lines = [
            "  " * (level - 1) + "- " + title
            for level, title in headings
            if level <= deepest
        ]
        text = "\n".join(lines)
        if counter.count(text) <= _OUTLINE_TOKENS:
            return f"Headings of the whole document:\n{text}"
    return ""


def numbers(chosen: Sequence[int]) -> str:
    """Write numbers as people do: `1-4, 7`."""
    parts: list[str] = []
    start = previous = 0
    for number in [*chosen, 0]:
        if previous and number != previous + 1:
            parts.append(str(start) if start == previous else f"{start}-{previous}")
            start = number
        start = start or number
        previous = number
    return ", ".join(parts)


def _framed(text: str, leaves: Sequence[Chunk], window: range, outline: str) -> str:
    """Put a part of a document in its place: below the headings of the whole."""
    if len(window) == len(leaves):
        return text
    parts = [outline] if outline else []
    parts += [_LEFT_OUT] if window.start else []
    parts.append(text)
    parts += [_LEFT_OUT] if window.stop < len(leaves) else []
    return GAP.join(parts)


def _near(leaves: Sequence[Chunk], order: range) -> list[Chunk]:
    """Give the nearest leaves, as many as there is room for."""
    room = NEIGHBOUR_TOKENS
    near: list[Chunk] = []
    for index in order:
        room -= leaves[index].token_count
        if room < 0:
            break
        near.append(leaves[index])
    return near
