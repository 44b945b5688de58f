"""Give the Unicode characters that old symbol fonts stand for."""

from __future__ import annotations

from typing import Final

# The Greek of Adobe's Symbol encoding, from `A` and from `a`.
_CAPITALS = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SMALL = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"

_SYMBOL: Final[dict[int, str]] = {
    **{0x41 + place: letter for place, letter in enumerate(_CAPITALS)},
    **{0x61 + place: letter for place, letter in enumerate(_SMALL)},
    **{code: chr(code) for code in range(0x20, 0x40)},
    0x2D: "\u2212",
    0xA3: "≤",
    0xA5: "∞",
    0xAB: "↔",
    0xAC: "←",
    0xAD: "↑",
    0xAE: "→",
    0xAF: "↓",
    0xB0: "°",
    0xB1: "±",
    0xB2: "″",
    0xB3: "≥",
    0xB4: "×",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xBC: "…",
    0xB6: "∂",
    0xC5: "⊕",
    0xC6: "∅",
    0xC7: "∩",
    0xC8: "\u222a",
    0xC9: "⊃",
    0xCC: "⊂",
    0xCD: "⊆",
    0xCE: "∈",
    0xD1: "∇",
    0xD2: "®",
    0xD3: "©",
    0xD4: "™",
    0xD5: "∏",
    0xD6: "√",
    0xD9: "∧",
    0xDA: "\u2228",
    0xDB: "⇔",
    0xDE: "⇒",
    0xE5: "∑",
    0xF2: "∫",
}

_WINGDINGS: Final[dict[int, str]] = {
    0x28: "☎",
    0x2A: "✉",
    0x4A: "☺",
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x71: "❑",
    0x75: "◆",
    0x76: "❖",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "☐",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}

_FONTS: Final = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}

_PRIVATE: Final = range(0xE000, 0xF900)

_FONT_AREA: Final = 0xF000
"""Word moves the codes of symbol fonts up here."""


def shown(text: str, font: str | None) -> str:
    """Give a text as a symbol font shows it; what nobody knows stays."""
    known = _FONTS.get((font or "").casefold())
    if known is None or text.isascii():
        return text
    return "".join(known.get(ord(letter) - _FONT_AREA, letter) for letter in text)


def character(font: str | None, code: str | None) -> str | None:
    """Give what a symbol shows; None when nobody knows."""
    try:
        place = int(code or "", 16)
    except ValueError:
        return None
    known = _FONTS.get((font or "").casefold())
    if known is not None:
        return known.get(place - _FONT_AREA if place >= _FONT_AREA else place)
    if place in _PRIVATE or not 0x20 <= place <= 0x10FFFF:
        return None
    return chr(place)
