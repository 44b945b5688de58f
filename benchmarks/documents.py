"""The documents that are measured: a folder's, the handbook's, or made to size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from situate.readers import extensions
from situate.readers.frontmatter import split

if TYPE_CHECKING:
    from collections.abc import Callable

HANDBOOK = Path(__file__).parents[1] / "tests" / "corpora" / "handbook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One document as it lies on the disk."""

    name: str
    data: bytes

    @property
    def text(self) -> str:
        """The document decoded."""
        return self.data.decode("utf-8", "replace")


def from_folder(folder: Path) -> list[Source]:
    """Take every file below a folder that situate reads.

    Raises:
        SystemExit: there is none.
    """
    found = [
        Source(name=path.relative_to(folder).as_posix(), data=path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in extensions() and path.is_file()
    ]
    if not found:
        message = f"{folder}: holds no document that situate reads"
        raise SystemExit(message)
    return found


def handbook(copies: int) -> list[Source]:
    """Take the handbook of the tests, as often as it takes to measure."""
    return [
        Source(name=f"copy-{number}/{source.name}", data=source.data)
        for number in range(copies)
        for source in from_folder(HANDBOOK)
    ]


_PROSE = (
    "Either party may ask for a review once a year, and the other answers within a "
    "month. What was agreed before stays in force until both have signed the change; "
    "costs of the review are shared. Where a site is closed for longer than a "
    "quarter, the term is suspended and runs on from the day it opens again. None of "
    "this touches claims that arose earlier, nor those of third parties."
)


def _sections(size: int) -> str:
    return "\n".join(
        f"## Case {n}\n\nRule {n} holds for every renewal of grade {n % 9}. {_PROSE}\n"
        for n in range(size)
    )


def _table(size: int) -> str:
    rows = "".join(
        f"| Part {n} | {n % 40} mm | {n * 7 % 90} days | stated in annex {n % 12} |\n"
        for n in range(size)
    )
    header = "| Part | Width | Term | Terms |\n| --- | ---: | --- | --- |\n"
    return f"# Parts\n\n{header}{rows}"


def _list(size: int) -> str:
    items = "".join(
        f"- Step {n}: close valve {n % 30}, wait, and note what the gauge shows.\n"
        for n in range(size)
    )
    return f"# Steps\n\nDo the following in this order:\n\n{items}"


def _paragraph(size: int) -> str:
    sentences = " ".join(f"Grade {n} is exempt. {_PROSE}" for n in range(size))
    return f"# Terms\n\n{sentences}\n"


def _code(size: int) -> str:
    lines = "".join(
        f"    valve_{n}.close(timeout={n % 60})\n" + ("\n" if n % 9 == 0 else "")
        for n in range(size)
    )
    return f"# Routine\n\n```python\n{lines}```\n"


def _paragraphs(size: int) -> str:
    paragraphs = "".join(f"Rule {n} holds for grade {n % 9}.\n\n" for n in range(size))
    return f"# Rules\n\n{paragraphs}"


def _rows(size: int) -> str:
    rows = "".join(f"| {n} | grade {n % 9} | {n % 60} days |\n" for n in range(size))
    return f"# Terms\n\n| Part | Grade | Term |\n| --- | --- | --- |\n{rows}"


def _nested(size: int) -> str:
    items = "".join(f"{'  ' * n}- Step {n} of those above.\n" for n in range(size))
    return f"# Steps\n\n{items}"


def _corpus(size: int) -> str:
    texts: list[str] = []
    length = 0
    for source in cycle(from_folder(HANDBOOK)):
        if length >= size:
            break
        text = source.text[split(source.text).body :]
        texts.append(text[: size - length])
        length += len(text) + 1
    return "\n".join(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A kind of document that can be made larger."""

    name: str
    write: Callable[[int], str]
    sizes: tuple[int, ...]
    """What to ask `write` for, each about ten times the text of the one before."""


SHAPES = (
    Shape(
        name="the handbook, 10 kB to 10 MB",
        write=_corpus,
        sizes=(10_000, 100_000, 1_000_000, 10_000_000),
    ),
    Shape(name="many sections", write=_sections, sizes=(120, 1_200)),
    Shape(
        name="one section of 10,000 paragraphs",
        write=_paragraphs,
        sizes=(1_000, 10_000),
    ),
    Shape(name="one paragraph", write=_paragraph, sizes=(120, 1_200)),
    Shape(name="one table of 100,000 rows", write=_rows, sizes=(10_000, 100_000)),
    Shape(name="one table of long rows", write=_table, sizes=(960, 9_600)),
    Shape(name="one list", write=_list, sizes=(960, 9_600)),
    Shape(name="a list 200 deep", write=_nested, sizes=(20, 200)),
    Shape(name="one code block", write=_code, sizes=(1_440, 14_400)),
)
"""Documents of one kind; ten times the size gives ten times the text."""
