"""Take headings from a document's bookmarks, where its pages show them."""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from situate.readers.pdf.opening import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.readers.pdf.lines import Line

# The longest outline of a printed law has some thousand entries.
MOST_BOOKMARKS = 20_000

# Lines that a title may be broken into.
_MOST_LINES = 4

# Where fewer are found, the bookmarks name something else: files, slides, figures.
_FEWEST_FOUND = 0.5

_NO_WORD = re.compile(r"[\W_]+")
_NUMBER = re.compile(
    r"\W*(?:section|chapter|article|part|appendix)?\s*"
    r"(?:\d+(?:\.\d+)*|[A-Z]|[IVXLC]+)\W*\s",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """An entry of the outline: what it says and where it leads."""

    title: str
    level: int
    """From 1."""
    page: int
    """From 1; 0 when it leads nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The lines that show a bookmark's title: from `start` up to `end`."""

    start: int
    end: int
    level: int


def entries_of(document: Any) -> tuple[list[Bookmark], bool]:
    """Give the entries of the outline, and whether these are all.

    An entry that leads back to one above it ends there.
    """
    from pypdfium2 import raw

    found: list[Bookmark] = []
    seen: set[int] = set()
    stack = [(raw.FPDFBookmark_GetFirstChild(document, None), 1)]
    while stack:
        entry, level = stack.pop()
        if not entry or (address := ctypes.addressof(entry.contents)) in seen:
            continue
        if len(found) == MOST_BOOKMARKS:
            return found, False
        seen.add(address)
        target = raw.FPDFBookmark_GetDest(document, entry)
        page = raw.FPDFDest_GetDestPageIndex(document, target) + 1 if target else 0
        title = " ".join(text_of(raw.FPDFBookmark_GetTitle, entry).split())
        found.append(Bookmark(title=title, level=level, page=max(0, page)))
        stack.append((raw.FPDFBookmark_GetNextSibling(document, entry), level))
        stack.append((raw.FPDFBookmark_GetFirstChild(document, entry), level + 1))
    return found, True


def matches(entries: Sequence[Bookmark], lines: Sequence[Line]) -> list[Match]:
    """Find the lines that show bookmarks, in reading order.

    Nothing is found where fewer than half of the bookmarks are.
    """
    pages: dict[int, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        pages[line.page].append(index)
    taken: dict[int, Match] = {}
    named = 0
    for entry in entries:
        if not _said(entry.title):
            continue
        named += 1
        # Some programs lead to the end of the page before.
        for page in (entry.page, entry.page + 1):
            found = _find(entry, lines, pages.get(page, ()), taken)
            if found is not None:
                taken.update(dict.fromkeys(range(found.start, found.end), found))
                break
    distinct = sorted(set(taken.values()), key=lambda match: match.start)
    return distinct if len(distinct) >= max(1, _FEWEST_FOUND * named) else []


def _find(
    entry: Bookmark, lines: Sequence[Line], own: Sequence[int], taken: dict[int, Match]
) -> Match | None:
    wanted = {_said(entry.title), _said(_bare(entry.title))} - {""}
    for start in own:
        if not _said(_bare(lines[start].text + " ")):
            continue
        said = ""
        for end in range(start, min(start + _MOST_LINES, len(lines))):
            if end in taken or lines[end].page != lines[start].page:
                break
            said += lines[end].text + " "
            shown = _said(said)
            bare = _said(_bare(said))
            if shown in wanted or bare == _said(entry.title):
                return Match(start=start, end=end + 1, level=entry.level)
            if not any(each.startswith((shown, bare)) for each in wanted):
                break
    return None


def _said(text: str) -> str:
    return _NO_WORD.sub("", text).casefold()


def _bare(title: str) -> str:
    """Take the number off a title."""
    found = _NUMBER.match(title)
    return title if found is None else title[found.end() :]
