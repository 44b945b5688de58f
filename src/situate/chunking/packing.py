"""Pack the blocks of one section into chunks (C1, C3 to C6).

Greedy up to the limit: balanced packing, soft targets and lower caps all lost
recall when they were measured. Lead-ins and captions stay with the block they
belong to and are repeated, the lead-in's last sentence only, in its later pieces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from situate.chunking.company import Company, Group
from situate.chunking.introductions import repeated
from situate.chunking.measure import GAP, Measure
from situate.chunking.pieces import (
    Piece,
    Room,
    cut_items,
    cut_lines,
    cut_rows,
    cut_text,
    head_of,
    tiled,
)
from situate.chunking.sentences import shorten, split
from situate.chunking.units import Passage, Unit, passage_of, tokens_of
from situate.model import Code, Items, Quote, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from situate.chunking.units import Held, Units
    from situate.model import Block, Item

# Both measured on four public corpora with 256-token chunks, 2026-11: the first
# beat closing early and filling always, the second only spares a stray tail.
START_IN_OPEN_CHUNK = 40
SMALLEST_LAST_CHUNK = 6

_LINES = frozenset({"math", "html", "reference"})
_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


def pack(
    held: Held, units: Units, *, limit: int, language: str | None
) -> list[Passage]:
    """Pack the blocks of a section, in order, into chunks of at most `limit` tokens."""
    measure = units.measure
    whole = _whole(held, measure, limit)
    if whole is not None:
        return [whole]
    packer = _Packer(measure, limit, language, "counts")
    chunks = packer.pack([units.of(block) for block in held.blocks])
    return [passage_of(chunk, measure) for chunk in chunks]


def _whole(held: Held, measure: Measure, limit: int) -> Passage | None:
    """Give a section as one chunk, as most are; None where it does not fit."""
    most = measure.reading_limit
    if not measure.exact_sums or not (
        most is None or held.joined + held.excess <= most
    ):
        return None
    text = held.text
    if not measure.fits(text, held.joined, limit):
        return None
    return Passage(text, measure.alone(text, held.joined), held.blocks)


@dataclass(slots=True)
class _Packer:
    """The chunks of one section while they fill up."""

    measure: Measure
    limit: int
    language: str | None
    sums: Literal["counts", "estimates"]
    chunks: list[list[Unit]] = field(default_factory=list)
    open: list[Unit] = field(default_factory=list)
    used: int = 0
    excess: int = 0
    """Tokens of the open chunk's reading above those of its text."""

    def pack(self, units: Sequence[Unit]) -> list[list[Unit]]:
        """Give the chunks of units in order."""
        for group in Company(units, self.measure, self.limit, self.language).groups():
            self.add(group)
        return self.finish()

    def add(self, group: Group) -> None:
        """Put a group into the open chunk, a new one, or cut its block."""
        units = group.units
        if not self._have_room(units, used=self.used, excess=self.excess):
            if not self._have_room(units, used=0, excess=0):
                self._cut(group)
                return
            self.close()
        for unit in units:
            self.place(unit)

    def place(self, unit: Unit) -> None:
        """Add a unit to the open chunk, which has room for it."""
        self.open.append(unit)
        self.used += unit.joined
        self.excess += unit.excess

    def close(self) -> None:
        """End the open chunk; where sums misled, its last units go to the next."""
        left: list[Unit] = []
        if not self.measure.exact_sums:
            while len(self.open) > 1 and self._over():
                left.insert(0, self.open.pop())
        if self.open:
            self.chunks.append(self.open)
        self.open = left
        self.used = sum(unit.joined for unit in left)
        self.excess = sum(unit.excess for unit in left)

    def finish(self) -> list[list[Unit]]:
        """Close the last chunk and give them all."""
        while self.open:
            self.close()
        self._fill_last()
        return self.chunks

    def _have_room(self, units: Sequence[Unit], *, used: int, excess: int) -> bool:
        """Tell whether units fit a chunk in which so many tokens are used.

        They have to fit as a text and, where tables grow when they are read, as a
        reading.
        """
        last = units[-1]
        before = used
        for unit in units[:-1]:
            before += unit.joined
        if not self.measure.fits(last.text, last.joined, self.limit - before):
            return False
        most = self.measure.reading_limit
        excess += sum([unit.excess for unit in units])
        return most is None or not excess or before + last.joined + excess <= most

    def _over(self) -> bool:
        return tokens_of(self.open, self.measure) > self.limit

    def _cut(self, group: Group) -> None:
        """Place a block piece by piece; what introduces it is repeated."""
        before = [repeated(unit.block, self.language) for unit in group.before]
        after = [repeated(unit.block, self.language) for unit in group.after]
        ahead = sum(unit.joined for unit in [*group.before, *group.after])
        beside = sum(self.measure.joined(text) for text in [*before, *after])
        rest = self.limit - max(beside, ahead)
        free = self.limit - self.used - ahead
        wanted = START_IN_OPEN_CHUNK + _header_tokens(group.unit.block, self.measure)
        if free < wanted and not all(map(_is_heading, self.open)):
            self.close()
        first = min(free, rest) if self.open else rest
        room = Room(first=first, rest=rest, whole=self.limit)
        units = self._pieces(group, room, before, after)
        # The first piece repeats what stands below the block, unless it is the last.
        above = sum(unit.joined for unit in group.before)
        needed = (ahead if len(units) == 1 else above) + units[0].joined
        beginning = [*group.before, units[0]]
        if self.used + needed > self.limit or not self._have_room(
            beginning, used=self.used, excess=self.excess
        ):
            self.close()
        self._place_all(beginning)
        for unit in units[1:]:
            self.close()
            self._place_all([unit])
        self._place_all(group.after)

    def _pieces(
        self, group: Group, room: Room, before: list[str], after: list[str]
    ) -> list[Unit]:
        """Cut a block and put what is repeated around its pieces."""
        block = group.unit.block
        while True:
            counted = group.unit.joined if self.sums == "counts" else None
            cut = _cut(block, self.measure, room, self.language, counted)
            pieces = list(tiled(cut, block.part_count))
            if not pieces:
                pieces = [_marks(block, self.measure, room)]
            last = len(pieces) - 1
            units = [
                self._unit(
                    block,
                    piece,
                    before if number and not piece.bare else [],
                    after if number < last and not piece.bare else [],
                )
                for number, piece in enumerate(pieces)
            ]
            if all(map(self._fits, units)):
                return units
            if room.rest <= SMALLEST_LAST_CHUNK:
                return [part for unit in units for part in self._bounded(unit)]
            # Sums over words may be a little low: cut again with less room.
            room = room.less(1 + room.rest // 50)

    def _unit(
        self, block: Block, piece: Piece, before: Sequence[str], after: Sequence[str]
    ) -> Unit:
        text = GAP.join([*before, piece.text, *after])
        if self.sums == "estimates" or (piece.exact and self.measure.exact_sums):
            repeats = [*before, *after]
            joined = piece.joined + sum(
                self.measure.word(given + GAP) for given in repeats
            )
        else:
            joined = self.measure.joined(text)
        return Unit(
            block=block,
            text=text,
            joined=joined,
            parts=piece.parts,
            span=piece.span,
            forced=piece.forced,
            before=tuple(before),
            after=tuple(after),
            excess=0
            if piece.forced
            else self.measure.excess(block, piece.joined, piece.parts),
        )

    def _bounded(self, unit: Unit) -> Iterator[Unit]:
        """Cut a piece of which markers and repeats alone fill a chunk: C3 wins."""
        limit = self.limit
        parts = [unit]
        while limit > 1 and not all(map(self._fits, parts)):
            limit -= 1 + limit // 8
            parts = [
                unit._replace(
                    text=stretch.text,
                    joined=self.measure.joined(stretch.text),
                    forced=True,
                    before=(),
                    after=(),
                )
                for stretch in split(unit.text, self.measure, limit=max(1, limit))
            ]
        yield from parts

    def _fits(self, unit: Unit) -> bool:
        if self.sums == "estimates":
            return True
        return self.measure.fits(unit.text, unit.joined, self.limit)

    def _place_all(self, units: Sequence[Unit]) -> None:
        for unit in units:
            if self.open and not self._have_room(
                [unit], used=self.used, excess=self.excess
            ):
                self.close()
            self.place(unit)

    def _fill_last(self) -> None:
        """Give a stray last chunk the block before it, where that fits."""
        if len(self.chunks) < 2:
            return
        before, last = self.chunks[-2:]
        if tokens_of(last, self.measure) >= SMALLEST_LAST_CHUNK:
            return
        if before[-1].block is last[0].block:
            return
        at = len(before) - 1
        while at > 0 and before[at - 1].introduces:
            at -= 1
        moved = [*before[at:], *last]
        if (
            at > 0
            and tokens_of(moved, self.measure) <= self.limit
            and self._have_room(moved, used=0, excess=0)
        ):
            self.chunks[-2:] = [before[:at], moved]


def _marks(block: Block, measure: Measure, room: Room) -> Piece:
    """Hold a block of nothing but marks, an empty table, in one short piece."""
    text = shorten(block.text, measure, limit=room.rest)
    return Piece(
        text=text, parts=(0, block.part_count), joined=room.rest, span=block.span
    )


def _cut(
    block: Block,
    measure: Measure,
    room: Room,
    language: str | None,
    counted: int | None,
) -> Iterator[Piece]:
    """Cut a block at its parts, and below only where a part alone is too big.

    `counted` are its tokens, None where they are an estimate.
    """
    match block.content:
        case Table():
            yield from cut_rows(block, block.content, measure, room)
        case Items():
            pieces = cut_items(block.content, measure, room, counted)
            yield from _cut_items(pieces, measure, room.rest, language)
        case Code() if any(line.strip() for line in block.content.lines):
            yield from cut_lines(block, block.content, measure, room)
        case Quote() if block.content.blocks:
            yield from _cut_quote(block.content, measure, room, language)
        case _ if block.kind in _LINES:
            lines = Code(lines=tuple(block.text.split("\n")))
            for piece in cut_lines(block, lines, measure, room):
                yield replace(piece, parts=(0, 1), forced=True)
        case _:
            yield from cut_text(block, measure, room, language)


def _cut_items(
    pieces: Iterable[tuple[Piece, Item | None]],
    measure: Measure,
    limit: int,
    language: str | None,
) -> Iterator[Piece]:
    """Cut the items that come with their pieces."""
    for piece, item in pieces:
        if item is None:
            yield piece
            continue
        texts = list(_cut_item(item, measure, limit, language))
        for text, joined in texts:
            yield replace(
                piece,
                text=text,
                joined=joined,
                exact=False,
                forced=len(texts) > 1,
                bare=False,
            )


def _cut_item(
    item: Item, measure: Measure, limit: int, language: str | None
) -> Iterator[tuple[str, int]]:
    """Cut one item at its own blocks; its marker stays with the first."""
    if not item.blocks:
        for stretch in split(item.text, measure, limit=limit, language=language):
            yield stretch.text, stretch.tokens + 1
        return
    found = _MARKER.match(item.text)
    marker = found.group().lstrip() if found else ""
    beside = measure.word(marker)
    for chunk in _pack_inside(item.blocks, measure, limit - beside, language):
        joined = beside + sum(unit.joined for unit in chunk)
        yield marker + GAP.join(unit.text for unit in chunk), joined
        marker = ""


def _cut_quote(
    quote: Quote, measure: Measure, room: Room, language: str | None
) -> Iterator[Piece]:
    """Cut a quotation between its blocks."""
    numbers = {id(block): number for number, block in enumerate(quote.blocks)}
    for chunk in _pack_inside(quote.blocks, measure, room.rest, language):
        first, last = numbers[id(chunk[0].block)], numbers[id(chunk[-1].block)]
        starts, ends = chunk[0].span, chunk[-1].span
        yield Piece(
            text=GAP.join(unit.text for unit in chunk),
            parts=(first, last + 1),
            joined=sum(unit.joined for unit in chunk),
            span=(starts[0], ends[1]) if starts and ends else None,
            forced=any(unit.parts is not None for unit in chunk),
        )


def _pack_inside(
    blocks: Sequence[Block], measure: Measure, limit: int, language: str | None
) -> list[list[Unit]]:
    """Pack the blocks of an item or quotation by what is known of their sizes.

    Nothing is counted again; who joins what comes out counts it.
    """
    units = [
        Unit(block=block, text=block.text, joined=measure.size(block), span=block.span)
        for block in blocks
    ]
    limit = max(1, limit)  # A marker may leave nothing.
    return _Packer(measure, limit, language, "estimates").pack(units)


def _header_tokens(block: Block, measure: Measure) -> int:
    if not isinstance(block.content, Table):
        return 0
    return measure.count(head_of(block.content) + "\n")


def _is_heading(unit: Unit) -> bool:
    return unit.block.kind == "heading"
