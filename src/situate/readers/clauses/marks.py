"""Find lines that begin like a numbered clause, and read their numbers.

Nothing is decided here: `(i)` is one in Roman numerals and the ninth letter, and
whether a line is a clause at all depends on those around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.model import Span

Family = Literal["word", "decimal", "roman", "point"]

# What a clause may be called, by rank: attachments stand beside everything, parts
# above chapters above articles. A section holds articles in one law and stands in
# an article in the next, so it has no rank.
ATTACHMENT = 0
_RANKED: tuple[tuple[int | None, str, str], ...] = (
    (
        ATTACHMENT,
        "attachment",
        "schedule annex annexe appendix exhibit anlage anhang anexo allegato allegado",
    ),
    (1, "part", "part teil partie parte book buch livre libro"),
    (2, "title", "title titel titre título titolo"),
    (3, "chapter", "chapter kapitel chapitre capítulo capitulo capitolo"),
    (None, "section", "section sec. abschnitt sección sezione seção"),
    (None, "clause", "clause klausel clausula cláusula clausola"),
    (5, "article", "article art. artikel artículo articulo articolo artigo § §§"),
)
_WORDS = {name: (rank, kind) for rank, kind, names in _RANKED for name in names.split()}
_CHINESE = {"编": (1, "编"), "章": (3, "章"), "节": (4, "节"), "条": (5, "条")}
_CHINESE |= {"編": (1, "编"), "節": (4, "节"), "條": (5, "条")}

_ROMAN = re.compile(r"(?=.)C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_DIGITS = dict(zip("零〇一二三四五六七八九两", (0, 0, *range(1, 10), 2), strict=True))
_UNITS = {"十": 10, "百": 100, "千": 1000}

_NUMERALS = "".join((*_DIGITS, *_UNITS))
_CHINESE_UNITS = "".join(_CHINESE)

_FIRST = frozenset({"premier", "première", "premiere", "1er", "unique", "único"})

# A number of more digits is a year, a sum or a page.
_NUMBER = r"[0-9]{1,3}"
_FIRST_NAMES = "|".join(sorted(_FIRST))
_NAMES = "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True))
_MARK = re.compile(
    rf"""
    ^[ \t\f\u3000]{{0,40}}+
    (?:
      (?P<word>(?i:{_NAMES}))[ \t\u00a0\u202f]{{0,2}}
      (?P<value>(?i:{_FIRST_NAMES})|{_NUMBER}[a-z]?|[IVXLC]{{1,8}}|[A-Z])
      (?:[.:)]|[ ]?[–—-])?
    | 第[ ]?(?P<chinese>[0-9]{{1,4}}|[{_NUMERALS}]{{1,8}})[ ]?
      (?P<unit>[{_CHINESE_UNITS}])
    | (?P<decimal>{_NUMBER}(?:\.{_NUMBER}){{1,5}})(?:[.)]|(?=\s))
    | (?P<one>{_NUMBER})(?P<style>[.)]|(?=[ \t]))
    | (?P<roman>[IVXLC]{{1,8}})\.
    | [(（](?P<inner>[a-z]{{1,5}}|[A-Z]{{1,5}}|{_NUMBER}|[{_NUMERALS}]{{1,3}})[)）]
    | (?P<outer>[a-z]{{1,5}})\)
    )
    (?=[ \t\u00a0\u3000]|$|(?<=[{_CHINESE_UNITS}）]))
    """,
    re.VERBOSE | re.MULTILINE,
)

_MONTH = re.compile(
    r"(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|déc|"
    r"janv|févr|fév|avr|juin|juil|août|ene|abr|ago|dic|gen|mag|giu|lug|set|ott)"
    r"[a-zäéûç]{0,8}\b",
    re.IGNORECASE,
)
# `§ 5 Abs. 2 gilt` refers, as does `1.1 above applies`.
_REFERS = re.compile(
    r"(?:abs|absatz|satz|nr|nummer|buchst|lit|ziff|ziffer|para|paragraph|alinéa|"
    r"al|and|und|et|or|oder|ou|to|bis|above|below|of|hereof)\b|[的所、和及或第]|规定",
    re.IGNORECASE,
)
_ENDS = (*".:;!?,)\"'”»’–—-", "\u3002", "\uff1a", "\uff1b", "and", "or", "und", "oder")
_PAGE = re.compile(r"(?:[.·…_\s]{3,}|\t\s*)[0-9ivxl]{1,4}$")
_SHORT_LINE = 50


class Reading(NamedTuple):
    """One way to read a mark."""

    key: tuple[str, ...]
    """Marks of one sequence share it."""
    values: tuple[int, ...]
    """The number; of `1.2.3` all three, of `2a` both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A line that begins with a number, as it may be read."""

    family: Family
    readings: tuple[Reading, ...]
    start: int
    """Where its line begins."""
    mark: int
    """Where the mark begins, after the indentation."""
    end: int
    """Where the mark ends."""
    line_end: int
    paragraph: int
    opens: bool
    """Whether it stands at the start of its paragraph."""
    rank: int | None = None
    after_colon: bool = False
    """Whether the line before it ends in a colon."""

    def rest(self, text: str) -> str:
        """Give what follows on the line."""
        return text[self.end : self.line_end].strip()


def find_marks(text: str, paragraphs: Sequence[Span]) -> Iterator[Mark]:
    """Yield the lines inside `paragraphs` that begin like a clause."""
    starts = [start for start, _ in paragraphs]
    for found in _MARK.finditer(text):
        number = bisect_right(starts, found.end() - 1) - 1
        if number < 0 or found.end() > paragraphs[number][1]:
            continue
        start, end = paragraphs[number]
        line_end = text.find("\n", found.end(), end)
        line_end = end if line_end < 0 else line_end
        begin = max(found.start(), start)
        family, readings, rank = _read(found)
        opens = begin == start
        before = text[text.rfind("\n", 0, max(0, begin - 1)) + 1 : begin].strip()
        rest = text[found.end() : line_end].strip()
        if not readings or not _may_begin(family, rest, before, opens=opens):
            continue
        yield Mark(
            family=family,
            readings=readings,
            start=begin,
            mark=found.end() - len(found[0].lstrip()),
            end=found.end(),
            line_end=line_end,
            paragraph=number,
            opens=opens,
            rank=rank,
            after_colon=_end_of_text(text, begin).endswith((":", "\uff1a")),
        )


def has_page(text: str, mark: Mark) -> bool:
    """Say whether a line ends in the number of a page, as in a list of contents."""
    return _PAGE.search(text, mark.end, mark.line_end) is not None


def _end_of_text(text: str, before: int) -> str:
    """Give the last characters above an offset that say something."""
    end = before
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return text[max(0, end - 3) : end]


def _may_begin(family: Family, rest: str, before: str, *, opens: bool) -> bool:
    """Say whether a line may begin a clause, for all that it says itself."""
    if family != "point":
        if _REFERS.match(rest) or (family == "decimal" and _MONTH.match(rest)):
            return False
        if rest[:1].islower() and (family == "word" or not opens):
            return False
        if family == "decimal" and rest[:1] in {"%", "€", "$", "°"}:
            return False
    return opens or len(before) < _SHORT_LINE or before.endswith(_ENDS)


def _read(found: re.Match[str]) -> tuple[Family, tuple[Reading, ...], int | None]:
    family: Family = "decimal"
    rank: int | None = None
    readings: tuple[Reading, ...] = ()
    if found["word"] is not None:
        family = "word"
        rank, kind = _WORDS[found["word"].lower()]
        if not found["word"][0].islower():
            readings = tuple(_named(kind, found["value"]))
    elif found["chinese"] is not None:
        family = "word"
        rank, kind = _CHINESE[found["unit"]]
        readings = (Reading((kind,), (_chinese(found["chinese"]),)),)
    elif found["decimal"] is not None:
        values = tuple(int(number) for number in found["decimal"].split("."))
        readings = (Reading(("decimal", str(len(values))), values),)
    elif found["one"] is not None:
        key = ("decimal", "1", found["style"])
        readings = (Reading(key, (int(found["one"]),)),)
    elif found["roman"] is not None:
        family = "roman"
        value = _roman(found["roman"])
        readings = (Reading(("roman",), (value,)),) if value else ()
    else:
        family = "point"
        form = "()" if found["inner"] is not None else ")"
        readings = tuple(_point(form, found["inner"] or found["outer"]))
    return family, readings, rank


def _named(kind: str, value: str) -> Iterator[Reading]:
    if value.lower() in _FIRST:
        yield Reading((kind, "1"), (1,))
    elif value[0].isdigit():
        number = int(re.sub(r"[^0-9]", "", value))
        suffix = ord(value[-1]) - 96 if value[-1].isalpha() else 0
        yield Reading((kind, "1"), (number, suffix) if suffix else (number,))
    else:
        if _roman(value):
            yield Reading((kind, "1"), (_roman(value),))
        if len(value) == 1:
            yield Reading((kind, "A"), (ord(value) - 64,))


def _point(form: str, value: str) -> Iterator[Reading]:
    if value.isdigit():
        yield Reading((form, "1"), (int(value),))
        return
    if value[0] in _NUMERALS:
        yield Reading((form, "一"), (_chinese(value),))
        return
    case = "a" if value.islower() else "A"
    # After `(z)` comes `(aa)`.
    if len(set(value)) == 1 and len(value) <= 2:
        number = ord(value[0].lower()) - 96 + 26 * (len(value) - 1)
        yield Reading((form, case), (number,))
    roman = _roman(value.upper())
    if roman:
        yield Reading((form, "i" if case == "a" else "I"), (roman,))


def _roman(value: str) -> int:
    """Read a Roman numeral; 0 when it is none."""
    if not _ROMAN.fullmatch(value):
        return 0
    numbers = [_ROMAN_VALUES[letter] for letter in value]
    return sum(
        -number
        if any(later > number for later in numbers[place + 1 : place + 2])
        else number
        for place, number in enumerate(numbers)
    )


def _chinese(value: str) -> int:
    if value.isdigit():
        return int(value)
    total = digit = 0
    for character in value:
        if character in _UNITS:
            total += (digit or 1) * _UNITS[character]
            digit = 0
        else:
            digit = _DIGITS[character]
    return total + digit
