"""The sections of a document in reading order, measured once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.chunking.breadcrumbs import crumb
from situate.chunking.units import Unit, unit_of
from situate.model import TOP, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.chunking.measure import Measure
    from situate.model import Document, Metadata, Section


@dataclass(slots=True, kw_only=True)
class Place:
    """A section in reading order, with what it holds while headings move."""

    section: Section
    parent: int
    """Index of the section above; the root is its own."""
    metadata: Metadata
    own: tuple[Unit, ...]
    """Its own blocks; a long heading already shortened."""
    units: list[Unit]
    """What it will be packed from; empty when its heading moved away."""
    rank: int = 0
    """Place among its siblings."""
    children: list[int] = field(default_factory=list)
    end: int = 0
    """Index after the last section below it."""
    crumb: str = ""
    """Its heading as it stands in breadcrumb lines."""
    shortened: bool = False

    @property
    def heading_only(self) -> bool:
        """True for a heading without text of its own."""
        blocks = self.section.blocks
        return len(blocks) == 1 and blocks[0].kind == "heading"


def lay_out(document: Document, measure: Measure, *, max_tokens: int) -> list[Place]:
    """List the sections in reading order and measure their blocks."""
    places: list[Place] = []
    index_of: dict[int, int] = {}
    for section, ancestors in walk(document.root):
        index = len(places)
        index_of[id(section)] = index
        parent = index_of[id(ancestors[-1])] if ancestors else index
        inherited = places[parent].metadata if ancestors else document.metadata
        own = tuple(unit_of(block, measure) for block in section.blocks)
        place = Place(
            section=section,
            parent=parent,
            metadata=section.metadata or inherited,
            own=own,
            units=list(own),
            crumb=crumb(section.title, measure, max_tokens=max_tokens // 4),
        )
        _shorten_heading(
            place, measure, max_tokens // 4, marked=document.markup == "markdown"
        )
        places.append(place)
        if ancestors:
            place.rank = len(places[parent].children)
            places[parent].children.append(index)
    for index in range(len(places) - 1, -1, -1):
        places[index].end = max(places[index].end, index + 1)
        above = places[places[index].parent]
        above.end = max(above.end, places[index].end)
    return places


def holds_text(places: Sequence[Place], index: int) -> bool:
    """Tell whether a section or one below it still holds blocks."""
    return any(places[below].units for below in range(index, places[index].end))


def document_title(document: Document) -> str | None:
    """Give the title: the author's, else the only level-1 heading at the very top."""
    if document.metadata.title:
        return document.metadata.title
    sections = [section for section, _ in walk(document.root)][1:]
    tops = [section for section in sections if section.level == 1]
    first = sections[0] if sections else None
    if len(tops) == 1 and first is tops[0] and first.section_id != TOP:
        return first.title or None
    return None


def _shorten_heading(
    place: Place, measure: Measure, limit: int, *, marked: bool
) -> None:
    """Shorten a heading above `limit` that has something below it (C7)."""
    blocks = place.section.blocks
    if not blocks or blocks[0].kind != "heading":
        return
    if len(blocks) == 1 and not place.section.children:
        return
    heading = place.own[0]
    if measure.fits(heading.text, heading.joined, limit):
        return
    text = place.crumb
    if marked or heading.text.startswith("#"):
        text = "#" * max(1, min(place.section.level, 6)) + " " + text
    unit = Unit(
        block=heading.block,
        text=text,
        joined=measure.joined(text),
        span=heading.span,
    )
    place.own = (unit, *place.own[1:])
    place.units = list(place.own)
    place.shortened = True
