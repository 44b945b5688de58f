"""What stands in a Word file, in reading order, before blocks are made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from situate.readers.decoding import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.readers.docx.numbering import Mark
    from situate.readers.docx.styles import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture with an alternative text."""

    alt: str
    name: str

    @property
    def markdown(self) -> str:
        """The picture as a paragraph of its own."""
        return f"![{self.alt}]({self.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A formula in one line."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Where a footnote or endnote is referred to, by the label it got."""

    label: str


@dataclass(slots=True)
class Inline:
    """Collects what a paragraph says."""

    pieces: list[str | Picture | Formula | Reference] = field(default_factory=list)
    captions: str | None = None
    """What it counts where it numbers a caption: `Table`, `Figure`."""

    @property
    def empty(self) -> bool:
        """Whether nothing is said, shown or referred to."""
        return not any(
            piece.strip() if isinstance(piece, str) else True for piece in self.pieces
        )

    @property
    def references(self) -> tuple[str, ...]:
        """The labels of the notes referred to."""
        return tuple(
            piece.label for piece in self.pieces if isinstance(piece, Reference)
        )

    @property
    def is_formula(self) -> bool:
        """Whether formulas are all there is."""
        kinds = [
            type(piece)
            for piece in self.pieces
            if not isinstance(piece, str) or piece.strip()
        ]
        return bool(kinds) and all(kind is Formula for kind in kinds)

    def text(self, *, code: bool = False) -> str:
        """Give the text with the marks of its notes; a picture alone as Markdown."""
        alone = not any(
            isinstance(piece, Formula) or (isinstance(piece, str) and piece.strip())
            for piece in self.pieces
        )
        said: list[str] = []
        after_formula = False
        for piece in self.pieces:
            if after_formula and isinstance(piece, Formula):
                said.append(" ")
            after_formula = isinstance(piece, Formula)
            match piece:
                case Reference(label=label):
                    said.append(f"[^{label}]")
                case Picture() as picture:
                    said.append(f" {picture.markdown if alone else picture.alt} ")
                case Formula(text=text) | str(text):
                    said.append(text)
        return written("".join(said), code=code)

    def title(self) -> str:
        """Give the text in one line, without pictures and the marks of notes."""
        said = [
            piece.text if isinstance(piece, Formula) else piece
            for piece in self.pieces
            if isinstance(piece, Formula | str)
        ]
        return " ".join(clean("".join(said)).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph, list paragraph or heading."""

    text: str
    title: str
    """The text as a heading would carry it."""
    role: Role = "plain"
    level: int | None = None
    """Of the heading, from 1."""
    mark: Mark | None = None
    """The number or bullet before it."""
    left: int = 0
    """Indent in twentieths of a point."""
    captions: str | None = None
    is_formula: bool = False
    references: tuple[str, ...] = ()
    boxed: bool = False
    """It stands in a text box, beside the text."""

    @property
    def numbered(self) -> str:
        """The text behind its number or bullet."""
        mark = "" if self.mark is None else self.mark.text
        return f"{mark} {self.text}".strip()

    def behind_number(self, text: str) -> str:
        """Put the number of a heading before its text; bullets are left out."""
        mark = "" if self.mark is None else self.mark.text
        counts = any(character.isalnum() for character in mark)
        return " ".join(f"{mark if counts else ''} {text}".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """A cell where it begins; what goes on from above is no cell of its own."""

    story: tuple[Paragraph | Table, ...]
    colspan: int = 1
    rowspan: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of data."""

    rows: tuple[tuple[TableCell, ...], ...]
    header_rows: int
    caption: str | None = None
    boxed: bool = False


Story: TypeAlias = "tuple[Paragraph | Table, ...]"


def written(text: str, *, code: bool) -> str:
    """Tidy white space: none at line ends, one space elsewhere unless it is code."""
    text = clean(text)
    if code:
        return "\n".join(line.rstrip() for line in text.split("\n"))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def flat(story: Story) -> tuple[str, tuple[str, ...]]:
    """Give what a cell or note says in one line, and the notes it refers to.

    Tables inside are read cell by cell, where they stand.
    """
    said: list[str] = []
    references: list[str] = []
    waiting: list[Iterator[Paragraph | Table]] = [iter(story)]
    while waiting:
        thing = next(waiting[-1], None)
        match thing:
            case None:
                waiting.pop()
            case Paragraph():
                said.append(thing.numbered)
                references += thing.references
            case Table(rows=rows, caption=caption):
                said.append(caption or "")
                cells = (cell for row in rows for cell in row)
                waiting.append(below for cell in cells for below in cell.story)
    return " ".join(" ".join(said).split()), tuple(references)
