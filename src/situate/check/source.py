"""The source of one document, read again: what its blocks say and where they are."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from situate.check.coverage import Leaf, coverage
from situate.check.findings import Finding, Listed
from situate.errors import RecordError
from situate.fields import Fields
from situate.files import opened
from situate.model import Code, Table, walk
from situate.readers import decode, passages, read
from situate.readers.decoding import clean
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from situate.check.coverage import Coverage
    from situate.check.findings import Limits
    from situate.model import Block, Chunk
    from situate.readers import ReaderOptions

_GAP = "\n\n"

_INTRODUCTIONS = 2
"""Paragraphs that may introduce a block: a lead-in and a caption (C4, C5)."""

_INTRODUCED = frozenset({"list", "table", "code", "math"})
"""Kinds of blocks that are introduced."""


class Source:
    """The source of one of a chunks file's documents."""

    def __init__(self, path: Path, chunks: Path, options: ReaderOptions) -> None:
        """Find whose source it is, and read it as the chunks' run did.

        It belongs to the document whose id its path ends with, else to the only
        document there is.

        Raises:
            RecordError: it is not told whose it is, or it cannot be read.
            ReadError: it cannot be decoded, or there is no reader for it.
        """
        self.doc_id = owner(path, chunks)
        try:
            with opened(path) as file:
                data = file.read(options.limits.max_bytes + 1)
        except OSError as error:
            message = f"{path}: cannot be read: {error.strerror}"
            raise RecordError(message) from error
        name = path.as_posix()
        self._read = read(data, name, options=options)
        self._passages = passages(data, name)
        self._leaves: list[Leaf] = []
        document = self._read.document
        self.version = document.version
        self.blocks = tuple(
            Listed(
                block_id=block.block_id,
                section_id=section.section_id,
                kind=block.kind,
                span=block.span,
                parts=block.part_count,
            )
            for section, _ in walk(document.root)
            for block in section.blocks
        )
        self._blocks: dict[str, Block] = {
            block.block_id: block
            for section, _ in walk(document.root)
            for block in section.blocks
        }
        self._around = dict(_neighbours(list(self._blocks.values())))
        self._last: str | None = None
        self._said: set[str] = set()
        """Lines of the leaves that hold the last leaf's last block."""
        # Offsets count characters where a format has any, and in no other.
        has_spans = any(block.span is not None for block in self.blocks)
        self._text = decode(data, name).text if has_spans else ""

    def coverage(self) -> Coverage:
        """Measure how much of it the leaves hold that were examined. Ask once."""
        return coverage(self._passages, self._read, self._leaves)

    def examine(self, chunk: Chunk, limits: Limits | None) -> Iterator[Finding]:
        """Yield what a chunk says that its source does not."""
        if chunk.embed:
            self._leaves.append(
                Leaf(
                    text=self._own(chunk),
                    breadcrumb=chunk.breadcrumb,
                    doc_version=chunk.doc_version,
                )
            )
        end = max((span[1] for span in chunk.spans if span is not None), default=0)
        if end > len(self._text):
            yield Finding(
                rule="span",
                subject=chunk.chunk_id,
                message=f"spans to {end}, the source has {len(self._text)} characters",
            )
        elif chunk.embed and chunk.doc_version == self.version:
            for block_id in self._missing(chunk, limits):
                yield Finding(
                    rule="C2-cover",
                    subject=chunk.chunk_id,
                    message=f"does not say what {block_id} says in the source"
                    if block_id
                    else "says more than its blocks do in the source",
                )

    def _missing(self, chunk: Chunk, limits: Limits | None) -> Iterator[str]:
        """Name blocks whose words are not in a leaf; "" for words of no block.

        Long headings are shortened (C7), and what has parts may be written anew where
        it is long: those are not compared.
        """
        position, exact = 0, not chunk.parts
        for block_id, span in zip(chunk.block_ids, chunk.spans, strict=True):
            block = self._blocks.get(block_id)
            if block is None:
                return
            wanted = block.text
            if block_id in chunk.parts:
                wanted = ""
                if block.kind == "paragraph" and span and self._is_slice(block):
                    wanted = clean(self._text[slice(*span)]).strip()
            found = chunk.text.find(wanted, position)
            if found >= 0:
                position = found + len(wanted)
            elif not _is_verbatim(block, limits):
                exact = False
            else:
                yield block_id
                return
        texts = (self._blocks[block_id].text for block_id in chunk.block_ids)
        if exact and chunk.text != _GAP.join(texts):
            yield ""

    def _own(self, leaf: Chunk) -> str:
        """Give a leaf's text without what it repeats of the pieces above it (C2)."""
        if not leaf.block_ids:
            return leaf.text
        first, last = leaf.block_ids[0], leaf.block_ids[-1]
        text = leaf.text
        if first == self._last and (block := self._blocks.get(first)) is not None:
            for _ in range(_INTRODUCTIONS if block.kind in _INTRODUCED else 0):
                above, gap, below = text.partition(_GAP)
                near = self._around[first]
                if gap and any(other.text.endswith(above) for other in near):
                    text = below
            for head in _head(block):
                line, _, below = text.partition("\n")
                if line == head and head in self._said:
                    text = below.lstrip("\n")
        if not first == last == self._last:
            self._said.clear()
        self._said.update(leaf.text.split("\n"))
        self._last = last
        return text

    def _is_slice(self, block: Block) -> bool:
        """Tell whether a block's text is its stretch of the source."""
        return (
            block.span is not None
            and clean(self._text[slice(*block.span)]) == block.text
        )


def _neighbours(blocks: Sequence[Block]) -> Iterator[tuple[str, tuple[Block, ...]]]:
    """Yield with each block the paragraphs that may introduce it or be its caption."""
    for number, block in enumerate(blocks):
        before = blocks[max(0, number - _INTRODUCTIONS) : number]
        around = (*before, *blocks[number + 1 : number + 2])
        yield (
            block.block_id,
            tuple(near for near in around if near.kind == "paragraph"),
        )


def _head(block: Block) -> tuple[str, ...]:
    """Give the lines that stand in every piece of a block."""
    match block.content:
        case Table(header=header, delimiter=delimiter, caption=caption):
            return (caption or "", *(row.text for row in header), delimiter)
        case Code(opening=opening):
            return (opening,)
        case _:
            return ()


def _is_verbatim(block: Block, limits: Limits | None) -> bool:
    """Tell whether a whole block surely stands in its chunk letter by letter."""
    share = 4 if block.kind == "heading" else 2
    if share == 2 and block.content is None:
        return True
    if limits is None:
        return False
    return limits.counter.count(block.text + _GAP) <= limits.max_tokens // share


def owner(path: Path, chunks: Path) -> str:
    """Give the document whose source a path is.

    Raises:
        RecordError: it is not told whose it is.
    """
    doc_ids = set(_doc_ids(chunks))
    name = path.as_posix()
    own = {doc_id for doc_id in doc_ids if f"/{name}".endswith(f"/{doc_id}")}
    if len(own or doc_ids) != 1:
        message = (
            f"{path}: is the source of none or several of the documents in "
            f"{chunks}; name it so that its path ends with one doc_id"
        )
        raise RecordError(message)
    (doc_id,) = own or doc_ids
    return doc_id


def _doc_ids(chunks: Path) -> Iterator[str]:
    """Yield the document of every line that names one."""
    for where, line in read_lines(chunks):
        with suppress(RecordError):
            yield Fields(from_line(line, where), where).text("doc_id")
