"""Finds names in a statement that nothing shown holds.

Capitals mark a name inside a sentence of English, French and Spanish. German
writes every noun with one: there, and where the language is not known, only
capitals throughout and within a word do. In other scripts Latin letters do.
What else has a capital and is not known is reported.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from situate.enrichment.grounding import dates, numerals, units
from situate.enrichment.grounding.forms import listed

if TYPE_CHECKING:
    from situate.enrichment.grounding.evidence import Evidence

_MARKED_BY_CAPITALS = frozenset({"en", "fr", "es", "it", "pt", "nl"})

_TOKEN = re.compile(
    "[A-Za-z\u00c0-\u024f](?:[0-9A-Za-z_\u00c0-\u024f]|['\u2019](?=s\\b))*+"
)
_OPENING = re.compile(
    "[.:?!;\u2026][)\\]\"'\u2019\u201d\u00bb]?\\s$|"
    "[\"\u201c\u201e\u00ab\u2039'\u2018(\\[\u00bf\u00a1]\\s?$|(?:--|[\u2013\u2014])\\s$"
)

_ENDINGS = frozenset(
    (
        "",
        *listed("s es e en er n r em ern d ed ing y ies ie al an ian or x a o as os"),
        *listed("in innen"),
    )
)
"""What words differ by when they are forms of one; none for English names."""

_FEWEST_SHARED = 3
"""Letters that forms of one word begin with, at least."""


class Names(NamedTuple):
    """Names that do not occur in what was shown."""

    unknown: tuple[str, ...]
    reported: tuple[str, ...]
    """Words with a capital where capitals mark no name."""


def names(text: str, language: str | None, evidence: Evidence) -> Names:
    """Look for every name of a normalised statement in what was shown."""
    unknown: list[str] = []
    reported: list[str] = []
    is_latin = not text[:1] > "\u024f" and language not in _OTHER_SCRIPTS
    marks = _Marks(
        is_latin=is_latin,
        by_capitals=language in _MARKED_BY_CAPITALS,
        shouted=text.isupper(),
    )
    last_end = -2
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        if len(token) < 2 or (is_latin and token.islower()):
            continue
        if evidence.says(token) or _is_known(token, text, start, evidence):
            continue
        if not marks.mark(token, text, start):
            if start:
                reported.append(token)
            continue
        if unknown and start == last_end + 1 and text[last_end] == " ":
            unknown[-1] += f" {token}"
        else:
            unknown.append(token)
        last_end = match.end()
    return Names(tuple(unknown), tuple(reported))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marks:
    """What marks a name in one statement."""

    is_latin: bool
    """Written in Latin letters, so that these mark nothing."""
    by_capitals: bool
    shouted: bool
    """In capitals throughout, so that these mark nothing."""

    def mark(self, token: str, text: str, start: int) -> bool:
        """Say whether a word is a name for sure."""
        if not self.is_latin:
            return True
        if not self.shouted and _is_mixed(token):
            return True
        return self.by_capitals and not self.shouted and not _opens(text, start)


_COMMON = frozenset(
    listed(
        "api app atm cd ceo cfo cli cpu dvd faq gps gpu hr id it led ok os pc pdf pin "
        "qa ram rom sms tv ui url usb vip"
    )
)
"""Abbreviations that dictionaries list as common nouns: anybody's words."""

_OTHER_SCRIPTS = frozenset(listed("zh ja ko ru uk bg el ar he fa hi th"))


def _is_mixed(token: str) -> bool:
    """Say whether a word is a name by its form: `ISO`, `GitHub`, `x_y`, `sha256`."""
    if token.islower():
        return not token.isalpha() and any(map(str.isdecimal, token))
    return not token[1:].islower()


def _opens(text: str, start: int) -> bool:
    """Say whether a word stands where any word has a capital."""
    return start == 0 or _OPENING.search(text[max(0, start - 3) : start]) is not None


def _is_known(token: str, text: str, start: int, evidence: Evidence) -> bool:
    """Say whether a word occurs in another form, or is no name at all."""
    lower = token.lower()
    bare = lower.removesuffix("'s").removesuffix("\u2019s")
    is_acronym = token[:2].isupper()
    letters = bare.removesuffix("s") if is_acronym else bare
    if _is_judged_elsewhere(token, bare, text, start) or letters in _COMMON:
        return True
    if letters in evidence.words or _has(bare, evidence):
        return True
    if is_acronym and letters in evidence.acronyms:
        return True
    if len(bare) >= _FEWEST_INSIDE and bare in evidence.folded:
        return True
    parts = _PART.findall(letters if is_acronym else token)
    # ConfigMap for what is a config map elsewhere.
    return len(parts) > 1 and f" {' '.join(parts)}".lower() in evidence.folded


_FEWEST_INSIDE = 8
"""Letters of a name that may be a part of a longer identifier."""


def _is_judged_elsewhere(token: str, bare: str, text: str, start: int) -> bool:
    """Say whether a word is a date, a unit or a number."""
    return (
        bare in dates.months()
        or bare in dates.weekdays()
        or bare in units.names()
        or bool(units.symbol(token))
        or (
            token.isupper()
            and numerals.roman_at(text, start, start + len(token)) is not None
        )
    )


_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_A-Za-z]+")


def _has(word: str, evidence: Evidence) -> bool:
    """Say whether a word occurs, in this form or another one of it."""
    if word in evidence.words or (word.isdecimal() and word in evidence.numbers):
        return True
    stem = word[: max(_FEWEST_SHARED, len(word) - 3)]
    ordered = evidence.ordered
    place = bisect_left(ordered, stem)
    for other in ordered[place : place + _MOST_FORMS]:
        if not other.startswith(stem):
            break
        shared = _shared(word, other)
        if shared >= len(word) - 3 and {word[shared:], other[shared:]} <= _ENDINGS:
            return True
    return False


_MOST_FORMS = 200
"""Words with one beginning that are looked at."""


def _shared(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length
