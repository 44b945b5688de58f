"""Read what a PDF says about itself: its title, language and the author's keys."""

from __future__ import annotations

import html
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from situate.readers import frontmatter
from situate.readers.decoding import clean
from situate.readers.pdf.opening import text_of
from situate.readers.yaml_values import Values

if TYPE_CHECKING:
    from situate.model import JsonValue
    from situate.readers.frontmatter import Described

_KEYS = ("doc_type", "doc_id", "version", "effective_from", "effective_to")

# Titles that programs make up, or take from the name of a file.
_NO_TITLE = re.compile(
    r"microsoft (?:word|powerpoint|excel) - .*"
    r"|\(?(?:untitled|anonymous)\)?(?: document)?|powerpoint presentation"
    r"|(?:document|dokument|slide|folie|presentation)\s*\d*|\S*[_/\\]\S*"
    r"|.*\.(?:docx?|pdf|od[tsp]|xlsx?|pptx?|txt|md|html?|tex|dvi|indd|rtf|png|jpe?g)"
    r"|none|null|title|[\W\d_]*",
    re.IGNORECASE,
)

# XMP stands near the start or end of a file, uncompressed so that it can be found.
_XMP_TITLE = re.compile(
    rb"<dc:title>\s*<rdf:Alt>\s*<rdf:li[^>]{0,80}>([^<]{1,500})</rdf:li>"
)


def describe(
    document: Any,
    data: bytes,
    *,
    source: str,
    doc_type: str | None,
    keep: tuple[str, ...],
) -> Described:
    """Give what the document says about itself.

    Validity, type, id and version come from properties of exactly these names,
    others only if they are to be kept.
    """
    from pypdfium2 import raw

    values: dict[str, JsonValue] = {}
    for key in (*_KEYS, *keep):
        # pdfium reads the name up to its first NUL.
        value = text_of(raw.FPDF_GetMetaText, document, key.encode() + b"\0")
        if value:
            values[key] = value
    title = _title(document, data, source)
    if title:
        values["title"] = title
    language = text_of(raw.FPDFCatalog_GetLanguage, document)
    if language:
        values["language"] = language
    written = {key: str(value) for key, value in values.items()}
    return frontmatter.describe(
        Values(values=values, written=written),
        source=source,
        doc_type=doc_type,
        where="document properties",
    )


def _title(document: Any, data: bytes, source: str) -> str:
    from pypdfium2 import raw

    name = PurePosixPath(source)
    found = _XMP_TITLE.search(data)
    packed = html.unescape(found[1].decode("utf-8", "replace")) if found else ""
    for said in (text_of(raw.FPDF_GetMetaText, document, b"Title\0"), clean(packed)):
        title = " ".join(said.split())
        if not _NO_TITLE.fullmatch(title) and title not in {name.name, name.stem}:
            return title
    return ""
