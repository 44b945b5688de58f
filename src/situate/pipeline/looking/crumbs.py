"""Takes a breadcrumb line apart again: what stands in it whole, cut, or not at all.

Pure: a record holds both the line and what it was made from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from situate.model import Chunk

_BETWEEN = " > "
_LEFT_OUT = "…"

Shown = Literal["whole", "shortened", "left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crumb:
    """One part of a breadcrumb line."""

    kind: Literal["doc_type", "title", "heading"]
    text: str
    """As the record's metadata has it."""
    shown: Shown


def crumbs_of(chunk: Chunk) -> tuple[Crumb, ...]:
    """Give the parts of a chunk's breadcrumb line, those that gave way included.

    A title that is the first heading as well is one part, as it is in the line.
    """
    doc_type, rest = _type_of(chunk)
    title = chunk.metadata.title or ""
    first = chunk.breadcrumb[0].split() if chunk.breadcrumb else []
    is_heading = bool(first) and title.split() == first
    headings = [each for each in chunk.breadcrumb[is_heading:] if each.strip()]
    found: list[Crumb] = []
    for text in reversed(headings):
        shown, rest = _last(rest, " ".join(text.split()))
        found.append(Crumb(kind="heading", text=text, shown=shown))
    if title.strip():
        shown, _ = _last(rest, " ".join(title.split()))
        found.append(Crumb(kind="title", text=title, shown=shown))
    return (*doc_type, *reversed(found))


def _type_of(chunk: Chunk) -> tuple[tuple[Crumb, ...], str]:
    """Take the type from the beginning of the line, where there is one."""
    line = chunk.breadcrumb_line
    doc_type = chunk.metadata.doc_type
    if not doc_type or not doc_type.strip():
        return (), line
    bracket = " ".join(f"[{doc_type.strip()}]".split())
    shown: Shown = "left out"
    if line == bracket or line.startswith(f"{bracket} "):
        shown, line = "whole", line.removeprefix(bracket).lstrip()
    else:
        begin, mark, rest = line.partition(_LEFT_OUT)
        if mark and begin.strip() and bracket.startswith(begin.strip()):
            shown, line = "shortened", rest.lstrip()
    return (Crumb(kind="doc_type", text=doc_type, shown=shown),), line


def _last(line: str, crumb: str) -> tuple[Shown, str]:
    """Tell how a crumb stands at the end of a line, and give what is before it."""
    if line == crumb:
        return "whole", ""
    if line.endswith(_BETWEEN + crumb):
        return "whole", line.removesuffix(_BETWEEN + crumb)
    before, _, last = line.rpartition(_BETWEEN)
    begin = last.removesuffix(_LEFT_OUT).rstrip()
    if last.endswith(_LEFT_OUT) and begin and crumb.startswith(begin):
        return "shortened", before
    return "left out", line
