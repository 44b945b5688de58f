"""Count what was left out or doubted, and say it in one sentence per kind."""

from __future__ import annotations

from collections import Counter
from typing import Final, Literal

Notice = Literal[
    "chart",
    "comment",
    "deleted",
    "elsewhere",
    "foreign",
    "hidden",
    "inserted",
    "lost_note",
    "moved",
    "object",
    "picture",
    "spare_note",
    "symbol",
]

_SAID: Final[dict[Notice, tuple[str, str]]] = {
    "chart": ("1 chart was not read", "{} charts were not read"),
    "comment": ("1 comment was left out", "{} comments were left out"),
    "elsewhere": (
        "1 part of the document that lies in another file was not read",
        "{} parts of the document that lie in other files were not read",
    ),
    "foreign": (
        "1 embedded document (altChunk) was not read; save the file anew in Word",
        "{} embedded documents (altChunk) were not read; save the file anew in Word",
    ),
    "hidden": (
        "1 run of hidden text was kept",
        "{} runs of hidden text were kept",
    ),
    "lost_note": (
        "1 reference to a note that the file does not hold was left out",
        "{} references to notes that the file does not hold were left out",
    ),
    "object": ("1 embedded object was not read", "{} embedded objects were not read"),
    "picture": (
        "1 picture without alternative text was left out",
        "{} pictures without alternative text were left out",
    ),
    "spare_note": (
        "1 note that nothing refers to was left out",
        "{} notes that nothing refers to were left out",
    ),
    "symbol": (
        "1 symbol of a font without Unicode names was left out",
        "{} symbols of fonts without Unicode names were left out",
    ),
}

_CHANGES: Final[tuple[tuple[Notice, str, str], ...]] = (
    ("inserted", "insertion", "insertions"),
    ("deleted", "deletion", "deletions"),
    ("moved", "move", "moves"),
)


class Notices:
    """What a reader noticed, by kind."""

    def __init__(self) -> None:
        self._counts: Counter[Notice] = Counter()

    def add(self, kind: Notice, count: int = 1) -> None:
        """Notice something once more, or several times."""
        self._counts[kind] += count

    @property
    def changes(self) -> str | None:
        """The tracked changes in words, None when there are none."""
        said = [
            f"{count} {one if count == 1 else many}"
            for kind, one, many in _CHANGES
            if (count := self._counts[kind])
        ]
        if len(said) < 2:
            return said[0] if said else None
        return f"{', '.join(said[:-1])} and {said[-1]}"

    def warnings(self) -> tuple[str, ...]:
        """Give one sentence per kind but tracked changes."""
        return tuple(
            one if self._counts[kind] == 1 else many.format(self._counts[kind])
            for kind, (one, many) in _SAID.items()
            if self._counts[kind]
        )
