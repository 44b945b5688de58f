"""The units a number may have, as five languages write them.

A unit is named by its symbol. What several units share (`m` is a metre and a
minute) is all of them: a text is only accused when none fits.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from situate.enrichment.grounding.forms import listed

if TYPE_CHECKING:
    from collections.abc import Collection

# Names in small letters; forms of several words have `_` for the blank.
_NAMES = {
    "ms": "millisecond milliseconds millisekunde millisekunden milliseconde "
    "millisecondes milisegundo milisegundos msec 毫秒",
    "s": "second seconds sec secs sekunde sekunden sek seconde secondes segundo "
    "segundos seg 秒 秒钟",
    "min": "minute minutes min mins minuten minütig minuto minutos mn 分钟",
    "h": "hour hours hr hrs stunde stunden std stündig heure heures hora horas "
    "个小时 小时 个钟头 钟头",
    "day": "day days tag tage tagen tages tägig jour jours journée journées día días "
    "dia dias calendar_day calendar_days kalendertag kalendertage kalendertagen "
    "kalendertages jour_calendaire jours_calendaires jours_civils día_natural "
    "días_naturales días_calendario días_corridos 天 日 自然日 个自然日 日历日 日历天",
    "business day": "business_day business_days working_day working_days work_day "
    "workday workdays arbeitstag arbeitstage arbeitstagen arbeitstages jour_ouvré "
    "jours_ouvrés día_hábil días_hábiles día_laborable días_laborables 工作日 个工作日 "
    "weekday weekdays",
    "Werktag": "werktag werktage werktagen werktages jour_ouvrable jours_ouvrables",
    "bank day": "banking_day banking_days bank_day bank_days trading_day trading_days "
    "bankarbeitstag bankarbeitstage bankarbeitstagen bankgeschäftstage 交易日 个交易日",
    "week": "week weeks wk wks woche wochen wöchig semaine semaines semana semanas "
    "周 星期 个星期 礼拜 个礼拜",
    "month": "month months monat monate monaten monats monates monatig mois mes meses "
    "个月",
    "year": "year years yr yrs jahr jahre jahren jahres jahrs jährig an ans année "
    "années año años 年",
    "decade": "decade decades jahrzehnt jahrzehnte jahrzehnten décennie décennies "
    "década décadas",
    "%": "percent per_cent pct prozent pour_cent por_ciento",
    "pp": "percentage_point percentage_points prozentpunkt prozentpunkte "
    "prozentpunkten 个百分点 百分点",
    "EUR": "euro euros eur 欧元",
    "USD": "dollar dollars usd us_dollar us_dollars us-dollar dólar dólares 美元 美金",
    "GBP": "pound pounds gbp sterling pfund 英镑",
    "CHF": "chf sfr franken francs_suisses swiss_francs 瑞士法郎",
    "CNY": "yuan cny rmb renminbi 元 元人民币 人民币 块",
    "JPY": "yen jpy 日元",
    "cent": "cents cent centimes céntimos 美分",
    "bit": "bit bits",
    "B": "byte bytes octet octets 字节",
    "kB": "kilobyte kilobytes kilooctet kilooctets",
    "MB": "megabyte megabytes megaoctet mégaoctet mégaoctets 兆字节 兆",
    "GB": "gigabyte gigabytes gigaoctet gigaoctets 吉字节",
    "TB": "terabyte terabytes téraoctet téraoctets",
    "KiB": "kibibyte kibibytes",
    "MiB": "mebibyte mebibytes",
    "GiB": "gibibyte gibibytes",
    "TiB": "tebibyte tebibytes",
    "Mbit/s": "mbps megabits_per_second",
    "Gbit/s": "gbps gigabits_per_second",
    "mm": "millimetre millimetres millimeter millimeters millimetern millimètre "
    "millimètres milímetro milímetros 毫米",
    "cm": "centimetre centimetres centimeter centimeters zentimeter zentimetern "
    "centimètre centimètres centímetro centímetros 厘米",
    "m": "metre metres meter meters metern mètre mètres metro metros 米",
    "km": "kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres "
    "kilómetro kilómetros 公里 千米",
    "in": "inch inches zoll pouce pouces pulgada pulgadas 英寸",
    "ft": "foot feet pied pieds pie pies 英尺",
    "mi": "mile miles meile meilen milla millas 英里",
    "km/h": "kph kmh kilometres_per_hour kilometers_per_hour 公里每小时",
    "mph": "mph miles_per_hour",
    "m2": "square_metre square_metres square_meter square_meters quadratmeter "
    "quadratmetern mètres_carrés metros_cuadrados sqm 平方米",
    "m3": "cubic_metre cubic_metres cubic_meter cubic_meters kubikmeter kubikmetern "
    "mètres_cubes metros_cúbicos 立方米",
    "ha": "hectare hectares hektar 公顷",
    "ml": "millilitre millilitres milliliter milliliters millilitern mililitro "
    "mililitros 毫升",
    "l": "litre litres liter liters litern litro litros 升",
    "mg": "milligram milligrams milligramm milligramme milligrammes miligramo "
    "miligramos 毫克",
    "g": "gram grams gramm gramme grammes gramo gramos 克",
    "kg": "kilogram kilograms kilogramm kilo kilos kilogramme kilogrammes kilogramo "
    "kilogramos 公斤 千克",
    "t": "tonne tonnes ton tons tonnen tonelada toneladas 吨",
    "lb": "lb lbs",
    "°C": "celsius degrees_celsius degree_celsius grad_celsius degrés_celsius "
    "grados_celsius 摄氏度",
    "°F": "fahrenheit degrees_fahrenheit grad_fahrenheit 华氏度",
    "W": "watt watts vatios 瓦",
    "kW": "kilowatt kilowatts kilovatios 千瓦",
    "kWh": "kilowattstunde kilowattstunden kilowattheures kilowatt_hours kilowatthours "
    "千瓦时",
    "V": "volt volts voltios 伏",
    "A": "ampere amperes amp amps ampère ampères amperios 安",
    "Hz": "hertz",
    "bar": "bar bars bares",
    "dB": "decibel decibels dezibel décibels decibelios 分贝",
    "rpm": "rpm umdrehungen",
}

_SYMBOLS = {
    "ms": "ms", "µs": "µs", "s": "s", "min": "Min", "h": "h Std H", "day": "d j T",
    "%": "% v.H.", "‰": "‰", "EUR": "€ EUR", "USD": "$ USD US$", "GBP": "£ GBP",
    "CHF": "CHF Fr", "CNY": "CNY RMB", "JPY": "JPY", "¥": "¥", "B": "B", "bit": "bit",
    "kB": "kB KB Ko ko k K", "MB": "MB Mo M Mb", "GB": "GB Go G Gb", "TB": "TB To T",
    "KiB": "KiB Ki", "MiB": "MiB Mi", "GiB": "GiB Gi", "TiB": "TiB Ti",
    "kbit/s": "kbit/s kb/s", "Mbit/s": "Mbit/s Mb/s", "Gbit/s": "Gbit/s Gb/s",
    "MB/s": "MB/s", "GB/s": "GB/s", "mm": "mm", "cm": "cm", "m": "m", "km": "km",
    "km/h": "km/h", "m/s": "m/s", "m2": "m² m2 qm", "m3": "m³ m3", "cm2": "cm²",
    "ml": "ml mL", "l": "l L", "mg": "mg", "g": "g", "kg": "kg", "t": "t",
    "°C": "°C", "°F": "°F", "W": "W", "kW": "kW", "MW": "MW", "kWh": "kWh",
    "MWh": "MWh", "V": "V", "kV": "kV", "mV": "mV", "A": "A", "mA": "mA", "mAh": "mAh",
    "Hz": "Hz", "kHz": "kHz", "MHz": "MHz", "GHz": "GHz", "Pa": "Pa", "hPa": "hPa",
    "kPa": "kPa", "MPa": "MPa", "psi": "psi", "N": "N", "Nm": "Nm", "dB": "dB",
    "px": "px", "dpi": "dpi", "rpm": "rpm", "pt": "pt", "µm": "µm",
}  # fmt: skip

# What one letter may stand for beside its unit.
_SHARED = {"m": ("m", "min", "month"), "M": ("MB", "min"), "T": ("TB", "day")}
_DEGREES: dict[str, tuple[str, ...]] = dict.fromkeys(
    listed("° degree degrees grad degré degrés grado grados 度"), ("°", "°C", "°F")
)
"""Of a scale that is not named, or of an angle."""

_BETWEEN = frozenset(
    listed(
        "full whole clear complete consecutive further additional more calendar "
        "other volle vollen ganze ganzen weitere weiteren zusätzliche zusätzlichen "
        "aufeinanderfolgende aufeinanderfolgenden"
    )
)
"""What may stand between a number and its unit without changing it."""

_MULTIPLES = {
    "hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000, "tsd": 1000,
    "mille": 1000, "mil": 1000, "million": 10**6, "millions": 10**6,
    "millionen": 10**6, "mio": 10**6, "millón": 10**6, "millones": 10**6,
    "billion": 10**9, "milliarde": 10**9, "milliarden": 10**9, "mrd": 10**9,
    "milliard": 10**9, "milliards": 10**9, "bn": 10**9, "mn": 10**6, "m": 10**6,
    "k": 1000,
}  # fmt: skip
_IDEOGRAPHIC_MULTIPLES = {"万": 10**4, "亿": 10**8, "千": 1000, "百": 100}

_AT = re.compile(
    r"[)\]]?[ -]?(?:°\s?[CF]\b|[%‰€$£¥°]|"
    r"(?P<one>[^\W\d_]++(?!['\u2019]\w)(?:[²³]|[23](?!\w))?)(?P<per>/[a-z]+)?"
    r"(?:[ -](?P<two>[^\W\d_]+))?)"
)

_BEFORE = re.compile(r"(?:US\$|[€$£¥]|\b(?:EUR|USD|CHF|GBP|CNY|RMB|JPY|Fr\.)) ?$")
_LONGEST_BEFORE = 5
"""Characters of a currency before its amount."""


@functools.cache
def names() -> dict[str, tuple[str, ...]]:
    """Map every name of a unit, in small letters, to its symbol."""
    table: dict[str, tuple[str, ...]] = {
        form.replace("_", " "): (symbol,)
        for symbol, forms in _NAMES.items()
        for form in forms.split()
    }
    return table | _DEGREES


@functools.cache
def _symbols() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {
        form: (symbol,) for symbol, forms in _SYMBOLS.items() for form in forms.split()
    }
    return table | _SHARED | _DEGREES


@functools.cache
def _ideographic() -> re.Pattern[str]:
    forms = sorted((n for n in names() if n[0] > "\u2e80"), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, forms)))


def unit_at(text: str, start: int) -> tuple[tuple[str, ...], int, int]:
    """Give the unit that stands at a place, where it ends, and a multiple.

    `1.5 million euros` has the unit of euros and the multiple of a million.
    """
    multiple = 1
    if text[start : start + 1] in _IDEOGRAPHIC_MULTIPLES:
        multiple = _IDEOGRAPHIC_MULTIPLES[text[start]]
        start += 1
    found = _AT.match(text, start)
    if found is None:
        return (), start, multiple
    one = found["one"]
    if one is not None and one[0] > "\u2e80":
        return _ideographic_at(text, found.start("one"), multiple)
    glued = found.start("one") == start
    factor = None if one is None else _multiple(one, glued=glued)
    if factor is None:
        return (*_latin(found), 1)
    start = _past_of(text, found.end("one"))
    found = _AT.match(text, start)
    if found is None or (found["one"] or "")[:1] > "\u2e80":
        return (), start, factor
    return (*_latin(found), factor)


def _ideographic_at(
    text: str, start: int, multiple: int
) -> tuple[tuple[str, ...], int, int]:
    match = _ideographic().match(text, start)
    if match is None:
        return (), start, multiple
    return names()[match[0]], match.end(), multiple


def _latin(found: re.Match[str]) -> tuple[tuple[str, ...], int]:
    one, per, two = found["one"], found["per"], found["two"]
    if one is None:
        sign = found[0].strip(")] -").replace(" ", "")
        return _symbols().get(sign, ()), found.end()
    start = found.end("one")
    if per and (unit := _symbols().get(one + per)):
        return unit, found.end("per")
    lower = one.lower()
    if two:
        both = names().get(f"{lower} {two.lower()}")
        if both is not None:
            return both, found.end("two")
        if lower in _BETWEEN:
            return names().get(two.lower(), ()), found.end("two")
    unit = _symbols().get(one) or names().get(lower, ())
    if unit == ("km",) and (per_hour := _PER_HOUR.match(found.string, start)):
        return ("km/h",), per_hour.end()
    return unit, start


_PER_HOUR = re.compile(r" (?:per hour|pro Stunde|par heure|por hora)\b")


def _multiple(word: str, *, glued: bool) -> int | None:
    if len(word) == 1:
        return _MULTIPLES.get(word) if glued and word == "k" else None
    return _MULTIPLES.get(word.lower())


_OF = re.compile(r"\.? (?:of |de |d['\u2019])")


def _past_of(text: str, start: int) -> int:
    found = _OF.match(text, start)
    # A blank, where there is one, belongs to what stands before a unit.
    return start if found is None else found.end()


def symbol(sign: str) -> tuple[str, ...]:
    """Give the units a symbol stands for."""
    return _symbols().get(sign, ())


def unit_before(text: str, end: int) -> tuple[str, ...]:
    """Give the currency that stands before an amount."""
    sign = text[end - 1 : end]
    if not sign or (sign != " " and sign not in "€$£¥.FRDPYB"):
        return ()
    found = _BEFORE.search(text[max(0, end - _LONGEST_BEFORE) : end])
    return () if found is None else _symbols().get(found[0].strip(" ."), ())


def named_in(words: Collection[str]) -> frozenset[str]:
    """Give the units that words in small letters name, numbers aside."""
    table = names()
    return frozenset(unit for word in words for unit in table.get(word, ()))
