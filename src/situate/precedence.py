"""Decides whose word about a document counts.

A document, its sidecar and a manifest may each say something of the same key. For
keys of authority (who may see it, when it is in force, what it is called) the word
from outside counts: the manifest's, then the sidecar's, then the document's own. For
all others the nearest word does, and the others fill what is missing. Pure: values
in, values out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from situate.access import PERMISSION, VALIDITY, is_permission
from situate.given import Given
from situate.model import Document, Metadata, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.model import JsonValue, Section

AUTHORITY: Final = (*PERMISSION, "doc_id", *VALIDITY)
"""Keys for which the word from outside counts, whatever a config says."""

_FIELDS: Final = (
    *("title", "doc_type", "effective_from", "effective_to"),
    *("source", "language"),
)
_OF_SECTIONS: Final = ("doc_type", "effective_from", "effective_to", "language")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a corpus wants of its documents' metadata."""

    keep: tuple[str, ...] | None = None
    """Keys that travel under `custom` beside those of permission; None: all that
    there are."""
    required: tuple[str, ...] = ()
    """Keys that a document may not lack."""
    authority: tuple[str, ...] = ()
    """Further keys for which the word from outside counts; `*` stands for any end."""

    def outranks(self, key: str) -> bool:
        """Tell whether the word from outside counts."""
        return _matches(key, (*AUTHORITY, *self.authority))

    def keeps(self, key: str) -> bool:
        """Tell whether a key travels under `custom`.

        Who may see something always does, whoever says it (S6).
        """
        return self.keep is None or key in self.keep or is_permission(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What holds of a document, after all have spoken."""

    said: Given
    """What anybody said of it; defaults are not in it."""
    document: Document
    warnings: tuple[str, ...]
    conflicts: tuple[str, ...] = ()
    """Headings that say otherwise who may see their sections than is said from
    outside: taking the one or the other may show them to the wrong people."""


def settle(
    document: Document,
    own: Given,
    outside: Sequence[Given],
    policy: Policy,
    *,
    doc_type: str | None,
) -> Settled:
    """Give a document what holds of it, and what contradicts that.

    `own` is what it says itself; `outside` are the manifest and the sidecar, those
    that there are, in this order; `doc_type` is for documents of which nobody says
    one. The dates that a heading gives its section hold within those from outside,
    and so does whom it is for: what is said of that and does not is a conflict.
    """
    if not outside:
        return Settled(said=own, document=document, warnings=())
    voices = _Voices(own, outside, policy)
    metadata = replace(
        own.metadata,
        **{name: voices.field(name) for name in _FIELDS},
        custom={},
    )
    metadata = replace(metadata, custom=voices.custom(metadata))
    said = Given(
        where=own.where,
        doc_id=voices.beside("doc_id"),
        version=voices.beside("version"),
        metadata=metadata,
    )
    whole = replace(
        metadata,
        doc_type=metadata.doc_type or doc_type,
        source=metadata.source or document.metadata.source,
    )
    sections = _Sections(document.metadata, whole, voices.holding)
    settled = replace(
        document,
        doc_id=said.doc_id or document.doc_id,
        version=said.version or document.version,
        metadata=whole,
        root=sections.settled(document.root),
    )
    return Settled(
        said=said,
        document=settled,
        warnings=(*voices.warnings, *sections.warnings),
        conflicts=tuple(sections.conflicts),
    )


def disorder(document: Document) -> str | None:
    """Name the first validity that ends before it begins; None when there is none."""
    if dates := _disorder(document.metadata):
        return dates
    for section, _ in walk(document.root):
        if section.metadata and (dates := _disorder(section.metadata)):
            return f"heading {section.title!r:.60}: {dates}"
    return None


def lacking(
    required: Sequence[str], said: Given, metadata: Metadata, title: str | None
) -> tuple[str, ...]:
    """Name the required keys that a document lacks.

    `metadata` is the document's with its defaults, `title` what it goes by. An id
    or source that is nothing but its path, and a version that is a hash, are said
    by nobody. A blank or empty value is none.
    """
    values: dict[str, JsonValue] = {
        **metadata.custom,
        **{name: getattr(metadata, name) for name in _FIELDS},
        "title": title,
        "source": said.metadata.source,
        "doc_id": said.doc_id,
        "version": said.version,
    }
    return tuple(key for key in required if _is_blank(values.get(key)))


class _Voices:
    """Those who speak of one document."""

    def __init__(self, own: Given, outside: Sequence[Given], policy: Policy) -> None:
        self._own = own
        self._outside = outside
        self._policy = policy
        self.warnings: list[str] = []
        self.holding: dict[str, str] = {}
        """The keys for which a word from outside holds, and whose it is."""

    def beside(self, key: str) -> str | None:
        """Give what holds of `doc_id` or `version`."""
        found = self._found(key, {each.where: getattr(each, key) for each in self._all})
        return found if isinstance(found, str) else None

    def field(self, name: str) -> str | None:
        """Give what holds of a field of the metadata."""
        said = {each.where: getattr(each.metadata, name) for each in self._all}
        found = self._found(name, said)
        return found if isinstance(found, str) else None

    def custom(self, settled: Metadata) -> Mapping[str, JsonValue]:
        """Give what holds of the keys that have no field.

        What was no date is left out where another word is one.
        """
        keys = dict.fromkeys(key for each in self._all for key in each.metadata.custom)
        return {
            key: self._found(
                key, {each.where: each.metadata.custom.get(key) for each in self._all}
            )
            for key in keys
            if key not in _FIELDS or getattr(settled, key) is None
        }

    @property
    def _all(self) -> tuple[Given, ...]:
        return (self._own, *self._outside)

    def _found(self, key: str, said: Mapping[str, JsonValue]) -> JsonValue:
        """Choose among what is said of a key, and note who holds otherwise."""
        from_outside = [each.where for each in self._outside]
        outranks = self._policy.outranks(key)
        order = (
            [*from_outside, self._own.where]
            if outranks
            else [self._own.where, *reversed(from_outside)]
        )
        words = [(where, said[where]) for where in order if said[where] is not None]
        if not words:
            return None
        (first, value), *others = words
        if outranks and first in from_outside:
            self.holding[key] = first
            self.warnings.extend(
                f"{key}: {first} says {value!r:.60}, {where} says {other!r:.60}; "
                "the first holds"
                for where, other in others
                if other != value
            )
        return value


class _Sections:
    """Hands down to sections what holds of their document (C12)."""

    def __init__(
        self, before: Metadata, after: Metadata, holding: Mapping[str, str]
    ) -> None:
        self._before = before
        self._after = after
        self._holding = holding
        self.warnings: list[str] = []
        self.conflicts: list[str] = []

    def settled(self, root: Section) -> Section:
        """Give the root with what its sections have said, and now inherit."""
        sections = list(walk(root))
        if all(section.metadata is None for section, _ in sections):
            return root
        holds = {"": (self._before, self._after)}
        for section, ancestors in sections:
            before, after = holds[ancestors[-1].section_id if ancestors else ""]
            if section.metadata is not None:
                after = self._refined(section.title, section.metadata, before, after)
                before = section.metadata
            holds[section.section_id] = (before, after)
        made: dict[str, Section] = {}
        for section, _ in reversed(sections):
            said = section.metadata is not None
            made[section.section_id] = replace(
                section,
                metadata=holds[section.section_id][1] if said else None,
                children=tuple(made[child.section_id] for child in section.children),
            )
        return made[root.section_id]

    def _refined(
        self, title: str, own: Metadata, before: Metadata, after: Metadata
    ) -> Metadata:
        """Give what holds of a section that says more than what it inherits.

        `own` is all that held of it before anybody else spoke.
        """
        fields = {
            name: getattr(own, name)
            for name in _OF_SECTIONS
            if getattr(own, name) != getattr(before, name)
        }
        custom = {
            key: value
            for key, value in own.custom.items()
            if key not in before.custom or before.custom[key] != value
        }
        refused = set(self._refused({**custom, **fields}, title))
        return replace(
            after,
            **{name: fields[name] for name in fields if name not in refused},
            custom={
                **after.custom,
                **{key: custom[key] for key in custom if key not in refused},
            },
        )

    def _refused(self, said: Mapping[str, JsonValue], title: str) -> Iterator[str]:
        """Yield what a heading may not say, and note it."""
        for key, value in said.items():
            if key not in self._holding:
                continue
            held = (
                getattr(self._after, key) if key in _FIELDS else self._after.custom[key]
            )
            # None: what was to be a date is none, and holds against no other.
            if held is not None and not _within(key, value, held):
                told = (
                    f"{key}: {self._holding[key]} says {held!r:.60}, heading "
                    f"{title!r:.60} says {value!r:.60}"
                )
                if is_permission(key):
                    self.conflicts.append(told)
                else:
                    self.warnings.append(f"{told}; the first holds")
                yield key


def _within(key: str, value: JsonValue, held: JsonValue) -> bool:
    """Tell whether a section may say this where the other is said from outside.

    It may come into force later than its document and end earlier, and be for some
    of those whom its document is for.
    """
    if is_permission(key):
        few, many = _values(value), _values(held)
        return bool(few) and all(one in many for one in few)
    if isinstance(value, str) and isinstance(held, str):
        if key == "effective_from":
            return value >= held
        if key == "effective_to":
            return value <= held
    return value == held


def _values(said: JsonValue) -> list[tuple[type, JsonValue]]:
    """Give each value with its type: Python takes `1` and `true` for equal."""
    return [(type(one), one) for one in (said if isinstance(said, list) else [said])]


def _disorder(metadata: Metadata) -> str | None:
    first, last = metadata.effective_from, metadata.effective_to
    if first is None or last is None or first <= last:
        return None
    return f"effective_from {first} is after effective_to {last}"


def _matches(key: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def _is_blank(value: JsonValue) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or value in ([], {})
