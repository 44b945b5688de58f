"""A chunk as frameworks take it: flat metadata, and its kin in the document.

`kin` says which records stand in for others. A retriever that merges replaces chunks
by their parent, and must lose no word by it: a container whose text is only an outline
is nobody's parent here, whatever the record's `parent_chunk_id` says. Nor is one for
other people, or other days, as nobody filters what is fetched by id.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from situate.access import access_of
from situate.errors import RecordError
from situate.model import digest, is_paragraph, leaf_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from situate.model import Chunk, JsonValue

Scalar: TypeAlias = "str | int | float | bool"
Flat: TypeAlias = "Scalar | list[Scalar]"

Lists: TypeAlias = Literal["kept", "json"]
"""What becomes of lists: not every store takes them; as JSON each value is quoted."""

TEXTS: Final = ("text", "embed_text")
"""Keys under which bridges put what does not stand where the framework has its text."""


@dataclass(slots=True, kw_only=True)
class Kin:
    """Who stands around a record; ids are those of chunks."""

    parent: str | None = None
    """The nearest record above that holds all lines of its text, for the same people
    and days."""
    children: list[str] = field(default_factory=list)
    previous: str | None = None
    next: str | None = None
    depth: int = 0
    """Parents above it."""


def flat(chunk: Chunk, lists: Lists = "kept") -> dict[str, Flat]:
    """Give what filters and citations need of a chunk, without nesting.

    Values are texts, numbers, booleans and the author's lists of them; what is null or
    empty is left out, what nests is written as JSON. The author's keys stand under
    their own names, or behind `custom.` where that is taken.
    """
    found: dict[str, Flat | None] = {
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "doc_version": chunk.doc_version,
        "parent_chunk_id": chunk.parent_chunk_id,
        "level": chunk.level,
        "embed": chunk.embed,
        "corpus": chunk.corpus,
        "title": chunk.metadata.title,
        "doc_type": chunk.metadata.doc_type,
        "effective_from": chunk.metadata.effective_from,
        "effective_to": chunk.metadata.effective_to,
        "source": chunk.metadata.source,
        "language": chunk.metadata.language,
        "breadcrumb": " > ".join(chunk.breadcrumb),
        "context_prefix": chunk.context_prefix,
        "statement": chunk.statement,
        "section_id": chunk.section_id,
        "ordinal": chunk.ordinal,
        "token_count": chunk.token_count,
        "first_page": min(chunk.pages, default=None),
        "last_page": max(chunk.pages, default=None),
        "embed_hash": digest(chunk.embed_text),
    }
    taken = {*found, *TEXTS}
    for key, value in chunk.metadata.custom.items():
        found[f"custom.{key}" if key in taken else key] = _flattened(value, lists)
    return {
        key: value for key, value in found.items() if value is not None and value != ""
    }


def documents(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, ...]]:
    """Part records that come in the order of a chunks file by their documents."""
    for _, found in groupby(chunks, key=lambda chunk: chunk.doc_id):
        yield tuple(found)


def kin(chunks: Sequence[Chunk]) -> Mapping[str, Kin]:
    """Say of the records of one document who stands around each.

    Neighbours are those of the cover, and in `multi` those of the paragraphs; both are
    for the same people and days.

    Raises:
        RecordError: the parent of a record is not among them.
    """
    records = {chunk.chunk_id: chunk for chunk in chunks}
    found = {chunk_id: Kin() for chunk_id in records}
    for chunk in chunks:
        parent = _parent(chunk, records)
        if parent is not None:
            own = found[chunk.chunk_id]
            own.parent = parent.chunk_id
            found[parent.chunk_id].children.append(chunk.chunk_id)
            # Parents come before what they hold.
            own.depth = found[parent.chunk_id].depth + 1
    leaves = leaf_ids(chunks)
    for row in (
        [chunk for chunk in chunks if chunk.chunk_id in leaves],
        [chunk for chunk in chunks if is_paragraph(chunk.chunk_id)],
    ):
        for one, other in pairwise(row):
            if access_of(one.metadata) == access_of(other.metadata):
                found[one.chunk_id].next = other.chunk_id
                found[other.chunk_id].previous = one.chunk_id
    return found


def _parent(chunk: Chunk, records: Mapping[str, Chunk]) -> Chunk | None:
    """Give the nearest record above that can stand in for a chunk.

    Raises:
        RecordError: a record above is not there.
    """
    lines = [line.strip() for line in chunk.text.splitlines()]
    access = access_of(chunk.metadata)
    above = chunk.parent_chunk_id
    while above is not None:
        if above not in records:
            message = (
                f"{chunk.chunk_id!r}: its parent {above!r} is missing; a chunks file "
                "as `situate run` writes it holds documents whole, a delta does not"
            )
            raise RecordError(message)
        parent = records[above]
        if access_of(parent.metadata) == access and all(
            line in parent.text for line in lines
        ):
            return parent
        above = parent.parent_chunk_id
    return None


def _flattened(value: JsonValue, lists: Lists) -> Flat | None:
    if value in ([], {}):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list) and lists == "kept":
        plain: list[Scalar] = [
            each for each in value if isinstance(each, str | int | float)
        ]
        if len(plain) == len(value):
            return plain
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
