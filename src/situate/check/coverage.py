"""How much of a source reached a leaf, by a second reading of it.

The words of the source come from `readers.passages`, which shares as little as it
can with the reader whose losses are looked for. Nothing here opens a file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from situate.check.alignment import Lost, reading
from situate.model import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from situate.model import Document
    from situate.readers import Read

MOST_KEPT: Final = 1_000
"""Passages and headings that are kept to be shown; all are counted."""

_LEFT_OUT: Final = "…"
"""What a heading that is cut short ends in (C7)."""

_LONGEST: Final = 200
"""Characters shown of a passage, and looked at of a heading that is cut short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """What of a leaf is compared with its source."""

    text: str
    breadcrumb: tuple[str, ...]
    doc_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """A passage of the source with words that no leaf has."""

    passage: str
    """How it begins."""
    missing: str
    """Its words that are in no leaf, the first of them."""
    characters: int
    """Letters and digits of all these words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of a source reached a leaf."""

    is_same_version: bool
    """False when a leaf was cut from another version of the source."""
    characters: int
    """Letters and digits of the source; marks and spaces are not counted."""
    reached: int
    """Those of them that are in the text of a leaf."""
    share: float
    """1.0 where there is nothing to reach."""
    unplaced: int
    """Passages of which something is missing."""
    passages: tuple[Unplaced, ...]
    """The first thousand of these."""
    headings: int
    headings_found: int
    """In the text or the breadcrumb of a leaf, as often as in the source."""
    headings_missing: tuple[str, ...]
    """The first thousand that are in no text and in no breadcrumb."""
    warnings: tuple[str, ...]
    """What the reader says it dropped or doubted."""


def coverage(passages: Iterable[str], read: Read, leaves: Sequence[Leaf]) -> Coverage:
    """Measure how much of a source stands in its leaves.

    `passages` are all of its text, `read` is what its reader makes of it now. Words
    count as often as they stand. What leaves repeat does not make up for what they
    lack, as far as that can be told: a word is looked for where it should stand, and
    elsewhere only with most of its passage.
    """
    texts = tuple(passages)
    source = reading(texts)
    headings = _headings(read.document, leaves)
    lost = Lost(source, reading(leaf.text for leaf in leaves), headings.cut_short)
    unplaced = missing = 0
    kept: list[Unplaced] = []
    for number, words in lost.by_passage():
        characters = sum(map(len, words))
        unplaced, missing = unplaced + 1, missing + characters
        if len(kept) < MOST_KEPT:
            kept.append(
                Unplaced(
                    passage=_short(texts[number]),
                    missing=_short(" ".join(words[:_LONGEST])),
                    characters=characters,
                )
            )
    total = len(source.letters)
    return Coverage(
        is_same_version=all(
            leaf.doc_version == read.document.version for leaf in leaves
        ),
        characters=total,
        reached=total - missing,
        share=(total - missing) / total if total else 1.0,
        unplaced=unplaced,
        passages=tuple(kept),
        headings=headings.total,
        headings_found=headings.found,
        headings_missing=headings.missing,
        warnings=read.warnings,
    )


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading as it is looked for; equal ones are told by their number."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Headings:
    total: int
    found: int
    missing: tuple[str, ...]
    cut_short: tuple[str, ...]
    """The lines of those that stand in breadcrumbs alone."""


def _headings(document: Document, leaves: Sequence[Leaf]) -> _Headings:
    """Look for every heading, as often as it stands in the document.

    One that a text cuts short is whole in a breadcrumb.
    """
    wanted = Counter(_of(document))
    parts = {line for heading in wanted for line in heading.lines}
    lines: Counter[str] = Counter()
    starts: Counter[str] = Counter()
    crumbs: set[str] = set()
    for leaf in leaves:
        for line in map(_plain, leaf.text.split("\n")):
            if line in parts:
                lines[line] += 1
            elif line.endswith(_LEFT_OUT):
                starts[line.removesuffix(_LEFT_OUT).rstrip()] += 1
        crumbs.update(map(_plain, leaf.breadcrumb))
    found = 0
    missing: list[str] = []
    cut_short: list[str] = []
    for heading, count in wanted.items():
        whole = min(count, *(lines[line] for line in heading.lines))
        short = count - whole if heading.title in crumbs else 0
        if whole and short:
            short = min(short, _starting(heading, starts))
        # What its markup says besides, an id or a target, is not missed.
        cut_short += heading.lines * short
        found += whole + short
        if not whole + short:
            missing.append(_short(heading.title))
    return _Headings(
        total=wanted.total(),
        found=found,
        missing=tuple(missing[:MOST_KEPT]),
        cut_short=tuple(cut_short),
    )


def _starting(heading: _Heading, starts: Counter[str]) -> int:
    """Count the lines that begin as a heading does, and leave the rest of it out."""
    line = " ".join(heading.lines)[:_LONGEST]
    return sum(starts[line[:end]] for end in range(1, len(line)))


def _of(document: Document) -> Iterator[_Heading]:
    """Yield a document's headings, but for those that say nothing."""
    for section, _ in walk(document.root):
        title = _plain(section.title)
        if title and section.blocks and section.blocks[0].kind == "heading":
            lines = section.blocks[0].text.split("\n")
            yield _Heading(title, tuple(map(_plain, lines)))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    plain = _plain(text[: 2 * _LONGEST])
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST].rstrip()}…"
