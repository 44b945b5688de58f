"""The sections of a corpus laid out flat: what stands where, and what leads there.

Anchors, paths and numbers are resolved here. Where two sections answer to one name
neither is meant: a question with the wrong answer is worse than none.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from situate.compare.drafting.wording import label, said, words
from situate.enrichment import language as languages
from situate.enrichment.telling import told
from situate.model import Item, Items, Quote, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from situate.compare.drafting.wording import Said
    from situate.model import Block, Document, Section, Span

_LANGUAGE_SAMPLE = 20_000
"""Characters by whose function words a language is told where none is named."""

_MOST_FOLDERS = 12
"""Folders of a path that may be left off to find a document by the rest."""

_DEFINED = re.compile(r"^[ \t>*+-]*\[([^\[\]\n]+)\]:\s*<?([^\s<>]+)", re.MULTILINE)
_ANCHOR = re.compile(r"<a\s+(?:id|name)\s*=\s*[\"']?([^\"'<>\s]+)", re.IGNORECASE)
_SLUG = re.compile(r"[\W_]+")
_AGAIN = re.compile(r"(.+)-([0-9]{1,4})\Z")
_INDEXES: Final = frozenset({"index", "_index", "readme"})

_SECTIONS = (
    "section|sections|clause|clauses|article|articles|chapter|paragraph|§|abschnitt|"
    "abschnitts|abschnitten|ziffer|nummer|kapitel|artikel|absatz|paragraphe|chapitre|"
    "sección|cláusula|artículo|capítulo|apartado|sezione|articolo|capitolo|clausola|"
    "secção|seção|artigo|afdeling|hoofdstuk|paragraaf"
)
_ANNEXES = (
    "annex|appendix|schedule|anhang|anlage|annexe|anexo|apéndice|allegato|bijlage"
)
_PARTS = "part|teil|partie|parte|deel"
WORDS: Final = f"{_SECTIONS}|{_ANNEXES}|{_PARTS}"
"""What numbered sections are called, as an expression."""

_CLASSES: Final = {
    word: kind
    for kind, listed in (("", _SECTIONS), ("annex", _ANNEXES), ("part", _PARTS))
    for word in listed.split("|")
}

NUMBER: Final = r"[0-9]{1,3}(?:\.[0-9]{1,3})*"
_NUMBERED = re.compile(
    rf"(?:(?P<word>{WORDS})\s*)?(?P<number>{NUMBER}|[A-Z]|[IVX]{{1,6}})(?:[.):,–—-]|\s|\Z)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of running text: a block's, an item's, all or part of its text."""

    block: Block
    """The listed block it belongs to."""
    text: str
    span: Span | None
    """Where it stands in the source, with what was left out of it if anything was."""


@dataclass(frozen=True, slots=True)
class Place:
    """A section and where it stands in its document."""

    doc_id: str
    order: int
    """Place among the sections in reading order, the root being 0."""
    section: Section
    above: tuple[Section, ...]
    """Its ancestors, the root first."""

    @property
    def body(self) -> tuple[Block, ...]:
        """Its own blocks but the heading."""
        blocks = self.section.blocks
        return blocks[1:] if blocks and blocks[0].kind == "heading" else blocks

    def is_beside(self, other: Place) -> bool:
        """Tell whether one chunk may hold text of both: one above or next to it."""
        if self.doc_id != other.doc_id:
            return False
        return (
            abs(self.order - other.order) <= 1
            or any(section is self.section for section in other.above[1:])
            or any(section is other.section for section in self.above[1:])
        )


@dataclass(frozen=True)
class Survey:
    """One document with its sections in reading order."""

    document: Document
    places: tuple[Place, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Lay the sections out."""
        places = (
            Place(self.document.doc_id, order, section, above)
            for order, (section, above) in enumerate(walk(self.document.root))
        )
        object.__setattr__(self, "places", tuple(places))

    @property
    def doc_id(self) -> str:
        """The document's id."""
        return self.document.doc_id

    def is_title(self, place: Place) -> bool:
        """Tell whether a heading is the whole document's: no one passage answers it."""
        title = self.document.metadata.title
        return place.section is self._only or place.section.title == title

    @cached_property
    def _only(self) -> Section | None:
        """The only section at the top that has a heading, None if there are more."""
        top = [section for section in self.document.root.children if section.title]
        return top[0] if len(top) == 1 else None

    @cached_property
    def language(self) -> str | None:
        """The code of the language named, else told by its words or its script."""
        if self.document.metadata.language:
            return languages.code_of(self.document.metadata.language)
        sample, room = [], _LANGUAGE_SAMPLE
        for place in self.places:
            for block in place.section.blocks if room > 0 else ():
                if block.kind != "code":
                    sample.append(block.text[:room])
                    room -= len(block.text)
        return told("\n".join(sample))

    @cached_property
    def targets(self) -> dict[str, str] | None:
        """Where links by reference lead, by label; None where text has no links."""
        if self.document.markup != "markdown":
            return None
        return {
            label(found[1]): found[2]
            for place in self.places
            for block in place.section.blocks
            if "]:" in block.text and block.kind != "code"
            for found in _DEFINED.finditer(block.text)
        }

    @cached_property
    def counts_characters(self) -> bool:
        """Whether places are characters of a source; else evidence is words."""
        return any(
            block.span is not None
            for place in self.places
            for block in place.section.blocks
        )

    def said(self, text: str) -> Said:
        """Read the words of a text of this document."""
        return said(text, self.targets)

    def follows(self, place: Place) -> Iterator[Place]:
        """Yield the sections below one, in reading order."""
        depth = len(place.above)
        for order in range(place.order + 1, len(self.places)):
            below = self.places[order]
            if len(below.above) <= depth:
                return
            yield below

    def anchored(self, anchor: str) -> Place | None:
        """Give the section an anchor names: by its own, else by its heading's words.

        Sites differ in how they make anchors of headings; letters and digits are
        the same in all. A second equal heading is `-1`.
        """
        name = unquote(anchor)
        own = self._anchors.get(name)
        if own is not None:
            return own
        found = self._slugs.get(_SLUG.sub("", name.casefold()), [])
        if not found and (again := _AGAIN.match(name)):
            found = self._slugs.get(_SLUG.sub("", again[1].casefold()), [])
            nth = int(again[2])
            return found[nth] if nth < len(found) else None
        return found[0] if found else None

    def numbered(self, word: str, number: str) -> Place | None:
        """Give the section that a reference by number names, None if not just one."""
        found = self._numbers.get((_CLASSES.get(word.casefold(), ""), number), [])
        return found[0] if len(found) == 1 else None

    @cached_property
    def _anchors(self) -> dict[str, Place]:
        anchors: dict[str, Place] = {}
        for place in self.places:
            for block in place.section.blocks:
                if block.kind == "heading" and (own := _own_anchor(block.text)):
                    anchors.setdefault(own, place)
                if block.kind == "code" or "<a" not in block.text:
                    continue
                last = block is place.section.blocks[-1]
                for found in _ANCHOR.finditer(block.text):
                    # With nothing behind it, it is the next heading's.
                    rest = block.text[found.start() :]
                    is_next = last and len(rest) < 80 and not self.said(rest).text
                    order = min(place.order + is_next, len(self.places) - 1)
                    anchors.setdefault(found[1], self.places[order])
        return anchors

    @cached_property
    def _slugs(self) -> dict[str, list[Place]]:
        slugs: dict[str, list[Place]] = {}
        for place in self.places:
            if place.section.title:
                slug = _SLUG.sub("", place.section.title.casefold())
                slugs.setdefault(slug, []).append(place)
        return slugs

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], list[Place]]:
        numbers: dict[tuple[str, str], list[Place]] = {}
        for place in self.places:
            found = _NUMBERED.match(place.section.title)
            # A letter alone begins a heading as often as it numbers one.
            if found and (found["word"] or found["number"][0].isdigit()):
                kind = _CLASSES[(found["word"] or "section").casefold()]
                numbers.setdefault((kind, found["number"].upper()), []).append(place)
        return numbers


class Corpus:
    """The documents together: what is rare in them, and where links lead."""

    def __init__(self, documents: Sequence[Document]) -> None:
        """Lay out the sections of all documents."""
        self.surveys = tuple(Survey(document) for document in documents)
        self._by_id = {survey.doc_id: survey for survey in self.surveys}

    def resolved(self, survey: Survey, target: str) -> tuple[Survey, Place] | None:
        """Give where a link with an anchor leads, None where it leads elsewhere."""
        path, _, anchor = target.partition("#")
        if not anchor or "://" in path or path.startswith("//"):
            return None
        other = self._document(survey, unquote(path)) if path else survey
        place = other.anchored(anchor) if other else None
        return (other, place) if other and place else None

    def is_rare(self, word: str) -> bool:
        """Tell whether a word is in few sections: at most a tenth, or three."""
        return self._sections_with[word] <= max(3, self._sections // 10)

    def is_rarer(self, word: str) -> bool:
        """Tell whether a word is in one of 500 sections at most, or in eight."""
        return self._sections_with[word] <= max(8, self._sections // 500)

    def sections_named(self, title: str) -> int:
        """Count the sections with this heading, number and case aside."""
        return self._titles[plain_title(title)]

    @cached_property
    def _sections(self) -> int:
        return sum(len(survey.places) for survey in self.surveys)

    @cached_property
    def _titles(self) -> Counter[str]:
        return Counter(
            plain_title(place.section.title)
            for survey in self.surveys
            for place in survey.places
        )

    @cached_property
    def _sections_with(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for survey in self.surveys:
            for place in survey.places:
                text = "\n".join(block.text for block in place.section.blocks)
                counts.update(set(words(text)))
        return counts

    @cached_property
    def _paths(self) -> dict[str, Survey | None]:
        """The documents by path and by the ends of it; None where two have one."""
        paths: dict[str, Survey | None] = {}
        for survey in self.surveys:
            parts = _plain_path(survey.doc_id).split("/")
            for first in range(min(len(parts), _MOST_FOLDERS)):
                end = "/".join(parts[first:])
                paths[end] = survey if end not in paths else None
        return paths

    def _document(self, survey: Survey, path: str) -> Survey | None:
        folder = posixpath.dirname(survey.doc_id)
        if not path.startswith("/"):
            joined = posixpath.normpath(posixpath.join(folder, path))
            if joined in self._by_id:
                return self._by_id[joined]
            # A site may serve `page.md` as the folder `page/`.
            inside = posixpath.join(survey.doc_id.rpartition(".")[0], path)
            for candidate in (joined, posixpath.normpath(inside)):
                found = self._paths.get(_plain_path(candidate))
                if found and _plain_path(found.doc_id) == _plain_path(candidate):
                    return found
            return None
        parts = _plain_path(path).split("/")
        whole = self._paths.get("/".join(parts))
        if whole:
            return whole
        # The corpus may begin below the folder that the site begins with.
        for first in range(1, min(len(parts), _MOST_FOLDERS)):
            end = "/".join(parts[first:])
            found = self._paths.get(end)
            if found and _plain_path(found.doc_id) == end:
                return found
        return None


def plain_title(title: str) -> str:
    """Give a heading as headings are compared: no number, no case, no marks."""
    return " ".join(words(without_number(title)))


def without_number(title: str) -> str:
    """Take the number off a heading; a heading that is a number stays."""
    found = _NUMBERED.match(title)
    if not found or not (found["word"] or found["number"][0].isdigit()):
        return title
    return title[found.end() :].lstrip(" .):,–—-") or title


def runs(place: Place) -> Iterator[Run]:
    """Yield the running text of a section: paragraphs, items, quotations, notes.

    Tables, code and headings are no sentences.
    """
    for listed in place.body:
        waiting: list[Block | Item] = [listed]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Item):
                if part.blocks:
                    waiting.extend(reversed(part.blocks))
                else:
                    yield Run(listed, part.text, part.span)
                continue
            match part.content:
                case Quote(blocks=blocks):
                    waiting.extend(reversed(blocks))
                case Items(items=items):
                    waiting.extend(reversed(items))
                case None if part.kind in {"paragraph", "footnote"}:
                    yield Run(listed, part.text, part.span)
                case _:
                    pass


def _own_anchor(heading: str) -> str | None:
    """Give the anchor that a heading's attributes name."""
    attributes = heading.rstrip()
    if not attributes.endswith("}"):
        return None
    names = attributes[attributes.rfind("{") + 1 : -1].split()
    return next((name[1:] for name in names if name.startswith("#")), None)


def _plain_path(path: str) -> str:
    """Give a path without its ends: the extension, the name of an index."""
    folder, _, name = path.strip("/").rpartition("/")
    stem = name.rpartition(".")[0] or name
    if stem.casefold() in _INDEXES:
        return folder
    return f"{folder}/{stem}" if folder else stem
