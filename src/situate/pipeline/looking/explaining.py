"""Why one chunk is as it is: from its record, its neighbours and what lies beside.

Nothing is cut or asked again. What records, blocks file, manifest and ledger do not
tell is said to be unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from situate import manifest
from situate.check.files import Blocks, beside
from situate.check.findings import section_of
from situate.enrichment.ledger import noted
from situate.enrichment.reasons import REASONS
from situate.errors import ConfigError, ReadError
from situate.files import opened
from situate.model import is_paragraph, leaf_ids
from situate.pipeline.looking.crumbs import crumbs_of
from situate.pipeline.looking.edges import Edge, Surroundings, parted
from situate.pipeline.looking.showing import passage
from situate.readers import read
from situate.readers.options import DEFAULTS
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from situate.check.findings import Listed
    from situate.enrichment.ledger import Noted
    from situate.manifest import Sizes
    from situate.model import BlockKind, Chunk, Document, Span
    from situate.pipeline.looking.crumbs import Crumb
    from situate.readers import ReaderOptions
    from situate.tokens import TokenCounter

Role = Literal["leaf", "paragraph", "container"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBlock:
    """A block, or the part of one that a chunk holds."""

    block_id: str
    kind: str | None
    """None without the blocks file."""
    span: Span | None
    parts: Span | None
    """Which of its parts, half-open; None for all of it."""
    of: int | None
    """How many parts it has; None without the blocks file."""
    is_guest: bool
    """Whether it is the heading of a section that has nothing else (C8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A part of the breadcrumb line, how it stands there and who says it."""

    crumb: Crumb
    said_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Tokens of a part of a chunk beside their limit."""

    part: str
    tokens: int | None
    """None where the tokenizer is not known."""
    limit: int | None
    """None where there is none, or the manifest is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """All there is to say of one chunk."""

    chunk: Chunk
    role: Role
    blocks: tuple[HeldBlock, ...]
    begins: Edge | None
    """None for chunks that are not leaves."""
    ends: Edge | None
    crumbs: tuple[Origin, ...]
    tokens: tuple[Measured, ...]
    reason: str | None
    """The reason of its enrichment in words."""
    requests: tuple[Noted, ...]
    """What the ledger says of its leaf, oldest first."""
    passage: str | None
    notes: tuple[str, ...]
    """What is missing or does not fit together."""

    @property
    def reads_as_text(self) -> bool:
        """Whether what is indexed is the text as it is."""
        return self.chunk.reading == self.chunk.text


def explain(
    chunk: Chunk,
    document: Sequence[Chunk],
    chunks: Path,
    *,
    source: Path | None = None,
) -> Explanation:
    """Explain a chunk among all of its document, by what stands beside a chunks file.

    Raises:
        RecordError: a file is not what its name says.
        ReadError: the source cannot be read.
    """
    chunk_id = chunk.chunk_id
    notes: list[str] = []
    about = _Beside.of(chunks, chunk.doc_id, notes)
    leaves = leaf_ids(document)
    role: Role = "leaf" if chunk_id in leaves else "container"
    if is_paragraph(chunk_id):
        role = "paragraph"
    around = Surroundings(
        leaves=tuple(each for each in document if each.chunk_id in leaves),
        kinds={
            block_id: cast("BlockKind", listed.kind)
            for block_id, listed in about.blocks.items()
        },
        sizes=about.sizes,
        counter=about.counter,
    )
    begins = ends = None
    if role == "leaf":
        begins, ends = _edges(chunk, document, around, about.blocks)
    requests, broken = about.requests(chunk, role)
    if broken:
        notes.append(f"{broken:,} lines of the ledger about it cannot be read")
    told = None if source is None else _read(source, about.options)
    if told is not None and told.version != chunk.doc_version:
        notes.append(
            f"{source} is not the version that this chunk was cut from, unless a "
            "manifest or sidecar named that: the passage may be another"
        )
    return Explanation(
        chunk=chunk,
        role=role,
        blocks=tuple(_blocks(chunk, role, about.blocks)),
        begins=begins,
        ends=ends,
        crumbs=tuple(
            Origin(crumb=crumb, said_by=_said_by(crumb, chunk, told))
            for crumb in crumbs_of(chunk)
        ),
        tokens=_measured(chunk, role, about),
        reason=REASONS.get(chunk.enrichment.reason or ""),
        requests=requests,
        passage=passage(chunk, source),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """What stands beside a chunks file, each optional."""

    sizes: Sizes | None
    options: ReaderOptions
    counter: TokenCounter | None
    blocks: Mapping[str, Listed]
    ledger: Path | None

    @classmethod
    def of(cls, chunks: Path, doc_id: str, notes: list[str]) -> _Beside:
        """Read it, and note what is not there.

        Raises:
            RecordError: a file is not what its name says.
        """
        sizes, options, counter = None, DEFAULTS, None
        blocks: dict[str, Listed] = {}
        if (about := beside(chunks, "manifest.json")) is None:
            notes.append("no manifest beside the chunks: limits are not known")
        else:
            sizes, _ = manifest.read_sizes(about)
            options = manifest.read_options(about)
            try:
                counter = load_counter(sizes.tokenizer)
            except ConfigError as error:
                notes.append(f"tokens are not counted: {error}")
        if (listed := beside(chunks, "blocks.jsonl")) is None:
            notes.append("no blocks file beside the chunks: kinds are not known")
        else:
            _, found = Blocks(listed).take(doc_id) or ("", ())
            blocks = {block.block_id: block for block in found}
        return cls(
            sizes=sizes,
            options=options,
            counter=counter,
            blocks=blocks,
            ledger=beside(chunks, "ledger.jsonl"),
        )

    def requests(self, chunk: Chunk, role: Role) -> tuple[tuple[Noted, ...], int]:
        """Give what the ledger says of a chunk's leaf, and its broken lines.

        Raises:
            RecordError: the ledger cannot be read.
        """
        # Only leaves are asked about; a paragraph has the statement of its leaf.
        asked = chunk.parent_chunk_id if role == "paragraph" else chunk.chunk_id
        if self.ledger is None or asked is None:
            return (), 0
        return noted(self.ledger, asked)

    def count(self, text: str) -> int | None:
        """Count tokens, where it is known how."""
        return None if self.counter is None else self.counter.count(text)


def _edges(
    chunk: Chunk,
    document: Sequence[Chunk],
    around: Surroundings,
    listed: Mapping[str, Listed],
) -> tuple[Edge, Edge]:
    """Say where a leaf begins and ends, and why there."""
    places = {each.chunk_id: place for place, each in enumerate(document)}
    at = next(
        place
        for place, leaf in enumerate(around.leaves)
        if leaf.chunk_id == chunk.chunk_id
    )
    left = around.leaves[at - 1] if at else None
    right = around.leaves[at + 1] if at + 1 < len(around.leaves) else None
    if left is None:
        is_first = chunk.ordinal == places[chunk.chunk_id]
        begins = _end("begins", "before") if is_first else _missing("before")
    else:
        begins = _pair(left, chunk, places, around)
    if right is not None:
        return begins, _pair(chunk, right, places, around)
    is_last = not listed or list(listed)[-1] in chunk.block_ids
    return begins, _end("ends", "after") if is_last else _missing("after")


def _pair(
    left: Chunk, right: Chunk, places: Mapping[str, int], around: Surroundings
) -> Edge:
    """Say what parted two leaves, if no record between them is missing."""
    apart = places[right.chunk_id] - places[left.chunk_id]
    if right.ordinal - left.ordinal != apart:
        return Edge(rule=None, words="records beside it are missing from this file")
    return parted(left, right, around)


def _end(verb: str, where: str) -> Edge:
    return Edge(rule="C2", words=f"the document {verb} here: no leaf stands {where} it")


def _missing(where: str) -> Edge:
    return Edge(rule=None, words=f"the records {where} it are missing from this file")


def _blocks(
    chunk: Chunk, role: Role, listed: Mapping[str, Listed]
) -> Sequence[HeldBlock]:
    own = {chunk.section_id, *(chunk.section_ids or ())}
    held = []
    for block_id, span in zip(chunk.block_ids, chunk.spans, strict=True):
        known = listed.get(block_id)
        held.append(
            HeldBlock(
                block_id=block_id,
                kind=None if known is None else known.kind,
                span=span,
                parts=chunk.parts.get(block_id),
                of=None if known is None else known.parts,
                is_guest=role == "leaf" and section_of(block_id) not in own,
            )
        )
    return held


def _said_by(crumb: Crumb, chunk: Chunk, told: Document | None) -> str:
    """Say where a part of the breadcrumb line comes from."""
    if crumb.kind == "heading":
        return "heading"
    above = chunk.breadcrumb[0].split() if chunk.breadcrumb else []
    is_heading = crumb.kind == "title" and above == crumb.text.split()
    if told is None:
        if is_heading:
            return "it is the first heading as well, which gives it if nobody else does"
        others = "its sidecar, the manifest or the config"
        return f"the document, {others}; --source tells more"
    own = told.metadata.title if crumb.kind == "title" else told.metadata.doc_type
    if own == crumb.text:
        return "the document says it itself"
    if is_heading:
        return "the only heading at the top, as the document names none"
    config = "" if crumb.kind == "title" else ", or corpus.doc_type of the config"
    return f"a sidecar or a manifest{config}; the document says {own!r}"


def _measured(chunk: Chunk, role: Role, about: _Beside) -> tuple[Measured, ...]:
    """Put the sizes of a chunk beside their limits."""
    sizes = about.sizes
    most = reading = prefix = sentence = None
    if sizes is not None:
        is_parent = role == "container"
        most = sizes.container_max_tokens if is_parent else sizes.max_tokens
        prefix, sentence = sizes.prefix_max_tokens, sizes.statement_max_tokens
        reading = sizes.reading_max_tokens
    found = [
        Measured(part="text", tokens=chunk.token_count, limit=most),
        Measured(
            part="breadcrumb line",
            tokens=about.count(chunk.breadcrumb_line),
            limit=prefix,
        ),
    ]
    if chunk.statement:
        tokens = about.count(chunk.statement)
        found.append(Measured(part="statement", tokens=tokens, limit=sentence))
    if chunk.reading != chunk.text:
        # Only the readings of tables are bound, which a record does not tell alone.
        has_table = any(
            about.blocks[each].kind == "table"
            for each in chunk.block_ids
            if each in about.blocks
        )
        tokens = about.count(chunk.reading)
        limit = reading if has_table else None
        found.append(Measured(part="reading", tokens=tokens, limit=limit))
    found.append(
        Measured(part="embed_text", tokens=about.count(chunk.embed_text), limit=None)
    )
    return tuple(found)


def _read(path: Path, options: ReaderOptions) -> Document:
    """Read the source as the run did.

    Raises:
        ReadError: it cannot be read.
    """
    try:
        with opened(path) as file:
            data = file.read(options.limits.max_bytes + 1)
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise ReadError(message, refusal="unreadable") from error
    return read(data, path.as_posix(), options=options).document
