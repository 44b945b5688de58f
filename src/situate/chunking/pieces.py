"""A block that exceeds the limit, cut at its own parts.

Rows, items and lines stay whole wherever they fit; one that does not is cut
inside and flagged. Header rows and fences are repeated in every piece. What
introduces the block from outside is the packer's business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING

from situate.chunking.sentences import LONGEST_TOKEN, Stretch, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from situate.chunking.measure import Measure
    from situate.model import Block, Code, Item, Items, Span, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of a block as it stands in a chunk's text."""

    text: str
    parts: Span
    """Which parts of the block it holds, half-open."""
    joined: int
    """Tokens of the text and the blank line after it, at least about."""
    exact: bool = False
    """True when `joined` is a count and no estimate."""
    span: Span | None = None
    forced: bool = False
    """True when it holds a part that had to be cut inside."""
    bare: bool = False
    """True when it fits a chunk only without what introduces the block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many tokens a piece may have."""

    first: int
    """The first piece, which may start in an open chunk."""
    rest: int
    """Every other, beside the introduction it repeats."""
    whole: int
    """One that repeats nothing."""

    def less(self, tokens: int) -> Room:
        """Give the room left beside text that every piece repeats, if any."""
        return replace(self, first=self.first - tokens, rest=self.rest - tokens)


def tiled(pieces: Iterable[Piece], parts: int) -> Iterator[Piece]:
    """Give parts without text, blank lines and empty rows, to a piece beside them."""
    held: Piece | None = None
    end = 0
    for piece in pieces:
        if held is not None:
            yield held
        held = replace(piece, parts=(min(piece.parts[0], end), piece.parts[1]))
        end = piece.parts[1]
    if held is not None:
        yield replace(held, parts=(held.parts[0], max(end, parts)))


def cut_text(
    block: Block, measure: Measure, room: Room, language: str | None
) -> Iterator[Piece]:
    """Cut running text at sentences and below."""
    stretches = split(
        block.text,
        measure,
        limit=max(1, room.rest),
        first=room.first,
        language=language,
    )
    last = len(stretches) - 1
    for number, stretch in enumerate(stretches):
        start = 0 if number == 0 else stretch.span[0]
        end = len(block.text) if number == last else stretch.span[1]
        yield Piece(
            text=stretch.text,
            parts=(0, 1),
            joined=stretch.tokens + 1,
            # Blanks at its ends are the block's, though no text shows them.
            span=_inside(block, (start, end)),
            forced=len(stretches) > 1,
        )


def cut_lines(
    block: Block, code: Code, measure: Measure, room: Room
) -> Iterator[Piece]:
    """Cut code at blank lines, then at lines; fences stand in every piece (C6).

    An opening fence too long to be repeated keeps its language there, and the
    rest of it becomes a line of the code.
    """
    opening, closing, rest = _fences(code, measure, room.rest // 4)
    cost = sum(measure.word(fence + "\n") for fence in (opening, closing) if fence)
    inner = room.less(cost)
    lines = (rest, *code.lines) if rest else code.lines
    sizes = [measure.word(line + "\n") for line in lines]
    starts = None if rest else _line_starts(block, code)

    def fenced(text: str) -> str:
        return "\n".join(part for part in (opening, text, closing) if part)

    def parts(start: int, end: int) -> Span:
        # The rest of a fence is no line of its own; it goes with the first.
        return (max(0, start - 1), max(1, end - 1)) if rest else (start, end)

    load = _Load(sizes, inner.first, inner.rest)
    for start, end in _fill(_paragraphs(lines), [load]):
        chosen = lines[start:end]
        if end - start == 1 and sizes[start] > inner.rest and chosen[0].strip():
            for stretch in _cut_line(chosen[0], measure, inner.rest):
                at = stretch.span
                span = (
                    (starts[start] + at[0], starts[start] + at[1]) if starts else None
                )
                yield Piece(
                    text=fenced(stretch.text),
                    parts=parts(start, end),
                    joined=cost + stretch.tokens + 1,
                    span=span,
                    forced=True,
                )
        elif text := _without_blank_ends(chosen):
            span = (
                (starts[start], starts[end - 1] + len(chosen[-1])) if starts else None
            )
            used = cost + sum(sizes[start:end])
            joined = measure.with_gap(closing or chosen[-1], used)
            yield Piece(
                text=fenced(text),
                parts=parts(start, end),
                joined=joined or used + 1,
                # Counts of blank lines do not add up.
                exact=joined is not None and all(line.strip() for line in chosen),
                span=span,
                forced=bool(rest),
            )


def _fences(code: Code, measure: Measure, limit: int) -> tuple[str, str, str]:
    """Give the fences every piece repeats, and what of the opening one does not."""
    if not code.opening:
        return "", "", ""
    fence = code.opening.lstrip()
    mark = fence[: len(fence) - len(fence.lstrip(fence[0]))]
    info = fence[len(mark) :].strip()
    language = info.split(maxsplit=1)[0] if info else ""
    for closing in (code.closing or mark, mark[0] * 3):
        short = (closing + language, info[len(language) :].strip())
        choices = ((code.opening, ""), short, (closing, info))
        for opening, rest in choices:
            if _within(opening, closing, measure, limit):
                return opening, closing, rest
    return mark[0] * 3, mark[0] * 3, info


def _within(opening: str, closing: str, measure: Measure, limit: int) -> bool:
    most = limit * LONGEST_TOKEN
    return measure.count(opening[:most] + closing[:most]) <= limit


def head_of(table: Table) -> str:
    """Give what stands above the rows of every piece: caption, header, delimiter."""
    lines = [row.text for row in table.header]
    if table.delimiter:
        lines.append(table.delimiter)
    return "\n".join([table.caption, "", *lines] if table.caption else lines)


def cut_rows(
    block: Block, table: Table, measure: Measure, room: Room
) -> Iterator[Piece]:
    """Cut a table between rows; caption and header stand in every piece (C4).

    A row that does not fit beside the header becomes `column: value` lines. Where
    readings are bounded, as many rows share a piece as fit read, too (C13).
    """
    head = head_of(table)
    cost = measure.count(head + "\n") if head else 0
    beside = room.less(cost)
    sizes = [measure.count(row.text + "\n") for row in table.rows]
    if not any(size <= beside.rest for size in sizes):
        # No row stands beside the header: it is read once, then names values.
        rows = range(len(table.rows))
        yield from _records(rows, table, measure, room.rest, name_columns=True)
        return
    loads = [_Load(sizes, beside.first, beside.rest)]
    if measure.reading is not None and measure.reading_limit is not None:
        reading = measure.reading.table(block, table)
        beside_it = room.whole - room.rest + measure.word(reading.above + "\n")
        most = measure.reading_limit - beside_it
        read = [measure.row(reading, index) for index in range(len(table.rows))]
        loads.append(_Load(read, most, most))
    for start, end in _fill([(i, i + 1) for i in range(len(sizes))], loads):
        if end - start == 1 and not all(load.fits(start, end) for load in loads):
            one = range(start, end)
            yield from _records(one, table, measure, room.rest, name_columns=False)
            continue
        chosen = table.rows[start:end]
        lines = (
            [head, *(row.text for row in chosen)]
            if head
            else [row.text for row in chosen]
        )
        used = cost + sum(sizes[start:end])
        joined = measure.with_gap(lines[-1], used)
        yield Piece(
            text="\n".join(lines),
            parts=(start, end),
            joined=joined or used + 1,
            exact=joined is not None,
            span=_cover(row.span for row in chosen),
        )


def cut_items(
    items: Items, measure: Measure, room: Room, counted: int | None
) -> Iterator[tuple[Piece, Item | None]]:
    """Cut a list between items; an item that does not fit the room comes with it.

    `counted` are the tokens of the list, None where they are an estimate.
    """
    gap = "\n\n" if items.loose else "\n"
    sizes = [measure.item_size(item) for item in items.items]
    for at, item in enumerate(items.items):
        # An estimate is as good as a count where it is far from the limit.
        if item.blocks and room.rest * 4 <= sizes[at] * 5 <= room.whole * 7:
            known = counted if len(sizes) == 1 else None
            sizes[at] = measure.count_item(item, gap, known) or sizes[at]
    load = _Load(sizes, room.first, room.rest)
    for start, end in _fill([(i, i + 1) for i in range(len(sizes))], [load]):
        chosen = items.items[start:end]
        used = sum(sizes[start:end])
        last = chosen[-1].text.rpartition("\n")[2]
        joined = measure.with_gap(last, used)
        plain = not (items.loose or any(item.blocks for item in chosen))
        piece = Piece(
            text=gap.join(item.text for item in chosen),
            parts=(start, end),
            joined=joined or used + 1,
            exact=plain and joined is not None,
            span=_cover(item.span for item in chosen),
            bare=used > room.rest,
        )
        yield piece, chosen[0] if used > room.whole else None


@dataclass(frozen=True, slots=True)
class _Load:
    """What parts weigh, and how much of it a piece may hold."""

    sizes: Sequence[int]
    first: int
    rest: int

    def fits(self, start: int, end: int) -> bool:
        """Tell whether parts fit a piece that starts with them."""
        return sum(self.sizes[start:end]) <= self.rest


def _fill(
    groups: Iterable[tuple[int, int]], loads: Sequence[_Load]
) -> Iterator[tuple[int, int]]:
    """Pack groups of parts greedily; a group above the room falls into its parts."""
    start = end = 0
    used = [0] * len(loads)
    limits = [load.first for load in loads]
    pending = list(groups)[::-1]
    while pending:
        first, last = pending.pop()
        added = [sum(load.sizes[first:last]) for load in loads]
        if any(map(_exceeds, used, added, limits)):
            if last - first > 1 and not all(load.fits(first, last) for load in loads):
                pending.extend((i, i + 1) for i in reversed(range(first, last)))
                continue
            if end > start:
                yield start, end
            start, used = first, [0] * len(loads)
            limits = [load.rest for load in loads]
        end = last
        used = [before + more for before, more in zip(used, added, strict=True)]
    if end > start:
        yield start, end


def _exceeds(used: int, added: int, limit: int) -> bool:
    return used + added > limit


def _records(
    rows: range, table: Table, measure: Measure, limit: int, *, name_columns: bool
) -> Iterator[Piece]:
    """Write rows as `column: value` lines, after the columns' names if asked for."""
    columns = [cell.text for row in table.header[-1:] for cell in row.cells]
    before = [(column, "") for column in columns] if name_columns else []
    for index in rows or range(1):
        row = table.rows[index] if table.rows else None
        cells = before
        if row is not None:
            names = chain(columns, repeat(""))
            values = [cell.text for cell in row.cells]
            pairs = zip(names, values, strict=False)
            cells = [*before, *((name, text) for name, text in pairs if text)]
        before = []
        texts = list(_record(cells, measure, limit))
        for text, used in texts:
            yield Piece(
                text=text,
                parts=(index, index + 1),
                joined=used,
                span=row.span if row else None,
                forced=len(texts) > 1,
            )


def _record(
    cells: Iterable[tuple[str, str]], measure: Measure, limit: int
) -> Iterator[tuple[str, int]]:
    """Pack the lines of one row; a long value is cut and its column repeated."""
    lines: list[str] = []
    used = 0
    for column, value in cells:
        label = f"{column}: " if column and value else ""
        if measure.word(label) > limit // 4:
            label = split(label, measure, limit=max(1, limit // 4))[0].text + " … "
        # One token for the line's end, one for a word that meets the label.
        beside = measure.word(label) + 2
        room = max(1, limit - beside)
        first = max(1, limit - used - beside)
        for stretch in split(value or column, measure, limit=room, first=first):
            size = beside + stretch.tokens
            if lines and used + size > limit:
                yield "\n".join(lines), used
                lines, used = [], 0
            lines.append(label + stretch.text)
            used += size
    if lines:
        yield "\n".join(lines), used


def _cut_line(line: str, measure: Measure, limit: int) -> list[Stretch]:
    """Cut one line of code; its indentation stays in front of the first word."""
    indent = line[: len(line) - len(line.lstrip())]
    if measure.count(indent) > limit // 2:
        indent = ""
    room = max(1, limit - measure.count(indent) - 1)
    first, *others = split(line, measure, limit=room)
    return [replace(first, text=indent + first.text), *others]


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Group lines so that each group ends with the blank lines after it."""
    groups: list[tuple[int, int]] = []
    start = 0
    for index, line in enumerate(lines):
        after = lines[index + 1] if index + 1 < len(lines) else None
        if not line.strip() and after is not None and after.strip():
            groups.append((start, index + 1))
            start = index + 1
    groups.append((start, len(lines)))
    return groups


def _without_blank_ends(lines: Sequence[str]) -> str:
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last])


def _line_starts(block: Block, code: Code) -> list[int] | None:
    """Give where each line of code starts in the source, when that is certain."""
    if block.span is None or len(block.text) != block.span[1] - block.span[0]:
        return None
    position = block.span[0] + (len(code.opening) + 1 if code.opening else 0)
    starts = []
    for line in code.lines:
        starts.append(position)
        position += len(line) + 1
    body = "\n".join(code.lines)
    offset = len(code.opening) + 1 if code.opening else 0
    return starts if block.text[offset : offset + len(body)] == body else None


def _inside(block: Block, span: Span) -> Span | None:
    """Give a stretch's place in the source, when the block's text is the source's."""
    if block.span is None or len(block.text) != block.span[1] - block.span[0]:
        return None
    return (block.span[0] + span[0], block.span[0] + span[1])


def _cover(spans: Iterable[Span | None]) -> Span | None:
    known = list(spans)
    first, last = known[0], known[-1]
    return None if first is None or last is None else (first[0], last[1])
