"""The rules of C2: the leaves cover a document once, in order, and say where.

Where there is no blocks file, ids tell what they can.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from situate.access import access_of
from situate.check.findings import Finding, around, heads, number_of, section_of
from situate.model import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.check.findings import Listed, Place, Rule
    from situate.model import Span

_IN_PARTS = frozenset({"list", "table", "code", "quote"})
"""Kinds whose pieces may be all of a block and yet not all of its source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A block, whole or in part, where a leaf holds it."""

    chunk_id: str
    block_id: str
    part: Span | None
    """None for a whole block."""
    span: Span | None
    forced: bool


def cover(
    doc_id: str, places: Sequence[Place], blocks: Sequence[Listed] | None
) -> Iterator[Finding]:
    """Yield what a document's chunks leave out, hold twice or place wrongly."""
    pieces = [
        _Piece(
            chunk_id=place.chunk_id,
            block_id=block_id,
            part=place.parts.get(block_id),
            span=span,
            forced=place.forced_split,
        )
        for place in places
        if place.leaf
        for block_id, span in zip(place.block_ids, place.spans, strict=True)
    ]
    yield from _spans(pieces)
    yield from _sections(places)
    if blocks is None:
        yield from _places_within_sections(pieces)
        yield from _tiles(pieces, {})
    else:
        listed = {block.block_id: block for block in blocks}
        yield from _lineage(places, listed)
        yield from _contents(places, blocks)
        yield from _reading_order(pieces, blocks)
        yield from _uncovered(doc_id, pieces, blocks)
        yield from _ends(pieces, blocks)
        yield from _tiles(pieces, {block.block_id: block.parts for block in blocks})


def _sections(places: Sequence[Place]) -> Iterator[Finding]:
    """A leaf holds blocks of its own sections; headings may come from others (C8)."""
    for place in places:
        if not place.leaf:
            continue
        own = set(place.section_ids or (place.section_id,))
        strange = [
            block_id
            for block_id in place.block_ids
            if section_of(block_id) not in own and not heads(block_id)
        ]
        if (
            not strange
            and not place.numbered
            and own.isdisjoint(map(section_of, place.block_ids))
        ):
            strange = list(place.block_ids)
        if strange:
            yield Finding(
                rule="C2-lineage",
                subject=place.chunk_id,
                message=f"holds {strange[0]}, which is of another section",
            )


def _spans(pieces: Sequence[_Piece]) -> Iterator[Finding]:
    """Passages follow each other; only what was cut inside may share one."""
    last: _Piece | None = None
    end = 0
    for piece in pieces:
        if piece.span is None:
            continue
        first, stop = piece.span
        if not 0 <= first <= stop:
            yield Finding(
                rule="span",
                subject=piece.chunk_id,
                message=f"{piece.block_id} spans {first} to {stop}",
            )
        elif first < end and not (last and _shares_a_cut(last, piece)):
            yield Finding(
                rule="C2-overlap",
                subject=piece.chunk_id,
                message=f"{piece.block_id} starts at {first}, before {end}, "
                "where the passage above it ends",
            )
        end, last = max(end, stop), piece


def _shares_a_cut(above: _Piece, below: _Piece) -> bool:
    """Tell whether a part that was cut inside ends one and starts the other."""
    return (
        above.block_id == below.block_id
        and above.part is not None
        and below.part is not None
        and above.part[1] - 1 == below.part[0]
        and above.forced
        and below.forced
    )


def _places_within_sections(pieces: Sequence[_Piece]) -> Iterator[Finding]:
    """Without the blocks file, the numbers in block ids tell their order."""
    latest: dict[str, int] = {}
    for piece in pieces:
        section_id, _, written = piece.block_id.rpartition("#")
        number = number_of(written)
        if number is None:
            yield Finding(
                rule="C2-lineage",
                subject=piece.chunk_id,
                message=f"{piece.block_id!r} is no block id",
            )
        elif number < latest.get(section_id, 0):
            yield Finding(
                rule="C2-order",
                subject=piece.chunk_id,
                message=f"{piece.block_id} comes after a later block",
            )
        else:
            latest[section_id] = number


def _lineage(
    places: Sequence[Place], listed: Mapping[str, Listed]
) -> Iterator[Finding]:
    """Blocks, sections and places in the source are those of the blocks file."""
    sections = {DOCUMENT, *(block.section_id for block in listed.values())}
    for place in places:
        for section_id in (place.section_id, *(place.section_ids or ())):
            if section_id not in sections:
                yield Finding(
                    rule="C2-lineage",
                    subject=place.chunk_id,
                    message=f"section {section_id!r} is not in the blocks file",
                )
        for block_id, span in zip(place.block_ids, place.spans, strict=True):
            block = listed.get(block_id)
            if block is None:
                yield Finding(
                    rule="C2-lineage",
                    subject=place.chunk_id,
                    message=f"{block_id} is not in the blocks file",
                )
            elif not _fits(block, span, in_part=block_id in place.parts):
                yield Finding(
                    rule="span",
                    subject=place.chunk_id,
                    message=f"{block_id} spans {_told(block.span)}, "
                    f"the chunk says {_told(span)}",
                )


def _fits(block: Listed, span: Span | None, *, in_part: bool) -> bool:
    """Tell whether a chunk may place a block there."""
    whole = block.span
    if whole is None or span is None:
        # Lines of code have no place of their own where something was taken out.
        return span == whole or in_part or block.kind == "code"
    if not in_part and block.kind not in _IN_PARTS:
        return span == whole
    return whole[0] <= span[0] <= span[1] <= whole[1]


def _told(span: Span | None) -> str:
    return "nothing" if span is None else f"{span[0]} to {span[1]}"


def _contents(places: Sequence[Place], blocks: Sequence[Listed]) -> Iterator[Finding]:
    """A container names the blocks of its section and of all below it (C9).

    Those of another access, and what lies below them, it does not (S6).
    """
    access = _accesses(places)
    is_divided = len(set(access.values())) > 1
    starts: dict[str, int] = {}
    ends: dict[str, int] = {}
    for number, block in enumerate(blocks):
        for section_id in (DOCUMENT, block.section_id, *around(block.section_id)):
            starts.setdefault(section_id, number)
            ends[section_id] = number + 1
    for place in places:
        if place.leaf:
            continue
        start, end = starts.get(place.section_id, 0), ends.get(place.section_id, 0)
        expected = [
            block.block_id
            for block in blocks[start:end]
            if not is_divided or _is_handed_over(block.section_id, place, access)
        ]
        if list(place.block_ids) != expected:
            yield Finding(
                rule="C2-lineage",
                subject=place.chunk_id,
                message=f"names {len(place.block_ids)} blocks, not the "
                f"{len(expected)} of its section and below",
            )


def _accesses(places: Sequence[Place]) -> dict[str, str]:
    """Give the access of each section, which every leaf with a block of it says."""
    access: dict[str, str] = {}
    for place in places:
        own = access_of(place.metadata)
        if place.leaf:
            within = (*(place.section_ids or ()), *map(section_of, place.block_ids))
            for section_id in within:
                access.setdefault(section_id, own)
        access[place.section_id] = own
    return access


def _is_handed_over(
    section_id: str, container: Place, access: Mapping[str, str]
) -> bool:
    """Tell whether a container and all between it and a section have one access."""
    own = access[container.section_id]
    for each in (section_id, *around(section_id)):
        if each == container.section_id:
            return True
        if access.get(each, own) != own:
            return False
    return True


def _reading_order(
    pieces: Sequence[_Piece], blocks: Sequence[Listed]
) -> Iterator[Finding]:
    places = {block.block_id: place for place, block in enumerate(blocks)}
    known = [piece for piece in pieces if piece.block_id in places]
    for above, below in pairwise(known):
        if places[below.block_id] < places[above.block_id]:
            yield Finding(
                rule="C2-order",
                subject=below.chunk_id,
                message=f"{below.block_id} comes after {above.block_id}",
            )


def _uncovered(
    doc_id: str, pieces: Sequence[_Piece], blocks: Sequence[Listed]
) -> Iterator[Finding]:
    held = {piece.block_id for piece in pieces}
    for block in blocks:
        if block.block_id not in held:
            yield Finding(
                rule="C2-cover",
                subject=doc_id,
                message=f"no leaf holds block {block.block_id}",
            )


def _ends(pieces: Sequence[_Piece], blocks: Sequence[Listed]) -> Iterator[Finding]:
    """A paragraph that was cut inside begins and ends where its block does."""
    held: dict[str, list[_Piece]] = defaultdict(list)
    for piece in pieces:
        if piece.part is not None and piece.span is not None:
            held[piece.block_id].append(piece)
    for block in blocks:
        of_block = held[block.block_id]
        if block.kind != "paragraph" or block.span is None or not of_block:
            continue
        for piece, side in ((of_block[0], 0), (of_block[-1], 1)):
            if piece.span is not None and piece.span[side] != block.span[side]:
                yield Finding(
                    rule="C2-cover",
                    subject=piece.chunk_id,
                    message=f"{block.block_id} spans {block.span[0]} to "
                    f"{block.span[1]}, its chunks reach {piece.span[side]}",
                )


def _tiles(pieces: Sequence[_Piece], counts: dict[str, int]) -> Iterator[Finding]:
    """Every block is in one leaf, or its parts follow each other without a gap.

    `counts` says how many parts a block has; unlisted blocks may end anywhere.
    """
    held: dict[str, list[_Piece]] = defaultdict(list)
    for piece in pieces:
        held[piece.block_id].append(piece)
    for block_id, of_block in held.items():
        if of_block[0].part is None and len(of_block) == 1:
            continue
        reached = 0
        last: _Piece | None = None
        for piece in of_block:
            first, end = piece.part or (0, counts.get(block_id, 1))
            shared = last is not None and _shares_a_cut(last, piece)
            if first < reached and not shared:
                yield _misfit("C2-overlap", piece, first, reached)
            elif first > reached or end <= first:
                yield _misfit("C2-cover", piece, first, reached)
            reached, last = max(reached, end), piece
        count = counts.get(block_id, reached)
        if reached != count and last is not None:
            yield Finding(
                rule="C2-cover",
                subject=last.chunk_id,
                message=f"{block_id} has {count} parts, its chunks hold {reached}",
            )


def _misfit(rule: Rule, piece: _Piece, first: int, reached: int) -> Finding:
    return Finding(
        rule=rule,
        subject=piece.chunk_id,
        message=f"holds {piece.block_id} from part {first}, "
        f"the chunks above it hold {reached}",
    )
