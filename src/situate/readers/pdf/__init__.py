"""Read PDF that carries its text: by its tags, its outline, or its look.

Structure comes from the best source the file has; `custom.structure` names it and
`custom.structure_confidence` says how far it can be trusted. Tables come from
tags alone and are never guessed. Running headers and footers are kept out of the
text and offered under `custom`. Pictures are not read: there is no OCR here.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from situate.errors import ReadError
from situate.readers.decoding import clean
from situate.readers.options import DEFAULTS
from situate.readers.pdf.bookmarks import entries_of
from situate.readers.pdf.characters import with_ligatures
from situate.readers.pdf.composing import composed, write
from situate.readers.pdf.notices import counted
from situate.readers.pdf.opening import opened
from situate.readers.pdf.pages import Page, Pages, refuse_long
from situate.readers.pdf.properties import describe
from situate.readers.pdf.tags import Tags
from situate.readers.tree import Outline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.model import JsonValue
    from situate.readers.frontmatter import Described
    from situate.readers.options import ReaderOptions
    from situate.readers.pdf.bookmarks import Bookmark
    from situate.readers.tree import Read

_DOCLING = (
    "read it with OCR, for example convert it with Docling, and read the "
    "DoclingDocument JSON that gives"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """All that is wanted of a file, which can be closed then."""

    described: Described
    pages: tuple[Page, ...]
    failed: tuple[int, ...]
    """Numbers of the pages that pdfium cannot read."""
    tags: Tags | None
    entries: tuple[Bookmark, ...]
    warnings: tuple[str, ...]


def read(
    data: bytes,
    source: str,
    *,
    doc_type: str | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Read:
    """Read a PDF.

    Raises:
        ReadError: pypdfium2 is missing, or it is no PDF, broken, encrypted, beyond
            a limit, or has no text, as a scan.
    """
    taken = _taken(data, source, doc_type, options)
    _refuse_scan(taken, source)
    found = composed(taken.pages, taken.tags, taken.entries)
    outline = Outline()
    write(outline, found)
    custom: dict[str, JsonValue] = dict(taken.described.metadata.custom)
    custom["structure"] = found.structure
    custom["structure_confidence"] = found.confidence
    if found.furniture.headers:
        custom["page_headers"] = list(found.furniture.headers)
    if found.furniture.footers:
        custom["page_footers"] = list(found.furniture.footers)
    read = outline.read(
        doc_id=taken.described.doc_id,
        version=taken.described.version,
        metadata=replace(taken.described.metadata, custom=custom),
        warnings=(*taken.warnings, *found.warnings, *_warnings(taken)),
    )
    if not any(page.lacks_text or _is_gibberish(page) for page in taken.pages):
        return read
    return replace(read, signs=frozenset({"needs_ocr"}))


def passages(data: bytes, source: str) -> Iterator[str]:
    """Yield the lines of all pages as pdfium finds them.

    Raises:
        ReadError: as `read`.
    """
    lines: list[str] = []
    with opened(data, source, DEFAULTS.limits) as document:
        from pypdfium2 import PdfiumError

        for index in range(len(document)):
            with suppress(PdfiumError), closing(document[index]) as page:
                text = page.get_textpage()
                refuse_long(text.count_chars(), source, index + 1)
                lines += with_ligatures(text).splitlines()
    # pdfium's sign for a hyphen at the end of a line is no character.
    yield from (clean(line.replace("\ufffe", "")) for line in lines)


def _taken(
    data: bytes, source: str, doc_type: str | None, options: ReaderOptions
) -> _Taken:
    limits = options.limits
    with opened(data, source, limits) as document:
        has_xfa = _open_form(document)
        tags = Tags(source, limits) if document.is_tagged() else None
        reader = Pages(document, source, tags)
        taken = [reader.take(index) for index in range(len(document))]
        entries, are_all = entries_of(document)
        described = describe(
            document, data, source=source, doc_type=doc_type, keep=options.keep
        )
        attached = document.count_attachments()
    failed = [number for number, page in enumerate(taken, start=1) if page is None]
    if len(failed) == len(taken):
        message = f"{source}: is a broken PDF, none of its pages can be read"
        raise ReadError(message)
    warnings = described.warnings
    if has_xfa:
        warnings += ("is an XFA form, of which only the printed pages were read",)
    if not are_all:
        warnings += (f"has more than {len(entries):,} bookmarks; the others were left",)
    if attached:
        said = counted(attached, "attached file was", "attached files were")
        warnings += (f"{said} not read",)
    return _Taken(
        described=described,
        pages=tuple(page for page in taken if page is not None),
        failed=tuple(failed),
        tags=tags,
        entries=tuple(entries),
        warnings=warnings,
    )


def _open_form(document: Any) -> bool:
    """Make form fields readable, and say whether the form is more than its pages."""
    from pypdfium2 import PdfiumError, raw

    # A form that pdfium cannot open has no values to be read.
    with suppress(PdfiumError):
        document.init_forms()
    return document.get_formtype() in {
        raw.FORMTYPE_XFA_FULL,
        raw.FORMTYPE_XFA_FOREGROUND,
    }


def _refuse_scan(taken: _Taken, source: str) -> None:
    showing = [page for page in taken.pages if page.characters or page.lacks_text]
    if showing and all(page.lacks_text and not page.entered for page in showing):
        message = f"{source}: has no text layer, as a scan; {_DOCLING}"
        raise ReadError(message, refusal="scan")


def _warnings(taken: _Taken) -> Iterator[str]:
    """Say what of the pages was not read, or is not to be trusted."""
    if taken.failed:
        yield f"{_pages(taken.failed)} cannot be read and were left out"
    pictures = [page.sheet.number for page in taken.pages if page.lacks_text]
    if pictures:
        verb = "shows" if len(pictures) == 1 else "show"
        yield f"{_pages(pictures)} {verb} pictures without text; {_DOCLING}"
    unreadable = [page.sheet.number for page in taken.pages if _is_gibberish(page)]
    if unreadable:
        yield (
            f"the fonts of {_pages(unreadable)} do not say which letters they show; "
            f"{_DOCLING}"
        )
    outside = sum(page.outside for page in taken.pages)
    if outside:
        where = "outside the visible pages"
        said = counted(outside, f"character {where} was", f"characters {where} were")
        yield f"{said} left out"
    notes = sum(page.notes for page in taken.pages)
    if notes:
        said = counted(notes, "comment or mark was", "comments and marks were")
        yield f"{said} left out"


def _is_gibberish(page: Page) -> bool:
    """Tell whether the fonts of a page do not say which letters they show."""
    return 2 * page.unreadable > page.characters


def _pages(numbers: Sequence[int]) -> str:
    """Name pages, runs of them by their first and last."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    named = ", ".join("-".join(map(str, run)) for run in runs)
    return f"{'page' if len(numbers) == 1 else 'pages'} {named}"
