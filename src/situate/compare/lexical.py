"""The words a lexical index knows, and BM25 over them.

Words are stems in lower case. What a script writes without spaces is cut into pairs
of letters, as engines for Chinese and Japanese do, else a sentence would be a word.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

_WORD = regex.compile(r"\w+")

_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+"
)

_COMMON: Final = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "it", "its",
    "is", "are", "was", "were", "be", "been",
    "of", "to", "in", "on", "for", "at", "by", "with", "from", "as", "and", "or",
))  # fmt: skip
"""English words that say nothing of a passage's subject. Other languages keep theirs:
BM25 counts a word for less the more passages have it."""

_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "et": "estonian", "eu": "basque",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Snowball's algorithms by the language's two letters."""

_K1, _B = 1.5, 0.75
"""The values Lucene's ancestors and most comparisons use; Lucene itself has k1 1.2."""

_NO_WORD = "\0"
"""What stands for a text without words: no question has it."""


def analyzer(language: str | None) -> Callable[[str], list[str]]:
    """Give the function that finds a text's words.

    `language` is a BCP 47 tag; without one, words are taken for English.
    """
    import Stemmer

    code = (language or "en").partition("-")[0].lower()
    algorithm = _STEMMERS.get(code)
    stem = None if algorithm is None else Stemmer.Stemmer(algorithm).stemWords
    common = _COMMON if code == "en" else frozenset()

    def words(text: str) -> list[str]:
        found = [word for word in _WORD.findall(text.lower()) if word not in common]
        if not text.isascii():
            found = [part for word in found for part in _spaced(word)]
        return found if stem is None else stem(found)

    return words


def prevailing(languages: Iterable[str | None]) -> str | None:
    """Give the language most documents name; None where none does."""
    named = Counter(language for language in languages if language)
    return min(named, key=lambda one: (-named[one], one)) if named else None


class BM25:
    """One field of an arm, ready to be asked."""

    def __init__(self, texts: Sequence[str], words: Callable[[str], list[str]]) -> None:
        """Index texts, at least one."""
        import bm25s

        self._words = words
        self._index = bm25s.BM25(k1=_K1, b=_B, method="lucene")
        self._index.index(
            [words(text) or [_NO_WORD] for text in texts], show_progress=False
        )
        self._size = len(texts)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Give every text's score, 0 where it has no word of the query."""
        known = self._index.vocab_dict
        words = [word for word in self._words(query) if word in known]
        if not words:
            return np.zeros(self._size, dtype=np.float32)
        scores: NDArray[np.float32] = self._index.get_scores(words)
        return scores


def _spaced(word: str) -> list[str]:
    """Cut what is written without spaces into pairs of letters that overlap."""
    parts: list[str] = []
    place = 0
    for match in _UNSPACED.finditer(word):
        if match.start() > place:
            parts.append(word[place : match.start()])
        run = match.group()
        parts.extend(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        place = match.end()
    if place < len(word):
        parts.append(word[place:])
    return parts
