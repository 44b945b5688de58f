"""Write numbers as Word's lists do: letters, Roman, ordinals, counting words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from situate.readers.roman import roman

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Word repeats letters (z, aa, bb) up to 780, which is 30 of each.
_MOST_REPEATS: Final = 30

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"  # without ё, й, ъ, ы, ь, as Word counts

_ONES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}

_HAN = "〇一二三四五六七八九"
_CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_CHICAGO = "*†‡§"


def numeral(value: int, form: str) -> str:
    """Write a number in one of Word's forms; in an unknown one as decimal."""
    write = _FORMS.get(form)
    return write(value) if write is not None and value >= 0 else str(value)


def _letters(alphabet: str, value: int) -> str:
    turn, place = divmod(value - 1, len(alphabet))
    if value < 1 or turn >= _MOST_REPEATS:
        return str(value)
    return alphabet[place] * (turn + 1)


def _ordinal(value: int) -> str:
    if value % 100 in {11, 12, 13}:
        return f"{value}th"
    return f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(value % 10, 'th') }"


def _cardinal(value: int) -> str:
    if value >= 100:
        return str(value)
    tens, ones = divmod(value, 10)
    if tens < 2:
        return _ONES[value]
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def _ordinal_word(value: int) -> str:
    if value >= 100:
        return _ordinal(value)
    front, hyphen, last = _cardinal(value).rpartition("-")
    if last.endswith("y"):
        return f"{front}{hyphen}{last[:-1]}ieth"
    return f"{front}{hyphen}{_ORDINALS.get(last, f'{last}th')}"


def _han(value: int) -> str:
    if value >= 100:
        return "".join(_HAN[int(digit)] for digit in str(value))
    tens, ones = divmod(value, 10)
    if tens == 0:
        return _HAN[ones]
    return ("" if tens == 1 else _HAN[tens]) + "十" + (_HAN[ones] if ones else "")


def _circled(value: int) -> str:
    return _CIRCLED[value] if value < len(_CIRCLED) else str(value)


_FORMS: Mapping[str, Callable[[int], str]] = {
    "decimalZero": lambda value: f"{value:02}",
    "lowerLetter": lambda value: _letters(_LATIN, value),
    "upperLetter": lambda value: _letters(_LATIN.upper(), value),
    "lowerRoman": roman,
    "upperRoman": lambda value: roman(value).upper(),
    "ordinal": _ordinal,
    "cardinalText": lambda value: _cardinal(value).capitalize(),
    "ordinalText": lambda value: _ordinal_word(value).capitalize(),
    "hex": lambda value: f"{value:X}",
    "chicago": lambda value: _letters(_CHICAGO, value),
    "numberInDash": lambda value: f"- {value} -",
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedParen": lambda value: f"({value})",
    "russianLower": lambda value: _letters(_RUSSIAN, value),
    "russianUpper": lambda value: _letters(_RUSSIAN.upper(), value),
    "chineseCounting": _han,
    "chineseCountingThousand": _han,
    "taiwaneseCounting": _han,
    "taiwaneseCountingThousand": _han,
    "japaneseCounting": _han,
    "ideographDigital": _han,
}
