"""Which blocks are packed together, and under which name (C7, C8, C12).

A document is laid out as portions. Usually a portion is one section's own
blocks; runs of small neighbouring sections share one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from situate.chunking.headings import is_long, move_headings
from situate.chunking.places import holds_text
from situate.chunking.units import Held, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.chunking.measure import Measure
    from situate.chunking.places import Place


class Portion(NamedTuple):
    """Blocks that are packed together, under one id and breadcrumb."""

    place: int
    """Index of the section whose id it takes."""
    above: int
    """Index of the section it lies in: its own, or the one above a run."""
    held: Held
    section_ids: tuple[str, ...] | None = None


def portions(
    places: Sequence[Place], measure: Measure, *, max_tokens: int, min_tokens: int
) -> list[Portion]:
    """Lay the sections out as portions, in reading order."""
    written = [place for place in places if place.section.blocks]
    if not written:
        return []
    if all(
        place.heading_only
        and place.agrees(written[0])
        and not is_long(place, measure, max_tokens)
        for place in written
    ):
        return [_headings(places)]
    move_headings(places, measure, max_tokens=max_tokens)
    runs = {run[0].place: run for run in _runs(places, measure, max_tokens, min_tokens)}
    found: list[Portion] = []
    index = 0
    while index < len(places):
        run = runs.get(index)
        if run is not None:
            found.append(run[0])
            index = run[1]
            continue
        held = places[index].held
        if held.blocks:
            found.append(Portion(index, index, held))
        index += 1
    return found


def _headings(places: Sequence[Place]) -> Portion:
    """Pack a document of headings alone as one section."""
    written = [index for index, place in enumerate(places) if place.section.blocks]
    ids = tuple(places[index].section.section_id for index in written)
    alone = len(written) == 1
    return Portion(
        place=written[0],
        above=written[0] if alone else 0,
        held=together([places[index].held for index in written]),
        section_ids=None if alone else ids,
    )


def _runs(
    places: Sequence[Place], measure: Measure, max_tokens: int, min_tokens: int
) -> Iterator[tuple[Portion, int]]:
    """Find runs of small neighbouring sections, each with the index after it."""
    inside: set[int] = set()
    for parent, place in enumerate(places):
        if parent in inside:
            continue
        for run in _small_siblings(places, place.children, measure, min_tokens):
            for joined in _filled(places, run, measure, max_tokens):
                end = places[joined[-1]].end
                inside.update(range(joined[0], end))
                yield _run(places, parent, joined), end


def _small_siblings(
    places: Sequence[Place],
    siblings: Sequence[int],
    measure: Measure,
    min_tokens: int,
) -> Iterator[list[int]]:
    """Give the stretches of neighbours that are small and agree on metadata."""
    run: list[int] = []
    for child in siblings:
        if not holds_text(places, child):
            continue
        if not _is_small(places, child, measure, min_tokens):
            yield run
            run = []
        elif run and not _agree(places, run[0], child):
            yield run
            run = [child]
        else:
            run.append(child)
    yield run


def _filled(
    places: Sequence[Place], run: Sequence[int], measure: Measure, max_tokens: int
) -> Iterator[list[int]]:
    """Cut a stretch of small sections into runs of two or more that fit a chunk."""
    joined: list[int] = []
    used = 0
    for child in run:
        size = _held(places, [child]).joined
        if used + size > max_tokens and not (
            joined and _fit(_held(places, [*joined, child]), measure, max_tokens)
        ):
            if len(joined) > 1:
                yield joined
            joined, used = [], 0
        joined.append(child)
        used += size
    if len(joined) > 1:
        yield joined


def _run(places: Sequence[Place], parent: int, run: Sequence[int]) -> Portion:
    held = _held(places, run)
    ids = {block.block_id.rpartition("#")[0] for block in held.blocks}
    ids.add(places[run[0]].section.section_id)
    # Also a heading between two of them that moved here; what moved here from
    # above or below the run is its taker's guest (C8).
    within = (
        places[index].section.section_id for index in range(run[0], places[run[-1]].end)
    )
    return Portion(
        place=run[0],
        above=parent,
        held=held,
        section_ids=tuple(each for each in within if each in ids),
    )


def _held(places: Sequence[Place], run: Sequence[int]) -> Held:
    """Put together what sections hold with all below them."""
    return together(
        [
            places[index].held
            for child in run
            for index in range(child, places[child].end)
        ]
    )


def _fit(held: Held, measure: Measure, max_tokens: int) -> bool:
    return measure.alone(held.text, held.joined) <= max_tokens


def _is_small(
    places: Sequence[Place], index: int, measure: Measure, min_tokens: int
) -> bool:
    """Tell whether a section with all below it is under `min_tokens`."""
    total = 0
    below = range(index, places[index].end)
    for place in map(places.__getitem__, below):
        total += place.own.joined
        if place.shortened or total >= min_tokens + 2:
            return False
    own = together([places[each].own for each in below])
    return measure.alone(own.text, own.joined) < min_tokens


def _agree(places: Sequence[Place], first: int, child: int) -> bool:
    return all(
        places[index].agrees(places[first])
        for start in (first, child)
        for index in range(start, places[start].end)
    )
