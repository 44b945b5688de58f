"""Counts what a passage lists, for statements that say how many there are."""

from __future__ import annotations

import re
from itertools import pairwise

_ITEM = re.compile(
    r"^([ \t>]*)(?:[-*+\u2022\u2013]|\d{1,3}[.)\u3001]|[a-zA-Z][.)]|"
    r"\([a-zA-Z0-9]{1,3}\)|\uff08[^\uff09]{1,3}\uff09|[一二三四五六七八九十]\u3001)\s*\S",
    re.MULTILINE,
)
_HEADING = re.compile(r"^(#{1,6}) ", re.MULTILINE)
_ROW = re.compile(r"^\|(.*)\|[ \t]*$", re.MULTILINE)
_SERIES = re.compile(r"[^.;:!?()\n\u3002\uff1b\uff1a]{1,400}")
_LAST = re.compile(
    r"\b(?:and|or|und|oder|sowie|et|ou|y|o|e)\b|[和或及与]", re.IGNORECASE
)


def counts(passage: str) -> frozenset[int]:
    """Give the lengths of the lists, tables and series of a passage."""
    found: set[int] = set()
    indents: dict[str, int] = {}
    last_end = 0
    for match in _ITEM.finditer(passage):
        if _interrupted(passage, last_end, match.start()):
            found.update(indents.values())
            indents.clear()
        indents[match[1]] = indents.get(match[1], 0) + 1
        last_end = match.end()
    found.update(indents.values())
    levels = [len(marks) for marks in _HEADING.findall(passage)]
    found.update(levels.count(level) for level in set(levels))
    rows = _ROW.findall(passage)
    if rows:
        found.update(
            {len(rows) - 2, len(rows) - 1, rows[0].count("|") + 1, rows[0].count("|")}
        )
    for part in _SERIES.findall(passage):
        if (commas := len(re.findall("[,\u3001\uff0c]", part))) and _LAST.search(part):
            found.update({commas + 1, commas + 2})
    return frozenset(found)


def _interrupted(passage: str, start: int, end: int) -> bool:
    """Say whether a paragraph of its own stands between two items."""
    lines = passage[start:end].split("\n")[1:]
    return any(
        not above.strip() and below.strip() and not below.startswith((" ", "\t"))
        for above, below in pairwise(lines)
    )
