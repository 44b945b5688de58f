"""Read what was written into a page later: form fields and text boxes.

They are no part of a page's text, but a person who looks at it reads them. Comments
are about the text, not in it, and are only counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from situate.readers.pdf.opening import text_of

if TYPE_CHECKING:
    from situate.model import Box
    from situate.readers.pdf.places import Sheet

# Beyond it a page is no form any more.
_MOST_ANNOTATIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A value that was entered, with the name of its field."""

    name: str
    text: str
    box: Box


def entered(page: Any, document: Any, sheet: Sheet) -> tuple[tuple[Entered, ...], int]:
    """Give the values entered into a page, and the number of what is not read."""
    from pypdfium2 import raw

    values: list[Entered] = []
    about = {
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_SQUIGGLY,
        raw.FPDF_ANNOT_STRIKEOUT,
        raw.FPDF_ANNOT_STAMP,
        raw.FPDF_ANNOT_CARET,
        raw.FPDF_ANNOT_INK,
    }
    count = raw.FPDFPage_GetAnnotCount(page)
    comments = max(0, count - _MOST_ANNOTATIONS)
    for number in range(min(count, _MOST_ANNOTATIONS)):
        note = raw.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            if raw.FPDFAnnot_GetFlags(note) & raw.FPDF_ANNOT_FLAG_HIDDEN:
                continue
            name = text = ""
            if kind == raw.FPDF_ANNOT_FREETEXT:
                text = text_of(raw.FPDFAnnot_GetStringValue, note, b"Contents\0")
            elif kind == raw.FPDF_ANNOT_WIDGET and document.formenv:
                name, text = _field(note, document.formenv.raw)
            comments += kind in about
            if text:
                box = _box(note, sheet)
                values.append(Entered(name=name, text=text, box=box))
        finally:
            raw.FPDFPage_CloseAnnot(note)
    return tuple(values), comments


def _field(note: Any, form: Any) -> tuple[str, str]:
    """Give the name and the value of a form field."""
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    value = ""
    if kind in {
        raw.FPDF_FORMFIELD_TEXTFIELD,
        raw.FPDF_FORMFIELD_COMBOBOX,
        raw.FPDF_FORMFIELD_LISTBOX,
    }:
        value = text_of(raw.FPDFAnnot_GetFormFieldValue, form, note)
    elif kind in {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}:
        value = "checked" if raw.FPDFAnnot_IsChecked(form, note) else ""
    if not value:
        return "", ""
    name = text_of(raw.FPDFAnnot_GetFormFieldAlternateName, form, note)
    return name or text_of(raw.FPDFAnnot_GetFormFieldName, form, note), value


def _box(note: Any, sheet: Sheet) -> Box:
    from pypdfium2 import raw

    rect = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(note, rect)
    x, y = sheet.shown(rect.left, rect.top)
    x2, y2 = sheet.shown(rect.right, rect.bottom)
    return sheet.box(0, x, y, x2, y2)
