"""Build the canonical tree from headings and blocks in reading order.

Every reader ends here, so ids, nesting and versions follow one set of rules
whatever the format. Nothing recurses.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from situate.model import DOCUMENT, TOP, Block, Document, Section, digest
from situate.readers.compose import heading_text

if TYPE_CHECKING:
    from situate.model import Box, Metadata, Span

MAX_LEVEL = 100
"""Deeper headings count as this level (DESIGN C11)."""

# Vector stores limit ids to a few hundred bytes, and a path joins several slugs.
_MAX_SLUG = 60

_HASHED_TOGETHER = 1_000
"""Texts that are held back: few at a time cost time, all of them memory."""

_WORDS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
"""What stands for each character of ASCII in a slug."""


Sign = Literal["tracked_changes", "needs_ocr"]
"""What a program wants to know of a warning without reading it: Word's tracked changes
were decided upon; pages show what only a reader of pictures can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A document and what its reader has to say about it."""

    document: Document
    warnings: tuple[str, ...] = ()
    """What was dropped or doubted, one sentence each, without the file's name."""
    named_version: str | None = None
    """The version that the document names; None where it is a hash of the tree."""
    signs: frozenset[Sign] = frozenset()
    """Which of the warnings are of a kind that has a name."""


@dataclass(slots=True)
class _Open:
    """A section whose end has not been met yet."""

    section_id: str
    title: str
    level: int
    path: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)
    slugs: dict[str, int] = field(default_factory=dict)
    metadata: Metadata | None = None

    def close(self) -> Section:
        return Section(
            section_id=self.section_id,
            title=self.title,
            level=self.level,
            path=self.path,
            blocks=tuple(self.blocks),
            children=tuple(self.children),
            metadata=self.metadata,
        )


class Outline:
    """Takes headings and blocks in reading order and gives the document."""

    def __init__(self) -> None:
        self._stack = [_Open(DOCUMENT, "", 0, ())]
        self._hash = hashlib.sha256()
        self._said: list[str] = []
        self._too_deep = 0

    @property
    def block_id(self) -> str:
        """The id the next block has to carry, and all blocks inside it."""
        section = self._stack[-1]
        if section.level == 0:
            return f"{TOP}#0"
        return f"{section.section_id}#{len(section.blocks)}"

    def heading(
        self,
        *,
        level: int,
        title: str,
        text: str | None = None,
        span: Span | None = None,
        boxes: tuple[Box, ...] = (),
    ) -> None:
        """Open a section below the nearest one of a smaller level.

        `title` is the heading as plain text, `text` as it stands in the source, which
        a format without a text of its own leaves to be written as Markdown.
        """
        if text is None:
            text = heading_text(level, title)
        if level > MAX_LEVEL:
            self._too_deep += 1
            level = MAX_LEVEL
        while self._stack[-1].level >= level:
            self._close_last()
        above = self._stack[-1]
        path = (*above.path, title) if title else above.path
        self._stack.append(_Open(_child_id(above, title), title, level, path))
        self._said.append(f"h{level}")
        block_id = self.block_id
        self.add(
            Block(
                block_id=block_id,
                kind="heading",
                text=text,
                span=span,
                boxes=boxes,
            )
        )

    @property
    def inherited(self) -> Metadata | None:
        """What the open section inherits or says itself; None for the document's."""
        said = (section.metadata for section in reversed(self._stack))
        return next((each for each in said if each is not None), None)

    def describe(self, metadata: Metadata) -> None:
        """Say what holds from the heading that was just added downwards."""
        self._stack[-1].metadata = metadata

    def add(self, block: Block) -> None:
        """Add a block, which carries `block_id`, to the section that is open."""
        if self._stack[-1].level == 0:
            self._stack.append(_Open(TOP, "", 1, ()))
        self._stack[-1].blocks.append(block)
        self._said += (block.kind, block.text)
        if len(self._said) > _HASHED_TOGETHER:
            self._hash_said()

    def read(
        self,
        *,
        doc_id: str,
        version: str | None,
        metadata: Metadata,
        warnings: tuple[str, ...] = (),
        markup: Literal["markdown", "plain"] = "plain",
    ) -> Read:
        """Close every section and give the document.

        Without a `version` it is a hash of headings, kinds and texts, which a
        re-saved file or a changed title does not touch. Call this once.
        """
        while len(self._stack) > 1:
            self._close_last()
        if self._too_deep:
            warnings += (
                f"{self._too_deep} headings nest deeper than {MAX_LEVEL} levels and "
                f"were kept at level {MAX_LEVEL}",
            )
        document = Document(
            doc_id=doc_id,
            version=version or self._hash_said().hexdigest()[:32],
            metadata=metadata,
            root=self._stack[0].close(),
            markup=markup,
        )
        return Read(document=document, warnings=warnings, named_version=version or None)

    def _hash_said(self) -> hashlib._Hash:
        # No text holds a NUL, so nothing can imitate a border.
        said = "\0".join([*self._said, ""])
        self._hash.update(said.encode("utf-8", "surrogatepass"))
        self._said = []
        return self._hash

    def _close_last(self) -> None:
        section = self._stack.pop().close()
        self._stack[-1].children.append(section)


def slug(title: str) -> str:
    """Turn a heading into the part of an id that stands for it.

    Letters, digits and marks of every script stay, in lower case; everything
    else is one hyphen. It is never empty and never digits alone. A long one is
    cut and ends in a hash of the whole.
    """
    lowered = title.lower()
    if lowered.isascii():
        words = "-".join(lowered.translate(_WORDS).split())
    else:
        kept = "".join(
            character if unicodedata.category(character)[0] in "LMN" else " "
            for character in unicodedata.normalize("NFC", lowered)
        )
        # Emoji leave marks behind that belong to no letter.
        words = "-".join(word for word in kept.split() if _has_letter(word))
    if len(words) > _MAX_SLUG:
        words = f"{words[: _MAX_SLUG - 9].rstrip('-')}-{digest(words)[:8]}"
    if not words or words.isnumeric():
        return f"section-{words}".rstrip("-")
    return words


def _has_letter(word: str) -> bool:
    return any(character.isalnum() for character in word)


def _child_id(above: _Open, title: str) -> str:
    own = slug(title)
    count = above.slugs[own] = above.slugs.get(own, 0) + 1
    if count > 1:
        own = f"{own}~{count}"
    return own if above.level == 0 else f"{above.section_id}/{own}"
