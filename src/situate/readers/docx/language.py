"""Tell the language of a document by what its runs say."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from situate.readers.docx.names import attribute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.etree import _Element

# Word names a language for each of these groups of scripts beside the usual one.
_EAST_ASIAN: Final = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_COMPLEX: Final = re.compile("[\u0590-\u08ff\u0900-\u0e7f\ufb1d-\ufdff\ufe70-\ufeff]")

_TAG: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

# No tag has a colon.
_EAST: Final = "east:"
_RIGHT: Final = "complex:"


def plausible(said: str | None) -> str | None:
    """Give a language tag (`de-AT`); None for anything else."""
    said = (said or "").strip().replace("_", "-")
    return said if _TAG.fullmatch(said) and said.lower() != "x-none" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """The languages that an element names, one per group of scripts."""

    usual: str | None = None
    east: str | None = None
    complex: str | None = None

    def of(self, text: str) -> str:
        """Give the language of a text; where none is named, which it would be."""
        if not text.isascii():
            if _EAST_ASIAN.search(text):
                return self.east or _EAST
            if _COMPLEX.search(text):
                return self.complex or _RIGHT
        return self.usual or ""


def named(element: _Element | None) -> Languages:
    """Read what `w:lang` names."""
    if element is None:
        return Languages()
    return Languages(
        usual=attribute(element, "w:val"),
        east=attribute(element, "w:eastAsia"),
        complex=attribute(element, "w:bidi"),
    )


def commonest(counts: Mapping[str, int], default: Languages) -> str | None:
    """Give the language that most characters are in; `default` names the rest."""
    usual = {"": default.usual, _EAST: default.east, _RIGHT: default.complex}
    found: Counter[str] = Counter()
    for said, count in counts.items():
        found[plausible(usual.get(said, said)) or ""] += count
    if not found:
        return plausible(default.usual)
    best = max(found, key=lambda said: (found[said], said))
    return best or None
