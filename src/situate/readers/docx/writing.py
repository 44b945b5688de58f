"""Make sections and blocks of what stands in a Word file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.model import Block, Cell
from situate.readers import compose
from situate.readers.docx.lists import Lists
from situate.readers.docx.story import Paragraph, Table, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from situate.readers.docx.notes import Notes
    from situate.readers.docx.story import Story
    from situate.readers.tree import Outline

# What Word numbers under these names is shown, not tabulated.
_NO_TABLES: Final = ("fig", "abb", "bild", "ill", "pic", "phot", "foto", "equ", "图")


class Writer:
    """Writes one document's story into an outline."""

    def __init__(self, outline: Outline, notes: Notes, story: Story) -> None:
        self._outline = outline
        self._notes = notes
        self._story = story
        self._at = 0
        titles = [thing for thing in story if _is_title(thing)]
        self._below_title = int(bool(titles))
        """How many levels a title moves all other headings down."""

    def write(self) -> None:
        """Add all there is to the outline."""
        while self._at < len(self._story):
            thing = self._story[self._at]
            self._at += 1
            if isinstance(thing, Table):
                self._table(thing, None)
            elif not thing.text:
                # Its number was counted; there is nothing to show.
                continue
            elif _is_heading(thing):
                self._heading(thing)
            elif thing.mark is not None and thing.mark.text and not thing.boxed:
                self._list(thing)
            elif thing.role in {"code", "quote"}:
                self._run(thing)
            else:
                self._paragraph(thing)

    def _heading(self, first: Paragraph) -> None:
        parts = [first]
        if _is_title(first):
            # A title of several lines is still one.
            parts += self._while(_is_title)
        level = 1 if _is_title(first) else (first.level or 1) + self._below_title
        text = " ".join(part.behind_number(part.text) for part in parts)
        self._outline.heading(
            level=level,
            title=" ".join(part.behind_number(part.title) for part in parts),
            text=compose.heading_text(level, text),
        )
        self._add_notes(label for part in parts for label in part.references)

    def _paragraph(self, paragraph: Paragraph) -> None:
        following = self._next()
        if isinstance(following, Table) and self._captions(paragraph):
            self._at += 1
            self._table(following, paragraph)
            return
        block = Block(
            block_id=self._outline.block_id,
            kind="math" if paragraph.is_formula else "paragraph",
            text=paragraph.numbered,
        )
        self._add(block, paragraph.references)

    def _captions(self, paragraph: Paragraph) -> bool:
        """Tell whether a paragraph is the caption of the table below it."""
        if paragraph.captions is not None:
            return not paragraph.captions.casefold().startswith(_NO_TABLES)
        lowered = paragraph.text.casefold()
        return paragraph.role == "caption" and not lowered.startswith(_NO_TABLES)

    def _list(self, first: Paragraph) -> None:
        lists = Lists(self._outline.block_id)
        lists.add(first)
        references = list(first.references)
        while (following := self._next()) is not None:
            if isinstance(following, Table) or _is_heading(following):
                break
            if following.text and not lists.takes(following):
                break
            self._at += 1
            if following.text:
                lists.add(following)
                references += following.references
        self._add(lists.close(), references)

    def _run(self, first: Paragraph) -> None:
        """Write neighbours that are code, or quoted, as one block."""
        parts = [first, *self._while(lambda thing: _continues(thing, first))]
        references = [label for part in parts for label in part.references]
        block_id = self._outline.block_id
        if first.role == "code":
            block = compose.code(block_id, "\n".join(part.text for part in parts))
        else:
            block = compose.quote(
                block_id,
                [
                    Block(block_id=block_id, kind="paragraph", text=part.numbered)
                    for part in parts
                ],
            )
        self._add(block, references)

    def _table(self, table: Table, above: Paragraph | None) -> None:
        references = [] if above is None else list(above.references)
        rows = []
        for row in table.rows:
            cells = []
            for cell in row:
                text, inside = flat(cell.story)
                cells.append(
                    Cell(text=text, colspan=cell.colspan, rowspan=cell.rowspan)
                )
                references += inside
            rows.append(cells)
        block = compose.table(
            self._outline.block_id,
            rows,
            header_rows=table.header_rows,
            caption=table.caption if above is None else above.numbered,
        )
        self._add(block, references)

    def _add(self, block: Block, references: Iterable[str]) -> None:
        self._outline.add(block)
        self._add_notes(references)

    def _add_notes(self, references: Iterable[str]) -> None:
        for note in self._notes.take(references):
            self._outline.add(
                Block(
                    block_id=self._outline.block_id,
                    kind="footnote",
                    text=f"[^{note.label}]: {note.text}",
                )
            )

    def _next(self) -> Paragraph | Table | None:
        return self._story[self._at] if self._at < len(self._story) else None

    def _while(self, wanted: Callable[[Paragraph], bool]) -> list[Paragraph]:
        """Take the paragraphs that come next as long as they are wanted."""
        taken = []
        while isinstance(following := self._next(), Paragraph) and wanted(following):
            taken.append(following)
            self._at += 1
        return taken


def _is_title(thing: Paragraph | Table) -> bool:
    return (
        isinstance(thing, Paragraph)
        and thing.role == "title"
        and not thing.boxed
        and bool(thing.title)
    )


def _is_heading(paragraph: Paragraph) -> bool:
    """Tell headings of the text; those in boxes stand beside it."""
    if paragraph.boxed or not paragraph.title:
        return False
    return paragraph.level is not None or paragraph.role == "title"


def _continues(paragraph: Paragraph, first: Paragraph) -> bool:
    return (
        paragraph.role == first.role
        and paragraph.boxed == first.boxed
        and not _is_heading(paragraph)
        and (paragraph.mark is None or not paragraph.mark.text)
    )
