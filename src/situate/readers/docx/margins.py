"""Read the headers and footers of pages, which are no part of the text.

A version or a date often stands there, so they are offered as metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from situate.readers.decoding import clean
from situate.readers.docx.fields import blank_codes
from situate.readers.docx.names import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from situate.model import JsonValue
    from situate.readers.docx.changes import Content
    from situate.readers.docx.package import Package

_KINDS: Final = {"header": "page_headers", "footer": "page_footers"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """What stands above and below the pages."""

    custom: Mapping[str, JsonValue]
    warnings: tuple[str, ...] = ()


def read(package: Package, content: Content, keep: Collection[str]) -> Margins:
    """Read the headers and footers that `keep` asks for, and say what is left out."""
    custom: dict[str, JsonValue] = {}
    left_out = 0
    for kind, called in _KINDS.items():
        said = list(dict.fromkeys(_texts(package, content, kind)))
        if said and called in keep:
            custom[called] = list(said)
        else:
            # A page number alone is no loss.
            left_out += sum(any(map(str.isalpha, text)) for text in said)
    if not left_out:
        return Margins(custom=custom)
    warning = (
        f"{left_out} page headers and footers were left out; keep page_headers and "
        "page_footers to have them as metadata"
        if left_out > 1
        else "1 page header or footer was left out; keep page_headers and "
        "page_footers to have it as metadata"
    )
    return Margins(custom=custom, warnings=(warning,))


def _texts(package: Package, content: Content, kind: str) -> Iterator[str]:
    for part in package.related(package.main, kind):
        root = package.parse(part)
        if root is None:
            continue
        blank_codes(root, content)
        said = [
            " " if called == "w:p" else element.text or ""
            for begins, called, element in walk(root, content.skips)
            if called in {"w:p", "w:t", "w:tab"} and (begins or called == "w:p")
        ]
        text = " ".join(clean("".join(said)).split())
        if text:
            yield text
