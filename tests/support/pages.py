"""What people read: README and the pages below `docs`, with their code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
PAGES: Final = (README, *sorted((ROOT / "docs").glob("*.md")))
ELSEWHERE: Final = ("haystack", "langchain", "llamaindex")
"""Pages whose blocks take what the suite has not: `make integrations` runs them."""

_FENCE: Final = re.compile(
    r"^```(\w*)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    page: Path
    kind: str
    name: str | None
    """The file that it is; None where it shows something else."""
    text: str


def blocks(page: Path) -> list[Block]:
    """Give the blocks of a page, in its order."""
    return [
        Block(page=page, kind=kind, name=name or None, text=text)
        for kind, name, text in _FENCE.findall(page.read_text("utf-8"))
    ]


def all_blocks() -> list[Block]:
    """Give the blocks of all pages."""
    return [block for page in PAGES for block in blocks(page)]


def rewrite(page: Path, change: Callable[[Block], str]) -> None:
    """Put other texts into the blocks of a page."""
    found = iter(blocks(page))

    def changed(_: re.Match[str]) -> str:
        block = next(found)
        head = block.kind if block.name is None else f"{block.kind} {block.name}"
        return f"```{head}\n{change(block)}```"

    page.write_text(_FENCE.sub(changed, page.read_text("utf-8")), "utf-8")


def prose(page: Path) -> str:
    """Give the text of a page outside of its blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))
