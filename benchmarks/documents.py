"""The documents that are measured: a folder's, the handbook's, or made to size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from situate.readers import extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
        for n in range(8 * size)
    )
    header = "| Part | Width | Term | Terms |\n| --- | ---: | --- | --- |\n"
    return f"# Parts\n\n{header}{rows}"


def _list(size: int) -> str:
    items = "".join(
        f"- Step {n}: close valve {n % 30}, wait, and note what the gauge shows.\n"
        for n in range(8 * size)
    )
    return f"# Steps\n\nDo the following in this order:\n\n{items}"


def _paragraph(size: int) -> str:
    sentences = " ".join(f"Grade {n} is exempt. {_PROSE}" for n in range(size))
    return f"# Terms\n\n{sentences}\n"


def _code(size: int) -> str:
    lines = "".join(
        f"    valve_{n}.close(timeout={n % 60})\n" + ("\n" if n % 9 == 0 else "")
        for n in range(12 * size)
    )
    return f"# Routine\n\n```python\n{lines}```\n"


SHAPES: Mapping[str, Callable[[int], str]] = {
    "many sections": _sections,
    "one huge table": _table,
    "one huge list": _list,
    "one huge paragraph": _paragraph,
    "one huge code block": _code,
}
"""Documents of one kind; ten times the size gives ten times the text."""
