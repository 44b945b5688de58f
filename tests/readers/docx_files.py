"""Word files written part by part, so that a test shows the XML it is about."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from situate.readers import ReaderOptions, read
from tests.readers.trees import blocks, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_OPEN = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"

NAMESPACES = (
    f'xmlns:w="{_OPEN}/wordprocessingml/2006/main" '
    f'xmlns:r="{_OPEN}/officeDocument/2006/relationships" '
    f'xmlns:m="{_OPEN}/officeDocument/2006/math" '
    f'xmlns:mc="{_OPEN}/markup-compatibility/2006" '
    f'xmlns:wp="{_OPEN}/drawingml/2006/wordprocessingDrawing" '
    f'xmlns:a="{_OPEN}/drawingml/2006/main" '
    f'xmlns:pic="{_OPEN}/drawingml/2006/picture" '
    f'xmlns:c="{_OPEN}/drawingml/2006/chart" '
    f'xmlns:dgm="{_OPEN}/drawingml/2006/diagram" '
    'xmlns:adec="http://schemas.microsoft.com/office/drawing/2017/decorative" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:o="urn:schemas-microsoft-com:office:office"'
)

_PACKAGE = f"{_OPEN}/package/2006"

_KINDS = {
    "styles.xml": "styles",
    "numbering.xml": "numbering",
    "footnotes.xml": "footnotes",
    "endnotes.xml": "endnotes",
    "header1.xml": "header",
    "header2.xml": "header",
    "footer1.xml": "footer",
    "data1.xml": "diagramData",
    "media/duck.png": "image",
}

# As Word writes them: names in English, ids in the language of the program.
STYLES = (
    '<w:style w:type="paragraph" w:default="1" w:styleId="Standard">'
    '<w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/>'
    '<w:basedOn w:val="Standard"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="berschrift1">'
    '<w:name w:val="heading 1"/><w:basedOn w:val="Standard"/>'
    '<w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="berschrift2">'
    '<w:name w:val="heading 2"/><w:basedOn w:val="berschrift1"/>'
    '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Listenabsatz">'
    '<w:name w:val="List Paragraph"/><w:basedOn w:val="Standard"/>'
    '<w:pPr><w:ind w:left="720"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Beschriftung">'
    '<w:name w:val="caption"/></w:style>'
)

MAIN = "word/document.xml"


def word(
    *body: str,
    parts: Mapping[str, str] | None = None,
    properties: Mapping[str, str] | None = None,
    strict: bool = False,
) -> bytes:
    """Write a Word file.

    `body` is what stands in `w:body`. `parts` are what stands in the root of parts
    below `word/`, by name; `properties` parts below `docProps/`, whole.
    """
    parts = {"styles.xml": STYLES, **(parts or {})}
    files = {
        f"word/{name}": xml(f"<w:part {NAMESPACES}>{part}</w:part>")
        for name, part in parts.items()
    }
    files[MAIN] = document(*body)
    files |= {f"docProps/{name}": part for name, part in (properties or {}).items()}
    files["word/_rels/document.xml.rels"] = relationships(
        (kind, name) for name, kind in _KINDS.items()
    )
    files["_rels/.rels"] = relationships(
        [
            ("officeDocument", MAIN),
            ("core-properties", "docProps/core.xml"),
            ("custom-properties", "docProps/custom.xml"),
        ]
    )
    if strict:
        files = {name: _strict(part) for name, part in files.items()}
    return zipped(files)


def zipped(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Write an archive."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, part in files.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def document(*body: str) -> str:
    """Write the main part."""
    return xml(
        f"<w:document {NAMESPACES}><w:body>{''.join(body)}</w:body></w:document>"
    )


def xml(root: str) -> str:
    """Put the declaration before a root."""
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{root}'


def relationships(targets: Iterable[tuple[str, str]]) -> str:
    """Write relationships of a type to a part; each has the part's name as id."""
    each = "".join(
        f'<Relationship Id="{PurePosixPath(target).stem}" Target={quoteattr(target)} '
        f'Type="{_OPEN}/officeDocument/2006/relationships/{kind}"/>'
        for kind, target in targets
    )
    namespace = f"{_PACKAGE}/relationships"
    return xml(f'<Relationships xmlns="{namespace}">{each}</Relationships>')


def r(text: str, properties: str = "") -> str:
    """Write a run of text."""
    said = f'<w:t xml:space="preserve">{escape(text)}</w:t>'
    return f"<w:r><w:rPr>{properties}</w:rPr>{said}</w:r>"


def p(*inside: str, style: str = "", num: str = "", properties: str = "") -> str:
    """Write a paragraph of texts and of XML, which begins with `<`.

    `num` is a numbering and a level: `1/0`.
    """
    runs = [each if each.startswith("<") else r(each) for each in inside if each]
    if num:
        num_id, _, level = num.partition("/")
        properties = (
            f'<w:numPr><w:ilvl w:val="{level or 0}"/><w:numId w:val="{num_id}"/>'
            f"</w:numPr>{properties}"
        )
    if style:
        properties = f'<w:pStyle w:val="{style}"/>{properties}'
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def heading(text: str, level: int = 1) -> str:
    """Write a heading of level 1 or 2."""
    return p(text, style=f"berschrift{level}")


def table(*rows: str, properties: str = "") -> str:
    """Write a table."""
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{''.join(rows)}</w:tbl>"


def tr(*cells: str, properties: str = "") -> str:
    """Write a row of cells, or of their texts."""
    each = [cell if cell.startswith("<w:tc>") else tc(cell) for cell in cells]
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(each)}</w:tr>"


def tc(*inside: str, span: int = 1, merge: str = "", properties: str = "") -> str:
    """Write a cell; `merge` is how it goes on downwards."""
    if span > 1:
        properties += f'<w:gridSpan w:val="{span}"/>'
    if merge:
        properties += f'<w:vMerge w:val="{merge}"/>'
    each = [part if part.startswith("<") else p(part) for part in inside]
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(each)}</w:tc>"


def box(*paragraphs: str) -> str:
    """Write a text box as Word does: twice, for itself and for older versions."""
    inside = f"<w:txbxContent>{''.join(paragraphs)}</w:txbxContent>"
    return (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>'
        f"{inside}</w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{inside}"
        "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


def field(code: str, *result: str) -> str:
    """Write a field: its code, then what it shows."""
    shown = "".join(each if each.startswith("<") else r(each) for each in result)
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText>{code}</w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{shown}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def picture(properties: str, name: str = "duck") -> str:
    """Write a picture; `properties` are attributes of what describes it."""
    return (
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" {properties}/>'
        f'<a:graphic><pic:pic><a:blip r:embed="{name}"/></pic:pic></a:graphic>'
        "</wp:inline></w:drawing></w:r>"
    )


def levels(*forms: str, abstract: str = "7", extra: str = "") -> str:
    """Write numbering 1 with a level for each `form pattern`."""
    each = []
    for at, form in enumerate(forms):
        kind, _, pattern = form.partition(" ")
        each.append(
            f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'<w:lvlText w:val="{pattern}"/>'
            f'<w:pPr><w:ind w:left="{720 * (at + 1)}"/></w:pPr></w:lvl>'
        )
    return (
        f'<w:abstractNum w:abstractNumId="{abstract}">{"".join(each)}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="{abstract}"/></w:num>{extra}'
    )


CLAUSES = levels("decimal %1.", "decimal %1.%2", "lowerLetter (%3)")
"""Numbering of a contract: 1., 1.1, (a)."""


def texts(data: bytes, options: ReaderOptions | None = None) -> list[str]:
    """Read a file and give the texts of its blocks."""
    found = read(data, "doc.docx", options=options or ReaderOptions())
    return [block.text for block in blocks(found.document)]


def tree(data: bytes, options: ReaderOptions | None = None) -> str:
    """Read a Word file and write its tree."""
    if options is None:
        return show(read(data, "doc.docx").document)
    return show(read(data, "doc.docx", options=options).document)


def _strict(part: str) -> str:
    """Move a part into the namespaces of the strict standard."""
    return (
        part.replace(
            f"{_OPEN}/wordprocessingml/2006/main", f"{_STRICT}/wordprocessingml/main"
        )
        .replace(f"{_OPEN}/officeDocument/2006", f"{_STRICT}/officeDocument")
        .replace(f"{_OPEN}/drawingml/2006/main", f"{_STRICT}/drawingml/main")
    )
