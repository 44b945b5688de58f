"""From a document's tree to chunks; pure, and the same on every machine.

The tree is cut, never its text: between sections, then blocks, then the parts of
a block. Nothing here reads files, asks models or knows formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from situate.collector import collector_paused
from situate.errors import ConfigError

if TYPE_CHECKING:
    from situate.model import Chunk, Document
    from situate.tokens import TokenCounter

__all__ = ["Embedded", "Granularity", "ReadingForm", "Rules", "chunk"]

Granularity = Literal["leaves", "tree", "multi"]
Embedded = Literal["leaf", "paragraph"]
ReadingForm = Literal["reading", "text"]

# Below that even a word with its fences or column does not fit.
_LEAST = {
    "max_tokens": 16,
    "min_tokens": 0,
    "container_max_tokens": 16,
    "prefix_max_tokens": 0,
    "reading_max_tokens": 16,
    "heading_weight": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How documents are cut; all sizes are tokens."""

    max_tokens: int = 512
    """Longest `text` of a leaf."""
    min_tokens: int = 32
    """Neighbouring sections below this share a chunk; 0 keeps them apart."""
    granularity: Granularity = "leaves"
    """`leaves` covers the document once; `tree` adds parents up to the document,
    `multi` parents and the blocks of every leaf."""
    embed: Embedded = "leaf"
    """Which level of `multi` is embedded; a leaf of one block is so itself."""
    container_max_tokens: int | None = None
    """Longest `text` of a parent; None is four times `max_tokens`."""
    prefix_max_tokens: int = 96
    """Longest breadcrumb line."""
    reading: ReadingForm = "reading"
    """What is indexed: a text's reading, or the text as it is (C13)."""
    reading_max_tokens: int | None = None
    """Longest reading of a chunk with a table; None is 2.5 times `max_tokens`."""
    heading_weight: int = 0
    """How often a reading repeats its section's heading at its start."""

    def __post_init__(self) -> None:
        """Refuse sizes that nothing can be cut to.

        Raises:
            ConfigError: a size or the granularity cannot be used.
        """
        for name, known in (
            ("granularity", get_args(Granularity)),
            ("embed", get_args(Embedded)),
            ("reading", get_args(ReadingForm)),
        ):
            if getattr(self, name) not in known:
                choices = " or ".join(known)
                message = f"{name} is {getattr(self, name)!r}, not {choices}"
                raise ConfigError(message)
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                message = f"{name} is {value!r}, at least {least} is needed"
                raise ConfigError(message)

    @property
    def reading_bound(self) -> int | None:
        """Most tokens of a reading; None where texts are indexed as they are."""
        if self.reading == "text":
            return None
        return self.reading_max_tokens or self.max_tokens * 5 // 2


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
    with collector_paused():
        return _chunk(document, rules, counter, corpus)


def _chunk(
    document: Document, rules: Rules, counter: TokenCounter, corpus: str | None
) -> tuple[Chunk, ...]:
    # What cuts text loads a sentence splitter's tables, which `--help` never needs.
    from situate.chunking.levels import Builder, Packed
    from situate.chunking.measure import Measure
    from situate.chunking.outline import portions
    from situate.chunking.packing import pack
    from situate.chunking.places import lay_out
    from situate.chunking.reading import Reading
    from situate.chunking.units import Units

    limit = rules.max_tokens
    bound = rules.reading_bound
    reading = None if bound is None else Reading(document)
    measure = Measure(counter, reading=reading, reading_limit=bound)
    # Blocks that get records of their own are counted on their own at once.
    is_divided = rules.granularity == "multi"
    units = Units(measure, max_tokens_together=0 if is_divided else limit)
    places = lay_out(document, units, max_tokens=limit)
    packed = [
        Packed(
            portion,
            pack(
                portion.held,
                units,
                limit=limit,
                language=places[portion.place].metadata.language,
            ),
        )
        for portion in portions(
            places, measure, max_tokens=limit, min_tokens=rules.min_tokens
        )
    ]
    builder = Builder(
        document=document,
        places=places,
        units=units,
        corpus=corpus,
        max_tokens=limit,
        prefix_max_tokens=rules.prefix_max_tokens,
        container_max_tokens=rules.container_max_tokens or 4 * limit,
        heading_weight=rules.heading_weight,
        paragraphs=rules.embed if rules.granularity == "multi" else None,
    )
    if not packed:
        return ()
    make = builder.leaves if rules.granularity == "leaves" else builder.tree
    return tuple(make(packed))
