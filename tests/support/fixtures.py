"""Fixture files anyone can read: name, options, input, expected chunks.

A case is a name, a line of options, a line with a dot, the document, a dot, the
chunks it gives, and a dot. `SITUATE_REGENERATE=1` rewrites the expected parts;
review that diff like code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from situate.chunking import Rules, chunk
from situate.readers import read
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.model import Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One document with the chunks it must give."""

    name: str
    options: str
    source: str
    expected: str

    def chunks(self) -> tuple[Chunk, ...]:
        """Chunk the case's document by its options."""
        pairs = (option.split("=") for option in self.options.split())
        values = {key: int(value) if value.isdigit() else value for key, value in pairs}
        document = read(self.source.encode(), "doc.md").document
        return chunk(document, Rules(**values), load_counter("cl100k_base"))  # type: ignore[arg-type] # options name the rules' fields


def load(path: Path) -> Iterator[Case]:
    """Read the cases of a fixture file."""
    head, *rest = path.read_text(encoding="utf-8").split("\n.\n")
    while len(rest) >= 2:
        name, options = head.strip().split("\n")
        yield Case(name=name, options=options, source=rest[0], expected=rest[1])
        head, rest = rest[2] if len(rest) > 2 else "", rest[3:]


def save(path: Path, cases: list[Case]) -> None:
    """Write the cases with what they give today as expected."""
    parts = (
        f"{case.name}\n{case.options}\n.\n{case.source}\n.\n{show(case.chunks())}\n.\n"
        for case in cases
    )
    path.write_text("\n".join(parts), encoding="utf-8")


def show(chunks: tuple[Chunk, ...]) -> str:
    """Write chunks so that a person can review them."""
    return "\n".join(_show(one) for one in chunks)


def regenerating() -> bool:
    """Tell whether expected parts are to be rewritten."""
    return os.environ.get("SITUATE_REGENERATE") == "1"


def _show(one: Chunk) -> str:
    marks = [f"{one.token_count} tokens", one.level]
    if one.parent_chunk_id:
        marks.append(f"in {one.parent_chunk_id}")
    if not one.embed:
        marks.append("not embedded")
    if one.forced_split:
        marks.append("forced split")
    marks.extend(
        f"{block_id} parts {first} to {end}"
        for block_id, (first, end) in one.parts.items()
    )
    if one.section_ids:
        marks.append("sections " + " ".join(one.section_ids))
    return (
        f"=== {one.chunk_id} ({', '.join(marks)})\n"
        f"=== {one.breadcrumb_line}\n{one.text}"
    )
