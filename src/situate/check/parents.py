"""The rules of C9: where records hang, and which there have to be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.check.findings import Finding, around
from situate.model import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.check.findings import Place

_RANK = {"document": 0, "section": 1, "block": 2}


def no_parents(places: Sequence[Place]) -> Iterator[Finding]:
    """Yield the records that have or are parents where there are leaves alone."""
    for place in places:
        if place.parent_chunk_id is not None or not place.leaf:
            yield Finding(
                rule="C9-parent",
                subject=place.chunk_id,
                message="has or is a parent, though granularity is 'leaves'",
            )


def parents(doc_id: str, places: Sequence[Place]) -> Iterator[Finding]:
    """Yield what is wrong with the tree of one document's records."""
    roots = [place for place in places if place.parent_chunk_id is None]
    if [root.level for root in roots] != ["document"]:
        named = ", ".join(f"{root.chunk_id} ({root.level})" for root in roots[:3])
        yield Finding(
            rule="C9-root",
            subject=doc_id,
            message=f"one root of level document was expected, not {named or 'none'}",
        )
    yield from _containers(doc_id, places)
    yield from _hung(places)
    yield from _cycles({place.chunk_id: place.parent_chunk_id for place in places})


def _containers(doc_id: str, places: Sequence[Place]) -> Iterator[Finding]:
    """A section of several leaves has a record, and no other has one without text."""
    leaves: Counter[str] = Counter()
    others: set[str] = set()
    for place in places:
        if place.leaf:
            leaves.update((place.section_id, *around(place.section_id)))
            others.update(place.section_ids or ())
            others.update(() if place.numbered else (place.section_id,))
    wanted = {section for section, count in leaves.items() if count > 1} - others
    found = {place.section_id for place in places if not place.leaf} - {DOCUMENT}
    for section_id in sorted(wanted ^ found):
        yield Finding(
            rule="C9-container",
            subject=doc_id,
            message=f"section {section_id!r} of {leaves[section_id]} leaves has "
            + ("no record" if section_id in wanted else "a record to contain them"),
        )


def _hung(places: Sequence[Place]) -> Iterator[Finding]:
    """Every record hangs at the nearest record around it, which stands before it."""
    levels = {place.chunk_id: place.level for place in places}
    records = {
        place.section_id: place.chunk_id
        for place in places
        if not place.numbered and place.section_ids is None
    }
    before = set()
    for place in places:
        parent = place.parent_chunk_id
        if parent is not None and parent not in levels:
            yield Finding(
                rule="C9-parent",
                subject=place.chunk_id,
                message=f"parent {parent!r} is not in the file",
            )
        elif parent is not None:
            nearest = _nearest(place, records)
            if nearest not in {None, parent, place.chunk_id}:
                yield Finding(
                    rule="C9-parent",
                    subject=place.chunk_id,
                    message=f"parent is {parent!r}, the record around it {nearest!r}",
                )
            if parent not in before:
                yield Finding(
                    rule="C2-order",
                    subject=place.chunk_id,
                    message=f"stands before its parent {parent!r}",
                )
            if _RANK[levels[parent]] > _RANK[place.level]:
                yield Finding(
                    rule="C9-level",
                    subject=place.chunk_id,
                    message=f"is a {place.level} below a {levels[parent]}",
                )
        before.add(place.chunk_id)


def _nearest(place: Place, records: Mapping[str, str]) -> str | None:
    """Give the record of the section around a chunk; parts lie in their section."""
    if place.numbered and place.section_ids is None and place.section_id in records:
        return records[place.section_id]
    if place.section_id == DOCUMENT:
        return None
    inner = (records[each] for each in around(place.section_id) if each in records)
    return next(inner, records.get(DOCUMENT))


def _cycles(parents: Mapping[str, str | None]) -> Iterator[Finding]:
    """Follow every chunk to the top, each step once."""
    settled: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        current: str | None = start
        while current is not None and current not in settled and current not in path:
            path[current] = None
            current = parents.get(current)
        if current in path:
            yield Finding(
                rule="C9-cycle", subject=start, message="is among its own ancestors"
            )
        settled.update(path)
