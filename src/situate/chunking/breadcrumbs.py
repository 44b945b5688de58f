"""The breadcrumb line: where a chunk stands, in the author's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.chunking.sentences import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.chunking.measure import Measure

_BETWEEN = " > "
_LEFT_OUT = "…"


def crumb(heading: str, measure: Measure, *, max_tokens: int) -> str:
    """Write one heading on a line, shortened where it is above `max_tokens`."""
    line = " ".join(heading.split())
    if surely_within(line, max_tokens):
        return line
    return shorten(line, measure, limit=max_tokens)


def breadcrumb_line(
    crumbs: Sequence[str], doc_type: str | None, measure: Measure, *, max_tokens: int
) -> str:
    """Write `[doc_type] Title > Heading > Heading` in at most `max_tokens`.

    Outer crumbs give way first and leave an ellipsis; the innermost is shortened
    at a word when it does not fit alone. Empty where nothing fits.
    """
    kind = ""
    if doc_type and doc_type.strip():
        kind = crumb(f"[{doc_type.strip()}]", measure, max_tokens=max_tokens // 2)
    whole = " ".join(filter(None, (kind, _BETWEEN.join(crumbs))))
    # Most lines are far from the bound, and need no look at their parts.
    if surely_within(whole, max_tokens) or measure.count(whole) <= max_tokens:
        return whole
    sizes = [measure.word(_BETWEEN + each) for each in crumbs]
    room = max_tokens - measure.word(kind)
    first, used = 0, sum(sizes)
    while first < len(crumbs) - 1 and used + bool(first) > room + 2:
        used -= sizes[first]
        first += 1
    while True:
        shown = [_LEFT_OUT, *crumbs[first:]] if first else list(crumbs)
        line = " ".join(part for part in (kind, _BETWEEN.join(shown)) if part)
        if surely_within(line, max_tokens) or measure.count(line) <= max_tokens:
            return line
        if first >= len(crumbs) - 1:
            break
        first += 1
    if not crumbs:
        return crumb(line, measure, max_tokens=max_tokens)
    before = line[: len(line) - len(crumbs[-1])]
    room = max_tokens - measure.count(before)
    while room >= max(1, max_tokens // 4):
        line = before + shorten(crumbs[-1], measure, limit=room)
        if measure.count(line) <= max_tokens:
            return line
        # Where the two meet, counts do not add up.
        room -= 1
    return shorten(crumbs[-1], measure, limit=max_tokens)


def surely_within(text: str, limit: int) -> bool:
    """Tell without counting: no token is shorter than a byte."""
    if len(text) > limit:
        return False
    return text.isascii() or len(text.encode("utf-8", "surrogatepass")) <= limit
