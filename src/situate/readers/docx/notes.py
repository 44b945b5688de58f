"""Footnotes and endnotes: labelled in the order they are referred to, each once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from situate.readers.docx.body import Body
from situate.readers.docx.changes import notice
from situate.readers.docx.fields import blank_codes
from situate.readers.docx.names import attribute, name
from situate.readers.docx.story import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml.etree import _Element

    from situate.readers.docx.body import Scene
    from situate.readers.docx.package import Package

_KINDS: Final = ("footnote", "endnote")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a note says."""

    label: str
    text: str


class Notes:
    """The notes of a document."""

    def __init__(self, package: Package, main: _Element) -> None:
        self._package = package
        self._found: dict[tuple[str, str], _Element] = {}
        self._roots: dict[str, _Element] = {}
        self._labels: dict[tuple[str, str], str] = {}
        self._order: list[tuple[str, str]] = []
        self._read: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._given: set[str] = set()
        for kind in _KINDS:
            root = package.parsed(package.main, f"{kind}s")
            if root is not None:
                self._roots[kind] = root
            for element in () if root is None else root:
                own = attribute(element, "w:id")
                # Separators are lines above the notes, kept among them.
                is_note = attribute(element, "w:type") in {None, "normal"}
                if name(element) == f"w:{kind}" and own is not None and is_note:
                    self._found.setdefault((kind, own), element)
        self._both = len(self._roots) > 1 and (
            next(main.iter("{*}footnoteReference"), None) is not None
        )
        self._counts = dict.fromkeys(_KINDS, 0)

    def label(self, kind: str, own: str | None) -> str | None:
        """Give a note's label; None when the file does not hold it.

        Footnotes are `1`, `2`; endnotes too, but `e1`, `e2` beside footnotes.
        """
        key = (kind, own or "")
        if key not in self._found:
            return None
        if key not in self._labels:
            self._counts[kind] += 1
            prefix = "e" if kind == "endnote" and self._both else ""
            self._labels[key] = f"{prefix}{self._counts[kind]}"
            self._order.append(key)
        return self._labels[key]

    def read(self, scene: Scene) -> None:
        """Read the notes that were referred to, and those they refer to."""
        readers = {}
        for kind, root in self._roots.items():
            notice(root, scene.notices)
            blank_codes(root, scene.content)
            part = self._package.related(self._package.main, f"{kind}s")[0]
            readers[kind] = Body(scene, self._package.relationships(part))
        # The list grows while notes are read that refer to others.
        for key in self._order:
            story = readers[key[0]].read(self._found[key])
            self._read[self._labels[key]] = flat(story)
        for kind, own in self._found.keys() - self._labels.keys():
            if flat(readers[kind].read(self._found[kind, own]))[0]:
                scene.notices.add("spare_note")

    def take(self, labels: Iterable[str]) -> Iterator[Note]:
        """Yield notes with those they refer to; what was taken is not given again."""
        waiting = list(labels)[::-1]
        while waiting:
            label = waiting.pop()
            if label in self._given:
                continue
            self._given.add(label)
            text, references = self._read[label]
            yield Note(label=label, text=text)
            waiting += references[::-1]
