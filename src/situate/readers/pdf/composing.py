"""Put paragraphs, headings and tagged elements into the canonical tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from situate.model import Block
from situate.readers.compose import code
from situate.readers.pdf import bookmarks, fonts, items
from situate.readers.pdf.content import Content
from situate.readers.pdf.furniture import Furniture, furniture
from situate.readers.pdf.lines import lines
from situate.readers.pdf.notices import counted
from situate.readers.pdf.paragraphs import Paragraphs, is_bullet
from situate.readers.pdf.tagged import Part, Tagged
from situate.readers.pdf.words import Joiner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from situate.readers.pdf.annotations import Entered
    from situate.readers.pdf.bookmarks import Bookmark
    from situate.readers.pdf.lines import Line
    from situate.readers.pdf.pages import Page
    from situate.readers.pdf.paragraphs import Paragraph
    from situate.readers.pdf.tags import Element, Tags
    from situate.readers.tree import Outline

Structure = Literal["tags", "outline", "fonts", "none"]
"""Where the headings of a document come from."""

# Tags that reach less leave so much out that they say little about the document.
_FEWEST_REACHED = 0.9

# Marked as decoration in good documents: headers, footers, a watermark.
_MOST_DECORATION = 0.3

# A column goes on this many lines higher up; a cell beside begins closer.
_COLUMN_TOP = 8.0

# Items further in that are looked over for one of the same level.
_MOST_DEEPER = 50

# How far headings guessed from their look can be trusted.
_FONTS_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """Parts in reading order, and where their structure comes from."""

    parts: tuple[Part, ...]
    structure: Structure
    confidence: float
    """From 0, nothing but paragraphs, to 1, all of it as the author made it."""
    furniture: Furniture
    tagged: Tagged | None = None
    warnings: tuple[str, ...] = ()


def composed(
    pages: Sequence[Page], tags: Tags | None, entries: Sequence[Bookmark]
) -> Composed:
    """Find the structure of pages: by tags, bookmarks, fonts, else paragraphs.

    What was entered into a page stands at its end.
    """
    found = _structured(pages, tags, entries)
    values = {
        page.sheet.number: [_value(value) for value in page.entered]
        for page in pages
        if page.entered
    }
    count = sum(map(len, values.values()))
    warnings = found.warnings
    if count:
        said = counted(
            count,
            "value of a form field or text box was put at the end of its page",
            "values of form fields and text boxes were put at the end of their pages",
        )
        warnings += (said,)
    edges = len(found.furniture.lines)
    if edges:
        said = counted(edges, "line", "lines")
        warnings += (
            f"{said} of running headers, footers and page numbers were kept out of the "
            "text; custom.page_headers and custom.page_footers tell them",
        )
    return replace(found, parts=tuple(inserted(found.parts, values)), warnings=warnings)


def _value(value: Entered) -> Part:
    text = f"{value.name}: {value.text}" if value.name else value.text
    block = Block(block_id="", kind="paragraph", text=text, boxes=(value.box,))
    return Part(block=block, page=value.box.page)


def _structured(
    pages: Sequence[Page], tags: Tags | None, entries: Sequence[Bookmark]
) -> Composed:
    joiner = Joiner(run.text for page in pages for run in page.runs)
    if tags is not None:
        content = Content(pages, tags.root, joiner)
        if (
            content.coverage >= _FEWEST_REACHED
            and content.decoration <= _MOST_DECORATION
        ):
            return _by_tags(pages, tags.root, content, entries, joiner)
    by_page = [lines(page.runs, page.sheet) for page in pages]
    found = furniture(by_page, [page.sheet.height for page in pages])
    body = [line for own in by_page for line in own if id(line) not in found.lines]
    joined = Paragraphs(body, joiner)
    matches = bookmarks.matches(entries, body)
    if matches:
        parts = list(_between(body, matches, joined))
        shares = len(matches) / max(1, len(entries))
        return Composed(
            parts=tuple(parts),
            structure="outline",
            confidence=round(shares, 2),
            furniture=found,
        )
    paragraphs = joined.of(body)
    levels = fonts.headings(paragraphs)
    parts = [
        Part(paragraph=each, level=levels.get(index), page=each.lines[0].page)
        for index, each in enumerate(paragraphs)
    ]
    return Composed(
        parts=tuple(parts),
        structure="fonts" if levels else "none",
        confidence=_FONTS_CONFIDENCE if levels else 0.0,
        furniture=found,
    )


def _between(
    body: Sequence[Line], matches: Sequence[bookmarks.Match], joined: Paragraphs
) -> Iterator[Part]:
    """Yield the headings that bookmarks show, and the paragraphs between them."""
    position = 0
    for match in matches:
        yield from _plain(joined.of(body[position : match.start]))
        heading = joined.one(body[match.start : match.end])
        yield Part(paragraph=heading, level=match.level, page=body[match.start].page)
        position = match.end
    yield from _plain(joined.of(body[position:]))


def _plain(paragraphs: Iterable[Paragraph]) -> Iterator[Part]:
    for paragraph in paragraphs:
        yield Part(paragraph=paragraph, page=paragraph.lines[0].page)


def _by_tags(
    pages: Sequence[Page],
    root: Element,
    content: Content,
    entries: Sequence[Bookmark],
    joiner: Joiner,
) -> Composed:
    """Take the structure of the tags; text outside of them ends its page."""
    numbers = [page.sheet.number for page in pages]
    untagged = [
        lines(content.untagged(page.sheet.number), page.sheet) for page in pages
    ]
    marked = [
        lines(content.decorating(page.sheet.number), page.sheet) for page in pages
    ]
    found = furniture(
        [[*one, *other] for one, other in zip(marked, untagged, strict=True)],
        [page.sheet.height for page in pages],
        marked={id(line) for own in marked for line in own},
    )
    rest = [[line for line in own if id(line) not in found.lines] for own in untagged]
    all_rest = [line for own in rest for line in own]
    joined = Paragraphs(all_rest, joiner)
    added = {
        number: list(_plain(joined.of(own)))
        for number, own in zip(numbers, rest, strict=True)
        if own
    }
    warnings: tuple[str, ...] = ()
    if all_rest:
        count = sum(len(line.text) for line in all_rest)
        said = counted(count, "character stands", "characters stand")
        warnings += (f"{said} outside the tags and were put at the end of their pages",)
    left = [line for own in marked for line in own if id(line) not in found.lines]
    if left:
        said = counted(len(left), "line", "lines")
        warnings += (f"{said} marked as decoration were left out",)
    tagged = Tagged(content, root)
    parts = list(inserted(tagged.parts(root.children), added))
    confidence = content.coverage
    structure: Structure = "tags"
    if not any(part.level for part in parts):
        parts, guessed = _promoted(parts, entries)
        if guessed is not None:
            structure, confidence = guessed
    return Composed(
        parts=tuple(parts),
        structure=structure,
        confidence=round(confidence, 2),
        furniture=found,
        tagged=tagged,
        warnings=warnings,
    )


def _promoted(
    parts: list[Part], entries: Sequence[Bookmark]
) -> tuple[list[Part], tuple[Structure, float] | None]:
    """Find the headings of a document whose tags name none."""
    own = [
        (index, part.paragraph)
        for index, part in enumerate(parts)
        if part.paragraph is not None
    ]
    body = [line for _, paragraph in own for line in paragraph.lines]
    ends: dict[int, tuple[int, int]] = {}
    position = 0
    for index, paragraph in own:
        ends[position] = index, position + len(paragraph.lines)
        position += len(paragraph.lines)
    levels = {
        ends[match.start][0]: match.level
        for match in bookmarks.matches(entries, body)
        if match.start in ends and ends[match.start][1] == match.end
    }
    guessed: tuple[Structure, float] = "outline", len(levels) / max(1, len(entries))
    if not levels:
        found = fonts.headings([paragraph for _, paragraph in own])
        levels = {own[at][0]: level for at, level in found.items()}
        guessed = "fonts", _FONTS_CONFIDENCE
    if not levels:
        return parts, None
    return [
        replace(part, level=levels.get(index)) for index, part in enumerate(parts)
    ], guessed


def inserted(
    parts: Iterable[Part], added: Mapping[int, Sequence[Part]]
) -> Iterator[Part]:
    """Put parts at the end of their pages."""
    waiting = sorted(added)[::-1]
    for part in parts:
        while waiting and part.page > waiting[-1]:
            yield from added[waiting.pop()]
        yield part
    for page in reversed(waiting):
        yield from added[page]


def write(outline: Outline, composed: Composed) -> None:
    """Add parts to a document; items that follow each other become lists."""
    waiting: list[Paragraph] = []
    for part in composed.parts:
        paragraph = part.paragraph
        if paragraph is not None and part.level is None and paragraph.marker:
            if waiting and not _is_next(waiting, paragraph):
                _write_items(outline, waiting)
                waiting = []
            waiting.append(paragraph)
            continue
        _write_items(outline, waiting)
        waiting = []
        if part.element is not None and composed.tagged is not None:
            for block in composed.tagged.build(outline.block_id, part.element):
                outline.add(replace(block, block_id=outline.block_id))
        elif part.block is not None:
            outline.add(replace(part.block, block_id=outline.block_id))
        elif paragraph is not None and part.level is not None:
            title = paragraph.text.replace("\n", " ")
            boxes = paragraph.boxes
            outline.heading(level=part.level, title=title, boxes=boxes)
        elif paragraph is not None:
            _write_paragraph(outline, paragraph)
    _write_items(outline, waiting)


def _is_next(waiting: Sequence[Paragraph], paragraph: Paragraph) -> bool:
    """Tell whether an item goes on with a list.

    It stands below the last one, not further out, and bullets follow bullets.
    """
    one, other = waiting[-1].lines[-1], paragraph.lines[0]
    top = waiting[-1].lines[0].top
    is_below = (
        other.page != one.page
        or other.top >= one.top
        or other.bottom < top - _COLUMN_TOP * one.size
    )
    level = items.left(paragraph)
    for item in reversed(waiting[-_MOST_DEEPER:]):
        if abs(items.left(item) - level) <= paragraph.size:
            if is_bullet(item.marker or "") != is_bullet(paragraph.marker or ""):
                return False
            break
    out = items.left(waiting[0]) - level > paragraph.size
    return is_below and not (out and other.page == waiting[0].lines[0].page)


def _write_items(outline: Outline, waiting: Sequence[Paragraph]) -> None:
    if waiting:
        start = items.begin(waiting)
        for paragraph in waiting[:start]:
            _write_paragraph(outline, paragraph)
        if start < len(waiting):
            outline.add(items.write(outline.block_id, waiting[start:]))


def _write_paragraph(outline: Outline, paragraph: Paragraph) -> None:
    if paragraph.is_code:
        boxes = paragraph.boxes
        outline.add(code(outline.block_id, paragraph.code, boxes=boxes))
        return
    outline.add(
        Block(
            block_id=outline.block_id,
            kind="paragraph",
            text=paragraph.text,
            boxes=paragraph.boxes,
        )
    )
