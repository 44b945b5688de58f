"""Hides from a model what somebody does not want it to see, before anything is asked.

A document and its chunks are replaced by copies in which a mark stands where something
is hidden; requests, keys and what answers are judged by all follow from the copies.
What is hidden in one place of a document is hidden in all of it. Where it is not
certain that nothing is left over, more is hidden rather than less.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from situate.errors import ConfigError
from situate.functions import find_function
from situate.model import Table, leaf_ids, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from situate.model import Block, Chunk, Document, Section, Span
    from situate.tokens import TokenCounter

    Find: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]

MARK = "[redacted]"
"""What a model is shown in place of something hidden."""

_SECONDS = 5.0
"""For one expression to go through one text; beyond it the document is not asked
about."""

_GAP = "\n\n"
"""Between blocks, in a document as in a chunk."""

_TELLING = 12
"""Characters from which a part of something longer counts alone: shorter ones are
words that everybody uses."""


class RedactionFailed(Exception):
    """Nobody knows what of a document to hide; the message holds no word of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """Says what of a text a model may not see."""

    find: Find
    """Gives half-open stretches of characters, in any order; they may overlap."""

    @classmethod
    def of(cls, wanted: str | Sequence[str]) -> Redaction:
        """Take `module:function`, or a list of regular expressions.

        Raises:
            ConfigError: there is no such function, or one is no expression.
        """
        if isinstance(wanted, str):
            function, _ = find_function(wanted, "enrichment.redact")
            return cls(find=function)
        return cls(find=_matching(wanted))

    def spans(self, text: str) -> list[Span]:
        """Give what to hide of a text; stretches of blanks alone are left out.

        Raises:
            RedactionFailed: nobody could say, or said what cannot be.
        """
        try:
            found = [(start, end) for start, end in self.find(text)]
        # A function of the user's may end the program without meaning to.
        except (Exception, SystemExit) as error:
            message = f"enrichment.redact failed with {type(error).__name__}"
            raise RedactionFailed(message) from error
        for start, end in found:
            if type(start) is not int or type(end) is not int:
                message = "enrichment.redact gave places that are no whole numbers"
                raise RedactionFailed(message)
            if not 0 <= start <= end <= len(text):
                message = "enrichment.redact gave places outside of the text"
                raise RedactionFailed(message)
        return [span for span in found if text[slice(*span)].strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A document as a model may see it."""

    document: Document
    chunks: Sequence[Chunk]
    hidden: frozenset[str] = frozenset()
    """What stood where the marks stand, each in the author's spelling."""


def redacted(
    document: Document,
    chunks: Sequence[Chunk],
    redaction: Redaction | None,
    counter: TokenCounter,
) -> Shown:
    """Give a document and its chunks without what is to be hidden.

    Both are the same objects where nothing is. Of the chunks, leaves alone are
    changed: no other is shown.

    Raises:
        RedactionFailed: nobody could say what to hide.
    """
    if redaction is None:
        return Shown(document=document, chunks=chunks)
    ids = leaf_ids(chunks)
    leaves = [chunk for chunk in chunks if chunk.chunk_id in ids]
    hiding = _Hiding(redaction)
    hiding.look_through(document)
    for text in _texts(document, leaves):
        hiding.look(text)
    if not hiding.settle():
        return Shown(document=document, chunks=chunks)
    cut = _cut(list(_blocks(document)), leaves, hiding)
    copies = {leaf.chunk_id: _leaf(leaf, hiding, cut, counter) for leaf in leaves}
    return Shown(
        document=_document(document, hiding),
        chunks=tuple(copies.get(chunk.chunk_id, chunk) for chunk in chunks),
        hidden=hiding.told,
    )


def quotable(answer: str, redaction: Redaction | None) -> str:
    """Give a model's own words as they may be shown to it again.

    What it guessed, or had learned elsewhere, is hidden as in a document.
    """
    if redaction is None:
        return answer
    parts, at = [], 0
    try:
        for start, end in sorted(redaction.spans(answer)):
            parts += [answer[at:start], MARK] if start >= at else []
            at = max(at, end)
    except RedactionFailed:
        return MARK
    return "".join([*parts, answer[at:]])


def _matching(patterns: Sequence[str]) -> Find:
    """Give what finds expressions in a text.

    Raises:
        ConfigError: one is none.
    """
    import regex

    compiled = []
    for pattern in patterns:
        try:
            compiled.append(regex.compile(pattern))
        except regex.error as error:
            message = f"enrichment.redact: {pattern!r} is no expression: {error}"
            raise ConfigError(message) from error

    def find(text: str) -> Iterator[tuple[int, int]]:
        for each in compiled:
            for match in each.finditer(text, timeout=_SECONDS):
                yield match.span()

    return find


def _texts(document: Document, leaves: Sequence[Chunk]) -> Iterator[str]:
    """Give all of a document that a model is shown, but for its blocks."""
    about = document.metadata
    yield from filter(None, (about.title, about.doc_type))
    for section, _ in walk(document.root):
        yield section.title
    for leaf in leaves:
        yield leaf.text
        yield leaf.breadcrumb_line
        yield from leaf.breadcrumb
        yield from (leaf.metadata.title or "", leaf.metadata.doc_type or "")


def _blocks(document: Document) -> Iterator[Block]:
    """Yield the blocks that a model is shown."""
    for section, _ in walk(document.root):
        yield from (block for block in section.blocks if block.text.strip())


@dataclass(slots=True)
class _Hiding:
    """Gathers what is to be hidden of a document, then hides it."""

    redaction: Redaction
    _words: set[str] = field(default_factory=set)
    """What was found, each in one piece."""
    _parts: set[str] = field(default_factory=set)
    """What blocks hold of what reaches from one to another."""
    _looked: set[str] = field(default_factory=set)
    _own: dict[str, list[Span]] = field(default_factory=dict)
    """What was found in each text."""
    _literals: _Literals | None = None
    """What was hidden anywhere."""
    _found: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def look(self, text: str) -> None:
        """Ask what of a text is to be hidden."""
        if text in self._looked or not text.strip():
            return
        self._looked.add(text)
        for span in self.redaction.spans(text):
            self._own.setdefault(text, []).append(span)
            words = text[slice(*span)].strip()
            if _GAP in words:
                self._parts.update(filter(None, map(str.strip, words.split(_GAP))))
            else:
                self._words.add(words)

    def look_through(self, document: Document) -> None:
        """Ask about all blocks at once: something may reach from one to the next."""
        whole = _GAP.join(block.text for block in _blocks(document))
        spans = sorted(self.redaction.spans(whole)) if whole else []
        at, coming = 0, 0
        reaching: list[Span] = []
        for section, _ in walk(document.root):
            for block in section.blocks:
                if not block.text.strip():
                    continue
                start, end = at, at + len(block.text)
                at = end + len(_GAP)
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
        everything = {each for each in self._words | self._parts if each}
        self._literals = _Literals(everything, self._parts)
        return bool(everything)

    @property
    def told(self) -> frozenset[str]:
        """What no statement may hold."""
        parts = {part for part in self._parts if len(part) >= _TELLING}
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
            self._found[text] = tuple(self._literals.find(text))
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
            (self._parts if is_torn else self._words).add(words)

    def _is_all_hidden(self, block: Block) -> bool:
        return not any(
            sign.isalnum() for sign in self.hide(block.text).replace(MARK, "")
        )


_RUN = re.compile(r"[\u2e80-\uffff]|[^\W\u2e80-\uffff]+|[^\w\s]")
"""What words begin with; in scripts without blanks between words each sign does."""


class _Literals:
    """Finds words in a text, in time that does not grow with how many there are."""

    def __init__(self, words: Iterable[str], parts: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._parts = frozenset(part for part in parts if len(part) >= _TELLING)
        self._lengths: dict[str, set[int]] = {}
        """Of words, by what they begin with."""
        for word in self._words:
            if first := _RUN.match(word):
                self._lengths.setdefault(first[0], set()).add(len(word))
        self._beginnings: dict[str, set[int]] = {}
        """Lengths of parts, by as many of their signs as all of them have."""
        for part in self._parts:
            self._beginnings.setdefault(part[:_TELLING], set()).add(len(part))

    def find(self, text: str) -> Iterator[Span]:
        """Yield where words stand, none inside of another, and parts anywhere."""
        for run in _RUN.finditer(text):
            for length in self._lengths.get(run[0], ()):
                start, end = run.start(), run.start() + length
                if text[start:end] in self._words and _ends(text, end):
                    yield start, end
        if not self._beginnings:
            return
        for start in range(len(text) - _TELLING + 1):
            for length in self._beginnings.get(text[start : start + _TELLING], ()):
                if text[start : start + length] in self._parts:
                    yield start, start + length


def _ends(text: str, end: int) -> bool:
    """Tell whether a word that ends there goes no further."""
    if end >= len(text):
        return True
    last, following = text[end - 1], text[end]
    return not (_is_of_word(last) and _is_of_word(following))


def _is_of_word(sign: str) -> bool:
    return (sign.isalnum() or sign == "_") and sign < "\u2e80"


def _cut(
    blocks: Sequence[Block], leaves: Sequence[Chunk], hiding: _Hiding
) -> frozenset[str]:
    """Name the leaves that may hold a part of something hidden, which nobody finds.

    A chunk may end inside of it, or write it in another way. That shows by the leaves
    of a block holding it less often than the block does.
    """
    counts = {block.block_id: hiding.counts(block.text) for block in blocks}
    holders: dict[str, list[Chunk]] = {}
    for leaf in leaves:
        for block_id in leaf.block_ids:
            if counts.get(block_id):
                holders.setdefault(block_id, []).append(leaf)
    in_leaves = {
        leaf.chunk_id: hiding.counts(leaf.text)
        for holding in holders.values()
        for leaf in holding
    }
    found: set[str] = set()
    before: Counter[str] = Counter()
    for block in blocks:
        holding, needed = holders.get(block.block_id, []), counts[block.block_id]
        held: Counter[str] = Counter()
        for leaf in holding:
            others = [counts.get(each) for each in leaf.block_ids]
            for words, count in in_leaves[leaf.chunk_id].items():
                beside = sum(other[words] for other in others if other)
                held[words] += max(0, count - beside + needed[words])
        is_cut = any(held[words] < count for words, count in needed.items())
        if holding and (is_cut or _may_be_cut(block, holding, needed, before)):
            found.update(leaf.chunk_id for leaf in holding)
        before = needed
    return frozenset(found)


def _may_be_cut(
    block: Block,
    holding: Sequence[Chunk],
    needed: Counter[str],
    before: Counter[str],
) -> bool:
    """Tell whether counting says nothing: what is repeated may stand for what is cut.

    Every piece of a table has its header, and of a list what introduces it.
    """
    if len(holding) == 1:
        return False
    is_forced = any(leaf.forced_split for leaf in holding)
    repeated = _repeated(block)
    return any(
        (is_forced or "\n" in words) and (before[words] or words in repeated)
        for words in needed
    )


def _repeated(block: Block) -> str:
    """Give what of a table stands in each of its pieces."""
    if not isinstance(block.content, Table):
        return ""
    table = block.content
    return "\n".join([*(row.text for row in table.header), table.caption or ""])


def _leaf(
    leaf: Chunk, hiding: _Hiding, cut: frozenset[str], counter: TokenCounter
) -> Chunk:
    """Give a leaf as a model may see it."""
    text = MARK if leaf.chunk_id in cut else hiding.hide(leaf.text)
    line = hiding.hide(leaf.breadcrumb_line)
    crumbs = (*leaf.breadcrumb, leaf.metadata.title or "", leaf.metadata.doc_type or "")
    # A heading may be shortened in the middle of what is hidden of it.
    if any(
        words not in leaf.breadcrumb_line
        for crumb in crumbs
        for words in hiding.words(crumb)
    ):
        line = MARK
    title = leaf.metadata.title
    return replace(
        leaf,
        text=text,
        token_count=leaf.token_count if text == leaf.text else counter.count(text),
        breadcrumb_line=line,
        breadcrumb=tuple(map(hiding.hide, leaf.breadcrumb)),
        metadata=replace(leaf.metadata, title=title and hiding.hide(title)),
    )


def _document(document: Document, hiding: _Hiding) -> Document:
    """Give a document as a model may see it; its blocks have no parts any more."""
    made: dict[str, Section] = {}
    for section, _ in reversed(list(walk(document.root))):
        made[section.section_id] = replace(
            section,
            title=hiding.hide(section.title),
            path=tuple(map(hiding.hide, section.path)),
            blocks=tuple(
                replace(block, text=hiding.hide(block.text), content=None)
                for block in section.blocks
            ),
            children=tuple(made[child.section_id] for child in section.children),
        )
    about = document.metadata
    return replace(
        document,
        metadata=replace(
            about,
            title=about.title and hiding.hide(about.title),
            doc_type=about.doc_type and hiding.hide(about.doc_type),
        ),
        root=made[document.root.section_id],
    )
