"""Proves of leaves that none holds a half of something hidden.

A half is found by nobody who looks for the whole.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.model import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from situate.model import Block, Chunk


def torn(
    blocks: Sequence[Block],
    leaves: Sequence[Chunk],
    hidden_in: Callable[[str], Counter[str]],
) -> frozenset[str]:
    """Name the leaves that may hold a part of something hidden, which nobody finds.

    A chunk may end inside of it, or write it in another way. That shows by the leaves
    of a block holding it less often than the block does: where a paragraph "The key is
    Zebra 4711." became the leaves "The key is Zebra" and "4711.", the block holds
    "Zebra 4711" once and its leaves never, so both are named. Of what a leaf holds,
    only what its other blocks do not account for counts.

    `hidden_in` counts by its words what is hidden of a text.
    """
    counts = {block.block_id: hidden_in(block.text) for block in blocks}
    holders: dict[str, list[Chunk]] = {}
    for leaf in leaves:
        for block_id in leaf.block_ids:
            if counts.get(block_id):
                holders.setdefault(block_id, []).append(leaf)
    in_leaves = {
        leaf.chunk_id: hidden_in(leaf.text)
        for holding in holders.values()
        for leaf in holding
    }
    found: set[str] = set()
    before: Counter[str] = Counter()
    for block in blocks:
        holding, needed = holders.get(block.block_id, []), counts[block.block_id]
        held: Counter[str] = Counter()
        for leaf in holding:
            others = [counts.get(each) for each in leaf.block_ids]
            for words, count in in_leaves[leaf.chunk_id].items():
                beside = sum(other[words] for other in others if other)
                held[words] += max(0, count - beside + needed[words])
        is_cut = any(held[words] < count for words, count in needed.items())
        if holding and (is_cut or _may_be_cut(block, holding, needed, before)):
            found.update(leaf.chunk_id for leaf in holding)
        before = needed
    return frozenset(found)


def _may_be_cut(
    block: Block,
    holding: Sequence[Chunk],
    needed: Counter[str],
    before: Counter[str],
) -> bool:
    """Tell whether counting says nothing: what is repeated may stand for what is cut.

    Every piece of a table has its header, and of a list what introduces it. Say a table
    holds "Zebra 4711" in its header and in a cell, and is cut inside of that cell: its
    two pieces hold the words twice, once in each copy of the header, which is as often
    as the table does, though the cell is in halves. So where pieces were cut by force,
    or the words span lines, and the header, the caption or the block `before` has them
    as well, all pieces are taken for cut.
    """
    if len(holding) == 1:
        return False
    is_forced = any(leaf.forced_split for leaf in holding)
    repeated = _repeated(block)
    return any(
        (is_forced or "\n" in words) and (before[words] or words in repeated)
        for words in needed
    )


def _repeated(block: Block) -> str:
    """Give what of a table stands in each of its pieces."""
    if not isinstance(block.content, Table):
        return ""
    table = block.content
    return "\n".join([*(row.text for row in table.header), table.caption or ""])
