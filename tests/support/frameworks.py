"""What tests of frameworks share: real documents, real chunks and a stand-in model."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from situate import Rules, chunk, load_counter, read, to_line, to_record
from tests.support import strategies
from tests.support.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from situate import Chunk

HANDBOOK: Final = ROOT / "tests" / "corpora" / "handbook"

ODD: Final = (
    ("code.md", "    only code\n\n        indented\n\n    \n"),
    ("fence.txt.md", "```\n   indented\n  \n```\n"),
    ("braces.md", "# {value} {metadata_str}\n\n{content} {0} %s $x\n"),
    ("spaces.html", "<p>&nbsp;&emsp;Edges&nbsp;</p><pre>\n  a\n   </pre>"),
    ("plain.txt", "\u3000Full width.\u3000\n"),
)
"""Documents whose chunks begin or end with spaces, or look like a template."""


def loaded() -> list[tuple[str, str]]:
    """Give the documents of a real corpus, and what is odd, each with its name."""
    handbook = [
        (path.relative_to(HANDBOOK).as_posix(), path.read_text("utf-8"))
        for path in sorted(HANDBOOK.rglob("*.md"))
    ]
    return [*handbook, *ODD]


def cut(rules: Rules) -> list[Chunk]:
    """Cut them without a framework."""
    counter = load_counter("cl100k_base")
    return [
        one
        for name, text in loaded()
        for one in chunk(read(text.encode(), name).document, rules, counter)
    ]


def write(path: Path, chunks: Iterable[Chunk]) -> Path:
    """Write a chunks file."""
    path.write_bytes(b"".join(to_line(to_record(one)) for one in chunks))
    return path


def vector(text: str) -> list[float]:
    """Count words in 256 drawers, in the place of an embedding model."""
    found = [0.0] * 256
    for word in re.findall(r"\w{5,}", text.lower()):
        found[sha256(word.encode()).digest()[0]] += 1
    return found


random_chunks: st.SearchStrategy[tuple[Chunk, ...]] = st.builds(
    lambda document, rules: chunk(document, rules, load_counter("cl100k_base")),
    strategies.documents,
    st.builds(
        Rules,
        max_tokens=st.sampled_from([32, 128]),
        min_tokens=st.sampled_from([0, 16]),
        granularity=st.sampled_from(["leaves", "tree", "multi"]),
        prefix_max_tokens=st.sampled_from([0, 96]),
        reading=st.sampled_from(["reading", "text"]),
    ),
)
"""Chunks of random documents, also such without a breadcrumb line."""
