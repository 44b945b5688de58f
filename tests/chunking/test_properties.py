"""Rules that hold for every document, stated over random trees."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from situate.chunking import Rules, chunk
from situate.model import Block, Chunk, Document, Section, walk
from situate.tokens import load_counter
from tests.support.strategies import documents, filled

if TYPE_CHECKING:
    from random import Random

COUNTER = load_counter("cl100k_base")
LIMITS = st.sampled_from([64, 100, 200, 512])
FLOORS = st.sampled_from([0, 16, 32])
rules = st.builds(
    lambda limit, floor: Rules(max_tokens=limit, min_tokens=floor), LIMITS, FLOORS
)
tree_rules = st.builds(
    lambda limit, floor: Rules(max_tokens=limit, min_tokens=floor, granularity="tree"),
    LIMITS,
    FLOORS,
)


def blocks_of(document: Document) -> list[Block]:
    """List the blocks of a document in reading order."""
    return [block for section, _ in walk(document.root) for block in section.blocks]


def leaves_of(chunks: tuple[Chunk, ...]) -> list[Chunk]:
    """List the chunks of the cover."""
    return [chunk for chunk in chunks if chunk.embed]


def squeezed(text: str) -> str:
    """Drop white space, which cuts may lose."""
    return "".join(text.split())


@given(documents, rules)
def test_every_block_is_in_one_leaf_or_its_parts_tile(
    document: Document, rules: Rules
) -> None:
    """C2: the leaves cover the document once, in order."""
    held = [
        (block_id, leaf.parts.get(block_id), leaf.forced_split)
        for leaf in chunk(document, rules, COUNTER)
        for block_id in leaf.block_ids
    ]

    order = [block_id for block_id, _ in itertools.groupby(h[0] for h in held)]
    assert order == [block.block_id for block in blocks_of(document)]
    for block in blocks_of(document):
        pieces = [piece for piece in held if piece[0] == block.block_id]
        if pieces[0][1] is None:
            assert len(pieces) == 1
            continue
        at, cut_inside = 0, True
        for _, parts, forced in pieces:
            assert parts is not None
            assert parts[0] == at or (parts[0] == at - 1 and forced and cut_inside)
            at, cut_inside = parts[1], forced
        assert at == block.part_count


@given(documents, rules)
def test_no_text_is_lost(document: Document, rules: Rules) -> None:
    """C2: what an author wrote stands in a leaf, whole or in consecutive pieces."""
    chunks = chunk(document, rules, COUNTER)
    everything = squeezed("".join(leaf.text for leaf in chunks))

    for block in blocks_of(document):
        if block.kind in {"paragraph", "html"}:
            for word in block.text.split():
                assert squeezed(word) in everything


@given(documents, rules)
def test_every_heading_stands_in_a_text_or_breadcrumb(
    document: Document, rules: Rules
) -> None:
    """C2: a heading can be found."""
    chunks = chunk(document, rules, COUNTER)

    for section, _ in walk(document.root):
        assert not section.title or any(
            section.title in leaf.text or section.title in leaf.breadcrumb
            for leaf in chunks
        )


@given(documents, rules)
def test_no_text_exceeds_the_limit_and_counts_are_exact(
    document: Document, rules: Rules
) -> None:
    """C3: sizes are final counts of the joined text."""
    for leaf in chunk(document, rules, COUNTER):
        assert leaf.token_count == COUNTER.count(leaf.text)
        assert leaf.token_count <= rules.max_tokens
        assert COUNTER.count(leaf.breadcrumb_line) <= rules.prefix_max_tokens


@given(documents, st.integers(0, 12))
def test_a_breadcrumb_line_keeps_any_bound(document: Document, limit: int) -> None:
    """C3: down to no line at all."""
    rules = Rules(max_tokens=64, prefix_max_tokens=limit)

    for leaf in chunk(document, rules, COUNTER):
        assert COUNTER.count(leaf.breadcrumb_line) <= limit


@given(documents, rules)
def test_only_a_part_that_alone_exceeds_the_limit_is_cut_inside(
    document: Document, rules: Rules
) -> None:
    """C1 and C3: a block that fits a chunk is cut only beside its lead-in."""
    whole = {block.block_id: block for block in blocks_of(document)}

    for leaf in chunk(document, rules, COUNTER):
        for block_id in leaf.parts:
            block = whole[block_id]
            fits = COUNTER.count(block.text) <= rules.max_tokens // 2
            assert not fits, block


@given(documents, tree_rules)
def test_parents_resolve_and_levels_never_rise(
    document: Document, rules: Rules
) -> None:
    """C9: one root, every parent emitted before its children."""
    chunks = chunk(document, rules, COUNTER)
    order = ["document", "section", "block"]
    seen: dict[str, Chunk] = {}

    for record in chunks:
        assert record.chunk_id not in seen
        if record.parent_chunk_id is not None:
            above = seen[record.parent_chunk_id]
            assert order.index(above.level) <= order.index(record.level)
        seen[record.chunk_id] = record
    assert sum(record.parent_chunk_id is None for record in chunks) == bool(chunks)
    assert [record.ordinal for record in chunks] == list(range(len(chunks)))


@given(documents, tree_rules)
def test_a_tree_has_the_leaves_of_the_cover(document: Document, rules: Rules) -> None:
    """C9: parents are added; the leaves keep text, id and lineage."""
    flat = Rules(max_tokens=rules.max_tokens, min_tokens=rules.min_tokens)

    tree = leaves_of(chunk(document, rules, COUNTER))
    cover = chunk(document, flat, COUNTER)

    assert [(c.chunk_id, c.text, c.block_ids) for c in tree] == [
        (c.chunk_id, c.text, c.block_ids) for c in cover
    ]


@given(documents, tree_rules)
def test_containers_hold_the_blocks_of_what_lies_below(
    document: Document, rules: Rules
) -> None:
    """C9: a parent's lineage includes its subtree, within its own limit."""
    chunks = chunk(document, rules, COUNTER)

    for record in chunks:
        if not record.embed:
            assert record.token_count == COUNTER.count(record.text)
            assert record.token_count <= 4 * rules.max_tokens


@given(documents, rules)
def test_the_same_document_gives_the_same_chunks(
    document: Document, rules: Rules
) -> None:
    """C10: nothing but the input decides."""
    assert chunk(document, rules, COUNTER) == chunk(document, rules, COUNTER)


def edited(section: Section, section_id: str) -> Section:
    """Change the text of one section of a tree."""
    blocks = section.blocks
    if section.section_id == section_id:
        more = replace(blocks[-1], text="Amended on 3 May. " * 9, content=None)
        blocks = (*blocks[:-1], replace(more, kind="paragraph"))
    children = tuple(edited(child, section_id) for child in section.children)
    return replace(section, blocks=blocks, children=children)


@given(filled, LIMITS, st.randoms(use_true_random=False))
def test_an_edit_changes_only_leaves_that_hold_blocks_of_its_section(
    document: Document, limit: int, random: Random
) -> None:
    """C10: where nothing is merged or moved, an edit stays in its section."""
    sections = [section for section, _ in walk(document.root)][1:]
    target = random.choice(sections).section_id
    rules = Rules(max_tokens=limit, min_tokens=0)

    before = chunk(document, rules, COUNTER)
    after = chunk(replace(document, root=edited(document.root, target)), rules, COUNTER)

    def others(chunks: tuple[Chunk, ...]) -> list[tuple[str, str, str]]:
        return [
            (leaf.chunk_id, leaf.text, leaf.embed_text)
            for leaf in chunks
            if leaf.section_id != target
        ]

    assert others(before) == others(after)


class Tally:
    """A counter that adds up what it was given to tokenize."""

    name = "cl100k_base"
    splits_at_lines = True

    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str) -> int:
        """Count, and remember how much."""
        self.characters += len(text)
        return COUNTER.count(text)


@given(documents, rules)
def test_no_text_is_tokenized_more_than_four_times(
    document: Document, rules: Rules
) -> None:
    """C11: the work grows with the text, whatever its shape."""
    tally = Tally()

    chunks = chunk(document, rules, tally)

    written = sum(len(c.text) + len(c.breadcrumb_line) for c in chunks)
    source = sum(len(block.text) for block in blocks_of(document))
    titles = sum(len(section.title) for section, _ in walk(document.root))
    assert tally.characters <= 4 * max(source, written) + 8 * titles + 400


class Inexact:
    """A counter whose counts do not add up at line starts."""

    name = "inexact"
    splits_at_lines = False

    def count(self, text: str) -> int:
        """Count, one more for every line break."""
        return COUNTER.count(text) + text.count("\n\n")


@given(documents, LIMITS)
def test_any_tokenizer_is_held_to_the_limit(document: Document, limit: int) -> None:
    """C3: where sums mislead, the final count decides."""
    counter = Inexact()

    for leaf in chunk(document, Rules(max_tokens=limit), counter):
        assert leaf.token_count == counter.count(leaf.text)
        assert leaf.token_count <= limit
