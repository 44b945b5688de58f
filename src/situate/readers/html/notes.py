"""Count what a page, or a book of pages, was read without."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Reason: TypeAlias = Literal["menu", "hidden", "fallback"]

_LEFT_OUT: Mapping[Reason, str] = {
    "menu": "navigation, page footers and controls",
    "hidden": "hidden elements",
    "fallback": "what stands in for scripts, sound, video and frames",
}


@dataclass(slots=True)
class Notes:
    """What there is to warn of, counted."""

    words: dict[Reason, int] = field(default_factory=dict)
    """Words that are no content, by reason."""
    everything: bool = False
    """Menus and hidden elements were read, for want of other text."""
    too_deep: int = 0
    """Elements whose borders alone were kept."""
    crowded: int = 0
    """Tags whose attributes were ignored."""
    repeated: int = 0
    """Elements that unclosed formatting would have grown to."""
    flattened: int = 0
    """Lists and quotations that became text of the one around them."""
    spans_ignored: int = 0
    """Tables in which cells span more than the table has."""
    deleted: int = 0
    """Passages marked as deleted."""

    def left_out(self, reason: Reason, words: int) -> None:
        """Count words that are no content."""
        if words:
            self.words[reason] = self.words.get(reason, 0) + words

    @property
    def has_hidden(self) -> bool:
        """Tell whether reading everything would give more words."""
        return not self.words.keys().isdisjoint({"menu", "hidden"})

    def for_everything(self) -> Notes:
        """Begin anew, with menus and hidden elements as content."""
        self.words.clear()
        self.everything = True
        return self

    def warnings(self) -> tuple[str, ...]:
        """Say it, one sentence for each kind."""
        said = [
            f"left out {_count(self.words[reason], 'word')} of {what}"
            for reason, what in _LEFT_OUT.items()
            if reason in self.words
        ]
        if self.everything:
            said.append("all text stands in menus or hidden elements and was read")
        if self.deleted:
            said.append(
                f"kept {_count(self.deleted, 'passage')} marked as deleted as text"
            )
        if self.flattened:
            said.append(
                f"{_count(self.flattened, 'list or quotation', 'lists or quotations')} "
                "nest too deep and became text of the one around them"
            )
        if self.spans_ignored:
            said.append(
                f"cells of {_count(self.spans_ignored, 'table')} span more rows or "
                "columns than it has; they were read as single cells"
            )
        said += self._unsafe()
        return tuple(said)

    def _unsafe(self) -> list[str]:
        said = []
        if self.too_deep:
            said.append(
                f"{_count(self.too_deep, 'element')} nest too deep; their text was "
                "kept, their structure not"
            )
        if self.crowded:
            said.append(
                f"{_count(self.crowded, 'tag')} with hundreds of attributes were read "
                "without them"
            )
        if self.repeated:
            said.append(
                "bold, links and the like were ignored, which are left open and would "
                f"be repeated {self.repeated:,} times"
            )
        return said


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
