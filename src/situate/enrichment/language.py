"""Tells scripts apart, and the languages whose function words we know.

Decides only when it is sure: a wrong "no" costs a statement. Where a language
is not named and the script says nothing, nothing is judged.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

EAST_ASIAN = "EAST ASIAN"
"""Han characters and the syllables written among them, taken as one script."""

_EAST_ASIAN_NAMES = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "IDEOGRAPHIC"}
)

_SCRIPTS = frozenset(
    {
        "LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "BENGALI",
        "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "GUJARATI", "GURMUKHI", "THAI",
        "LAO", "KHMER", "MYANMAR", "GEORGIAN", "ARMENIAN", "ETHIOPIC", "HANGUL",
        "SINHALA", "TIBETAN", "MONGOLIAN",
    }
)  # fmt: skip

_SCRIPT_OF = {
    "am": "ETHIOPIC", "ar": "ARABIC", "be": "CYRILLIC", "bg": "CYRILLIC",
    "bn": "BENGALI", "el": "GREEK", "fa": "ARABIC", "gu": "GUJARATI",
    "he": "HEBREW", "hi": "DEVANAGARI", "hy": "ARMENIAN", "ja": EAST_ASIAN,
    "ka": "GEORGIAN", "km": "KHMER", "kn": "KANNADA", "ko": "HANGUL", "lo": "LAO",
    "mk": "CYRILLIC", "ml": "MALAYALAM", "mr": "DEVANAGARI", "my": "MYANMAR",
    "ne": "DEVANAGARI", "ru": "CYRILLIC", "si": "SINHALA", "ta": "TAMIL",
    "te": "TELUGU", "th": "THAI", "uk": "CYRILLIC", "ur": "ARABIC",
    "zh": EAST_ASIAN,
}  # fmt: skip

_LATIN_LANGUAGES = frozenset(
    {
        "af", "ca", "cs", "cy", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga",
        "gl", "hr", "hu", "id", "is", "it", "lt", "lv", "ms", "nb", "nl", "nn", "no",
        "pl", "pt", "ro", "sk", "sl", "sv", "sw", "tr", "vi",
    }
)  # fmt: skip

# Function words that none of the other languages listed here uses as a word.
_FUNCTION_WORDS = {
    "en": "the of and with which this that from are by been when whether their how",
    "de": "der das und ist nicht mit für wird werden einer auf eine dem bei oder wenn",
    "fr": "les est dans pour avec qui sont une aux cette ces sur leur ou au",
    "es": "los las el con para una que se del por cuando según también y esta",
    "it": "il gli della dei che sono nel alla delle quando anche è degli questo",
    "pt": "uma não dos das ao são pelo quando também ou à esta",
    "nl": "het een van niet voor wordt zijn deze naar ook bij wanneer",
}

_DOMINANT = 0.6
"""Share of the letters above which a script is a text's own."""

_PRESENT = 0.15
"""Share of the letters at which a script that is not Latin is in use."""

_WORD = re.compile(r"[^\W\d_]+")


def script_of(text: str) -> str | None:
    """Name the script most letters of a text belong to, None when none leads."""
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else None
    counts: Counter[str] = Counter()
    for character, times in Counter(text).items():
        if (script := _script(character)) is not None:
            counts[script] += times
    if not counts:
        return None
    script, count = counts.most_common(1)[0]
    return script if count >= _DOMINANT * counts.total() else None


def written_in(text: str, script: str) -> bool:
    """Say whether a text is written in a script, foreign names aside.

    Text in other scripts is full of Latin names, so that a share is enough
    there; in Latin text the script leads or nothing does.
    """
    if script == "LATIN":
        return script_of(text) in {script, None}
    letters = [s for s in map(_script, text) if s is not None]
    return not letters or letters.count(script) >= _PRESENT * len(letters)


def expected_script(language: str | None) -> str | None:
    """Name the script a language is written in, None when it is not settled."""
    code = code_of(language)
    return "LATIN" if code in _LATIN_LANGUAGES else _SCRIPT_OF.get(code)


def speaks_another(text: str, language: str | None) -> bool:
    """Say whether a text is plainly in another language than the one named.

    Needs three function words of the other language and more than twice as
    many as of the named one; languages without a list are never judged.
    """
    code = code_of(language)
    if code not in _FUNCTION_WORDS:
        return False
    table = _languages()
    hits = Counter(table[w] for w in _WORD.findall(text.casefold()) if w in table)
    own = hits.pop(code, 0)
    return max(hits.values(), default=0) >= max(3, 2 * own + 1)


def spoken(words: Collection[str]) -> str | None:
    """Name the language most function words among `words` belong to.

    None where fewer than two are found or another language has half as many.
    """
    table = _languages()
    known = table.keys() & words
    hits = Counter(table[word] for word in known).most_common(2)
    if not hits or hits[0][1] < 2:
        return None
    return hits[0][0] if len(hits) == 1 or hits[0][1] > 2 * hits[1][1] else None


@functools.lru_cache(maxsize=256)
def code_of(language: str | None) -> str:
    """Give the primary subtag of `de-CH`, `pt_BR`."""
    return re.split(r"[-_]", language.strip().lower())[0] if language else ""


@functools.cache
def _languages() -> dict[str, str]:
    """Map function words to the one language that uses them as words."""
    users: dict[str, list[str]] = {}
    for code, words in _FUNCTION_WORDS.items():
        for word in words.split():
            users.setdefault(word, []).append(code)
    return {word: codes[0] for word, codes in users.items() if len(codes) == 1}


@functools.lru_cache(maxsize=4096)
def _script(character: str) -> str | None:
    if not character.isalpha():
        return None
    name = unicodedata.name(character, "").split(" ", 1)[0].split("-", 1)[0]
    if name in _EAST_ASIAN_NAMES:
        return EAST_ASIAN
    return name if name in _SCRIPTS else None
