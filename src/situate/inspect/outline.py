"""A document's tree as rows: its sections, and its chunks where they belong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.check.findings import around, heads, section_of
from situate.model import DOCUMENT, TOP, walk
from situate.readers.tree import slug

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.inspect.inspected import Inspected, Role
    from situate.model import Chunk

_LINE = re.compile(r"^(?:#{1,6}[ \t]+)?(.{1,300}?)[ \t#]*$", re.MULTILINE)
_NUMBERED = re.compile(r"~[0-9]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the tree: a section, a chunk, or both where a section is one."""

    depth: int
    """0 for the document."""
    title: str | None
    """The heading, "" for none; None for a chunk below its section's row."""
    chunk: int | None
    """Index among the document's chunks."""
    elsewhere: bool = False
    """The section has no chunk of its own: it is in this one."""


def rows(inspected: Inspected, roles: Sequence[Role]) -> tuple[Row, ...]:
    """Give the rows in reading order.

    Titles come from the document, else from the chunks' own headings and
    breadcrumbs; what neither says is called by the end of its id.
    """
    own: dict[str, list[int]] = {}
    holder: dict[str, int] = {}
    paragraphs: dict[str, list[int]] = {}
    for index, (chunk, role) in enumerate(zip(inspected.chunks, roles, strict=True)):
        if role == "paragraph":
            paragraphs.setdefault(chunk.parent_chunk_id or "", []).append(index)
            continue
        own.setdefault(chunk.section_id, []).append(index)
        if role == "leaf":
            for block_id in chunk.block_ids:
                holder.setdefault(section_of(block_id), index)
    found: list[Row] = []
    for section_id, title, depth in _sections(inspected):
        chunks = own.pop(section_id, [])
        found += _of_section(depth, title, chunks, holder.get(section_id))
    # A record that names a section nobody lists is shown all the same.
    for section_id, chunks in own.items():
        found += _of_section(1, section_id, chunks, None)
    return tuple(_with_paragraphs(found, inspected.chunks, paragraphs))


def _of_section(
    depth: int, title: str, chunks: Sequence[int], holder: int | None
) -> Iterator[Row]:
    if not chunks:
        yield Row(depth=depth, title=title, chunk=holder, elsewhere=holder is not None)
        return
    first, *rest = chunks
    yield Row(depth=depth, title=title, chunk=first)
    for index in rest:
        yield Row(depth=depth + 1, title=None, chunk=index)


def _with_paragraphs(
    found: Sequence[Row], chunks: Sequence[Chunk], paragraphs: dict[str, list[int]]
) -> Iterator[Row]:
    for row in found:
        yield row
        if row.chunk is None or row.elsewhere:
            continue
        for index in paragraphs.pop(chunks[row.chunk].chunk_id, ()):
            yield Row(depth=row.depth + 1, title=None, chunk=index)


def _sections(inspected: Inspected) -> Iterator[tuple[str, str, int]]:
    """Yield every section's id, title and depth, the root first."""
    document = inspected.document
    if document is not None:
        name = document.metadata.title or inspected.doc_id
        for section, ancestors in walk(document.root):
            title = section.title if ancestors else name
            yield section.section_id, title, len(ancestors)
        return
    named = next((chunk.metadata.title for chunk in inspected.chunks), None)
    yield DOCUMENT, named or inspected.doc_id, 0
    titles = {TOP: ""} | _titles(inspected.chunks)
    for section_id in _listed(inspected):
        title = titles.get(section_id, section_id.rpartition("/")[2])
        yield section_id, title, section_id.count("/") + 1


def _listed(inspected: Inspected) -> Iterator[str]:
    """Yield the sections that blocks name, in reading order, and those above."""
    block_ids = inspected.blocks or (
        block_id for chunk in inspected.chunks for block_id in chunk.block_ids
    )
    seen: set[str] = set()
    for block_id in block_ids:
        section_id = section_of(block_id)
        if section_id not in seen:
            for each in (*reversed(tuple(around(section_id))), section_id):
                if each not in seen:
                    seen.add(each)
                    yield each


def _titles(chunks: Sequence[Chunk]) -> dict[str, str]:
    """Take headings from chunks: a line that says it, else the last crumb."""
    titles: dict[str, str] = {}
    for chunk in chunks:
        sections = {section_of(each) for each in chunk.block_ids if heads(each)}
        unknown = (sections | {chunk.section_id}) - titles.keys()
        if not unknown:
            continue
        said = _LINE.findall(chunk.text)
        titled = {
            slug(line): line for line in (*reversed(said), *chunk.breadcrumb[-1:])
        }
        for section_id in unknown:
            # Only a heading that gives this id is surely the section's.
            own = _NUMBERED.sub("", section_id.rpartition("/")[2])
            if own in titled:
                titles[section_id] = titled[own]
    return titles
