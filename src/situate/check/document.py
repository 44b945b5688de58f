"""The rules that hold among the chunks of one document.

Leaves are the records to embed; the others contain them and are no part of the
cover. Every function yields findings and stops at nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from situate.check.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.check.findings import Listed, Place, Rule
    from situate.model import Span

_RANK = {"document": 0, "section": 1, "block": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A block, whole or in part, where a leaf holds it."""

    chunk_id: str
    block_id: str
    part: Span | None
    """None for a whole block."""
    span: Span | None
    forced: bool


def examine(
    doc_id: str,
    places: Sequence[Place],
    blocks: Sequence[Listed] | None,
    *,
    tree: bool | None,
) -> Iterator[Finding]:
    """Yield the broken rules of one document.

    `blocks` None leaves the cover open; `tree` None takes the granularity from
    the records themselves.
    """
    if tree is None:
        tree = any(place.parent_chunk_id or not place.embed for place in places)
    yield from _order(places)
    yield from _numbers(places)
    if tree:
        yield from _parents(doc_id, places)
    else:
        yield from _no_parents(places)
    pieces = [
        _Piece(
            chunk_id=place.chunk_id,
            block_id=block_id,
            part=place.parts.get(block_id),
            span=span,
            forced=place.forced_split,
        )
        for place in places
        if place.embed
        for block_id, span in zip(place.block_ids, place.spans, strict=True)
    ]
    yield from _spans(pieces)
    if blocks is None:
        yield from _places_within_sections(pieces)
        yield from _tiles(pieces, {})
    else:
        yield from _lineage(places, blocks)
        yield from _reading_order(pieces, blocks)
        yield from _uncovered(doc_id, pieces, blocks)
        yield from _ends(pieces, blocks)
        yield from _tiles(pieces, {block.block_id: block.parts for block in blocks})


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


def _numbers(places: Sequence[Place]) -> Iterator[Finding]:
    """The parts of a section are numbered from 0, none left out."""
    expected: Counter[str] = Counter()
    for place in places:
        section, _, number = place.chunk_id.rpartition(":")
        # The id of a section is never digits alone.
        if not number.isdecimal():
            continue
        if int(number) != expected[section]:
            yield Finding(
                rule="C2-cover",
                subject=place.chunk_id,
                message=f"comes where part {expected[section]} was expected",
            )
        expected[section] = int(number) + 1


def _no_parents(places: Sequence[Place]) -> Iterator[Finding]:
    for place in places:
        if place.parent_chunk_id is not None or not place.embed:
            yield Finding(
                rule="C9-parent",
                subject=place.chunk_id,
                message="has or is a parent, though granularity is 'leaves'",
            )


def _parents(doc_id: str, places: Sequence[Place]) -> Iterator[Finding]:
    levels = {place.chunk_id: place.level for place in places}
    parents = {place.chunk_id: place.parent_chunk_id for place in places}
    roots = [place for place in places if place.parent_chunk_id is None]
    if [root.level for root in roots] != ["document"]:
        named = ", ".join(f"{root.chunk_id} ({root.level})" for root in roots[:3])
        yield Finding(
            rule="C9-root",
            subject=doc_id,
            message=f"one root of level document was expected, not {named or 'none'}",
        )
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
    yield from _cycles(parents)


def _cycles(parents: dict[str, str | None]) -> Iterator[Finding]:
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
        section_id, _, number = piece.block_id.rpartition("#")
        if not number.isdecimal():
            yield Finding(
                rule="C2-lineage",
                subject=piece.chunk_id,
                message=f"{piece.block_id!r} is no block id",
            )
        elif int(number) < latest.get(section_id, 0):
            yield Finding(
                rule="C2-order",
                subject=piece.chunk_id,
                message=f"{piece.block_id} comes after a later block",
            )
        else:
            latest[section_id] = int(number)


def _lineage(places: Sequence[Place], blocks: Sequence[Listed]) -> Iterator[Finding]:
    spans = {block.block_id: block.span for block in blocks}
    for place in places:
        for block_id, span in zip(place.block_ids, place.spans, strict=True):
            if block_id not in spans:
                yield Finding(
                    rule="C2-lineage",
                    subject=place.chunk_id,
                    message=f"{block_id} is not in the blocks file",
                )
                continue
            whole = spans[block_id]
            if span and whole and not whole[0] <= span[0] <= span[1] <= whole[1]:
                yield Finding(
                    rule="span",
                    subject=place.chunk_id,
                    message=f"{block_id} spans {whole[0]} to {whole[1]}, "
                    f"the chunk says {span[0]} to {span[1]}",
                )


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
