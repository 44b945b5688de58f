"""Why every parent is emitted: the plain algorithm leaves them dangling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.chunking import Rules, chunk
from situate.tokens import load_counter
from tests.support.documents import document, paragraph, section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.model import Section

COUNTER = load_counter("cl100k_base")
LONG = " ".join(f"Rule {n} is checked every day before noon." for n in range(40))

ORDINARY = document(
    section(
        "Handbook",
        section("Leave", paragraph(LONG), section("Exceptions", paragraph("None."))),
        section(
            "Travel",
            section("Rail", paragraph("Second class only.")),
            section("Air", paragraph("Economy only.")),
        ),
    )
)


def plain_chunks(node: Section, parent: str | None) -> Iterator[tuple[str, str | None]]:
    """Chunk a section as is commonly done: id and parent id of what is emitted.

    A section that fits is one chunk, one that does not is cut into numbered
    parts, one without text gives nothing; children name the section as parent.
    """
    text = " ".join(block.text for block in node.blocks if block.kind != "heading")
    parts = -(-COUNTER.count(text) // 128)
    if parts == 1:
        yield node.section_id, parent
    elif parts > 1:
        yield from ((f"{node.section_id}:{n}", node.section_id) for n in range(parts))
    for child in node.children:
        yield from plain_chunks(child, node.section_id)


def dangling(pairs: list[tuple[str, str | None]]) -> list[str]:
    """Give the parents that are no chunk's id."""
    emitted = {chunk_id for chunk_id, _ in pairs}
    return [above for _, above in pairs if above is not None and above not in emitted]


def test_the_plain_algorithm_names_parents_it_never_emits() -> None:
    """Sections that are cut, or have no text, are parents of nothing that exists."""
    pairs = list(plain_chunks(ORDINARY.root, None))

    missing = dangling(pairs)

    assert len(missing) == len(pairs)


def test_every_parent_of_the_same_tree_resolves() -> None:
    """C9: cut sections and sections without text have a container."""
    chunks = chunk(ORDINARY, Rules(max_tokens=128, granularity="tree"), COUNTER)
    pairs = [(record.chunk_id, record.parent_chunk_id) for record in chunks]

    missing = dangling(pairs)

    assert missing == []
    assert [above for _, above in pairs].count(None) == 1
