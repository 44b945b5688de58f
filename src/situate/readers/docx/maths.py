"""Write Word's formulas in one line: `(a+b)/c`, `x^2`, `√(y)`, `∑_(i=1)^n x_i`.

The notation adds marks but no words, so that a formula is found by what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.readers.docx.names import attribute, child

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lxml.etree import _Element


@dataclass(slots=True)
class Piece:
    """A piece of a formula that is being read: its name, properties and parts."""

    owner: _Element
    name: str
    parts: list[tuple[str, str]] = field(default_factory=list)
    """What it holds, each under its name; plain text under none."""


def linear(piece: Piece) -> str:
    """Write a piece in one line; every part of it stands there once."""
    write = _FORMS.get(piece.name)
    names = [called for called, _ in piece.parts]
    if write is not None and all(names) and len(set(names)) == len(names):
        written = write(piece, dict(piece.parts))
        if written is not None:
            return written
    if piece.name == "m:d":
        return _delimited(piece)
    join = _JOINED.get(piece.name, "")
    joined = join.join(text for _, text in piece.parts)
    return f"[{joined}]" if piece.name == "m:m" else joined


def _fraction(_: Piece, parts: dict[str, str]) -> str | None:
    match parts:
        case {"m:num": num, "m:den": den} if len(parts) == 2:
            return f"{_group(num)}/{_group(den)}"
    return None


def _scripts(_: Piece, parts: dict[str, str]) -> str | None:
    match parts:
        case {"m:e": base, **scripts} if scripts.keys() <= {"m:sub", "m:sup"}:
            return _base(base) + _sub_and_sup(scripts)
    return None


def _before(_: Piece, parts: dict[str, str]) -> str | None:
    match parts:
        case {"m:e": base, **scripts} if scripts.keys() <= {"m:sub", "m:sup"}:
            return _sub_and_sup(scripts) + _base(base)
    return None


def _root(_: Piece, parts: dict[str, str]) -> str | None:
    match parts:
        case {"m:e": base, **rest} if rest.keys() <= {"m:deg"}:
            degree = rest.get("m:deg", "")
            return f"√({degree}&{base})" if degree.strip() else f"√({base})"
    return None


def _nary(piece: Piece, parts: dict[str, str]) -> str | None:
    match parts:
        case {"m:e": base, **scripts} if scripts.keys() <= {"m:sub", "m:sup"}:
            sign = _character(piece.owner, "m:naryPr", "m:chr", "∫")
            return f"{sign}{_sub_and_sup(scripts)} {base}"
    return None


def _function(_: Piece, parts: dict[str, str]) -> str | None:
    match parts:
        case {"m:fName": called, "m:e": base} if len(parts) == 2:
            return f"{called} {base}"
    return None


def _limit(mark: str) -> Callable[[Piece, dict[str, str]], str | None]:
    def write(_: Piece, parts: dict[str, str]) -> str | None:
        match parts:
            case {"m:e": base, "m:lim": limit} if len(parts) == 2:
                return f"{base}{mark}{_group(limit)}" if limit.strip() else base
        return None

    return write


def _accent(piece: Piece, parts: dict[str, str]) -> str | None:
    if parts.keys() != {"m:e"}:
        return None
    return parts["m:e"] + _character(piece.owner, "m:accPr", "m:chr", "\u0302")


def _delimited(piece: Piece) -> str:
    begin = _character(piece.owner, "m:dPr", "m:begChr", "(")
    end = _character(piece.owner, "m:dPr", "m:endChr", ")")
    between = _character(piece.owner, "m:dPr", "m:sepChr", "|")
    return begin + between.join(text for _, text in piece.parts) + end


_FORMS: Mapping[str, Callable[[Piece, dict[str, str]], str | None]] = {
    "m:f": _fraction,
    "m:sSup": _scripts,
    "m:sSub": _scripts,
    "m:sSubSup": _scripts,
    "m:sPre": _before,
    "m:rad": _root,
    "m:nary": _nary,
    "m:func": _function,
    "m:limLow": _limit("_"),
    "m:limUpp": _limit("^"),
    "m:acc": _accent,
}

_JOINED: Mapping[str, str] = {
    "m:mr": ", ",
    "m:m": "; ",
    "m:eqArr": "; ",
    "m:oMathPara": "\n",
}


def _sub_and_sup(scripts: dict[str, str]) -> str:
    marks = (("m:sub", "_"), ("m:sup", "^"))
    return "".join(
        mark + _group(scripts[called])
        for called, mark in marks
        if scripts.get(called, "").strip()
    )


def _group(text: str) -> str:
    """Put in brackets what would not hold together by itself."""
    return text if len(text) == 1 or _is_held(text) else f"({text})"


def _base(text: str) -> str:
    """Put in brackets what a power would otherwise be one of the last part of."""
    return _group(text) if "/" in text else text


def _is_held(text: str) -> bool:
    """Tell whether a text is one word, or stands between two brackets."""
    if text.isalnum():
        return True
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1 and text[0] == "("
    return False


def _character(owner: _Element, properties: str, called: str, usual: str) -> str:
    said = attribute(child(owner, properties, called), "m:val")
    # A sign is a letter and perhaps a mark above it, never a text.
    return usual if said is None else said[:2]
