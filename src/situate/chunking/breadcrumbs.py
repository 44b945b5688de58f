"""The breadcrumb line: where a chunk stands, in the author's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.chunking.sentences import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.chunking.measure import Measure

_BETWEEN = " > "
_LEFT_OUT = "…"


def crumbs(title: str | None, path: Sequence[str]) -> list[str]:
    """Put the title above the headings; one equal to the first stands once."""
    found = [_one_line(heading) for heading in path]
    if title and _one_line(title) not in found[:1]:
        found.insert(0, _one_line(title))
    return found


def breadcrumb_line(
    crumbs: Sequence[str],
    measure: Measure,
    *,
    doc_type: str | None,
    max_tokens: int,
    max_heading_tokens: int,
) -> str:
    """Write `[doc_type] Title > Heading > Heading` in at most `max_tokens`.

    Outer crumbs give way first and leave an ellipsis; the innermost is shortened
    at a word when it does not fit alone.
    """
    crumbs = [
        crumb
        if _surely_within(crumb, max_heading_tokens)
        else shorten(crumb, measure, limit=max_heading_tokens)
        for crumb in crumbs
        if crumb
    ]
    kind = f"[{_one_line(doc_type)}]" if doc_type and _one_line(doc_type) else ""
    if not _within(kind, measure, max_tokens // 2):
        kind = shorten(kind, measure, limit=max_tokens // 2)
    kept = crumbs
    while True:
        shown = kept if len(kept) == len(crumbs) else [_LEFT_OUT, *kept]
        line = " ".join(part for part in (kind, _BETWEEN.join(shown)) if part)
        if _within(line, measure, max_tokens):
            return line
        if len(kept) <= 1:
            break
        kept = kept[1:]
    if not kept:
        return shorten(line, measure, limit=max_tokens)
    before = line[: len(line) - len(kept[0])]
    room = max_tokens - measure.count(before)
    if room < max_tokens // 4:
        return shorten(kept[0], measure, limit=max_tokens)
    return before + shorten(kept[0], measure, limit=room)


def _within(text: str, measure: Measure, limit: int) -> bool:
    return _surely_within(text, limit) or measure.count(text) <= limit


def _surely_within(text: str, limit: int) -> bool:
    """Tell without counting: no token is shorter than a byte."""
    return len(text.encode("utf-8", "surrogatepass")) <= limit


def _one_line(text: str) -> str:
    return " ".join(text.split())
