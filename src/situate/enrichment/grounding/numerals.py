"""Reads numbers written in words, ideographs and Roman letters.

Words that are numbers in one language and something else in another (`once`,
`cent`, `elf`) count only where that language is spoken. `one` and its like are
articles and pronouns: they count before a unit alone.
"""

from __future__ import annotations

import functools
import re
from typing import Final, Literal, NamedTuple, TypeAlias

from situate.enrichment.grounding.forms import listed

Role: TypeAlias = Literal[
    "cardinal", "ordinal", "one", "article", "fraction", "loose", "part"
]
"""`article`: says one without counting; `loose`: ideographs that count nothing;
`part`: of digits with blanks between."""


class Numeral(NamedTuple):
    """A word that is a number; a tuple because thousands are looked up."""

    value: int
    role: Role
    language: str
    unit: tuple[str, ...] = ()
    """Of adjectives that carry it: `zweiwöchig`."""


_EN = {
    word: value
    for value, word in enumerate(
        listed(
            "two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen"
        ),
        start=2,
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(
        listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
_EN |= {"hundred": 100, "thousand": 1000, "million": 10**6, "dozen": 12}

_EN_ORDINALS = {
    word: value
    for value, word in enumerate(
        listed(
            "second third fourth fifth sixth seventh eighth ninth tenth eleventh "
            "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth "
            "nineteenth twentieth"
        ),
        start=2,
    )
} | {"thirtieth": 30, "first": 1}

_DE_UNITS = listed("ein zwei drei vier fünf sechs sieben acht neun")
_DE_TEENS = listed(
    "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"
)
_DE_TENS = listed("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
_DE_ORDINALS = listed(
    "zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte "
    "zwölfte dreizehnte vierzehnte fünfzehnte sechzehnte siebzehnte achtzehnte "
    "neunzehnte"
)
_DE_ADJECTIVES = {
    "tägig": "day", "wöchig": "week", "monatig": "month", "jährig": "year",
    "stündig": "h", "minütig": "min",
}  # fmt: skip
_DE_ENDINGS = ("", "e", "en", "er", "es", "em")

_FR = {
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8,
    "neuf": 9, "dix": 10, "onze": 11, "douze": 12, "treize": 13, "quatorze": 14,
    "quinze": 15, "seize": 16, "vingt": 20, "vingts": 20, "trente": 30,
    "quarante": 40, "cinquante": 50, "soixante": 60, "septante": 70, "huitante": 80,
    "nonante": 90, "cent": 100, "cents": 100, "mille": 1000,
}  # fmt: skip
_FR_ORDINALS = {
    "premier": 1, "première": 1, "deuxième": 2, "troisième": 3, "quatrième": 4,
    "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8, "neuvième": 9,
    "dixième": 10, "douzième": 12, "quinzième": 15, "vingtième": 20, "trentième": 30,
}  # fmt: skip

_ES = {
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8,
    "nueve": 9, "diez": 10, "once": 11, "doce": 12, "trece": 13, "catorce": 14,
    "quince": 15, "dieciséis": 16, "diecisiete": 17, "dieciocho": 18,
    "diecinueve": 19, "veinte": 20, "veintiún": 21, "veintiuno": 21, "veintiuna": 21,
    "veintidós": 22, "veintitrés": 23, "veinticuatro": 24, "veinticinco": 25,
    "veintiséis": 26, "veintisiete": 27, "veintiocho": 28, "veintinueve": 29,
    "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70,
    "ochenta": 80, "noventa": 90, "cien": 100, "ciento": 100, "mil": 1000,
    "doscientos": 200, "doscientas": 200, "trescientos": 300, "trescientas": 300,
    "cuatrocientos": 400, "cuatrocientas": 400, "quinientos": 500,
    "quinientas": 500, "seiscientos": 600, "setecientos": 700, "ochocientos": 800,
    "novecientos": 900,
}  # fmt: skip
_ES_ORDINALS = {
    "primero": 1, "primera": 1, "primer": 1, "segundo": 2, "segunda": 2,
    "tercera": 3, "tercer": 3, "cuarta": 4, "quinto": 5, "quinta": 5, "sexto": 6,
    "sexta": 6, "séptimo": 7, "octavo": 8, "noveno": 9, "décimo": 10,
}  # fmt: skip

_ONES = {
    "en": "one", "de": "ein eine einen", "fr": "un une", "es": "un una",
}  # fmt: skip
_ARTICLES = {
    "en": "a an per each every", "de": "pro je jede jeden jedes", "fr": "par chaque",
    "es": "por cada al",
}  # fmt: skip
"""Say one of a unit, though nobody who writes them counts."""

_FRACTIONS = {
    "en": {"half": 2, "halves": 2},
    "de": {"hälfte": 2, "drittel": 3, "viertel": 4, "fünftel": 5, "zehntel": 10},
    "fr": {"moitié": 2, "quarts": 4},
    "es": {"mitad": 2, "tercio": 3, "tercios": 3, "cuartos": 4},
}
_PART_NAMES = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4,
    "fifth": 5, "fifths": 5, "tenth": 10, "tenths": 10, "hälfte": 2, "drittel": 3,
    "drittels": 3, "dritteln": 3, "viertel": 4, "vierteln": 4, "fünftel": 5,
    "sechstel": 6, "achtel": 8, "zwölftel": 12,
    "zehntel": 10, "moitié": 2, "tiers": 3, "quart": 4, "quarts": 4, "cinquième": 5,
    "cinquièmes": 5, "mitad": 2, "tercio": 3, "tercios": 3, "cuarto": 4, "cuartos": 4,
    "quinto": 5, "quintos": 5,
}  # fmt: skip
"""Below a count these are parts: `two thirds`."""

_OTHERWISE = frozenset(
    {"once", "elf", "dos", "cent", "cents", "seize", "sept", "neuf", "mil", "quince",
     "mille", "six", "second", "first", "segundo", "segunda", "acht", "sexta",
     "quinta", "quinto", "sexto", "octavo", "premier", "ein", "un", "une", "a",
     "al", "par", "por", "je", "pro", "dozen", "die", "one", "each", "an", "per",
     "cien", "tercer", "primer", "primera", "primero"}
)  # fmt: skip
"""Words that are something else in another language."""

LANGUAGES: Final = ("en", "de", "fr", "es")


def _german_below_hundred() -> dict[str, int]:
    words = dict(zip([*_DE_UNITS[1:], *_DE_TEENS], range(2, 20), strict=True))
    for tens, ten in enumerate(_DE_TENS, start=2):
        words[ten] = 10 * tens
        for value, unit in enumerate(_DE_UNITS, start=1):
            words[f"{unit}und{ten}"] = 10 * tens + value
    return words


def _german_cardinals(below: dict[str, int]) -> dict[str, int]:
    """Write numbers in one word: zweihundertfünfzig, dreitausend."""
    words = dict(below)
    for hundreds, unit in enumerate(["", *_DE_UNITS]):
        head, value = f"{unit}hundert", 100 * max(1, hundreds)
        words[head] = value
        for word, more in (("eins", 1), *below.items()):
            words[head + word] = value + more
    for word, value in (("", 1), ("ein", 1), *below.items()):
        words[f"{word}tausend"] = 1000 * value
    return words


def _german_adjectives(below: dict[str, int]) -> dict[str, Numeral]:
    """Write numbers with a unit or a noun in one word: zweiwöchig, dreiteilig."""
    table = {
        f"{word}{stem}{ending}": Numeral(value, "cardinal", "de", (unit,))
        for word, value in (("ein", 1), *below.items())
        for stem, unit in _DE_ADJECTIVES.items()
        for ending in _DE_ENDINGS
    }
    # Twice and double are no numbers.
    table |= {
        word + ending: Numeral(value, "cardinal", "de")
        for word, value in below.items()
        if value > 2
        for ending in ("mal", "fach", "fache", "fachen", "teilig", "stufig")
    }
    return table


def _german_ordinals() -> dict[str, Numeral]:
    values = {"erste": 1} | {w: n for n, w in enumerate(_DE_ORDINALS, start=2)}
    values |= {f"{ten}ste": 10 * tens for tens, ten in enumerate(_DE_TENS, start=2)}
    return {
        word + ending: Numeral(value, "ordinal", "de")
        for word, value in values.items()
        for ending in ("", "n", "r", "s", "m")
        if word + ending not in {"achte", "achten"}  # Forms of a verb.
    }


def _german() -> dict[str, Numeral]:
    below = _german_below_hundred()
    cardinals = _german_cardinals(below)
    return (
        {word: Numeral(value, "cardinal", "de") for word, value in cardinals.items()}
        | _german_adjectives(below)
        | _german_ordinals()
    )


@functools.cache
def _by_language() -> dict[str, dict[str, Numeral]]:
    """Give the words of every language; an unambiguous one counts everywhere."""
    tables: dict[str, dict[str, Numeral]] = {"de": _german()}
    for code, cardinals, ordinals in (
        ("en", _EN, _EN_ORDINALS),
        ("fr", _FR, _FR_ORDINALS),
        ("es", _ES, _ES_ORDINALS),
    ):
        table = {w: Numeral(v, "cardinal", code) for w, v in cardinals.items()}
        table |= {w: Numeral(v, "ordinal", code) for w, v in ordinals.items()}
        tables[code] = table
    for code in LANGUAGES:
        table = tables[code]
        table |= {w: Numeral(1, "one", code) for w in _ONES[code].split()}
        table |= {w: Numeral(v, "fraction", code) for w, v in _FRACTIONS[code].items()}
    return tables


@functools.cache
def vocabulary(language: str | None) -> dict[str, Numeral]:
    """Give the number words that count in a text of one language."""
    shared: dict[str, Numeral] = {}
    for table in _by_language().values():
        shared |= {w: n for w, n in table.items() if w not in _OTHERWISE}
    return shared | _by_language().get(language or "", {})


@functools.cache
def with_articles(language: str | None) -> dict[str, Numeral]:
    """Give the number words and those that say one of a unit without counting."""
    code = language or ""
    words = _ARTICLES.get(code, "").split()
    return {w: Numeral(1, "article", code) for w in words} | vocabulary(language)


def parts_of(word: str) -> int | None:
    """Say into how many parts a word divides, None for other words."""
    return _PART_NAMES.get(word)


def room_after(value: int) -> int:
    """Give what a number word leaves open for the next: twenty four, not five four."""
    if value < 20 or value % 10:
        return 1
    if value in {60, 80}:  # soixante-dix, quatre-vingt-dix
        return 20
    return 10 if value < 100 else 100 if value < 1000 else 1000


_DIGITS = {d: i for i, d in enumerate("零一二三四五六七八九")} | {"\u3007": 0, "两": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8}

IDEOGRAPHIC = re.compile("[\u3007零一二两三四五六七八九十百千万亿]++")
_LONGEST_IDEOGRAPHIC: Final = 24
"""Signs; longer runs are no numbers."""


def ideographic(signs: str) -> int | None:
    """Read a number in ideographs, in places (二十四) or digits (二〇二四)."""
    if len(signs) > _LONGEST_IDEOGRAPHIC or signs in {
        "千万",
        "万一",
        "万",
        "亿",
        "千",
        "百",
    }:
        return None
    if not any(sign in _PLACES or sign in _MYRIADS for sign in signs):
        return int("".join(str(_DIGITS[sign]) for sign in signs))
    total = section = digit = 0
    for sign in signs:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif sign in _PLACES:
            section += (digit or 1) * _PLACES[sign]
            digit = 0
        else:
            total += (section + digit or 1) * _MYRIADS[sign]
            section = digit = 0
    return total + section + digit


_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_WORTH = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

_NUMBERED = frozenset(
    listed(
        "article part chapter section annex appendix title volume phase stage tier "
        "level book schedule class type grade artikel teil kapitel abschnitt anhang "
        "anlage band stufe phase klasse titel partie chapitre annexe titre livre "
        "tome classe parte capítulo anexo título sección clase fase"
    )
)
"""What Roman numerals count."""
_LAST_WORD = re.compile(r"([^\W\d_]+)\s$")
_LONGEST_NUMBERED: Final = 12
"""Characters of one of these and a blank."""


def roman_at(text: str, start: int, end: int) -> int | None:
    """Read a Roman numeral where it counts: `Part II`, `XIV`; not `CD` or `I`."""
    letters = text[start:end]
    if not _ROMAN.fullmatch(letters):
        return None
    alone = len(letters) > 1 and set(letters) <= set("IVX")
    if not alone:
        before = _LAST_WORD.search(text[max(0, start - _LONGEST_NUMBERED) : start])
        if before is None or before[1].lower() not in _NUMBERED:
            return None
    worth = [_ROMAN_WORTH[letter] for letter in letters]
    return sum(
        -value if value < following else value
        for value, following in zip(worth, [*worth[1:], 0], strict=True)
    )
