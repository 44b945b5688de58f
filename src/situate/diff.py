"""What became of the chunks of one output in another.

Ids are what indexes know chunks by, so they are compared first. Both files are read
once, line by line; of a chunk its ids and a few hashes are kept, never a text.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, get_args

from situate.errors import RecordError
from situate.fields import typed
from situate.model import TOP
from situate.records import HASHES, from_line, from_record, read_lines
from situate.validity import in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from situate.model import Chunk, JsonValue

Kind = Literal["added", "removed", "changed", "moved", "unchanged"]
"""What became of a chunk.

`moved` has another place among the chunks of its document that both files hold, and
is the same otherwise; or another id, and the text of a chunk that is gone, perhaps
but for its heading. `changed` has its id, and something else is not the same.
"""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Change = Literal[
    "text", "reading", "breadcrumb", "statement", "metadata", "parent", "place"
]
"""What of a chunk is not the same.

`text` is what is shown; `reading` what is indexed of an equal text; `breadcrumb` its
headings and their line; `statement` all of `metadata.enrichment`; `parent` another
chunk; `place` its place as above; `metadata` the rest but for what follows from other
edits: ids, ordinal, hashes, parts and places in the source.
"""

_HASH_BYTES: Final = 16

_APART: Final = frozenset(
    {
        *HASHES,
        "breadcrumb",
        "enrichment",
        "forced_split",
        "ordinal",
        "parts",
        "section_id",
        "section_ids",
        "spans",
        "token_count",
    }
)
"""Keys of `metadata` that are looked at as something else, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What became of one chunk."""

    kind: Kind
    chunk_id: str
    """Its id in the new file; in the old one if it was removed."""
    was: str | None
    """Its id in the old file; None if it was added."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What became of every chunk, document by document as the new file has them.

    Of a document those removed come first, then its chunks as they stand; documents
    that are gone come last.
    """

    documents: Mapping[str, tuple[Entry, ...]]

    def counts(self, doc_id: str | None = None) -> dict[Kind, int]:
        """Count what became of a document's chunks, or of all."""
        entries = self if doc_id is None else self.documents[doc_id]
        counted = Counter(entry.kind for entry in entries)
        return {kind: counted[kind] for kind in KINDS}

    def __iter__(self) -> Iterator[Entry]:
        """Yield what became of each chunk."""
        return chain.from_iterable(self.documents.values())


def diff(old: Path, new: Path, *, day: str | None = None) -> Difference:
    """Compare two chunks files, or what in them is in force on a day, an ISO date.

    Raises:
        RecordError: a file cannot be read, a line is no chunk, or an id stands twice.
    """
    before, after = _read(old, day), _read(new, day)
    origins = {chunk_id: chunk_id for chunk_id in after if chunk_id in before}
    displaced = _displaced(before, after)
    origins.update(_renamed(before, after))
    heirs = {was: chunk_id for chunk_id, was in origins.items()}
    documents: dict[str, list[Entry]] = {known.doc_id: [] for known in after.values()}
    for chunk_id, known in before.items():
        if chunk_id not in heirs:
            entry = Entry(kind="removed", chunk_id=chunk_id, was=chunk_id)
            documents.setdefault(known.doc_id, []).append(entry)
    for chunk_id, known in after.items():
        was = origins.get(chunk_id)
        changes: list[Change] = []
        if was is not None:
            changes += _changes(before[was], known, heirs)
        if chunk_id in displaced:
            changes.append("place")
        entry = Entry(
            kind=_kind(chunk_id, was, changes),
            chunk_id=chunk_id,
            was=was,
            changes=tuple(changes),
        )
        documents[known.doc_id].append(entry)
    return Difference(
        documents={doc_id: tuple(entries) for doc_id, entries in documents.items()}
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept of a chunk: hashes stand for all that may be long."""

    doc_id: str
    line: int
    parent: str | None
    text: bytes
    body: bytes
    """The text without the chunk's own heading; empty where nothing is left."""
    reading: bytes
    breadcrumb: bytes
    statement: bytes
    metadata: bytes
    size: bytes
    """What of `metadata` follows from an edited text."""


def _read(path: Path, day: str | None) -> dict[str, _Known]:
    """Read a chunks file, its ids in order; with a day, what is in force then."""
    found: dict[str, _Known] = {}
    doc_ids: dict[str, str] = {}
    for line, (where, content) in enumerate(read_lines(path), 1):
        record = from_line(content, where)
        chunk = from_record(record, where)
        if day is not None and not in_force(chunk.metadata, day):
            continue
        twin = found.get(chunk.chunk_id)
        if twin is not None:
            message = (
                f"{where}: chunk_id {chunk.chunk_id!r} stands in line {twin.line} too"
            )
            raise RecordError(message)
        metadata = typed(dict, record["metadata"], f"{where}: metadata")
        found[chunk.chunk_id] = _Known(
            # One text for all chunks of a document.
            doc_id=doc_ids.setdefault(chunk.doc_id, chunk.doc_id),
            line=line,
            parent=chunk.parent_chunk_id,
            text=_hash(chunk.text),
            body=_hash(_body(chunk)),
            reading=_hash(chunk.reading),
            breadcrumb=_hash([chunk.breadcrumb_line, *chunk.breadcrumb]),
            statement=_hash(metadata["enrichment"]),
            metadata=_hash(
                [chunk.level, {k: metadata[k] for k in metadata.keys() - _APART}]
            ),
            size=_hash([chunk.token_count, chunk.forced_split]),
        )
    return found


def _body(chunk: Chunk) -> str:
    """Give a chunk's text without its section's heading, if that comes first."""
    if f"{chunk.section_id}#0" not in chunk.block_ids[:1] or chunk.section_id == TOP:
        return chunk.text
    return chunk.text.partition("\n\n")[2]


def _hash(value: JsonValue) -> bytes:
    said = json.dumps(value, sort_keys=True)
    return blake2b(said.encode(), digest_size=_HASH_BYTES).digest()


_NOTHING: Final = _hash("")


def _displaced(
    before: Mapping[str, _Known], after: Mapping[str, _Known]
) -> frozenset[str]:
    """Name the chunks that changed places with others of their document.

    Those are left out that are most and stand in one order in both files, so what
    was moved is named, and not what it was moved past.
    """
    of_document: dict[str, list[str]] = defaultdict(list)
    for chunk_id, known in after.items():
        if chunk_id in before:
            of_document[known.doc_id].append(chunk_id)
    displaced: set[str] = set()
    for chunk_ids in of_document.values():
        places = [before[chunk_id].line for chunk_id in chunk_ids]
        kept = _longest_rising(places)
        displaced.update(chunk_ids[n] for n in range(len(places)) if n not in kept)
    return frozenset(displaced)


def _longest_rising(values: Sequence[int]) -> frozenset[int]:
    """Give the indices of a longest rising run of values, others between them."""
    # Of all runs of one length, the one that ends lowest; and what precedes each.
    lowest: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, value in enumerate(values):
        length = bisect_left(lowest, value)
        previous.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [value]
        ends[length : length + 1] = [index]
    run = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        run.add(index)
        index = previous[index]
    return frozenset(run)


def _renamed(
    before: Mapping[str, _Known], after: Mapping[str, _Known]
) -> dict[str, str]:
    """Find which chunk of the old file goes on under each new id.

    It has the same text, best in the same document; or it has the same text below
    another heading of it, which no other chunk that came or went has.
    """
    gone = {key: known for key, known in before.items() if key not in after}
    come = {key: known for key, known in after.items() if key not in before}
    found: dict[str, str] = {}
    for alike, most in (
        (_text, None),
        (_text_below_heading, 1),
        (_text_anywhere, None),
    ):
        old, new = _grouped(gone, alike), _grouped(come, alike)
        for key in new.keys() & old.keys():
            if most is None or max(len(old[key]), len(new[key])) <= most:
                found.update(zip(new[key], old[key], strict=False))
        for chunk_id in come.keys() & found.keys():
            del come[chunk_id], gone[found[chunk_id]]
    return found


def _text(known: _Known) -> Hashable:
    return known.doc_id, known.text


def _text_below_heading(known: _Known) -> Hashable:
    return None if known.body == _NOTHING else (known.doc_id, known.body)


def _text_anywhere(known: _Known) -> Hashable:
    return known.text


def _grouped(
    chunks: Mapping[str, _Known], alike: Callable[[_Known], Hashable]
) -> dict[Hashable, list[str]]:
    """Put the ids of those together that are alike; None is like no other."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for chunk_id, known in chunks.items():
        key = alike(known)
        if key is not None:
            groups[key].append(chunk_id)
    return groups


def _changes(old: _Known, new: _Known, heirs: Mapping[str, str]) -> Iterator[Change]:
    """Yield what is not the same; a parent that only has another id is the same."""
    if old.text != new.text:
        yield "text"
    elif old.reading != new.reading:
        yield "reading"
    if old.breadcrumb != new.breadcrumb:
        yield "breadcrumb"
    if old.statement != new.statement:
        yield "statement"
    if old.metadata != new.metadata or (old.text == new.text and old.size != new.size):
        yield "metadata"
    parent = None if old.parent is None else heirs.get(old.parent, old.parent)
    if parent != new.parent:
        yield "parent"


def _kind(chunk_id: str, was: str | None, changes: Sequence[Change]) -> Kind:
    if was is None:
        return "added"
    if was != chunk_id or list(changes) == ["place"]:
        return "moved"
    return "changed" if changes else "unchanged"
