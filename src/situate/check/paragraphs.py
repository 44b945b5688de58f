"""The rules for leaves that are written block by block, too (C9 `multi`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from situate.check.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.check.findings import Place


def divisions(
    places: Sequence[Place], paragraphs: Sequence[Place]
) -> Iterator[Finding]:
    """Yield what is wrong with single blocks and the leaves they are of."""
    leaves = {place.chunk_id: place for place in places if place.leaf}
    held: defaultdict[str, list[Place]] = defaultdict(list)
    numbers: Counter[str] = Counter()
    for paragraph in paragraphs:
        section, _, number = paragraph.chunk_id.rpartition(":p")
        if number != str(numbers[section]):
            yield Finding(
                rule="C9-paragraph",
                subject=paragraph.chunk_id,
                message=f"comes where paragraph {numbers[section]} was expected",
            )
        numbers[section] += 1
        parent = paragraph.parent_chunk_id
        if parent is None or parent not in leaves:
            yield Finding(
                rule="C9-paragraph",
                subject=paragraph.chunk_id,
                message=f"parent {parent!r} is no leaf",
            )
        else:
            held[parent].append(paragraph)
    for leaf_id, below in held.items():
        yield from _division(leaves[leaf_id], below)


def _division(leaf: Place, paragraphs: Sequence[Place]) -> Iterator[Finding]:
    blocks = [block_id for each in paragraphs for block_id in each.block_ids]
    if blocks != list(leaf.block_ids):
        yield Finding(
            rule="C9-paragraph",
            subject=leaf.chunk_id,
            message=f"its paragraphs hold {len(blocks)} blocks, not its "
            f"{len(leaf.block_ids)} in order",
        )
    if any(each.embed == leaf.embed for each in paragraphs):
        yield Finding(
            rule="C9-paragraph",
            subject=leaf.chunk_id,
            message="either the leaf or its paragraphs are embedded, not both or none",
        )
