"""Hand out the text of marked content to the elements that hold it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from situate.readers.pdf.lines import rows
from situate.readers.pdf.paragraphs import Paragraph, marker
from situate.readers.pdf.pieces import pieces
from situate.readers.pdf.tags import Element

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from situate.readers.pdf.characters import Run
    from situate.readers.pdf.lines import Line
    from situate.readers.pdf.pages import Page
    from situate.readers.pdf.places import Sheet
    from situate.readers.pdf.tags import Mark
    from situate.readers.pdf.words import Joiner


class Content:
    """The text of a document by its marks, each given out once."""

    def __init__(self, pages: Sequence[Page], root: Element, joiner: Joiner) -> None:
        self._joiner = joiner
        self._sheets: dict[int, Sheet] = {
            page.sheet.number: page.sheet for page in pages
        }
        self._runs: dict[Mark, list[tuple[int, Run]]] = defaultdict(list)
        self._untagged: dict[int, list[Run]] = defaultdict(list)
        self._decoration: dict[int, list[Run]] = defaultdict(list)
        marks = set(below(root))
        covered = total = decorating = 0
        for page in pages:
            number = page.sheet.number
            for index, run in enumerate(page.runs):
                mark = (number, run.style.mark)
                if mark in marks:
                    self._runs[mark].append((index, run))
                    covered += len(run.text)
                elif not run.style.is_artifact:
                    self._untagged[number].append(run)
                else:
                    self._decoration[number].append(run)
                    decorating += len(run.text)
                    continue
                total += len(run.text)
        self.coverage = covered / total if total else 0.0
        """Share of the characters, artifacts aside, that the tree reaches."""
        self.decoration = decorating / max(1, total + decorating)
        """Share of the characters that are marked as decoration."""
        self._say(root)

    def decorating(self, page: int) -> list[Run]:
        """Give what is marked as decoration on a page: headers, footers, others."""
        return self._decoration.get(page, [])

    def untagged(self, page: int) -> list[Run]:
        """Give what the tree does not reach on a page, artifacts aside."""
        return self._untagged.get(page, [])

    def paragraph(self, marks: Iterable[Mark]) -> Paragraph | None:
        """Give the text of marks as one paragraph; None when it is empty."""
        found = self.lines(marks)
        if not found:
            return None
        return Paragraph(
            text=self._joiner.join([line.text for line in found]),
            lines=tuple(found),
            marker=marker(found[0]),
        )

    def lines(self, marks: Iterable[Mark]) -> list[Line]:
        """Give the lines of marks, page by page."""
        taken: list[tuple[int, list[Run]]] = []
        last = -1
        for mark in marks:
            own: list[Run] = []
            for index, run in self._runs.pop(mark, ()):
                # What was not drawn next has no space or line break to be told of.
                own.append(run if index == last + 1 else replace(run, gap="\n"))
                last = index
            if own:
                taken.append((mark[0], own))
        found: list[Line] = []
        for number, group in groupby(taken, key=lambda pair: pair[0]):
            drawn = [run for _, own in group for run in own]
            found += rows(pieces(drawn), self._sheets[number])
        return found

    def page(self, element: Element) -> int:
        """Give the first page on which an element shows text; 0 for none."""
        return next((mark[0] for mark in below(element) if mark in self._runs), 0)

    def _say(self, root: Element) -> None:
        """Put what elements actually say in the place of what is drawn."""
        stack = [root]
        while stack:
            element = stack.pop()
            inner = [each for each in element.children if isinstance(each, Element)]
            marks = [mark for mark in below(element) if mark in self._runs]
            if not element.actual or not marks:
                stack += inner
                continue
            first, *others = (pair for mark in marks for pair in self._runs[mark])
            run = replace(
                first[1],
                text=" ".join(element.actual.split()),
                right=max(first[1].right, *(run.right for _, run in others), 0.0),
            )
            for mark in marks:
                del self._runs[mark]
            self._runs[marks[0]] = [(first[0], run)]


def below(element: Element) -> list[Mark]:
    """Give the marks of an element and all below it, in order."""
    found: list[Mark] = []
    stack: list[Element | Mark] = [element]
    while stack:
        each = stack.pop()
        if not isinstance(each, Element):
            found.append(each)
        elif each.kind != "Artifact":
            stack += reversed(each.children)
    return found
