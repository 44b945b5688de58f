"""The rules that hold among the chunks of one document.

Leaves are the records to embed; the others contain them and are no part of the
cover. Every function yields findings and stops at nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from situate.check.cover import cover
from situate.check.findings import Finding, around, number_of
from situate.check.paragraphs import divisions
from situate.check.parents import no_parents, parents
from situate.model import DOCUMENT, is_paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.check.findings import Limits, Listed, Place


def examine(
    doc_id: str,
    places: Sequence[Place],
    blocks: Sequence[Listed] | None,
    *,
    tree: bool | None,
    limits: Limits | None,
) -> Iterator[Finding]:
    """Yield the broken rules of one document.

    `blocks` None leaves the cover open; `tree` None takes the granularity from
    the records themselves.
    """
    if tree is None:
        tree = any(place.parent_chunk_id or not place.leaf for place in places)
    yield from _order(places)
    paragraphs = [place for place in places if is_paragraph(place.chunk_id)]
    if paragraphs:
        divided = {place.parent_chunk_id for place in paragraphs}
        places = [
            replace(place, leaf=place.leaf or place.chunk_id in divided)
            for place in places
            if not is_paragraph(place.chunk_id)
        ]
        yield from divisions(places, paragraphs)
    if limits is not None:
        yield from _bounds(places, limits)
    yield from _containers(places)
    yield from _numbers(places)
    yield from _same_metadata(places)
    yield from _breadcrumbs(places)
    yield from parents(doc_id, places) if tree else no_parents(places)
    yield from cover(doc_id, places, blocks)


def _order(places: Sequence[Place]) -> Iterator[Finding]:
    seen = set()
    for ordinal, place in enumerate(places):
        if place.chunk_id in seen:
            yield Finding(
                rule="C2-unique",
                subject=place.chunk_id,
                message="another chunk has this id",
            )
        seen.add(place.chunk_id)
        if place.ordinal != ordinal:
            yield Finding(
                rule="C2-order",
                subject=place.chunk_id,
                message=f"ordinal is {place.ordinal}, its place is {ordinal}",
            )


def _bounds(places: Sequence[Place], limits: Limits) -> Iterator[Finding]:
    """What is not embedded has the bound of a leaf or of a container (C3, C9)."""
    for place in places:
        most = limits.max_tokens if place.leaf else limits.container_max_tokens
        if not place.embed and place.token_count > most:
            kind = "leaf" if place.leaf else "container"
            yield Finding(
                rule="C3-size",
                subject=place.chunk_id,
                message=f"the {kind} has {place.token_count} tokens, "
                f"{most} are allowed",
            )


def _containers(places: Sequence[Place]) -> Iterator[Finding]:
    """What contains leaves is no part of a section, and nobody is asked about it."""
    for place in places:
        if place.leaf:
            continue
        if place.numbered:
            yield Finding(
                rule="identity",
                subject=place.chunk_id,
                message="is numbered, though it is no leaf",
            )
        if place.asked:
            yield Finding(
                rule="E10-status",
                subject=place.chunk_id,
                message="a container's enrichment is not 'off'",
            )


def _numbers(places: Sequence[Place]) -> Iterator[Finding]:
    """The parts of a section are numbered from 0, none left out, never only one."""
    expected: Counter[str] = Counter()
    last: dict[str, Place] = {}
    whole = {place.chunk_id for place in places if place.leaf}
    for place in places:
        section, _, written = place.chunk_id.rpartition(":")
        number = number_of(written)
        if number is None:
            continue
        if number != expected[section]:
            yield Finding(
                rule="C2-cover",
                subject=place.chunk_id,
                message=f"comes where part {expected[section]} was expected",
            )
        expected[section] = number + 1
        last[section] = place
    for section, place in last.items():
        if expected[section] == 1 or section in whole:
            yield Finding(
                rule="identity",
                subject=place.chunk_id,
                message="is numbered, though another leaf is the whole section"
                if section in whole
                else "is numbered, though it is the only part of its section",
            )


def _same_metadata(places: Sequence[Place]) -> Iterator[Finding]:
    """A document has one title and corpus, a section one of everything."""
    # A title taken from a heading is not told to who may not see that (S6).
    document = next((place for place in places if place.leaf), places[0])
    sections: dict[str, Place] = {}
    for place in places:
        section = sections.setdefault(place.section_id, place)
        for name, own, others, whose in (
            ("title", place.metadata.title, document.metadata.title, "document"),
            ("corpus", place.corpus, document.corpus, "document"),
            ("metadata", place.metadata, section.metadata, "section"),
        ):
            is_untold = name == "title" and own is None and place.level == "document"
            if own != others and not is_untold:
                yield Finding(
                    rule="C12-metadata",
                    subject=place.chunk_id,
                    message=f"has another {name} than the {whose}'s first chunk",
                )
                break


def _breadcrumbs(places: Sequence[Place]) -> Iterator[Finding]:
    """A section has one breadcrumb, that of the section around it and its heading.

    A merged chunk has that of the section around its sections.
    """
    known: dict[str, tuple[str, ...]] = {DOCUMENT: ()}
    for place in places:
        section_id = place.section_id
        if place.section_ids is not None:
            section_id = next(around(section_id), DOCUMENT)
        above = next((known[each] for each in around(section_id) if each in known), ())
        crumbs = known.setdefault(section_id, place.breadcrumb)
        depth = 0 if section_id == DOCUMENT else section_id.count("/") + 1
        if (
            place.breadcrumb != crumbs
            or crumbs[: len(above)] != above
            or len(crumbs) > depth
        ):
            yield Finding(
                rule="C7-breadcrumb",
                subject=place.chunk_id,
                message=f"breadcrumb {list(place.breadcrumb)} does not fit the other "
                f"chunks in and around section {section_id!r}",
            )
