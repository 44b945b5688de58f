"""Gathers what a model was shown into the forms statements are compared in."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from situate.enrichment.grounding import dates, numerals, units
from situate.enrichment.grounding.forms import (
    Source,
    folded,
    hundredth,
    normalised,
    plain,
    readings,
)
from situate.enrichment.grounding.mentions import Mention, mentions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.enrichment.grounding.dates import Date, Moment


class Evidence:
    """What a text holds that a statement about it may say.

    Every form is made when it is asked for first: most statements have no date and
    no quotation, and many no number.
    """

    def __init__(self, text: str) -> None:
        self._source = Source.of(text)

    @property
    def language(self) -> str | None:
        """The one its function words tell, None where they tell none."""
        return self._source.language

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Plain decimals, in every way they may be read."""
        return _numbers(self._source.text, self._mentions, self._moments)

    @cached_property
    def measures(self) -> frozenset[tuple[str, str]]:
        """Numbers with a unit they have, or may have by their table or line."""
        return _measures(self._source, self._mentions)

    @cached_property
    def dates(self) -> frozenset[Date]:
        """Dates, also without their year or day."""
        return frozenset(
            form
            for moment in self._moments
            for date in moment.dates
            for form in _forms(date)
        )

    @cached_property
    def undated(self) -> frozenset[Date]:
        """Days and months that no year stands beside."""
        return frozenset(
            form
            for moment in self._moments
            for date in moment.dates
            if not date[0]
            for form in (date, (0, date[1], 0))
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """Words in small letters; parts of compound identifiers too."""
        return _words(self._source)

    def says(self, word: str) -> bool:
        """Say whether a word is among `words`, which takes time to make.

        Most are found as they stand.
        """
        source, lower = self._source, word.lower()
        return (
            word in source.identifiers or lower in source.words or lower in self.words
        )

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The words in their order, to look for other forms of one."""
        return tuple(sorted(self.words))

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """What the initials of neighbouring names spell."""
        return _acronyms(self._source.text)

    @cached_property
    def folded(self) -> str:
        """All words in reading order, a blank between."""
        return folded(self._source.text)

    @cached_property
    def _mentions(self) -> list[Mention]:
        source = self._source
        return mentions(source, numerals.with_articles(source.language))

    @cached_property
    def _moments(self) -> list[Moment]:
        return dates.moments(self._source)


_IDENTIFIER = re.compile(r"\w+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMED = re.compile(
    r"[A-Z][\w-]*+(?:[ \n](?:(?:of|and|for|the|de|des|du|la|y) )?[A-Z][\w-]*+){1,11}"
)
_INITIAL = re.compile(r"\b[A-Z]|(?<=[a-z])[A-Z]")


def evidence_of(shown: str, *extra: str) -> Evidence:
    """Take what a model was shown: the document part, then titles and headings.

    Linear in the text, and at most once for all statements about it.
    """
    return Evidence(normalised("\n".join([shown, *extra])))


def _forms(date: Date) -> Iterable[Date]:
    """Give a date and all that is true when it is."""
    year, month, day = date
    yield date
    if year < dates.CLOCK and month:
        yield (0, month, day)
        yield (year, month, 0)
        yield (0, month, 0)


def _numbers(
    text: str, found: list[Mention], moments: list[dates.Moment]
) -> frozenset[str]:
    # An article with its unit says one; nobody looks for that without the unit.
    numbers = {
        value
        for mention in found
        if mention.role != "article" or not mention.units
        for value in mention.values
    }
    for mention in found:
        digits = mention.digits
        if digits and not digits.isdecimal():
            numbers.update(_within(digits))
        if "%" in mention.units:
            numbers.update(map(hundredth, mention.values))
    numbers.update(str(date[0]) for m in moments for date in m.dates)
    for match in _ROMAN.finditer(text):
        if text[match.start() - 1 : match.start()].isalnum():
            continue
        value = numerals.roman_at(text, *match.span())
        if value is not None:
            numbers.add(str(value))
    return frozenset(numbers)


_ROMAN = re.compile(r"[IVXLCDM]{1,15}+(?!\w)")


def _within(digits: str) -> Iterable[str]:
    """Give the numbers inside a chain of digits: the 1.28 of 1.28.3."""
    parts = re.split(r"[.,'\u2019 ]", digits)
    yield digits
    if "." not in digits and (len(parts) > 2 or " " in digits):
        yield from map(plain, parts)
    end = len(parts[0])
    for part in parts[1:-1][:_MOST_PARTS]:
        end += 1 + len(part)
        yield from readings(digits[:end])
        yield digits[:end]


_MOST_PARTS = 8
"""Of a version number."""


def _measures(source: Source, found: list[Mention]) -> frozenset[tuple[str, str]]:
    """Pair numbers with units; bare ones with those of their table or line."""
    pairs: set[tuple[str, str]] = set()
    bare: list[Mention] = []
    for mention in found:
        if mention.units:
            pairs.update((v, u) for v in mention.values for u in mention.units)
        elif mention.role in {"cardinal", "part"}:
            bare.append(mention)
        if mention.role == "fraction" and mention.values[0].startswith("0."):
            # A half is fifty percent.
            pairs.add((_percent(mention.values[0]), "%"))
    pairs.update(_by_line(source.text, bare))
    pairs.update(_singles(source))
    return frozenset(pairs)


def _percent(value: str) -> str:
    digits = value.partition(".")[2].ljust(2, "0")
    return plain(digits[:2], digits[2:])


_SHORT_LINE = 100
"""Characters up to which a line names one thing: `timeout_seconds: 30`."""


def _by_line(text: str, bare: list[Mention]) -> Iterable[tuple[str, str]]:
    """Give bare numbers the units that their line or the head of a table names."""
    line_end, head_end = -1, -1
    here: frozenset[str] = frozenset()
    head: frozenset[str] = frozenset()
    for mention in bare:
        if mention.start >= line_end:
            line_start = text.rfind("\n", 0, mention.start) + 1
            line_end = text.find("\n", mention.start) % (len(text) + 1)
            is_row = text.startswith("|", line_start)
            short = line_end - line_start <= _SHORT_LINE
            line = text[line_start:line_end]
            here = _units_in(line) if is_row or short else _units_of_keys(line)
            if is_row and line_start != head_end + 1:
                head = _head(text, line_start)
            head_end = line_end if is_row else -1
            if not is_row:
                head = _NONE
        for value in mention.values:
            for unit in here | head:
                yield value, unit


_NONE: frozenset[str] = frozenset()
_LONGEST_TABLE_HEAD = 20_000


def _head(text: str, row: int) -> frozenset[str]:
    """Give the units named by the first row of a table and the line above it."""
    start = row
    while start > 0 and row - start < _LONGEST_TABLE_HEAD:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text.startswith("|", above):
            break
        start = above
    end = text.find("\n", start)
    caption = text[:start].rstrip()[-_SHORT_LINE:].rpartition("\n")[2]
    return _units_in(text[start:end]) | _units_in(caption)


def _units_of_keys(line: str) -> frozenset[str]:
    """Give the units that identifiers name: startingDeadlineSeconds, timeout_ms."""
    words = {
        part.lower()
        for word in _IDENTIFIER.findall(line)
        if "_" in word or not word[1:].islower()
        for part in _humps(word)
    }
    return units.named_in(words)


def _units_in(line: str) -> frozenset[str]:
    words = {
        part.lower() for word in _IDENTIFIER.findall(line) for part in _humps(word)
    }
    found = units.named_in(words)
    signs = {unit for sign in _SIGN.findall(line) for unit in units.symbol(sign)}
    return found | signs


_SIGN = re.compile(r"[%‰€$£¥]|°[CF]?|\b[A-Za-zµ]{1,4}(?:/[a-z]{1,2}|[²³])?(?!\w)")


def _singles(source: Source) -> Iterable[tuple[str, str]]:
    """Give one of every unit that an adverb says: monthly."""
    for word, unit in _ADVERBS.items():
        if word in source.words:
            yield "1", unit


_ADVERBS = {
    word: unit
    for unit, forms in {
        "h": "hourly stündlich",
        "day": "daily täglich quotidien quotidienne diario diaria diariamente",
        "week": "weekly wöchentlich hebdomadaire semanal semanalmente",
        "month": "monthly monatlich mensuel mensuelle mensual mensualmente",
        "year": "yearly annual annually jährlich annuel annuelle anual anualmente",
    }.items()
    for word in forms.split()
}


def _humps(word: str) -> list[str]:
    """Split an identifier at its capitals, digits and underscores."""
    if word.isalpha() and (word.islower() or word[1:].islower()):
        return [word]
    return _HUMP.findall(word) or [word]


def _words(source: Source) -> frozenset[str]:
    """Give the words of a text, identifiers whole and in parts."""
    whole = {*source.words, *map(str.lower, source.identifiers)}
    odd = {
        word
        for word in source.identifiers
        if not word.isdecimal() and not word[1:].islower()
    }
    for word in odd:
        whole.update(part.lower() for part in _HUMP.findall(word))
    return frozenset(whole)


def _acronyms(text: str) -> frozenset[str]:
    """Spell the initials of names that stand together, and of their parts."""
    spelled: set[str] = set()
    for match in _NAMED.finditer(text):
        initials = "".join(_INITIAL.findall(match[0]))[:12].lower()
        spelled.update(
            initials[start:end]
            for start in range(len(initials) - 1)
            for end in range(start + 2, len(initials) + 1)
        )
    for word in set(_CAMEL.findall(text)):
        spelled.add("".join(c for c in word if c.isupper()).lower())
    return frozenset(spelled)


_CAMEL = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]+)+\b")
