"""Finds dates, times of day and quarters in the forms of five languages.

A date is (year, month, day), with 0 for what is not said. What may be read in
two ways (03/04/2024) has both readings.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from situate.enrichment.grounding import numerals
from situate.enrichment.grounding.forms import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from situate.enrichment.grounding.forms import Source

Date: TypeAlias = tuple[int, int, int]

QUARTER = 100
"""Added to a quarter's number, it stands where the month does."""

CLOCK = 10_000
"""A time of day is (CLOCK, hour, minute)."""

WEEKDAY = 20_000
"""A day of the week is (WEEKDAY, number, 0)."""


class Moment(NamedTuple):
    """One date of a text, in every way it may be read."""

    start: int
    end: int
    dates: tuple[Date, ...]
    is_unsure: bool = False
    """It may as well be a section, a ratio or a length of time."""


_MONTHS = (
    "january jan januar jänner janvier janv enero ene",
    "february feb februar février févr febrero",
    "march mar märz mär mrz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug août agosto ago",
    "september sep sept septembre septiembre setiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre déc diciembre dic",
)
_WEEKDAYS = (
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sábado",
    "sunday sonntag dimanche domingo",
)
_IDEOGRAPHIC_WEEKDAY = re.compile(r"(?:星期|礼拜|周)([一二三四五六日天])")

_UNSURE = frozenset(listed("may mar march mars jan jun sept ago dic dec ene set abr"))
"""Words that are months only beside a day or a year, or with a capital."""
_NEEDS_NEIGHBOUR = frozenset(
    listed("mar jan jun ago dic dec ene abr sep sept oct nov feb")
)


@functools.cache
def months() -> dict[str, int]:
    """Map the names of months, in small letters, to their numbers."""
    return {w: n for n, ws in enumerate(_MONTHS, start=1) for w in ws.split()}


@functools.cache
def weekdays() -> dict[str, int]:
    """Map the days of the week, in small letters, to their numbers."""
    table = {w: n for n, ws in enumerate(_WEEKDAYS, start=1) for w in ws.split()}
    plural = {f"{w}s": n for w, n in table.items() if not w.endswith("s")}
    return {**plural, **table, "sábados": 6, "domingos": 7}


_NUMERIC = re.compile(
    r"(?<![\d.,/-])(?:"
    r"(?P<y>[12]\d{3})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})|"
    r"(?P<a>\d{1,2})(?P<t>[-/.])\x20?(?P<b>\d{1,2})(?P=t)\x20?(?P<z>[12]\d{3}|\d\d)|"
    r"(?P<u>[12]\d{3})-(?P<v>0[1-9]|1[0-2])|"
    r"(?P<w>0?[1-9]|1[0-2])/(?P<x>[12]\d{3})|"
    r"(?P<p>\d{1,2})\.\x20?(?P<q>\d{1,2})\.(?!\d)|"
    r"(?P<e>\d{1,2})/(?P<f>\d{1,2})"
    r")(?![\d/-]|[.,]\d)(?=\D|$)"
)

# Bounded: no run of digits is looked at from each of its digits.
_CHAIN = re.compile(r"\d{1,4}(?:[-/.]\x20?\d{1,4})++\.?")

_IDEOGRAPHIC = re.compile(
    r"(?:(?P<y>(?<!\d)[12]\d{3}|[〇零一二三四五六七八九]{4})\s?年度?)?\s?"
    r"(?:(?P<m>(?<!\d)\d{1,2}|[一二三四五六七八九十]{1,2})\s?月(?:份)?"
    r"(?:\s?(?P<d>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号])?|"
    r"第?(?P<q>[1-4一二三四])\s?季度)?"
)
_IDEOGRAPHIC_SIGN = re.compile(r"[年月]|季度")

_HALF = r"(?P<half{0}>[ap])\.?m\b\.?"
_CLOCK = r"\s?h\b(?!/)|\s?Uhr|\s?o['\u2019]clock"
_TIME = re.compile(
    r"(?P<h>[01]?\d(?!\d)|2[0-4])(?:"
    r"(?::|\s?h\s?)(?P<m>[0-5]\d)(?!\d|[.:]\d)"
    rf"(?:\s?{_HALF.format('1')}|{_CLOCK})?|"
    r"(?:\.(?P<n>[0-5]\d))?"
    rf"(?:\s?{_HALF.format('2')}|{_CLOCK}))",
    re.IGNORECASE,
)
_HOUR_BEFORE = re.compile(
    r"(?<![\d.,:])([01]?\d|2[0-4])\s?(?:-|–|—|~|to|and|bis|und|à|et|a|y|至|到)\s?$"
)
_GOES_ON = frozenset("0123456789.,:")
_IDEOGRAPHIC_TIME = re.compile(
    r"(?P<part>上午|早上|凌晨|中午|下午|晚上|傍晚)?"
    r"(?P<h>(?<!\d)\d{1,2}|[一二三四五六七八九十两]{1,3})[点时]"
    r"(?:(?P<half>半)|(?P<m>\d{1,2}|[一二三四五六七八九十]{1,3})分)?"
)
_AFTERNOON = frozenset({"下午", "晚上", "傍晚"})

_QUARTER = re.compile(
    r"\b(?:[QT](?P<a>[1-4])|(?P<b>[1-4])(?:\.|st|nd|rd|th|er|e|º)?\s(?:Quartal|quarter|"
    r"trimestre)|(?P<c>[^\W\d_]{4,12})\s(?:Quartals?|quarter|trimestre))\b"
    r"(?:\s?(?:/|of|de|del|des Jahres)?\s?(?P<y>[12]\d{3}))?",
    re.IGNORECASE,
)
_QUARTER_SIGNS = frozenset({"q", "t", "quartal", "quartals", "quarter", "trimestre"})

_DAY_BEFORE = re.compile(
    r"(?:(?P<day>(?<![\d.,])\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?|(?P<word>[^\W\d_]+))"
    r"\s?(?:(?:day )?of |de |-)?$"
)
_RANGE_BEFORE = re.compile(
    r"(?<![\d.,])(\d{1,2})(?:st|nd|rd|th|er|\.)?\s?"
    r"(?:-|–|—|to|and|bis|und|au|et|al|y|until|through)\s?$"
)
_AFTER = re.compile(
    r"\.?,?\s?(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d))?"
    r"(?P<gap>,?\s?(?:de |del |of |en )?)(?P<year>[12]\d{3})?(?![\d%])"
)
_LONGEST_DAY = 24
"""Characters that may stand between a day and its month, with the day."""


def moments(source: Source) -> list[Moment]:
    """Give the dates of a text, in no order."""
    text, lower, words = source.text, source.lower, source.words
    found: list[Moment] = []
    if any(map(str.isdecimal, text)):
        found.extend(_numeric(text))
        found.extend(_times(text))
    if not months().keys().isdisjoint(words):
        found.extend(_named(text, lower, words))
    if not _QUARTER_SIGNS.isdisjoint(words):
        found.extend(_quarters(text))
    if not text.isascii():
        found.extend(_ideographic(text))
    if days := weekdays().keys() & words:
        found.extend(
            Moment(m.start(), m.end(), ((WEEKDAY, weekdays()[m[0]], 0),))
            for m in _one_of(days).finditer(lower)
        )
    return found


def _numeric(text: str) -> list[Moment]:
    found = []
    for match in _spans(text):
        dates = tuple(date for date in _readings(match) if _is_date(date))
        if dates:
            is_unsure = not dates[0][0] or match["u"] is not None
            found.append(Moment(match.start(), match.end(), dates, is_unsure))
    return found


def _spans(text: str) -> Iterator[re.Match[str]]:
    for chain in _CHAIN.finditer(text):
        # A little beyond: what follows decides whether it is a date.
        yield from _NUMERIC.finditer(text, chain.start(), chain.end() + 2)


def _readings(match: re.Match[str]) -> list[Date]:
    if match["y"]:
        return [(int(match["y"]), int(match["m"]), int(match["d"]))]
    if match["a"]:
        first, second, year = int(match["a"]), int(match["b"]), int(match["z"])
        # Two digits: 1970 to 2069, as POSIX reads them.
        year += 0 if year > 99 else 2000 if year < 69 else 1900
        return [
            (year, second, first),
            *([(year, first, second)] if match["t"] != "." else []),
        ]
    if match["u"]:
        return [(int(match["u"]), int(match["v"]), 0)]
    if match["w"]:
        return [(int(match["x"]), int(match["w"]), 0)]
    if match["p"]:
        return [(0, int(match["q"]), int(match["p"]))]
    first, second = int(match["e"]), int(match["f"])
    return [(0, second, first), (0, first, second)]


def _is_date(date: Date) -> bool:
    return 1 <= date[1] <= 12 and date[2] <= 31


def _times(text: str) -> list[Moment]:
    found = []
    for match in _TIME.finditer(text):
        if text[match.start() - 1 : match.start()] in _GOES_ON:
            continue
        half = (match["half1"] or match["half2"] or "").lower()
        minute = int(match["m"] or match["n"] or 0)
        time = (CLOCK, _hour(int(match["h"]), half), minute)
        is_unsure = "h" in match[0].lower()  # 24 h
        found.append(Moment(match.start(), match.end(), (time,), is_unsure))
        # In `6 to 23 Uhr` both are hours.
        start = max(0, match.start() - 12)
        if head := _HOUR_BEFORE.search(text[start : match.start()]):
            time = (CLOCK, _hour(int(head[1]), half), 0)
            found.append(Moment(start + head.start(), match.start(), (time,)))
    return found


def _hour(hour: int, half: str) -> int:
    if half == "a" and hour == 12:
        return 0
    return hour + 12 if half == "p" and hour < 12 else hour


def _named(text: str, lower: str, words: frozenset[str]) -> list[Moment]:
    found = []
    for match in _one_of(months().keys() & words).finditer(lower):
        name = match[0]
        start, end = match.span()
        month = months()[name]
        before = _DAY_BEFORE.search(lower[max(0, start - _LONGEST_DAY) : start])
        day = _day(before, in_words=name not in _NEEDS_NEIGHBOUR)
        after = _AFTER.match(lower, end)
        year = 0
        if after is not None and (after["day"] or after["year"]):
            if after["day"] and not day and int(after["day"]) <= 31:
                day, end = int(after["day"]), after.end("day")
            if after["year"] and (after["gap"] or not after["day"]):
                year, end = int(after["year"]), after.end("year")
        # In small letters "Annex 3 may be changed" is no date.
        if name == "may" and not year and text[start].islower():
            continue
        if not (day or year) and not _is_month(name, text, start):
            continue
        if day and before is not None and _day(before, in_words=True) == day:
            start -= len(before[0])
        found.append(Moment(start, end, ((year, month, day),)))
        if day and (head := _RANGE_BEFORE.search(lower[max(0, start - 12) : start])):
            first = int(head[1])
            if first <= 31:
                span = start - len(head[0])
                found.append(Moment(span, start, ((year, month, first),)))
    return found


def _one_of(words: Iterable[str]) -> re.Pattern[str]:
    return _compiled(tuple(sorted(words, key=len, reverse=True)))


@functools.lru_cache(maxsize=512)
def _compiled(words: tuple[str, ...]) -> re.Pattern[str]:
    # The alternatives stand first, so that their initials are searched for.
    names = "|".join(rf"{word}(?<![^\W\d_]{word})" for word in words)
    return re.compile(rf"(?:{names})(?![^\W\d_])")


def _day(before: re.Match[str] | None, *, in_words: bool) -> int:
    if before is None:
        return 0
    if before["day"]:
        day = int(before["day"])
        return day if 1 <= day <= 31 else 0
    if not in_words:
        return 0
    numeral = numerals.vocabulary(None).get(before["word"]) or _ORDINALS.get(
        before["word"]
    )
    is_day = numeral is not None and numeral.role in {"ordinal", "cardinal"}
    return numeral.value if numeral is not None and is_day else 0


_ORDINALS = {
    word: numerals.Numeral(value, "ordinal", "")
    for word, value in {
        "first": 1,
        "second": 2,
        "premier": 1,
        "primero": 1,
        "primer": 1,
        "segundo": 2,
        "tercer": 3,
        "cuarto": 4,
    }.items()
}


def _is_month(name: str, text: str, start: int) -> bool:
    """Say whether a name is a month with neither a day nor a year beside it."""
    if name in _NEEDS_NEIGHBOUR:
        return False
    if name not in {"may", "march"}:
        return name not in _UNSURE
    before = text[max(0, start - _LONGEST_PREPOSITION) : start]
    return text[start].isupper() and _PREPOSITION.search(before) is not None


_PREPOSITION = re.compile(
    r"\b(?:in|of|since|until|by|from|before|after|during|each|every|late|early|to) $"
)
_LONGEST_PREPOSITION = 8


def _quarters(text: str) -> list[Moment]:
    found = []
    for match in _QUARTER.finditer(text):
        word = (match["c"] or "").lower()
        digit = match["a"] or match["b"]
        numeral = _ORDINALS.get(word) or numerals.vocabulary(None).get(word)
        if digit is None and word in {"erste", "ersten", "erstes", "primer"}:
            number = 1
        elif digit is None:
            if numeral is None or numeral.role != "ordinal" or numeral.value > 4:
                continue
            number = numeral.value
        else:
            number = int(digit)
        year = int(match["y"] or 0)
        found.append(Moment(match.start(), match.end(), ((year, QUARTER + number, 0),)))
    return found


def _ideographic(text: str) -> list[Moment]:
    found = []
    if _IDEOGRAPHIC_SIGN.search(text):
        for match in _IDEOGRAPHIC.finditer(text):
            year = _number(match["y"])
            quarter = _number(match["q"])
            month = QUARTER + quarter if quarter else _number(match["m"])
            date = (year, month, _number(match["d"]))
            if year or month:
                found.append(Moment(match.start(), match.end(), (date,)))
    for match in _IDEOGRAPHIC_TIME.finditer(text):
        half = "p" if match["part"] in _AFTERNOON else ""
        minute = 30 if match["half"] else _number(match["m"])
        time = (CLOCK, _hour(_number(match["h"]), half), minute)
        found.append(Moment(match.start(), match.end(), (time,)))
    for match in _IDEOGRAPHIC_WEEKDAY.finditer(text):
        number = "一二三四五六日".replace("天", "日").index(
            match[1].replace("天", "日")
        )
        found.append(Moment(match.start(), match.end(), ((WEEKDAY, number + 1, 0),)))
    return found


def _number(signs: str | None) -> int:
    if not signs:
        return 0
    if signs.isdecimal():
        return int(signs)
    return numerals.ideographic(signs) or 0
