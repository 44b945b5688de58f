"""Gathers what is hidden of one document, and puts marks in its place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from situate.enrichment.redaction.hook import MARK
from situate.enrichment.redaction.literals import TELLING, Literals
from situate.enrichment.redaction.plain import Plain, folded
from situate.model import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from situate.enrichment.redaction.hook import Redaction
    from situate.model import Block, Document, Span

GAP = "\n\n"
"""Between blocks, in a document as in a chunk."""


def blocks_of(document: Document) -> Iterator[Block]:
    """Yield the blocks that a model is shown."""
    for section, _ in walk(document.root):
        yield from (block for block in section.blocks if block.text.strip())


@dataclass(slots=True)
class Hiding:
    """Gathers what is to be hidden of a document, then hides it."""

    redaction: Redaction
    _words: set[str] = field(default_factory=set)
    """What was found, each in one piece."""
    _parts: set[str] = field(default_factory=set)
    """What blocks hold of what reaches from one to another."""
    _looked: set[str] = field(default_factory=set)
    _own: dict[str, list[Span]] = field(default_factory=dict)
    """What was found in each text."""
    _literals: Literals | None = None
    """What was hidden anywhere."""
    _found: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def look(self, text: str, *, on_one_line: bool = False) -> None:
        """Ask what of a text is to be hidden; of a block also as if on one line."""
        if text in self._looked or not text.strip():
            return
        self._looked.add(text)
        for span in self.redaction.all_spans(text, on_one_line=on_one_line):
            self._own.setdefault(text, []).append(span)
            words = text[slice(*span)].strip()
            if GAP in words:
                parts = filter(None, map(str.strip, words.split(GAP)))
                self._parts.update(each for part in parts for each in _forms(part))
            else:
                self._words.update(_forms(words))

    def look_through(self, document: Document) -> None:
        """Ask about all blocks, one by one and at once.

        Something may reach from one to the next.
        """
        blocks = [block.text for block in blocks_of(document)]
        for text in blocks:
            self.look(text, on_one_line=True)
        whole = GAP.join(blocks)
        found = self.redaction.all_spans(whole, on_one_line=False) if whole else []
        spans = sorted(found)
        at, coming = 0, 0
        reaching: list[Span] = []
        for section, _ in walk(document.root):
            for block in section.blocks:
                if not block.text.strip():
                    continue
                start, end = at, at + len(block.text)
                at = end + len(GAP)
                while coming < len(spans) and spans[coming][0] < end:
                    reaching.append(spans[coming])
                    coming += 1
                reaching = [span for span in reaching if span[1] > start]
                for span in reaching:
                    self._take(block.text, span, start)
                is_heading = bool(reaching) and block.kind == "heading"
                if is_heading and self._is_all_hidden(block):
                    self._parts.add(section.title.strip())

    def settle(self) -> bool:
        """Take note that all has been looked at; say whether anything is hidden."""
        self._literals = Literals(self.everything, self._parts)
        return bool(self.everything)

    @property
    def everything(self) -> frozenset[str]:
        """All that is hidden, also what blocks hold of what reaches further."""
        return frozenset(filter(None, self._words | self._parts))

    @property
    def told(self) -> frozenset[str]:
        """What no statement may hold."""
        parts = {part for part in self._parts if len(part) >= TELLING}
        return frozenset(self._words | parts)

    def spans(self, text: str) -> list[Span]:
        """Give what is hidden of a text, in order, apart from each other."""
        found: list[Span] = []
        for start, end in sorted([*self._own.get(text, ()), *self._again(text)]):
            if found and start <= found[-1][1]:
                found[-1] = found[-1][0], max(end, found[-1][1])
            else:
                found.append((start, end))
        return found

    def _again(self, text: str) -> tuple[Span, ...]:
        """Give where something stands that was hidden elsewhere."""
        if self._literals is None:
            return ()
        if text not in self._found:
            plain = Plain(text)
            found = [*self._literals.find(text)]
            if plain.line != text:
                found += map(plain.back, self._literals.find(plain.line))
            self._found[text] = tuple(found)
        return self._found[text]

    def counts(self, text: str) -> Counter[str]:
        """Count what is hidden of a text, each by itself though they may overlap."""
        found = {*self._own.get(text, ()), *self._again(text)}
        return Counter(text[slice(*span)].strip() for span in found)

    def words(self, text: str) -> set[str]:
        """Give what is hidden of a text, as it stands there."""
        return {text[slice(*span)].strip() for span in self.spans(text)}

    def hide(self, text: str) -> str:
        """Put a mark in place of what is hidden."""
        parts, at = [], 0
        for start, end in self.spans(text):
            parts += [text[at:start], MARK]
            at = end
        return "".join([*parts, text[at:]])

    def _take(self, text: str, span: Span, start: int) -> None:
        """Note what a block that starts there holds of a stretch of all blocks."""
        first, last = span[0] - start, span[1] - start
        inside = max(first, 0), min(last, len(text))
        words = text[slice(*inside)].strip()
        if words:
            self._own.setdefault(text, []).append(inside)
            is_torn = first < 0 or last > len(text)
            (self._parts if is_torn else self._words).update(_forms(words))

    def _is_all_hidden(self, block: Block) -> bool:
        return not any(
            sign.isalnum() for sign in self.hide(block.text).replace(MARK, "")
        )


def _forms(words: str) -> set[str]:
    """Give words as they stand somewhere, and without what lays them out."""
    return {words, folded(words)}
