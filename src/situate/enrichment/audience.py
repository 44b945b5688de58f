"""Which chunks of a document a model may see side by side (S6).

A sentence about one chunk may repeat what its model has read in another. So a model
is shown together only what the same people may see for the same time, and nothing
of what a corpus keeps from models. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from situate.access import access_of
from situate.model import Metadata, digest, walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.enrichment.settings import Conditions
    from situate.model import Chunk, Document, JsonValue, Section

_FIELDS = frozenset(each.name for each in fields(Metadata)) - {"custom"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Leaves that may be shown together, and the sections they come from."""

    leaves: tuple[int, ...]
    """Which of the document's leaves, in reading order."""
    sections: tuple[Section, ...]
    """All of the same access, in reading order: their own blocks and headings, and
    not what lies below them."""
    allowed: bool = True
    """False for what no model is shown."""


def audiences(
    document: Document, leaves: Sequence[Chunk], conditions: Conditions | None
) -> tuple[Audience, ...]:
    """Divide the leaves of a document by who may see them, and when.

    They come in the order of their first leaves; what `conditions` do not allow is
    one of them. Nearly every document is one audience.
    """
    sections = [section for section, _ in walk(document.root)]
    if conditions is None and not any(section.metadata for section in sections):
        return (Audience(leaves=tuple(range(len(leaves))), sections=tuple(sections)),)
    holds = _cascade(document, conditions)
    found: dict[str | None, list[int]] = {}
    for number, leaf in enumerate(leaves):
        access = access_of(leaf.metadata)
        is_allowed = holds.get(leaf.section_id) is not None
        found.setdefault(access if is_allowed else None, []).append(number)
    seen: dict[str | None, list[Section]] = {}
    for section in sections:
        seen.setdefault(holds[section.section_id], []).append(section)
    return tuple(
        Audience(
            leaves=tuple(numbers),
            sections=() if access is None else tuple(seen.get(access, ())),
            allowed=access is not None,
        )
        for access, numbers in found.items()
    )


def hidden_from(document: Document, found: Sequence[Audience]) -> dict[int, str]:
    """Hash the sections that leaves are not shown with, by the leaves' numbers.

    Leaves that are shown with all of them are left out. What was said about a leaf
    beside other sections may tell of these.
    """
    numbers = {section.section_id: 0 for section, _ in walk(document.root)}
    if all(len(audience.sections) == len(numbers) for audience in found):
        return {}
    for section_id in numbers:
        numbers[section_id] = int(digest(section_id), 16)
    every = sum(numbers.values())
    hashes: dict[int, str] = {}
    for audience in found:
        # Sets are hashed by sums, so that many audiences take no longer than one.
        shown = sum(numbers[section.section_id] for section in audience.sections)
        if every != shown:
            hashes |= dict.fromkeys(audience.leaves, f"{every - shown:x}")
    return hashes


def withheld(
    document: Document, leaves: Sequence[Chunk], conditions: Conditions | None
) -> frozenset[str]:
    """Name the leaves that no model is shown, by their chunk ids."""
    return frozenset(
        leaves[number].chunk_id
        for audience in audiences(document, leaves, conditions)
        if not audience.allowed
        for number in audience.leaves
    )


def _cascade(
    document: Document, conditions: Conditions | None
) -> Mapping[str, str | None]:
    """Give the access of every section by its id; None where nobody is to be shown it.

    The title and the headings above a section go to a model with it: where what they
    head is not allowed, neither is the section.
    """
    holds: dict[str, str | None] = {}
    whole = _shown(document.metadata, conditions)
    for section, ancestors in walk(document.root):
        above = holds[ancestors[-1].section_id] if ancestors else whole
        if section.metadata is None or above is None:
            holds[section.section_id] = above
        else:
            holds[section.section_id] = _shown(section.metadata, conditions)
    return holds


def _shown(metadata: Metadata, conditions: Conditions | None) -> str | None:
    for key, values in (conditions or {}).items():
        said = getattr(metadata, key) if key in _FIELDS else metadata.custom.get(key)
        if not _is_among(said, values, of_language=key == "language"):
            return None
    return access_of(metadata)


def _is_among(
    said: JsonValue, values: Sequence[JsonValue], *, of_language: bool
) -> bool:
    """Tell whether all that is said of a key is allowed, and anything is.

    A language is allowed with all its regions: `en` covers `en-US`.
    """
    each_said = said if isinstance(said, list) else [said]
    if of_language:
        regions = tuple(f"{value}-".lower() for value in values)
        return isinstance(said, str) and f"{said}-".lower().startswith(regions)
    # `1` is not `true`, which Python takes for equal.
    return bool(each_said) and all(
        any(type(one) is type(value) and one == value for value in values)
        for one in each_said
    )
