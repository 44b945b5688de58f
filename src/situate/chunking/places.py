"""The sections of a document in reading order, measured once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from situate.access import access_of
from situate.chunking.breadcrumbs import crumb, surely_within
from situate.model import TOP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.chunking.units import Held, Units
    from situate.model import Block, Document, Metadata, Section


@dataclass(slots=True, kw_only=True)
class Place:
    """A section in reading order, with what it holds while headings move."""

    section: Section
    parent: int
    """Index of the section above; the root is its own."""
    metadata: Metadata
    access: str
    """Who may see it, and when it is in force (S6)."""
    own: Held
    """Its own blocks; a long heading already shortened."""
    held: Held
    """What it will be packed from; empty when its heading moved away."""
    rank: int = 0
    """Place among its siblings."""
    children: list[int] = field(default_factory=list)
    end: int = 0
    """Index after the last section below it."""
    crumb: str = ""
    """Its heading as it stands in breadcrumb lines."""
    shortened: bool = False

    def agrees(self, other: Place) -> bool:
        """Tell whether two sections may share a chunk (C12).

        Values that Python takes for equal, 1 and true, are not the same permission.
        """
        return self.metadata == other.metadata and self.access == other.access

    @property
    def heading_only(self) -> bool:
        """True for a heading without text of its own."""
        blocks = self.section.blocks
        return len(blocks) == 1 and blocks[0].kind == "heading"


def lay_out(document: Document, units: Units, *, max_tokens: int) -> list[Place]:
    """List the sections in reading order and measure their blocks."""
    places: list[Place] = []
    limit = max_tokens // 4
    marked = document.markup == "markdown"
    pending = [(document.root, 0, document.metadata, access_of(document.metadata))]
    while pending:
        section, parent, metadata, access = pending.pop()
        index = len(places)
        if section.metadata is not None:
            metadata = section.metadata
            access = access_of(metadata)
        shown = crumb(section.title, units.measure, max_tokens=limit)
        blocks = section.blocks
        shortened = _is_to_be_shortened(section, units, limit)
        if shortened:
            blocks = (_shortened(section, shown, marked=marked), *blocks[1:])
        held = units.hold(blocks)
        siblings = places[parent].children if index else []
        places.append(
            Place(
                section=section,
                parent=parent,
                metadata=metadata,
                access=access,
                own=held,
                held=held,
                rank=len(siblings),
                end=index + 1,
                crumb=shown,
                shortened=shortened,
            )
        )
        siblings.append(index)
        if section.children:
            pending += [
                (child, index, metadata, access) for child in section.children[::-1]
            ]
    for place in reversed(places):
        around = places[place.parent]
        around.end = max(around.end, place.end)
    return places


def holds_text(places: Sequence[Place], index: int) -> bool:
    """Tell whether a section or one below it still holds blocks."""
    if places[index].held.blocks:
        return True
    return any(places[below].held.blocks for below in range(index, places[index].end))


def document_title(document: Document, places: Sequence[Place]) -> str | None:
    """Give the title: the author's, else the only level-1 heading at the very top."""
    if document.metadata.title:
        return document.metadata.title
    sections = [place.section for place in places[1:]]
    tops = [section for section in sections if section.level == 1]
    first = sections[0] if sections else None
    if len(tops) == 1 and first is tops[0] and first.section_id != TOP:
        return first.title or None
    return None


def _is_to_be_shortened(section: Section, units: Units, limit: int) -> bool:
    """Tell whether a heading is above `limit` and has something below it (C7)."""
    blocks = section.blocks
    if not blocks or blocks[0].kind != "heading":
        return False
    if len(blocks) == 1 and not section.children:
        return False
    heading = blocks[0].text
    if surely_within(heading, limit):
        return False
    return not units.measure.fits(heading, units.of(blocks[0]).joined, limit)


def _shortened(section: Section, shown: str, *, marked: bool) -> Block:
    heading = section.blocks[0]
    if marked or heading.text.startswith("#"):
        shown = "#" * max(1, min(section.level, 6)) + " " + shown
    return replace(heading, text=shown)
