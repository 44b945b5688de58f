"""From a document's tree to chunks; pure, and the same on every machine.

The tree is cut, never its text: between sections, then blocks, then the parts of
a block. Nothing here reads files, asks models or knows formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from situate.errors import ConfigError

if TYPE_CHECKING:
    from situate.model import Chunk, Document
    from situate.tokens import TokenCounter

__all__ = ["Granularity", "Rules", "chunk"]

Granularity = Literal["leaves", "tree"]

# Below that even a word with its fences or column does not fit.
_LEAST = {
    "max_tokens": 16,
    "min_tokens": 0,
    "container_max_tokens": 16,
    "prefix_max_tokens": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How documents are cut; all sizes are tokens."""

    max_tokens: int = 512
    """Longest `text` of a leaf."""
    min_tokens: int = 32
    """Neighbouring sections below this share a chunk; 0 keeps them apart."""
    granularity: Granularity = "leaves"
    """`leaves` covers the document once; `tree` adds parents up to the document."""
    container_max_tokens: int | None = None
    """Longest `text` of a parent; None is four times `max_tokens`."""
    prefix_max_tokens: int = 96
    """Longest breadcrumb line."""

    def __post_init__(self) -> None:
        """Refuse sizes that nothing can be cut to.

        Raises:
            ConfigError: a size or the granularity cannot be used.
        """
        if self.granularity not in get_args(Granularity):
            message = f"granularity is {self.granularity!r}, not leaves or tree"
            raise ConfigError(message)
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                message = f"{name} is {value!r}, at least {least} is needed"
                raise ConfigError(message)


def chunk(
    document: Document,
    rules: Rules,
    counter: TokenCounter,
    *,
    corpus: str | None = None,
) -> tuple[Chunk, ...]:
    """Cut a document into chunks, in reading order, parents before what they hold.

    A document without text gives none. Sizes are exact counts of `counter`; one
    that splits at line starts counts every block once.
    """
    # What cuts text loads a sentence splitter's tables, which `--help` never needs.
    from situate.chunking.levels import Builder, Packed
    from situate.chunking.measure import Measure
    from situate.chunking.outline import portions
    from situate.chunking.packing import pack
    from situate.chunking.places import lay_out

    measure = Measure(counter)
    limit = rules.max_tokens
    places = lay_out(document, measure, max_tokens=limit)
    packed = [
        Packed(
            portion=portion,
            chunks=tuple(
                tuple(units)
                for units in pack(
                    portion.units,
                    measure,
                    limit=limit,
                    language=places[portion.place].metadata.language,
                )
            ),
        )
        for portion in portions(
            places, measure, max_tokens=limit, min_tokens=rules.min_tokens
        )
    ]
    builder = Builder(
        document=document,
        places=places,
        measure=measure,
        corpus=corpus,
        max_tokens=limit,
        prefix_max_tokens=rules.prefix_max_tokens,
        container_max_tokens=rules.container_max_tokens or 4 * limit,
    )
    if not packed:
        return ()
    make = builder.leaves if rules.granularity == "leaves" else builder.tree
    return tuple(make(packed))
