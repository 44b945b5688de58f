"""The ground that every arm is judged on: a document's text and who covers what.

Gold and chunks are laid on one text, so that chunkings with other boundaries
compare. Where a format counts characters that text is its source; elsewhere it is
the document's blocks, one below the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from situate.model import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from situate.model import Chunk, Document, Span

_WORD = re.compile(r"\w+")

_RUN = 4
"""Words in a row that are taken for the same passage: fewer occur by chance."""

_GAP = "\n\n"


class Ground:
    """The text of one document, with the places of its blocks and words."""

    def __init__(self, doc_id: str, text: str, blocks: Mapping[str, Span]) -> None:
        """Take a text and where in it each block stands; no block may be named."""
        self.doc_id = doc_id
        self.text = text
        self._blocks = blocks
        self._words: _Words | None = None

    def place(self, chunk: Chunk) -> tuple[Span, ...]:
        """Give what of the text a chunk holds, in order and without overlap."""
        found: list[Span] = []
        for block_id, span in zip(chunk.block_ids, chunk.spans, strict=True):
            whole = span or self._blocks.get(block_id)
            if whole is None:
                continue
            if span is None and block_id in chunk.parts:
                found.extend(self.search(chunk.text, within=whole))
            else:
                found.append(whole)
        return union(found)

    def search(
        self, text: str, *, after: int = 0, within: Span | None = None
    ) -> tuple[Span, ...]:
        """Find where a text stands, word for word or in runs of at least four words.

        The first place at or behind `after` is taken, else the first of all; none
        where nothing of it occurs.
        """
        start, end = within or (0, len(self.text))
        wanted = text.strip()
        if not wanted:
            return ()
        place = self.text.find(wanted, max(start, after), end)
        if place < 0:
            place = self.text.find(wanted, start, end)
        if place >= 0:
            return ((place, place + len(wanted)),)
        spans = self._indexed().runs(wanted, max(start, after))
        return union(clip(spans, start, end))

    def evidence(self, text: str, *, after: int = 0) -> Span | None:
        """Find a quotation: letter for letter, else by its words in their order.

        Line breaks, case and punctuation may differ; the words may not. Places before
        `after` do not count.
        """
        wanted = text.strip()
        place = self.text.find(wanted, after) if wanted else -1
        if place >= 0:
            return place, place + len(wanted)
        return self._indexed().sequence(_words(wanted), after)

    def _indexed(self) -> _Words:
        if self._words is None:
            self._words = _Words(self.text)
        return self._words


def lay(document: Document, source: str | None) -> Ground:
    """Give the ground of a document; `source` is its text as it was decoded.

    Blocks without a place in the source, or all of them where the format counts no
    characters, are laid one below the other.
    """
    blocks = [block for section, _ in walk(document.root) for block in section.blocks]
    spans = {block.block_id: block.span for block in blocks if block.span is not None}
    if source is not None and spans:
        return Ground(document.doc_id, source, spans)
    places: dict[str, Span] = {}
    texts: list[str] = []
    length = 0
    for block in blocks:
        places[block.block_id] = (length, length + len(block.text))
        texts.append(block.text)
        length += len(block.text) + len(_GAP)
    return Ground(document.doc_id, _GAP.join(texts), places)


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Give spans in order, those that touch or overlap as one."""
    ordered = sorted(spans)
    if all(one[1] < other[0] for one, other in pairwise(ordered)):
        return tuple(ordered)
    joined: list[Span] = []
    for start, end in ordered:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


def size(spans: Iterable[Span]) -> int:
    """Give the characters of spans that do not overlap."""
    return sum(end - start for start, end in spans)


def clip(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Give what of spans lies between two places."""
    return [
        (max(one, start), min(other, end))
        for one, other in spans
        if one < end and other > start
    ]


@dataclass(slots=True)
class _Words:
    """The words of a text, findable by the four that begin at each."""

    text: str
    words: list[str] = field(init=False)
    starts: list[int] = field(init=False)
    ends: list[int] = field(init=False)
    runs_at: dict[tuple[str, ...], list[int]] = field(init=False)

    def __post_init__(self) -> None:
        found = list(_WORD.finditer(self.text))
        self.words = [match.group().lower() for match in found]
        self.starts = [match.start() for match in found]
        self.ends = [match.end() for match in found]
        self.runs_at = defaultdict(list)
        for place in range(len(self.words) - _RUN + 1):
            self.runs_at[tuple(self.words[place : place + _RUN])].append(place)

    def runs(self, wanted: str, after: int) -> list[Span]:
        """Give where runs of a text's words stand, each behind the one before."""
        words = _words(wanted)
        spans: list[Span] = []
        next_word = bisect_left(self.starts, after) if after else 0
        place = 0
        while place <= len(words) - _RUN:
            candidates = self.runs_at.get(tuple(words[place : place + _RUN]))
            if not candidates:
                place += 1
                continue
            later = bisect_left(candidates, next_word)
            here = candidates[later] if later < len(candidates) else candidates[0]
            length = self._agreed(words, place, here)
            spans.append((self.starts[here], self.ends[here + length - 1]))
            next_word = here + length
            place += length
        return spans

    def sequence(self, words: Sequence[str], after: int = 0) -> Span | None:
        """Give where words stand in a row from a place on; None where they do not."""
        if not words:
            return None
        if len(words) >= _RUN:
            candidates: Iterable[int] = self.runs_at.get(tuple(words[:_RUN]), ())
        else:
            candidates = range(len(self.words) - len(words) + 1)
        for here in candidates:
            if self.starts[here] < after:
                continue
            if self.words[here : here + len(words)] == list(words):
                return self.starts[here], self.ends[here + len(words) - 1]
        return None

    def _agreed(self, words: Sequence[str], place: int, here: int) -> int:
        length = _RUN
        while (
            place + length < len(words)
            and here + length < len(self.words)
            and words[place + length] == self.words[here + length]
        ):
            length += 1
        return length


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
