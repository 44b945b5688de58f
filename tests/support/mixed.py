"""Random documents whose sections are for different people or days, and who sees what.

Every section has words of its own, in its heading and in its text, so that whatever
shows them says where they come from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from situate.readers import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from situate.model import Chunk, Document

ATTRIBUTES: Sequence[str] = (
    *("", "", ""),
    *("acl_read=hr", "acl_read=all", "classification=secret"),
    *("effective_to=2025-12-31", "effective_from=2025-01-01", "region=north"),
)
"""The last is no permission: it keeps chunks apart, and hides nothing."""

_PERMISSION = re.compile("(?:acl_.*|classification|effective_.*)=")


@dataclass(frozen=True)
class Written:
    """One section as it is written down."""

    depth: int
    attributes: str
    sentences: int


@dataclass(frozen=True)
class Mixed:
    """A document, and what each of its sections says and is."""

    sections: tuple[Written, ...]
    title: bool = False
    access: list[Mapping[str, str]] = field(init=False, compare=False, repr=False)
    """Of every section: its own attributes and those of the sections around it."""
    above: list[frozenset[int]] = field(init=False, compare=False, repr=False)
    """The sections around every section, and itself."""

    def __post_init__(self) -> None:
        access: list[Mapping[str, str]] = []
        around: list[frozenset[int]] = []
        path: list[int] = []
        for number, section in enumerate(self.sections):
            depth = min(section.depth, len(path))
            path = [*path[:depth], number]
            inherited = dict(access[path[-2]]) if depth else {}
            if _PERMISSION.match(section.attributes):
                key, _, value = section.attributes.partition("=")
                inherited[key] = value
            access.append(inherited)
            around.append(frozenset(path))
        object.__setattr__(self, "access", access)
        object.__setattr__(self, "above", around)

    @cached_property
    def source(self) -> str:
        """The document in Markdown."""
        lines = ["---\ntitle: Rules\n---\n"] if self.title else []
        for number, section in enumerate(self.sections):
            attributes = f" {{{section.attributes}}}" if section.attributes else ""
            mark = "#" * len(self.above[number])
            lines.append(f"{mark} Head{number}x{attributes}\n")
            said = f"What is told as mark{number}x is for its readers alone. "
            lines.append(said * section.sentences + "\n")
        return "\n".join(lines)

    @cached_property
    def document(self) -> Document:
        """The document as it is read."""
        return read(self.source.encode(), "mixed.md").document

    def access_of(self, chunk: Chunk) -> Mapping[str, str]:
        """Give what a record says of permission and dates, read off its metadata."""
        metadata = chunk.metadata
        dates = {
            "effective_from": metadata.effective_from,
            "effective_to": metadata.effective_to,
        }
        custom = {key: str(metadata.custom[key]) for key in metadata.custom}
        return {
            **{key: value for key, value in dates.items() if value is not None},
            **{key: custom[key] for key in custom if _PERMISSION.match(f"{key}=")},
        }


def told(text: str) -> set[int]:
    """Name the sections whose text stands somewhere."""
    return {int(number) for number in re.findall(r"mark(\d+)x", text)}


def named(text: str) -> set[int]:
    """Name the sections whose headings stand somewhere."""
    return {int(number) for number in re.findall(r"Head(\d+)x", text)}


def strange(
    mixed: Mixed, sections: Iterable[int], access: Mapping[str, str]
) -> list[int]:
    """Give the sections of another access."""
    return [number for number in sections if mixed.access[number] != access]


mixed: st.SearchStrategy[Mixed] = st.builds(
    Mixed,
    st.lists(
        st.builds(
            Written,
            st.integers(0, 3),
            st.sampled_from(ATTRIBUTES),
            st.sampled_from([0, 0, 1, 2, 12, 40]),
        ),
        min_size=1,
        max_size=10,
    ).map(tuple),
    st.booleans(),
)
