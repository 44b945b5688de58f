"""Documents built by hand, so that a test shows the tree it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from situate.model import (
    TOP,
    Block,
    BlockKind,
    Cell,
    Code,
    Document,
    Item,
    Items,
    Metadata,
    Quote,
    Row,
    Section,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Draft:
    """A section before it has ids: heading, blocks, sections below."""

    title: str
    blocks: tuple[Block, ...] = ()
    children: tuple[Draft, ...] = ()
    metadata: Metadata | None = None


def paragraph(text: str, kind: BlockKind = "paragraph") -> Block:
    """Make a block of running text."""
    return Block(block_id="", kind=kind, text=text)


def bullets(items: Sequence[str], *, loose: bool = False) -> Block:
    """Make a list."""
    texts = [f"- {item}" for item in items]
    return Block(
        block_id="",
        kind="list",
        text=("\n\n" if loose else "\n").join(texts),
        content=Items(items=tuple(Item(text=text) for text in texts), loose=loose),
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """Make a table."""

    def row(cells: Sequence[str]) -> Row:
        text = "| " + " | ".join(cells) + " |"
        return Row(text=text, cells=tuple(Cell(text=cell) for cell in cells))

    head, delimiter = row(header), "|" + " --- |" * len(header)
    body = [row(cells) for cells in rows]
    return Block(
        block_id="",
        kind="table",
        text="\n".join([head.text, delimiter, *(one.text for one in body)]),
        content=Table(header=(head,), rows=tuple(body), delimiter=delimiter),
    )


def code(lines: Sequence[str], language: str = "python") -> Block:
    """Make a fenced code block."""
    opening, closing = f"```{language}", "```"
    return Block(
        block_id="",
        kind="code",
        text="\n".join([opening, *lines, closing]),
        content=Code(lines=tuple(lines), opening=opening, closing=closing),
    )


def quote(*blocks: Block) -> Block:
    """Make a quotation."""
    return Block(
        block_id="",
        kind="quote",
        text="\n\n".join(block.text for block in blocks),
        content=Quote(blocks=blocks),
    )


def section(
    title: str, *parts: Block | Draft, metadata: Metadata | None = None
) -> Draft:
    """Make a section from its blocks and the sections below it."""
    return Draft(
        title=title,
        blocks=tuple(part for part in parts if isinstance(part, Block)),
        children=tuple(part for part in parts if isinstance(part, Draft)),
        metadata=metadata,
    )


def document(
    *parts: Block | Draft, doc_id: str = "doc.md", metadata: Metadata | None = None
) -> Document:
    """Make a document; blocks before the first section stand above its headings."""
    above = tuple(part for part in parts if isinstance(part, Block))
    drafts = [part for part in parts if isinstance(part, Draft)]
    top = Section(
        section_id=TOP,
        title="",
        level=1,
        path=(),
        blocks=_named(TOP, above),
    )
    children = [
        *([top] if above else []),
        *(_section(draft, f"s{n}", (), 1) for n, draft in enumerate(drafts)),
    ]
    root = Section(
        section_id="_doc", title="", level=0, path=(), children=tuple(children)
    )
    return Document(
        doc_id=doc_id, version="1", metadata=metadata or Metadata(), root=root
    )


def _section(
    draft: Draft, section_id: str, above: tuple[str, ...], level: int
) -> Section:
    path = (*above, draft.title)
    heading = paragraph("#" * min(level, 6) + " " + draft.title, "heading")
    return Section(
        section_id=section_id,
        title=draft.title,
        level=level,
        path=path,
        blocks=_named(section_id, (heading, *draft.blocks)),
        children=tuple(
            _section(child, f"{section_id}/s{n}", path, level + 1)
            for n, child in enumerate(draft.children)
        ),
        metadata=draft.metadata,
    )


def _named(section_id: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    return tuple(
        replace(block, block_id=f"{section_id}#{n}") for n, block in enumerate(blocks)
    )
