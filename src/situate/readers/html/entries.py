"""Collect the items of one list, and what stands between them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from situate.readers import compose
from situate.readers.html.lists import BULLET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.model import Block
    from situate.readers.html.elements import Attributes
    from situate.readers.html.flow import Flow
    from situate.readers.html.lists import Numbering


class Entries:
    """The entries of a list while it is read."""

    def __init__(self, numbering: Numbering, between: Flow, *, of_terms: bool) -> None:
        self.between = between
        """Takes what stands between items; in a list of terms the open group."""
        self._numbering = numbering
        self._of_terms = of_terms
        self._terms: int | None = None
        """Blocks that the terms of the open group take, once it has a definition."""
        self._entries: list[tuple[str, list[Block]]] = []

    def begin_item(self, attributes: Attributes) -> str:
        """Begin an item; gives its marker."""
        self.end_between()
        return self._numbering.marker(attributes)

    def add(self, marker: str, blocks: Sequence[Block]) -> None:
        """Add an item, unless it says nothing."""
        if blocks:
            self._entries.append((marker, list(blocks)))

    def begin_term(self) -> None:
        """Begin a term, and a group where the open one has a definition."""
        if self._terms is not None:
            self.end_between()

    def begin_definition(self) -> None:
        """Begin a definition of the terms before it."""
        if self._of_terms and self._terms is None:
            self._terms = len(self.between.blocks)

    def end_between(self) -> None:
        """End what stands between two items: it belongs to the first of them.

        In a list of terms that is a group, and an entry of its own; terms without
        a definition are entries each.
        """
        blocks = list(self.between.finish())
        self.between.blocks.clear()
        terms, self._terms = self._terms, None
        if terms is not None:
            self.add(BULLET, _group(blocks, terms))
        elif self._entries and not self._of_terms:
            self._entries[-1][1].extend(blocks)
        else:
            for block in blocks:
                self.add(BULLET, [block])

    def block(self, block_id: str) -> Block | None:
        """Write the list; None for one without entries."""
        entries = [
            compose.Entry(marker=marker, blocks=tuple(blocks))
            for marker, blocks in self._entries
        ]
        return compose.bullets(block_id, entries) if entries else None


def _group(blocks: list[Block], terms: int) -> list[Block]:
    """Write terms with their one short definition as lines of one paragraph."""
    plain = all(block.kind == "paragraph" for block in blocks)
    if not plain or len(blocks) != terms + 1:
        return blocks
    text = "\n".join(block.text for block in blocks)
    return [replace(blocks[0], text=text)]
