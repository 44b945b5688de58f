"""Finds the numbers of a text, with the units they have.

What is found in a statement and what is found in a document come from the same
code, so that a form neither of them is read in accuses nobody.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from situate.enrichment.grounding import numerals, units
from situate.enrichment.grounding.forms import WORD, plain, readings, times

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.enrichment.grounding.forms import Source


class Mention(NamedTuple):
    """One number; a tuple because a document has thousands."""

    start: int
    end: int
    """Of the number and its unit."""
    values: tuple[str, ...]
    """Plain decimals, one for every way it may be read."""
    units: tuple[str, ...] = ()
    """All it may have; none where no known one stands beside it."""
    role: numerals.Role = "cardinal"
    digits: str = ""
    """As they stand there, where it is written in digits."""


_DIGITS = re.compile(r"\d++(?:[.,'\u2019]\d++|\x20\d{3}(?!\d))*+")
_DIGITS_THEN_GROUPS = re.compile(r"\d{1,3}(?:\x20\d{3})+(?:[.,]\d+)?")

_SERIES = re.compile(r"\d{1,6}(?:,\d{1,6})*,\d{4,6}")
"""Numbers with commas and no blanks between: no decimal is written like this."""

_FRACTION = re.compile(r"(\d{1,2})[/\u2044](\d{1,2})(?![\d/])")
_VULGAR = {"½": "0.5", "¼": "0.25", "¾": "0.75", "⅓": "1/3", "⅔": "2/3", "⅛": "0.125"}
_VULGAR_SIGN = re.compile(r"[½¼¾⅓⅔⅛]")
_WHOLE = re.compile(r"(\d+)\s?$")

_ORDINAL_END = re.compile(r"(?:st|nd|rd|th|er|ère|ème|e|º|ª)(?![^\W\d_])")

_JOINING = re.compile(
    r"\s?(?:-|–|—|~|to|and|or|bis|und|oder|à|a|et|ou|y|o|u|/|至|到|或|和|,)\s?"
)
_LONGEST_JOINING = 6
"""Characters between two numbers of a range that share a unit."""


def mentions(
    source: Source, vocabulary: Mapping[str, numerals.Numeral]
) -> list[Mention]:
    """Give the numbers of a text in their order, words as `vocabulary` has them."""
    text = source.text
    found = _in_digits(text)
    if not vocabulary.keys().isdisjoint(source.words):
        found.extend(_in_words(source, vocabulary))
    if not text.isascii():
        found.extend(_in_signs(text))
    found.sort(key=_place)
    return _sharing(text, found)


def _place(mention: Mention) -> tuple[int, int]:
    # The longest first: one third, then its one.
    return mention.start, -mention.end


def _in_digits(text: str) -> list[Mention]:
    found = []
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        digits = match[0]
        if _is_inside(text, start, end):
            continue
        if " " in digits and not _DIGITS_THEN_GROUPS.fullmatch(digits):
            found.extend(_apart(text, start, digits))
            continue
        if _SERIES.fullmatch(digits):
            found.extend(_apart(text, start, digits, between=","))
            continue
        found.append(_written(text, start, digits))
        if " " in digits:
            # Two columns of a table, or a thousand and more.
            found.extend(_apart(text, start, digits, last=found[-1].units))
    if "/" in text:
        found.extend(_fractions(text))
    return found


def _written(text: str, start: int, digits: str) -> Mention:
    """Read one number with what stands around it."""
    end = start + len(digits)
    values = readings(digits)
    unit, stop, multiple = units.unit_at(text, end)
    if multiple > 1:
        values = tuple(times(value, multiple) for value in values)
    elif not unit:
        ending = _ORDINAL_END.match(text, end)
        if ending is not None:
            return Mention(start, ending.end(), values, (), "ordinal", digits)
        stop = end
    if start and not unit:
        unit = units.unit_before(text, start)
    return Mention(start, stop, values, unit, "cardinal", digits)


def _is_inside(text: str, start: int, end: int) -> bool:
    """Say whether digits stand between Latin letters: e2e, encoded data."""
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return len(around) == 2 and around.isascii() and around.isalpha()


def _apart(
    text: str,
    start: int,
    digits: str,
    last: tuple[str, ...] = (),
    between: str = " ",
) -> list[Mention]:
    """Read digits with blanks or commas between them as numbers of their own."""
    found = []
    for part in digits.split(between):
        end = start + len(part)
        unit = units.unit_at(text, end)[0] if text[end : end + 2].strip() else ()
        found.append(Mention(start, end, readings(part), unit or last, "part", part))
        start = end + 1
    return found


def _fractions(text: str) -> list[Mention]:
    return [
        Mention(match.start(), match.end(), (value,), role="fraction")
        for match in _FRACTION.finditer(text)
        if (value := fraction(int(match[1]), int(match[2]))) is not None
    ]


def fraction(parts: int, of: int) -> str | None:
    """Write a fraction below one as a decimal where it has a short one."""
    if not 0 < parts < of:
        return None
    if (1000 * parts) % of == 0:
        return plain("0", str(1000 * parts // of).rjust(3, "0"))
    return f"{parts}/{of}"


def _in_words(
    source: Source, vocabulary: Mapping[str, numerals.Numeral]
) -> list[Mention]:
    """Read number words; neighbours make one number where they can."""
    text, lower = source.text, source.lower
    found: list[Mention] = []
    built: _Built | None = None
    for match in WORD.finditer(lower):
        numeral = vocabulary.get(match[0])
        if built is not None:
            if numeral is None and built.may_hold(match[0]):
                continue
            between = lower[built.end : match.start()]
            # Between one hundred and two hundred: two numbers.
            is_next = between == " and " and lower.startswith(_LARGER, match.end())
            if numeral and not is_next and built.takes(numeral, between, match.end()):
                continue
            part = numerals.parts_of(match[0]) if between in {" ", "-"} else None
            written = None if part is None else fraction(built.value, part)
            if written is not None:
                end = match.end()
                found.append(Mention(built.start, end, (written,), role="fraction"))
                built = None
                continue
            found.append(_word(text, built))
            built = None
        if numeral is None:
            continue
        if numeral.role == "cardinal" and not numeral.unit:
            built = _Built(match.start(), match.end(), numeral.value)
        elif (mention := _special(text, match, numeral)) is not None:
            found.append(mention)
    if built is not None:
        found.append(_word(text, built))
    return found


class _Built:
    """A number that is put together from its words."""

    def __init__(self, start: int, end: int, value: int) -> None:
        self.start = start
        self.end = end
        self._total = 0
        self._section = 0
        self._room = 0
        self._add(value)

    @property
    def value(self) -> int:
        """What the words say so far."""
        return self._total + self._section

    def may_hold(self, word: str) -> bool:
        """Say whether a word may stand inside: twenty *and* four."""
        section = self._section
        if word == "and":
            return section >= 100 and section % 100 == 0
        if word == "y":
            return 30 <= section % 100 <= 90 and section % 10 == 0
        return word == "et" and section % 10 == 0 and 20 <= section % 100 <= 70

    def takes(self, numeral: numerals.Numeral, between: str, end: int) -> bool:
        """Take one more word if it goes on with the number."""
        value = numeral.value
        is_one = numeral.role == "one" and between in {" et ", "-et-", " y "}
        if numeral.unit or not (numeral.role == "cardinal" or is_one):
            return False
        if between not in _WITHIN or not self._fits(value):
            return False
        self._add(value)
        self.end = end
        return True

    def _fits(self, value: int) -> bool:
        if value >= 1000:
            return self._total == 0 and 0 < self._section < 1000
        if value == 100:
            return 0 < self._section < 100
        if value < self._room or (value == 20 and self._section % 100 == 4):
            return True
        # dix-sept, soixante-dix-huit
        return 7 <= value <= 9 and self._section % 100 in {10, 70, 90}

    def _add(self, value: int) -> None:
        if value >= 1000:
            self._total += max(1, self._section) * value
            self._section, self._room = 0, 1000
        elif value == 100:
            self._section, self._room = max(1, self._section) * 100, 100
        elif value == 20 and self._section % 100 == 4:  # quatre-vingt
            self._section, self._room = self._section + 76, 20
        else:
            self._section += value
            self._room = numerals.room_after(value)


_LARGER = (" hundred", " thousand", " million", "-hundred", "-thousand")

_WITHIN = frozenset({" ", "-", " and ", " y ", " et ", "-et-"})
"""What may stand between the words of one number."""


def _word(text: str, built: _Built) -> Mention:
    unit, stop, multiple = units.unit_at(text, built.end)
    end = stop if unit or multiple > 1 else built.end
    if not unit and text[built.start : end].lower() == "neuf":  # Also: new.
        return Mention(built.start, end, (str(built.value),), role="loose")
    return Mention(built.start, end, (str(built.value * multiple),), unit)


def _special(
    text: str, match: re.Match[str], numeral: numerals.Numeral
) -> Mention | None:
    """Read a word that stands alone: ordinals, fractions, articles of a unit."""
    start, end = match.span()
    if numeral.unit:
        return Mention(start, end, (str(numeral.value),), numeral.unit)
    if numeral.role == "fraction":
        written = fraction(1, numeral.value)
        if written is None or _OF.match(text, end) is None:
            return None
        return Mention(start, end, (written,), role="fraction")
    if numeral.role in {"one", "article"}:
        return _one_of(text, match, numeral.role)
    is_party = text.startswith("Dritt", start) or _PARTY.match(text, end)
    if numeral.value < 2 or is_party:
        return None
    return Mention(start, end, (str(numeral.value),), (), "ordinal")


def _one_of(text: str, match: re.Match[str], role: numerals.Role) -> Mention | None:
    """Read one of a unit, or one part of something: a month, a third."""
    unit, stop, _ = units.unit_at(text, match.end())
    if unit:
        return Mention(match.start(), stop, ("1",), unit, role)
    following = WORD.match(text, match.end() + 1)
    part = numerals.parts_of(following[0].lower()) if following else None
    written = fraction(1, part) if part else None
    if following is None or written is None:
        return None
    return Mention(match.start(), following.end(), (written,), (), "article")


_OF = re.compile(r" (?:of|de[rs]?|von|du|d['\u2019]|del)\b|(?<=[a-z]) d['\u2019]")

_PARTY = re.compile(
    r"[- ](?:part(?:y|ies)|person|seite|hand|nature|half|persona)", re.IGNORECASE
)
"""After an ordinal that counts nobody: third parties, second hand."""

_MEASURE = re.compile(
    r"\s?(?:[个项种条次名人位份台级章节款页册期轮步类层倍组套件间篇点档批]|分之|以上|以下)"
)


def _in_signs(text: str) -> list[Mention]:
    """Read ideographs and vulgar fractions."""
    found = [
        mention
        for match in numerals.IDEOGRAPHIC.finditer(text)
        if (mention := _ideographic(text, match)) is not None
    ]
    found.extend(_vulgar(text, match) for match in _VULGAR_SIGN.finditer(text))
    found.extend(
        Mention(match.start(), match.end(), readings(match[1]), ("%",))
        for match in _PERCENT.finditer(text)
    )
    return found


_PARTIES = frozenset("方者人")
"""After an ordinal, a third party and not the third of some."""


def _ideographic(text: str, match: re.Match[str]) -> Mention | None:
    start, end = match.span()
    value = numerals.ideographic(match[0])
    if not value or text.endswith("分之", 0, start):
        return None
    if text.startswith("分之", end):
        return _parts(text, match, value)
    if text.endswith("第", 0, start):
        if text[end : end + 1] in _PARTIES:
            return None
        return Mention(start, end, (str(value),), (), "ordinal")
    unit, stop, _ = units.unit_at(text, end)
    role: numerals.Role = "one" if value == 1 else "cardinal"
    if not unit and _MEASURE.match(text, end) is None:
        role = "loose"
    return Mention(start, stop, (str(value),), unit, role)


def _vulgar(text: str, sign: re.Match[str]) -> Mention:
    value = _VULGAR[sign[0]]
    whole = _WHOLE.search(text[max(0, sign.start() - 6) : sign.start()])
    start = sign.start() - (len(whole[0]) if whole else 0)
    if value.startswith("0."):
        value = plain(whole[1] if whole else "0", value[2:])
    unit, stop, _ = units.unit_at(text, sign.end())
    return Mention(start, stop if unit else sign.end(), (value,), unit, "fraction")


_PERCENT = re.compile(r"百分之(\d+(?:[.,]\d+)?)")


def _parts(text: str, match: re.Match[str], of: int) -> Mention | None:
    """Read 三分之二 (two of three) and 百分之十 (ten percent)."""
    following = numerals.IDEOGRAPHIC.match(text, match.end() + 2)
    parts = None if following is None else numerals.ideographic(following[0])
    if following is None or not parts:
        return None
    start, end = match.start(), following.end()
    if of == 100:
        return Mention(start, end, (str(parts),), ("%",))
    written = fraction(parts, of)
    return None if written is None else Mention(start, end, (written,), (), "fraction")


def _is_code(text: str, start: int) -> bool:
    """Say whether digits belong to a name: JT-55, pod1."""
    return text[max(0, start - 2) : start].rstrip("-_")[-1:].isalpha()


def _sharing(text: str, found: list[Mention]) -> list[Mention]:
    """Give the first number of a range the unit of its last: 10 to 20 days."""
    for place in range(len(found) - 2, -1, -1):
        mention, following = found[place], found[place + 1]
        gap = following.start - mention.end
        if (
            not mention.units
            and following.units
            and 0 <= gap <= _LONGEST_JOINING
            and mention.role == "cardinal"
            and not _is_code(text, mention.start)
            and _JOINING.fullmatch(text, mention.end, following.start)
        ):
            found[place] = mention._replace(units=following.units)
    return found
