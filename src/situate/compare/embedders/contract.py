"""What an embedder owes, whoever computes the vectors.

One row for each text, finite, of one length, and of unit length or zero. What is
checked here is the same for a server, a file of weights and a function of a user's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from situate.model import JsonValue

Role = Literal["query", "document"]

Rows: TypeAlias = "NDArray[np.float32]"
"""Vectors, one a row: shape (n, d), unit length; a row of zeros has no direction."""

Take: TypeAlias = "Callable[[Sequence[int], Rows], None]"
"""Told of vectors as they come: which of the texts they belong to, and the rows."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """What config and report call it."""

    def embed(self, texts: Sequence[str], role: Role) -> Rows:
        """Give a row for each text, in their order.

        Raises:
            ConfigError: the embedder cannot be used as configured.
            ProviderError: a server did not answer, or not with vectors.
        """


@runtime_checkable
class PaidEmbedder(Embedder, Protocol):
    """An embedder whose vectors are worth keeping: they cost money or time."""

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """What its vectors depend on beside role and text; never a secret."""

    def check(self) -> None:
        """Find out, before anything is sent, whether it can be asked.

        Raises:
            AuthenticationFailed: there is no key where one is needed.
        """

    def ask(self, texts: Sequence[str], role: Role, take: Take) -> None:
        """Hand over rows as they come, in any order, each text once.

        No text may be blank. What was handed over stands when this raises.

        Raises:
            ConfigError: the embedder cannot be used as configured.
            ProviderError: a server did not answer, or not with vectors.
        """


class Reranker(Protocol):
    """Says how well texts answer a question."""

    @property
    def name(self) -> str:
        """What config and report call it."""

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give a finite score for each text, in their order, shape (n,).

        More is better; scores of two questions need not compare.

        Raises:
            ConfigError: it failed, or gave no scores.
        """


def instructed(
    texts: Sequence[str], role: Role, instruction: str | None
) -> Sequence[str]:
    """Put the instruction right before documents; blank ones stay blank."""
    if role != "document" or not instruction:
        return texts
    return [f"{instruction}{text}" if text.strip() else text for text in texts]


def unit(rows: NDArray[np.floating]) -> Rows:
    """Scale rows to unit length; zeros stay zeros.

    In double precision, and summed in an order that no machine changes.
    """
    exact = rows.astype(np.float64)
    largest = np.abs(exact).max(axis=1, keepdims=True)
    # First by these: squares of very large or small numbers cannot be written.
    exact /= np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt(np.square(exact).sum(axis=1, keepdims=True))
    exact /= np.where(lengths > 0, lengths, 1.0)
    return exact.astype(np.float32)


def fault(
    rows: NDArray[np.floating], *, count: int, dimensions: int | None
) -> str | None:
    """Say why rows are not those of `count` texts; None when they are.

    `dimensions` is what the vectors before had, None at first.
    """
    if rows.ndim != 2 or len(rows) != count or not rows.shape[-1]:
        return f"{count} texts brought vectors of shape {rows.shape}, not ({count}, d)"
    if dimensions is not None and rows.shape[1] != dimensions:
        return (
            f"a vector has {rows.shape[1]} dimensions, others before it have "
            f"{dimensions}"
        )
    if not np.isfinite(rows).all():
        return "a vector holds what is no finite number"
    return None


def gathered(embedder: PaidEmbedder, texts: Sequence[str], role: Role) -> Rows:
    """Give all rows at once, keeping none; blank texts are rows of zeros.

    Raises:
        ConfigError: the embedder cannot be used as configured.
        ProviderError: a server did not answer, or not with vectors.
    """
    asked = [place for place, text in enumerate(texts) if text.strip()]
    blocks: list[tuple[Sequence[int], Rows]] = []
    if asked:
        embedder.ask(
            [texts[place] for place in asked],
            role,
            lambda places, rows: blocks.append((places, rows)),
        )
    width = blocks[0][1].shape[1] if blocks else 0
    table = np.zeros((len(texts), width), np.float32)
    for places, rows in blocks:
        table[[asked[place] for place in places]] = rows
    return table
