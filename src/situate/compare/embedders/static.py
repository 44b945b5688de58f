"""The default: a small table of token vectors out of a package, offline.

A text's vector is the mean of those of its tokens, from the files that the
`wordllama` wheel carries (WordLlama `l2_supercat`, 256 dimensions). Nothing runs
but a look-up, so that vectors are not worth keeping and are the same everywhere.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from situate.compare.embedders.contract import instructed, unit
from situate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from situate.compare.embedders.contract import Role, Rows

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TENSOR = "embedding.weight"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

_TEXTS_AT_ONCE = 256
_CHARACTERS_AT_ONCE = 1_000_000
"""Tokenized together; memory goes by them, or by the longest text."""

_TOKENS_AT_ONCE = 1_024
"""Whose vectors are added up in single precision; sums of many lose more than 1e-6."""


class StaticEmbedder:
    """Means of token vectors; no window, no special tokens.

    Raises:
        ConfigError: the package that carries the table is not installed.
    """

    name = "static"

    def __init__(self, *, instruction: str | None = None) -> None:
        self._weights, tokenizer = _loaded(_folder())
        self._encode = tokenizer.encode_batch_fast
        self._instruction = instruction

    def embed(self, texts: Sequence[str], role: Role) -> Rows:
        """Give a row of 256 for each text, in their order."""
        table = np.zeros((len(texts), self._weights.shape[1]), np.float32)
        done = 0
        for block in _blocks(instructed(texts, role, self._instruction)):
            encoded = self._encode(block, add_special_tokens=False)
            sums = np.stack(
                [self._mean(np.array(each.ids, np.int64)) for each in encoded]
            )
            table[done : done + len(block)] = unit(sums)
            done += len(block)
        return table

    def _mean(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.zeros(self._weights.shape[1], np.float64)
        for start in range(0, len(ids), _TOKENS_AT_ONCE):
            part = self._weights[ids[start : start + _TOKENS_AT_ONCE]]
            total += part.sum(axis=0)
        return total / max(1, len(ids))


@functools.cache
def _loaded(folder: Path) -> tuple[NDArray[np.float32], Tokenizer]:
    """Read table and tokenizer, once in a process: they take a tenth of a second.

    Raises:
        ConfigError: a package is not installed, or has other files.
    """
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError as error:
        message = (
            f"embedder 'static' needs {error.name}; pip install 'situate[compare]'"
        )
        raise ConfigError(message) from error
    try:
        weights = load_file(folder / _WEIGHTS)[_TENSOR]
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    # tokenizers raises plain exceptions, safetensors one of its own.
    except Exception as error:
        message = f"embedder 'static': the installed {_PACKAGE} has other files"
        raise ConfigError(message) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = weights.astype(np.float32)
    # Shared by all who embed with it.
    table.flags.writeable = False
    return table, tokenizer


def _folder() -> Path:
    # Importing the package would import what trains and serves its models.
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        message = f"embedder 'static' needs {_PACKAGE}; pip install 'situate[compare]'"
        raise ConfigError(message)
    return Path(found.submodule_search_locations[0])


def _blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    block: list[str] = []
    size = 0
    for text in texts:
        if block and (
            len(block) == _TEXTS_AT_ONCE or size + len(text) > _CHARACTERS_AT_ONCE
        ):
            yield block
            block, size = [], 0
        # Half a surrogate pair has no UTF-8 form, which is what is tokenized.
        block.append(text.encode("utf-8", "replace").decode("utf-8"))
        size += len(text)
    if block:
        yield block
