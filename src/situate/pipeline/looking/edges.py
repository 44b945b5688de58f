"""Says which rule parted two neighbouring leaves, from what their records tell.

Pure, and careful: where records leave it open, it says so. Names of rules are those
that `check` uses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from situate.check.findings import section_of
from situate.chunking.introductions import is_lead_in
from situate.model import Block, BlockKind, Metadata

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.manifest import Sizes
    from situate.model import Chunk
    from situate.tokens import TokenCounter

_PARTED_BY: Final[Mapping[str, tuple[str, str]]] = {
    "table": ("C4", "rows"),
    "list": ("C5", "items"),
    "code": ("C6", "lines"),
    "quote": ("C1", "quoted blocks"),
}

_FIELDS: Final = (
    *("title", "doc_type", "effective_from", "effective_to"),
    *("source", "language"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Where a leaf begins or ends, and why there."""

    rule: str | None
    """None where it cannot be known."""
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known beside the two leaves."""

    leaves: Sequence[Chunk]
    """All of the document, in order."""
    kinds: Mapping[str, BlockKind] = field(default_factory=dict)
    """By block id; empty without the blocks file."""
    sizes: Sizes | None = None
    """None without the manifest."""
    counter: TokenCounter | None = None


def parted(left: Chunk, right: Chunk, around: Surroundings) -> Edge:
    """Say why one leaf ends and the next begins."""
    if not left.block_ids or not right.block_ids:
        return Edge(rule=None, words="one of the two records names no block")
    last, first = left.block_ids[-1], right.block_ids[0]
    if last == first:
        return _inside(left, right, around)
    if section_of(last) == section_of(first):
        return _packed(left, right, around)
    return _between_sections(left, right, around)


def _inside(left: Chunk, right: Chunk, around: Surroundings) -> Edge:
    """Say how a block was cut that both hold a part of."""
    block_id = right.block_ids[0]
    before, after = left.parts.get(block_id), right.parts.get(block_id)
    kind = around.kinds.get(block_id)
    named = f"{kind or 'block'} {block_id}"
    if before is None or after is None:
        return Edge(rule=None, words=f"the records do not say how {named} was cut")
    if after[0] < before[1]:
        what = (
            "it" if kind in {"paragraph", "heading"} else f"part {after[0] + 1} of it"
        )
        return Edge(
            rule="C1",
            words=f"forced split inside {named}: {what} alone does not fit a chunk, "
            "and is cut at a sentence, else a clause, word or letter",
        )
    rule, parts = _PARTED_BY.get(kind or "", ("C1", "parts"))
    return Edge(
        rule=rule,
        words=f"{named} does not fit one chunk and is cut between its {parts} "
        f"{after[0]} and {after[0] + 1}",
    )


def _packed(left: Chunk, right: Chunk, around: Surroundings) -> Edge:
    """Say why two blocks of one section stand in two chunks."""
    section = section_of(right.block_ids[0])
    if around.sizes is None:
        return Edge(
            rule="C3",
            words=f"size: the blocks of section {section} fill chunks up to "
            "max_tokens, which is not known without the manifest",
        )
    together = _together(left, right, around)
    most = around.sizes.max_tokens
    if together <= most:
        return Edge(
            rule=None,
            words=f"both together have {together:,} of max_tokens {most:,}: the "
            "records do not say whether a table's reading (C13), a caption or lead-in "
            "(C4, C5) or a last chunk under 6 tokens (C3) parted them",
        )
    size = (
        f"size: the blocks of section {section} fill chunks up to max_tokens {most:,}; "
        f"{left.token_count:,} were used, and both have {together:,}"
    )
    introduced = _introduced(right, around)
    if introduced is None:
        return Edge(rule="C3", words=size)
    return Edge(
        rule="C5",
        words=f"{size}; the paragraph {right.block_ids[0]} introduces {introduced} and "
        "stays with it",
    )


def _introduced(chunk: Chunk, around: Surroundings) -> str | None:
    """Name the block that a chunk's first paragraph introduces, where that is sure."""
    if around.counter is None or len(chunk.block_ids) < 2:
        return None
    first, second = chunk.block_ids[:2]
    kinds = [around.kinds.get(each) for each in (first, second)]
    if kinds[0] != "paragraph" or kinds[1] is None or first in chunk.parts:
        return None
    # A paragraph has no blank line in it.
    text = chunk.text.partition("\n\n")[0]
    is_one = is_lead_in(
        Block(block_id=first, kind="paragraph", text=text),
        Block(block_id=second, kind=kinds[1], text=""),
        around.counter.count(text),
        chunk.metadata.language,
    )
    return f"{kinds[1]} {second}" if is_one else None


def _between_sections(left: Chunk, right: Chunk, around: Surroundings) -> Edge:
    """Say why two sections do not share a chunk, which only small ones ever do."""
    ends, begins = section_of(left.block_ids[-1]), section_of(right.block_ids[0])
    if _is_small(right, around):
        small, other = right, left
    elif _is_small(left, around):
        small, other = left, right
    else:
        return Edge(
            rule="C1",
            words=f"section boundary: {ends} ends and {begins} begins",
        )
    boundary = f"section boundary: {ends} ends and {begins} begins"
    sibling = _child_of(_parent(small.section_id), other.section_id)
    if sibling is None:
        return Edge(
            rule="C7",
            words=f"{boundary}; small sections share a chunk only below one parent",
        )
    if differing := _differing(left.metadata, right.metadata):
        return Edge(
            rule="C12",
            words=f"{boundary}; they share no chunk as what holds of them differs in "
            f"{', '.join(differing)}",
        )
    return _closed(left, right, _Closing(boundary, sibling, other), around)


@dataclass(frozen=True, slots=True)
class _Closing:
    """A boundary beside small sections, and the sibling that might have joined them."""

    boundary: str
    sibling: str
    holder: Chunk
    """The leaf that holds the sibling, or something below it."""


def _closed(left: Chunk, right: Chunk, closing: _Closing, around: Surroundings) -> Edge:
    """Say what closes a run of small sections between siblings that agree."""
    if around.sizes is None:
        return Edge(
            rule="C7",
            words=f"{closing.boundary}; at what the run of small sections closes is "
            "not known without the manifest",
        )
    least, most = around.sizes.min_tokens, around.sizes.max_tokens
    tokens = _tokens_below(closing.sibling, around)
    if not _is_small(closing.holder, around) and tokens >= least:
        return Edge(
            rule="C7",
            words=f"{closing.boundary}; a run of small sections closes at "
            f"{closing.sibling}, which has {tokens:,} tokens with all below it "
            f"(min_tokens is {least:,})",
        )
    together = _together(left, right, around)
    if together > most:
        return Edge(
            rule="C3",
            words=f"{closing.boundary}; together they have {together:,} tokens of "
            f"max_tokens {most:,}",
        )
    return Edge(
        rule=None,
        words=f"{closing.boundary}; the records do not say why they share no chunk",
    )


def _together(left: Chunk, right: Chunk, around: Surroundings) -> int:
    """Count the tokens of both as one text; without a counter, not what joins them."""
    if around.counter is None:
        return left.token_count + right.token_count
    return around.counter.count(f"{left.text}\n\n{right.text}")


def _is_small(chunk: Chunk, around: Surroundings) -> bool:
    """Tell whether a leaf is a run, or a whole section that could be in one."""
    if chunk.section_ids is not None:
        return True
    if around.sizes is None or chunk.level != "section":
        return False
    return _tokens_below(chunk.section_id, around) < around.sizes.min_tokens


def _tokens_below(section_id: str, around: Surroundings) -> int:
    """Add up the leaves of a section and of all below it."""
    return sum(
        leaf.token_count
        for leaf in around.leaves
        if f"{leaf.section_id}/".startswith(f"{section_id}/")
    )


def _parent(section_id: str) -> str:
    return section_id.rpartition("/")[0]


def _child_of(parent: str, section_id: str) -> str | None:
    """Name the section right below a parent that is, or holds, another."""
    beginning = f"{parent}/" if parent else ""
    if not section_id.startswith(beginning):
        return None
    return beginning + section_id.removeprefix(beginning).partition("/")[0]


def _differing(one: Metadata, other: Metadata) -> list[str]:
    keys = [key for key in _FIELDS if getattr(one, key) != getattr(other, key)]
    custom = dict.fromkeys((*one.custom, *other.custom))
    return keys + [
        key for key in custom if one.custom.get(key) != other.custom.get(key)
    ]
