"""Brings text and digits into the forms in which they are compared.

Every step keeps the number of characters, so that what is found in the
normalised text stands at the same place in the original. Unlike NFKC as a whole,
which writes one sign as several.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass

from situate.enrichment import language as languages

WORD = re.compile(r"[^\W\d_]+")
"""A run of letters."""

IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


def listed(words: str) -> tuple[str, ...]:
    """Give the words of a table that is written as one text."""
    return tuple(words.split())


def normalised(text: str) -> str:
    """Write wide digits, blanks and letters in their usual form, sign by sign."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    odd = {sign for sign in set(text) if sign > "\u009f"}
    table = {ord(sign): plain for sign in odd if (plain := _plain(sign)) != sign}
    return text.translate(table) if table else text


@functools.lru_cache(maxsize=8192)
def _plain(sign: str) -> str:
    if sign in "\u2018\u201b\u02bc\u2032":
        return "\u2019"
    if sign in "\u2010\u2011\u2012\u2212":
        return "-"
    if sign == "\u0130":  # Its small form has two characters.
        return "I"
    # Raised digits are note marks and parts of units, never digits.
    if unicodedata.category(sign) == "No":
        return sign
    folded = unicodedata.normalize("NFKC", sign)
    return folded if len(folded) == 1 else sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A normalised text, ready to be searched."""

    text: str
    lower: str
    """In small letters, as many as in the text."""
    identifiers: frozenset[str]
    """Runs of letters, digits and underscores, as they stand."""
    words: frozenset[str]
    """Runs of letters, in small letters."""
    language: str | None
    """Whose number words count."""

    @classmethod
    def of(cls, text: str, language: str | None = None) -> Source:
        """Take a text that is normalised; a missing language is told by its words."""
        identifiers = frozenset(_identifiers(text))
        plain = frozenset(filter(str.isalpha, identifiers))
        words = frozenset(map(str.lower, plain)).union(
            *(WORD.findall(odd.lower()) for odd in identifiers - plain)
        )
        return cls(
            text=text,
            lower=text.lower(),
            identifiers=identifiers,
            words=words,
            language=_language(text, words) if language is None else language,
        )


_SHARE_OF_IDEOGRAPHS = 0.2


def _language(text: str, words: frozenset[str]) -> str | None:
    if not text.isascii() and len(IDEOGRAPH.findall(text)) > (
        _SHARE_OF_IDEOGRAPHS * len(text)
    ):
        return "zh"
    return languages.spoken(words)


def folded(text: str) -> str:
    """Give the words of a text in small letters, a blank between and around."""
    return f" {' '.join(_FOLDED.findall(text.casefold()))} "


def _identifiers(text: str) -> list[str]:
    if text.isascii():
        # Five times as fast, and most texts are.
        return text.translate(_BLANKED).split()
    return _WORDS.findall(text)


_BLANKED = {
    point: " "
    for point in range(128)
    if not (chr(point).isalnum() or point == ord("_"))
}

# Ideographs stand against Latin words without a blank.
_WORDS = re.compile(r"[^\W\u2e80-\uffff]+|[\u2e80-\uffff]+")
_FOLDED = re.compile(r"[^\W_]+")

_SEPARATED = re.compile(r"[.,'\u2019 ]")


@functools.lru_cache(maxsize=8192)
def readings(digits: str) -> tuple[str, ...]:
    """Give the values digits with separators may stand for, as plain decimals.

    `1.000` is a thousand here and one there; `1.28.3` is no number and is given
    as it stands. The first reading is the likeliest.
    """
    if digits.isdecimal():
        return (plain(digits),)
    parts = _SEPARATED.split(digits)
    marks = [sign for sign in digits if not sign.isdecimal()]
    *groups, last = parts
    if len(set(marks)) == 1:
        grouped = _is_grouped(parts)
        if len(marks) == 1 and marks[0] in ".,":
            decimal = plain(parts[0], last)
            return (plain("".join(parts)), decimal) if grouped else (decimal,)
        return (plain("".join(parts)),) if grouped else (digits,)
    is_decimal = len(set(marks[:-1])) == 1 and marks[-1] in ".,"
    if is_decimal and _is_grouped(groups):
        return (plain("".join(groups), last),)
    return (digits,)


def _is_grouped(parts: list[str]) -> bool:
    """Say whether all parts but the first are groups of three digits."""
    first, *middle, last = parts
    # India writes 1,00,000: only the last group has three digits.
    return (
        0 < len(first) <= 3
        and first[0] != "0"
        and len(last) == 3
        and len({len(part) for part in middle} | {3}) <= 2
        and all(2 <= len(part) <= 3 for part in middle)
    )


def plain(whole: str, fraction: str = "") -> str:
    """Write a decimal without zeros that say nothing."""
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def times(value: str, factor: int) -> str:
    """Multiply a plain decimal by a power of ten or a hundred-fold of it."""
    whole, _, fraction = value.partition(".")
    if not (whole + fraction).isdecimal() or len(value) > _LONGEST:
        return value
    shifted = int(whole + fraction) * factor
    if not fraction:
        return str(shifted)
    digits = str(shifted).rjust(len(fraction) + 1, "0")
    return plain(digits[: -len(fraction)], digits[-len(fraction) :])


def hundredth(value: str) -> str:
    """Divide a plain decimal by a hundred: what a percentage is of one."""
    whole, _, fraction = value.partition(".")
    whole = whole.rjust(3, "0")
    return plain(whole[:-2], whole[-2:] + fraction)


_LONGEST = 40
"""Digits of a number somebody multiplies; Python refuses far longer ones."""
