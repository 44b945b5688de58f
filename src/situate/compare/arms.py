"""Arms: the same leaves with other texts indexed, or chunks from elsewhere.

An arm is a list of entries. Those that situate makes differ from each other in what
is indexed alone: `text`, ids and places are the same objects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from situate.compare.grounds import union

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from situate.compare.grounds import Ground
    from situate.model import Chunk, Span
    from situate.tokens import TokenCounter

Kind = Literal["none", "breadcrumb", "statement", "breadcrumb+statement"]
"""What an arm of situate's puts in front of a reading."""

Placing = Literal["dense", "both"]
"""Which indexes hold the statement: `run` writes it into `embed_text` alone."""

_WORD = re.compile(r"\s*\S+")
"""A word with the blanks before it, as tokenizers take it."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

FREE: Final[tuple[Kind, ...]] = ("none", "breadcrumb")
"""Kinds that need no statements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One passage of an arm's indexes."""

    entry_id: str
    doc_id: str
    text: str
    """What is handed over and cited."""
    breadcrumb: str
    statement: str | None
    dense: str
    """What the dense index gets."""
    lexical: tuple[str, str]
    """What the lexical index gets: the lines in front, and the reading."""
    spans: tuple[Span, ...]
    """What it holds of its document's ground, in order and without overlap."""
    text_tokens: int
    embed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """The sentences one prompt brought, and what they cost."""

    prompt: str
    by_chunk: Mapping[str, str]
    """By chunk id; chunks without one have no key."""
    usd: Decimal | None
    """At list price, nothing cached; None where no price is known."""
    unanswered: int = 0
    """Chunks that could not be asked about, or got no answer to judge, where these are
    more than a run may have: of such sentences nothing can be said."""
    shortfall: str | None = None
    """What keeps this from being all that was wanted, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Passages as one way of indexing has them."""

    name: str
    kind: Literal[Kind, "windows", "file", "run"]
    entries: tuple[Entry, ...]
    statements: Statements | None = None
    placing: Placing | None = None
    sections: Mapping[str, Entry] = field(default_factory=dict)
    """What may be handed over for an entry, by the entry's id: the section that holds
    all of it."""
    documents: tuple[Entry, ...] = ()
    """Entries of whole documents, which say where to look for entries."""

    @property
    def usd(self) -> Decimal | None:
        """What its statements cost once; None without, or where it is unknown."""
        return self.statements.usd if self.statements else None

    @property
    def unplaced(self) -> int:
        """How many entries stand nowhere in their document's ground."""
        return sum(not entry.spans for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaves:
    """The leaves of a corpus as they were cut once, with their places."""

    chunks: tuple[Chunk, ...]
    spans: Mapping[str, tuple[Span, ...]]
    """Places in the document's ground, by chunk id."""
    containers: tuple[Chunk, ...] = ()
    """Records above the leaves, where the corpus was cut with them."""


def name_of(kind: Kind, prompt: str, placing: Placing) -> str:
    """Name an arm: `breadcrumb+statement:findable-v1`, `...:both` in both indexes."""
    if "statement" not in kind:
        return kind
    return f"{kind}:{prompt}" + (":both" if placing == "both" else "")


def bare(leaves: Leaves, kind: Kind, counter: TokenCounter) -> Arm:
    """Make an arm that has no statements: `none` or `breadcrumb`."""
    return _made(leaves, Arm(name=kind, kind=kind, entries=()), counter)


def stated(
    leaves: Leaves,
    kind: Kind,
    statements: Statements,
    placing: Placing,
    counter: TokenCounter,
) -> Arm:
    """Make an arm of one prompt's statements, alone or below the breadcrumb."""
    arm = Arm(
        name=name_of(kind, statements.prompt, placing),
        kind=kind,
        entries=(),
        statements=statements,
        placing=placing,
    )
    return _made(leaves, arm, counter)


def _made(leaves: Leaves, arm: Arm, counter: TokenCounter) -> Arm:
    """Give an arm its entries."""

    def entry(chunk: Chunk, spans: tuple[Span, ...]) -> Entry:
        said = arm.statements.by_chunk if arm.statements else {}
        statement = said.get(chunk.chunk_id)
        line = chunk.breadcrumb_line if "breadcrumb" in arm.kind else ""
        dense_prefix = _lines(line, statement)
        lexical_prefix = dense_prefix if arm.placing == "both" else line
        dense = above(dense_prefix, chunk.reading)
        return Entry(
            entry_id=chunk.chunk_id,
            doc_id=chunk.doc_id,
            text=chunk.text,
            breadcrumb=line,
            statement=statement,
            dense=dense,
            lexical=(lexical_prefix, chunk.reading),
            spans=spans,
            text_tokens=chunk.token_count,
            embed_tokens=counter.count(dense),
        )

    sections = {
        chunk_id: entry(section, spans)
        for chunk_id, (section, spans) in _sections(leaves).items()
    }
    return replace(
        arm,
        entries=tuple(
            entry(chunk, leaves.spans[chunk.chunk_id]) for chunk in leaves.chunks
        ),
        sections=sections,
        documents=tuple(
            entry(chunk, ()) for chunk in leaves.containers if chunk.level == "document"
        ),
    )


def _sections(leaves: Leaves) -> dict[str, tuple[Chunk, tuple[Span, ...]]]:
    """Give for every leaf the nearest record above that holds all of its text.

    A container that is cut short, or a leaf that is the parent of others, does not.
    """
    records = {chunk.chunk_id: chunk for chunk in (*leaves.containers, *leaves.chunks)}
    held: dict[str, list[Chunk]] = defaultdict(list)
    for leaf in leaves.chunks:
        container = records.get(leaf.parent_chunk_id or "")
        while container is not None and container.level == "section":
            if not container.embed and _holds(container.text, leaf.text):
                held[container.chunk_id].append(leaf)
                break
            container = records.get(container.parent_chunk_id or "")
    found: dict[str, tuple[Chunk, tuple[Span, ...]]] = {}
    for container_id, below in held.items():
        spans = union(span for leaf in below for span in leaves.spans[leaf.chunk_id])
        for leaf in below:
            found[leaf.chunk_id] = records[container_id], spans
    return found


def _holds(text: str, part: str) -> bool:
    """Tell whether a container has a leaf's text: its first and last worded lines.

    What a leaf repeats of a table or list stands once in its container.
    """
    lines = [line for line in part.splitlines() if any(map(str.isalnum, line))]
    return not lines or (lines[0] in text and lines[-1] in text)


def above(prefix: str, reading: str) -> str:
    """Put a prefix and a blank line before a reading, nothing where it is empty."""
    return f"{prefix}\n\n{reading}" if prefix else reading


def _lines(breadcrumb: str, statement: str | None) -> str:
    return "\n".join(line for line in (breadcrumb, statement) if line)


def windows(grounds: Mapping[str, Ground], size: int, counter: TokenCounter) -> Arm:
    """Cut documents into runs of whole words of at most `size` tokens each.

    What those who come from token windows have: no structure, no prefix, no overlap.
    Tokens are counted word by word, which is a few more than a whole text has.
    """
    entries: list[Entry] = []
    for doc_id, ground in grounds.items():
        for number, (start, end) in enumerate(_windows(ground.text, size, counter)):
            text = ground.text[start:end]
            tokens = counter.count(text)
            entries.append(
                Entry(
                    entry_id=f"{doc_id}:{number}",
                    doc_id=doc_id,
                    text=text,
                    breadcrumb="",
                    statement=None,
                    dense=text,
                    lexical=("", text),
                    spans=((start, end),),
                    text_tokens=tokens,
                    embed_tokens=tokens,
                )
            )
    return Arm(name=f"fixed:{size}", kind="windows", entries=tuple(entries))


def _windows(text: str, size: int, counter: TokenCounter) -> Iterator[Span]:
    """Yield where windows begin and end; a longer word is one alone."""
    start = end = used = 0
    for match in _WORD.finditer(text):
        tokens = counter.count(match.group())
        if used and used + tokens > size:
            yield start, end
            start, used = match.start(), 0
        used += tokens
        end = match.end()
    if used:
        yield start, end
