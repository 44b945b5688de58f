"""Take the codes of fields out of a document, so that their results are left.

A field begins, says its code, separates, shows its result and ends, across runs
and paragraphs. Codes hold fields of their own, whose results are code too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.readers.docx.names import attribute, child, flag, name, number, value, walk

if TYPE_CHECKING:
    from lxml.etree import _Element

    from situate.readers.docx.changes import Content

_SEQUENCE = re.compile(r"\s*SEQ\s+(\S+)", re.IGNORECASE)

_TEXT = frozenset({"w:t", "w:delText"})


@dataclass(slots=True)
class _Field:
    code: list[_Element] = field(default_factory=list)


@dataclass(slots=True)
class _Fields:
    """The fields that are open in one story, outermost first."""

    open: list[_Field] = field(default_factory=list)
    in_code: list[_Field] = field(default_factory=list)
    """Those of them that have not separated; the last may be the last open one."""

    def step(self, kind: str | None) -> None:
        if kind == "begin":
            self.open.append(_Field())
            self.in_code.append(self.open[-1])
        elif self.open and kind in {"separate", "end"}:
            last = self.open[-1]
            for element in last.code:
                element.text = None
            last.code.clear()
            if self.in_code and self.in_code[-1] is last:
                self.in_code.pop()
            if kind == "end":
                self.open.pop()


def blank_codes(root: _Element, content: Content) -> None:
    """Empty the texts that are part of a field's code.

    A field that never separates or ends is no field: its text stays.
    """
    if next(root.iter("{*}fldChar"), None) is None:
        return
    stories = [_Fields()]
    for begins, called, element in walk(root, content.skips):
        if called == "w:txbxContent":
            if begins:
                stories.append(_Fields())
            else:
                stories.pop()
        elif not begins:
            continue
        elif called == "w:fldChar":
            stories[-1].step(attribute(element, "w:fldCharType"))
        elif called in _TEXT and stories[-1].in_code:
            stories[-1].in_code[0].code.append(element)


def sequence(code: str) -> str | None:
    """Give what a field counts, if it numbers captions: `Table`, `Figure`."""
    found = _SEQUENCE.match(code)
    return found[1] if found else None


def form_value(data: _Element | None) -> str | None:
    """Give what an old form field shows that stands in no run of text."""
    box = child(data, "w:checkBox")
    if box is not None:
        checked = child(box, "w:checked")
        ticked = flag(box, "w:default") if checked is None else flag(box, "w:checked")
        return "☒" if ticked else "☐"
    choices = child(data, "w:ddList")
    if choices is None:
        return None
    entries = [below for below in choices if name(below) == "w:listEntry"]
    chosen = number(value(choices, "w:result") or value(choices, "w:default")) or 0
    if not 0 <= chosen < len(entries):
        return None
    return attribute(entries[chosen], "w:val")
