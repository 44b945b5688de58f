"""Small PDF files for tests, written by hand so that nothing else is needed.

Text stands at points from the upper left corner of a page of 600 by 800, in fonts
that every viewer knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDTH, HEIGHT = 600, 800

Font = Literal["plain", "bold", "mono", "private", "arabic"]

_FONTS: Mapping[Font, str] = {
    "plain": "Helvetica",
    "bold": "Helvetica-Bold",
    "mono": "Courier",
    "private": "Helvetica",
    "arabic": "Helvetica",
}


# Letters of the font "private" stand for characters that mean nothing.
_PRIVATE = (
    "1 begincodespacerange <00> <FF> endcodespacerange "
    "1 beginbfrange <41> <7A> <E041> endbfrange"
)


# Letters of the font "arabic": alef, lam, meem, and one glyph for lam with alef.
_ARABIC = (
    "1 begincodespacerange <00> <FF> endcodespacerange "
    "4 beginbfchar <41> <0627> <4C> <0644> <4D> <0645> <58> <06440627> endbfchar"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A line of text, where its baseline begins."""

    text: str
    x: float = 50
    y: float = 100
    size: float = 10
    font: Font = "plain"
    mark: int | None = None
    """Id of its marked content."""
    artifact: bool = False
    render: int = 0
    """3 draws nothing, as below the picture of a scan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A page: its texts, and what else of it matters."""

    texts: Sequence[Text] = ()
    rotate: int = 0
    picture: bool = False
    """Whether a picture covers the page."""
    crop: str | None = None
    """Left, bottom, right and top of what is visible, from the lower left."""
    content: str = ""
    """Operators that are drawn before the texts."""
    entries: str = ""
    """More entries of the page's dictionary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """An element of the structure tree; marks are pairs of page, from 0, and id."""

    kind: str
    inside: Sequence[Tag | tuple[int, int]] = ()
    alt: str = ""
    actual: str = ""
    attributes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A bookmark: its title, page from 0, and level from 0."""

    title: str
    page: int
    level: int = 0


@dataclass(slots=True)
class Writer:
    """Collects numbered objects; what refers to one knows its number before."""

    objects: dict[int, bytes] = field(default_factory=dict)
    last: int = 0

    def number(self) -> int:
        """Reserve a number."""
        self.last += 1
        return self.last

    def put(self, number: int, body: str) -> int:
        """Write the object of a number."""
        self.objects[number] = body.encode("cp1252")
        return number

    def add(self, body: str) -> int:
        """Write an object."""
        return self.put(self.number(), body)

    def stream(self, content: str, entries: str = "") -> int:
        """Write a stream."""
        data = content.encode("cp1252")
        number = self.number()
        head = f"<< /Length {len(data)} {entries} >>\nstream\n".encode()
        self.objects[number] = head + data + b"\nendstream"
        return number

    def file(self, root: int, info: int | None = None) -> bytes:
        """Put all objects into a file."""
        parts = [b"%PDF-1.7\n"]
        offsets: dict[int, int] = {}
        length = len(parts[0])
        for number, body in sorted(self.objects.items()):
            offsets[number] = length
            parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
            length += len(parts[-1])
        lines = [f"xref\n0 {self.last + 1}\n0000000000 65535 f \n"]
        lines += (
            f"{offsets.get(number, 0):010} 00000 n \n"
            for number in range(1, self.last + 1)
        )
        about = f" /Info {info} 0 R" if info else ""
        lines.append(f"trailer\n<< /Size {self.last + 1} /Root {root} 0 R{about} >>\n")
        lines.append(f"startxref\n{length}\n%%EOF\n")
        return b"".join(parts) + "".join(lines).encode()


def pdf(
    *pages: Sheet | Sequence[Text],
    info: Mapping[str, str] | None = None,
    tags: Sequence[Tag] = (),
    outline: Sequence[Entry] = (),
    catalog: str = "",
) -> bytes:
    """Write a file of pages."""
    writer = Writer()
    root, tree, parents = writer.number(), writer.number(), writer.number()
    maps = {
        name: f"/ToUnicode {writer.stream(text)} 0 R"
        for name, text in (("private", _PRIVATE), ("arabic", _ARABIC))
    }
    fonts = " ".join(
        f"/{name} {writer.add(_font(base, maps.get(name, '')))} 0 R"
        for name, base in _FONTS.items()
    )
    picture = writer.stream(
        "\x00",
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 "
        "/ColorSpace /DeviceGray",
    )
    resources = f"<< /Font << {fonts} >> /XObject << /Picture {picture} 0 R >> >>"
    sheets = [page if isinstance(page, Sheet) else Sheet(texts=page) for page in pages]
    numbers = [writer.number() for _ in sheets]
    for index, sheet in enumerate(sheets):
        content = writer.stream(_content(sheet))
        crop = "" if sheet.crop is None else f"/CropBox [{sheet.crop}]"
        writer.put(
            numbers[index],
            f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] "
            f"/Rotate {sheet.rotate} {crop} /StructParents {index} "
            f"/Resources {resources} /Contents {content} 0 R {sheet.entries} >>",
        )
    kids = " ".join(f"{number} 0 R" for number in numbers)
    writer.put(tree, f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>")
    entries = catalog
    if tags:
        entries += f" /MarkInfo << /Marked true >> /StructTreeRoot {parents} 0 R"
        _structure(writer, parents, tags, numbers)
    if outline:
        entries += f" /Outlines {_outline(writer, outline, numbers)} 0 R"
    writer.put(root, f"<< /Type /Catalog /Pages {tree} 0 R {entries} >>")
    about = None
    if info:
        said = " ".join(f"/{key} ({value})" for key, value in info.items())
        about = writer.add(f"<< {said} >>")
    return writer.file(root, about)


def prose(text: str, *, lines: int = 4, **where: float) -> list[Text]:
    """Write a paragraph over several lines of about 90 characters."""
    x, y = where.get("x", 50.0), where.get("y", 100.0)
    words = (text + " ") * lines
    each = [words[start : start + 90].strip() for start in range(0, 90 * lines, 90)]
    return [Text(text=line, x=x, y=y + 12 * n) for n, line in enumerate(each)]


def column(texts: Iterable[str], **where: float) -> list[Text]:
    """Write lines below each other, `step` points apart."""
    x, y = where.get("x", 50.0), where.get("y", 100.0)
    step, size = where.get("step", 12.0), where.get("size", 10.0)
    return [
        Text(text=text, x=x, y=y + step * number, size=size)
        for number, text in enumerate(texts)
    ]


def _font(base: str, entries: str) -> str:
    kind = "/Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding"
    return f"<< {kind} /BaseFont /{base} {entries} >>"


def _content(sheet: Sheet) -> str:
    lines = [sheet.content]
    if sheet.picture:
        lines.append(f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /Picture Do Q")
    for text in sheet.texts:
        said = text.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        shown = (
            f"BT /{text.font} {text.size} Tf {text.render} Tr "
            f"1 0 0 1 {text.x} {HEIGHT - text.y} Tm ({said}) Tj ET"
        )
        if text.artifact:
            shown = f"/Artifact BMC {shown} EMC"
        elif text.mark is not None:
            shown = f"/P << /MCID {text.mark} >> BDC {shown} EMC"
        lines.append(shown)
    return "\n".join(lines)


def _structure(
    writer: Writer, root: int, tags: Sequence[Tag], pages: Sequence[int]
) -> None:
    owners: dict[tuple[int, int], int] = {}
    top = [writer.number() for _ in tags]
    stack = [(tag, number, root) for tag, number in zip(tags, top, strict=True)]
    while stack:
        tag, number, above = stack.pop()
        inside = []
        for each in tag.inside:
            if isinstance(each, Tag):
                own = writer.number()
                stack.append((each, own, number))
                inside.append(f"{own} 0 R")
            else:
                owners[each] = number
                page, mark = each
                inside.append(f"<< /Type /MCR /Pg {pages[page]} 0 R /MCID {mark} >>")
        alt = f"/Alt ({tag.alt})" if tag.alt else ""
        actual = f"/ActualText ({tag.actual})" if tag.actual else ""
        attributes = f"/A << {tag.attributes} >>" if tag.attributes else ""
        writer.put(
            number,
            f"<< /Type /StructElem /S /{tag.kind} /P {above} 0 R "
            f"/K [{' '.join(inside)}] {alt} {actual} {attributes} >>",
        )
    rows = []
    for page in range(len(pages)):
        marks = [mark for own, mark in owners if own == page]
        owned = [
            f"{owners[page, mark]} 0 R" if (page, mark) in owners else "null"
            for mark in range(max(marks, default=-1) + 1)
        ]
        rows.append(f"{page} [{' '.join(owned)}]")
    below = writer.add(f"<< /Nums [{' '.join(rows)}] >>")
    kids = " ".join(f"{number} 0 R" for number in top)
    writer.put(root, f"<< /Type /StructTreeRoot /K [{kids}] /ParentTree {below} 0 R >>")


def _outline(writer: Writer, entries: Sequence[Entry], pages: Sequence[int]) -> int:
    root = writer.number()
    numbers = [writer.number() for _ in entries]
    for index, entry in enumerate(entries):
        above = root
        for before in range(index - 1, -1, -1):
            if entries[before].level < entry.level:
                above = numbers[before]
                break
        links = f"/Parent {above} 0 R /Dest [{pages[entry.page]} 0 R /Fit]"
        for after in range(index + 1, len(entries)):
            if entries[after].level <= entry.level:
                if entries[after].level == entry.level:
                    links += f" /Next {numbers[after]} 0 R"
                break
        if index + 1 < len(entries) and entries[index + 1].level > entry.level:
            links += f" /First {numbers[index + 1]} 0 R"
        writer.put(numbers[index], f"<< /Title ({entry.title}) {links} >>")
    writer.put(root, f"<< /Type /Outlines /First {numbers[0]} 0 R >>")
    return root
