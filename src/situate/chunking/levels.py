"""Packed portions become chunks, and chunks get their parents (C9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from situate.chunking.breadcrumbs import breadcrumb_line, crumb
from situate.chunking.measure import GAP, may_grow
from situate.chunking.places import document_title
from situate.chunking.sentences import LONGEST_TOKEN, split
from situate.chunking.units import Passage, passage_of, together
from situate.model import Chunk, Enrichment, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.chunking.measure import Measure
    from situate.chunking.outline import Portion
    from situate.chunking.places import Place
    from situate.chunking.reading import Reading
    from situate.chunking.units import Held, Unit, Units
    from situate.model import Block, Document, Level, Metadata

_OFF = Enrichment()

_OUTLINE_DEPTH = 2
"""Levels of headings that a container lists below itself."""


class Packed(NamedTuple):
    """A portion and the chunks it was packed into."""

    portion: Portion
    passages: Sequence[Passage]


class _Name(NamedTuple):
    """What a record is called and where it hangs."""

    local: str
    """The part of the id after the document's."""
    parent: str | None
    level: Level
    place: int
    above: int
    """The section whose headings stand above it: its own, or that of a run."""
    section_ids: tuple[str, ...] | None = None
    embed: bool = True


@dataclass(slots=True, kw_only=True)
class Builder:
    """Builds the records of one document, in the order they are asked for."""

    document: Document
    places: Sequence[Place]
    units: Units
    corpus: str | None
    max_tokens: int
    prefix_max_tokens: int
    container_max_tokens: int
    heading_weight: int
    paragraphs: Literal["leaf", "paragraph"] | None
    """Whether leaves are written block by block, too, and which is embedded."""
    measure: Measure = field(init=False)
    quoted_id: str = field(init=False)
    """The document's id as it stands in those of chunks."""
    title: str | None = field(init=False)
    title_crumb: str = field(init=False)
    """The title as it stands in breadcrumb lines."""
    owns_title: bool = field(init=False)
    """Whether who may see the document's own record may see its title."""
    divided: bool = field(init=False)
    """Whether some sections are for others, or other days, than the rest (S6)."""
    written: int = field(default=0, init=False)
    numbers: Counter[str] = field(default_factory=Counter, init=False)
    """Paragraphs written of every section."""
    lines: dict[tuple[str | None, int, str], str] = field(
        default_factory=dict, init=False
    )
    titled: dict[int, Metadata] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.measure = self.units.measure
        self.quoted_id = quoted(self.document.doc_id)
        self.title = document_title(self.document, self.places)
        limit = self.max_tokens // 4
        self.title_crumb = crumb(self.title or "", self.measure, max_tokens=limit)
        whole, *below = self.places
        self.divided = any(place.access != whole.access for place in below)
        # A title that nobody has given is the first heading.
        self.owns_title = (
            bool(self.document.metadata.title)
            or not below
            or below[0].access == whole.access
        )

    def leaves(self, packed: Sequence[Packed]) -> Iterator[Chunk]:
        """Build the leaves, which have no parents."""
        for portion in packed:
            yield from self._leaves(portion, None)

    def tree(self, packed: Sequence[Packed]) -> Iterator[Chunk]:
        """Build leaves and containers, each before what it contains."""
        counts = self._leaf_counts(packed)
        records: dict[int, str] = {}
        by_place = {portion.portion.place: portion for portion in packed}
        in_runs = self._in_runs(packed)
        for index, place in enumerate(self.places):
            portion = by_place.get(index)
            alone = portion is not None and len(portion.passages) == 1
            is_run = portion is not None and portion.portion.above != index
            if index == 0 or not (alone or index in in_runs or counts[index] < 2):
                records[index] = self._id(place.section.section_id)
                above = place.parent if index else None
                yield self._container(index, self._parent(above, records))
            if portion is None:
                continue
            above = portion.portion.above if is_run else place.parent
            if not alone:
                above = index if not is_run else above
            yield from self._leaves(portion, self._parent(above, records))
            if alone and not is_run:
                records[index] = self._id(place.section.section_id)

    def _parent(self, above: int | None, records: dict[int, str]) -> str | None:
        """Give the nearest record at a section or above it."""
        while above is not None:
            if above in records:
                return records[above]
            above = self.places[above].parent if above else None
        return None

    def _leaf_counts(self, packed: Sequence[Packed]) -> list[int]:
        """Count the leaves in every section's subtree."""
        own = [0] * len(self.places)
        for portion in packed:
            own[portion.portion.place] += len(portion.passages)
        sums = [0, *accumulate(own)]
        return [sums[place.end] - sums[i] for i, place in enumerate(self.places)]

    def _in_runs(self, packed: Sequence[Packed]) -> set[int]:
        """Give the sections that share their chunk with a neighbour."""
        ids = {
            section_id
            for portion in packed
            for section_id in portion.portion.section_ids or ()
        }
        return {
            index
            for index, place in enumerate(self.places)
            if place.section.section_id in ids
        }

    def _leaves(self, packed: Packed, parent: str | None) -> Iterator[Chunk]:
        portion = packed.portion
        section_id = self.places[portion.place].section.section_id
        alone = len(packed.passages) == 1
        for number, passage in enumerate(packed.passages):
            paragraphs = self._paragraphs(passage) if self.paragraphs else []
            name = _Name(
                local=section_id if alone else f"{section_id}:{number}",
                parent=parent,
                level="section" if alone else "block",
                place=portion.place,
                above=portion.above,
                section_ids=portion.section_ids,
                embed=not paragraphs or self.paragraphs == "leaf",
            )
            yield self._chunk(name, passage, self._reading(name, passage))
            for paragraph in paragraphs:
                local = f"{section_id}:p{self.numbers[section_id]}"
                self.numbers[section_id] += 1
                below = name._replace(
                    local=local,
                    parent=self._id(name.local),
                    level="block",
                    embed=not name.embed,
                )
                yield self._chunk(below, paragraph, self._reading(below, paragraph))

    def _paragraphs(self, passage: Passage) -> list[Passage]:
        """Give the blocks of a leaf one by one, each heading with what follows it.

        Nothing where there would be only one, which the leaf is already.
        """
        found: list[list[Unit]] = []
        headings: list[Unit] = []
        for unit in passage.units or map(self.units.of, passage.blocks):
            headings.append(unit)
            if unit.block.kind != "heading":
                found.append(headings)
                headings = []
        if found:
            found[-1].extend(headings)
        if len(found) < 2:
            return []
        return [passage_of(units, self.measure) for units in found]

    def _container(self, index: int, parent: str | None) -> Chunk:
        place = self.places[index]
        held = together([below.own for below in self._handed_over(index)])
        name = _Name(
            local=place.section.section_id,
            parent=parent,
            level="section" if index else "document",
            place=index,
            above=index,
            embed=False,
        )
        text, tokens = self._container_text(index, held)
        reading = self.measure.reading
        said = "" if reading is None else reading.laid_out(text)
        return self._chunk(name, Passage(text, tokens, held.blocks), said)

    def _handed_over(self, index: int) -> Sequence[Place]:
        """Give the sections whose text a container holds: those of its access (S6).

        Below one of another access nothing is handed over, whatever holds there.
        """
        place = self.places[index]
        if not self.divided:
            return self.places[index : place.end]
        found: list[Place] = []
        while index < place.end:
            below = self.places[index]
            if below.access == place.access:
                found.append(below)
                index += 1
            else:
                index = below.end
        return found

    def _container_text(self, index: int, held: Held) -> tuple[str, int]:
        """Write a container: its subtree, or its own blocks and what lies below."""
        limit = self.container_max_tokens
        if index and held.joined <= limit + 2:
            text = held.text
            tokens = self.measure.alone(text, held.joined)
            if tokens <= limit:
                return text, tokens
        blocks = self.places[index].own.blocks if index else _opening(held.blocks)
        sized = [(block.text, self.units.of(block).joined) for block in blocks]
        if not index and self.title_crumb and self.owns_title:
            joined = self.measure.joined(self.title_crumb)
            sized.insert(0, (self.title_crumb, joined))
        if outline := "\n".join(self._outline(index)):
            sized.append((outline, self.measure.joined(outline)))
        return self._filled(sized)

    def _filled(self, sized: Sequence[tuple[str, int]]) -> tuple[str, int]:
        """Join texts up to the limit of containers; the last one may be cut."""
        kept: list[str] = []
        used = tokens = 0
        for text, joined in sized:
            room = self.container_max_tokens - used
            if not self.measure.fits(text, joined, room):
                beginning, more = self._beginning(text, room)
                if beginning:
                    kept.append(beginning)
                    tokens = used + more
                break
            kept.append(text)
            tokens = used + self.measure.alone(text, joined)
            used += joined
        whole = GAP.join(kept)
        return whole, tokens if self.measure.exact_sums else self.measure.word(whole)

    def _beginning(self, text: str, room: int) -> tuple[str, int]:
        """Give as much of a text as has room, without looking far behind it."""
        near = text.lstrip()[: max(0, room) * LONGEST_TOKEN]
        while room > 0:
            stretches = split(near, self.measure, limit=room)
            if not stretches:
                break
            tokens = self.measure.word(stretches[0].text)
            if tokens <= room:
                return stretches[0].text, tokens
            room -= 1 + room // 50
        return "", 0

    def _outline(self, index: int) -> Iterator[str]:
        """List the headings below a section, while they may fit."""
        written = 0
        pending = [(child, 0) for child in reversed(self.places[index].children)]
        while pending and written < self.container_max_tokens:
            below, depth = pending.pop()
            place = self.places[below]
            if place.access != self.places[index].access:
                continue
            if place.crumb:
                yield "  " * depth + "- " + place.crumb
                written += 1
            if depth + 1 < _OUTLINE_DEPTH:
                pending.extend((child, depth + 1) for child in reversed(place.children))

    def _id(self, local: str) -> str:
        return f"{self.quoted_id}:{local}"

    def _chunk(self, name: _Name, passage: Passage, reading: str) -> Chunk:
        """Write a record; without a reading its text is what is indexed."""
        place = self.places[name.place]
        units = passage.units
        ordinal = self.written
        self.written += 1
        return Chunk(
            chunk_id=self._id(name.local),
            doc_id=self.document.doc_id,
            doc_version=self.document.version,
            parent_chunk_id=name.parent,
            level=name.level,
            text=passage.text,
            reading=reading or passage.text,
            breadcrumb_line=self._line(name),
            block_ids=tuple([block.block_id for block in passage.blocks]),
            parts={
                unit.block.block_id: unit.parts
                for unit in units
                if unit.parts is not None
                and (unit.forced or unit.parts != (0, unit.block.part_count))
            },
            spans=tuple([each.span for each in units or passage.blocks]),
            pages=_pages(passage.blocks),
            corpus=self.corpus,
            metadata=self._metadata(name.place),
            breadcrumb=self.places[name.above].section.path,
            section_id=place.section.section_id,
            section_ids=name.section_ids,
            ordinal=ordinal,
            token_count=passage.tokens,
            embed=name.embed,
            embed_form="reading" if reading else "text",
            forced_split=any(unit.forced for unit in units),
            enrichment=_OFF,
        )

    def _reading(self, name: _Name, passage: Passage) -> str:
        """Read a leaf; empty where its text is what is indexed.

        That is so where it is asked for, where nothing but marks would be left, and
        where the reading of parts that cannot be cut is beyond the bound.
        """
        reading, limit = self.measure.reading, self.measure.reading_limit
        if reading is None or limit is None:
            return ""
        if passage.units:
            said = [unit_reading(unit, reading) for unit in passage.units]
        else:
            said = reading.blocks(passage.blocks, passage.text)
        plain = "\n".join([own for own in said if own])
        if not plain or plain.isspace():
            return ""
        whole = plain
        if self.heading_weight and (title := self.places[name.place].section.title):
            whole = "\n".join([reading.prose(title)] * self.heading_weight + [plain])
        # A line break between two blocks may cost a token more than a blank line.
        elif (
            self.measure.exact_sums
            and passage.tokens + len(said) <= limit
            and not may_grow(passage.blocks)
        ):
            return plain
        if self._within(whole, limit):
            return whole
        # Repeats are the first to give way.
        return plain if self._within(plain, limit) else ""

    def _within(self, text: str, limit: int) -> bool:
        # No tokenizer makes more tokens than bytes.
        return (
            len(text.encode("utf-8", "surrogatepass")) <= limit
            or self.measure.count(text) <= limit
        )

    def _metadata(self, index: int) -> Metadata:
        """Give the metadata of a section, with the title the document goes by."""
        metadata = self.places[index].metadata
        if metadata.title == self.title or not (index or self.owns_title):
            return metadata
        found = self.titled.get(id(metadata))
        if found is None:
            found = self.titled[id(metadata)] = replace(metadata, title=self.title)
        return found

    def _line(self, name: _Name) -> str:
        """Write the breadcrumb line of a section, once for all its chunks."""
        doc_type, index = self.places[name.place].metadata.doc_type, name.above
        title = self.title_crumb if name.place or self.owns_title else ""
        line = self.lines.get((doc_type, index, title))
        if line is None:
            line = self.lines[doc_type, index, title] = breadcrumb_line(
                self._crumbs(index, title),
                doc_type,
                self.measure,
                max_tokens=self.prefix_max_tokens,
            )
        return line

    def _crumbs(self, index: int, title: str) -> list[str]:
        """Put the title above the headings; one equal to the first stands once."""
        path = self.places[index].section.path
        crumbs: list[str] = []
        while index:
            crumbs.append(self.places[index].crumb)
            index = self.places[index].parent
        if self.title and self.title.split() != (path[0].split() if path else []):
            crumbs.append(title)
        return [each for each in reversed(crumbs) if each]


def _opening(blocks: Sequence[Block]) -> Sequence[Block]:
    """Give a document's first paragraph, else its first block, where it has any."""
    paragraphs = [block for block in blocks if block.kind == "paragraph"]
    return (paragraphs or blocks)[:1]


def _pages(blocks: Sequence[Block]) -> tuple[int, ...]:
    pages = [box.page for block in blocks for box in block.boxes]
    return tuple(sorted(set(pages))) if pages else ()


def unit_reading(unit: Unit, reading: Reading) -> str:
    """Read a block or a piece of one, with what it repeats."""
    block = unit.block
    if unit.parts is None:
        own = reading.block(block) if unit.text == block.text else None
        own = reading.piece(block, unit.text, None) if own is None else own
    else:
        own = reading.piece(block, unit.body, None if unit.forced else unit.parts)
    if not unit.before and not unit.after:
        return own
    said = [*map(reading.prose, unit.before), own, *map(reading.prose, unit.after)]
    return "\n".join(each for each in said if each)
