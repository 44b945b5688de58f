"""Embedders and rerankers that are functions of the user's own.

`module:function` names one. What the function does is its own business; what it gives
is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from situate.compare.embedders.contract import fault, gathered, instructed, unit
from situate.errors import ConfigError
from situate.functions import find_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from situate.compare.embedders.contract import Role, Rows, Take
    from situate.model import JsonValue

_TEXTS_A_CALL = 256
"""So that what was computed is kept now and then, and memory stays bounded."""


class CallableEmbedder:
    """Embeds with a function that takes a list of n texts and gives n vectors.

    The function is called with up to 256 texts and gives anything numpy takes for
    a table of shape (n, d): lists of numbers, arrays, tensors on the CPU. It is not
    told queries from documents.

    Raises:
        ConfigError: there is no such function.
    """

    def __init__(self, spec: str, *, instruction: str | None = None) -> None:
        self.name = spec
        found = find_function(spec, "embedder")
        self._function = found.call
        self._instruction = instruction
        self._dimensions: int | None = None
        self._identity: dict[str, JsonValue] = {
            "embedder": "callable",
            "function": spec,
            "source": found.source,
            "instruction": instruction,
        }

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """What its vectors depend on: its name, and the text of its module's file.

        What the function calls in other files is not seen.
        """
        return self._identity

    def check(self) -> None:
        """Do nothing: the function was found when this was made."""

    def embed(self, texts: Sequence[str], role: Role) -> Rows:
        """Give a row for each text; blank ones are not handed over.

        Raises:
            ConfigError: the function failed, or gave no vectors.
        """
        return gathered(self, texts, role)

    def ask(self, texts: Sequence[str], role: Role, take: Take) -> None:
        """Hand over rows call by call.

        Raises:
            ConfigError: the function failed, or gave no vectors.
        """
        worded = instructed(texts, role, self._instruction)
        for start in range(0, len(worded), _TEXTS_A_CALL):
            block = list(worded[start : start + _TEXTS_A_CALL])
            rows = self._rows(block)
            take(range(start, start + len(block)), rows)

    def _rows(self, texts: list[str]) -> Rows:
        count = len(texts)
        given = _called(f"embedder {self.name!r}", self._function, texts)
        problem = fault(given, count=count, dimensions=self._dimensions)
        if problem is not None:
            message = f"embedder {self.name!r}: {problem}"
            raise ConfigError(message)
        self._dimensions = given.shape[1]
        return unit(given)


class CallableReranker:
    """Scores with a function that takes a question and n texts and gives n numbers.

    Raises:
        ConfigError: there is no such function.
    """

    def __init__(self, spec: str) -> None:
        self.name = spec
        self._function = find_function(spec, "reranker").call

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give a score for each text; the function is called once.

        Raises:
            ConfigError: the function failed, or gave no scores.
        """
        if not texts:
            return np.zeros(0)
        given = _called(f"reranker {self.name!r}", self._function, query, list(texts))
        if given.shape != (len(texts),):
            message = (
                f"reranker {self.name!r}: {len(texts)} texts brought scores of shape "
                f"{given.shape}, not ({len(texts)},)"
            )
            raise ConfigError(message)
        if not np.isfinite(given).all():
            message = f"reranker {self.name!r}: a score is no finite number"
            raise ConfigError(message)
        return given


def _called(
    what: str, function: Callable[..., Any], *arguments: object
) -> NDArray[np.float64]:
    """Call a function of the user's and take what it gives for numbers.

    Raises:
        ConfigError: it failed, or gave no numbers.
    """
    try:
        given = function(*arguments)
    # A function of the user's may end the program without meaning to.
    except (Exception, SystemExit) as error:
        message = f"{what} failed: {type(error).__name__}: {error}"
        raise ConfigError(message) from error
    try:
        return np.asarray(given, dtype=np.float64)
    # Tensors of a library have ways of their own to refuse.
    except Exception as error:
        message = f"{what} gave no numbers, or not as many for every text: {error}"
        raise ConfigError(message) from error
