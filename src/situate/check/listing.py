"""The rules a document's line of the blocks file keeps, by itself and by its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from situate.check.findings import Finding, around, heads, section_of
from situate.model import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.check.findings import Listed

_KINDS = get_args(BlockKind)
_IN_PARTS = frozenset({"list", "table", "code", "quote"})


def listing(doc_id: str, blocks: Sequence[Listed]) -> Iterator[Finding]:
    """Yield what no reader could have listed.

    Blocks are numbered in their section, sections stand one after the other below
    those around them, a heading opens each, and only some kinds have parts.
    """
    numbers: dict[str, int] = {}
    current = ""
    for block in blocks:
        section_id = section_of(block.block_id)
        if section_id != current and section_id not in numbers:
            parent = next(around(section_id), None)
            is_next = parent in {None, current, *around(current)}
            expected = f"{section_id}#0" if is_next else f"a block of {parent!r}"
        else:
            expected = f"{current}#{numbers.get(current, 0)}"
        current = section_id
        numbers[current] = numbers.get(current, 0) + 1
        for fault in _faults(block, expected):
            yield Finding(
                rule="blocks", subject=doc_id, message=f"block {block.block_id} {fault}"
            )


def _faults(block: Listed, expected: str) -> Iterator[str]:
    if block.block_id != expected:
        yield f"stands where {expected} was expected"
    if block.section_id != section_of(block.block_id):
        yield f"is listed under section {block.section_id!r}"
    if block.kind not in _KINDS:
        yield f"is of kind {block.kind!r}; allowed: {', '.join(_KINDS)}"
    elif (block.kind == "heading") != heads(block.block_id):
        yield f"is of kind {block.kind!r}, though a heading is what opens a section"
    if block.parts < 1 or (block.parts > 1 and block.kind not in _IN_PARTS):
        yield f"has {block.parts} parts, though it is of kind {block.kind!r}"


def differences(
    doc_id: str, blocks: Sequence[Listed], read: Sequence[Listed]
) -> Iterator[Finding]:
    """Yield the first block that the source does not have like this."""
    for number in range(max(len(blocks), len(read))):
        listed, found = blocks[number : number + 1], read[number : number + 1]
        if listed != found:
            yield Finding(
                rule="blocks",
                subject=doc_id,
                message=f"lists {_told(listed)} where the source has {_told(found)}",
            )
            return


def _told(blocks: Sequence[Listed]) -> str:
    if not blocks:
        return "no block"
    block = blocks[0]
    return (
        f"{block.kind} {block.block_id} of section {block.section_id!r} at "
        f"{block.span}, {block.parts} parts"
    )
