"""Which documents an index goes on having (S3).

Pure. A document leaves an index on a positive sign alone: a manifest deletes it, or it
is absent from a listing that is complete. Where an index keeps every wording, absence
is no sign: a wording is not withdrawn by the next one taking its place. Too many
deletions at once are held back until a person has allowed them, whatever the sign.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from situate.model import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.index.state import Documents, DocumentState
    from situate.listing import Entry
    from situate.validity import Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A document that is there and cannot be read."""

    path: str
    """Where it stands, below the config's folder."""
    named: str
    """The id it has unless it names one itself."""
    input: str = ""
    """Hash of what is there, as far as anybody can see it."""

    @property
    def mark(self) -> str:
        """A text that is the same while the file is."""
        return digest(json.dumps([self.path, self.input]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Why there may be more documents, and where."""

    reason: str
    below: str | None = None
    """The folder or file that they would be, or lie below, seen from the config's
    folder; None where that may be anywhere."""

    def hides(self, document: DocumentState) -> bool:
        """Tell whether a document may be there that is not found.

        One that names itself may have come from anywhere.
        """
        return (
            self.below is None
            or document.names_itself
            or document.path == self.below
            or document.path.startswith(f"{self.below}/")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a walk over the documents of a corpus came across."""

    read: Documents
    """Those that could be read, and those that are as they were."""
    missed: tuple[Missed, ...]
    deleted_ids: frozenset[str]
    """Ids that a manifest deletes."""
    deleted_paths: frozenset[str]
    """Where documents stand that a manifest deletes."""
    gaps: tuple[Gap, ...]
    """Why there may be more documents."""
    unread: frozenset[str] = frozenset()
    """Marks of files that could not be read before anything was gone."""
    keep: Keep = "latest"
    withdrawn: Mapping[str, Sequence[Entry]] = field(default_factory=dict)
    """Lines that delete one wording each, by the ids of the documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What an index is to have."""

    documents: Documents
    kept: tuple[str, ...]
    """Keys of those that stay as they were read last: that cannot be read, or are
    earlier wordings of what can."""
    absent: tuple[str, ...]
    """Keys of those that are gone, and stay: that may be a mistake, or every wording
    is kept."""
    deleted: tuple[str, ...]
    """Keys of those that leave."""
    reasons: tuple[str, ...]
    """Why anything absent stays."""
    unread: frozenset[str] = frozenset()
    """Marks of files that cannot be read, and are none of what is gone."""


def gone(known: Documents, seen: Seen) -> Documents:
    """Give the known documents that nobody deletes and nothing is heard of."""
    missed = {each.path for each in seen.missed}
    heard = {each.named for each in seen.missed}
    if seen.keep == "all":
        heard.update(document.doc_id for document in seen.read.values())
    return {
        key: document
        for key, document in known.items()
        if key not in seen.read
        and not _is_deleted(document, seen)
        and document.path not in missed
        and document.doc_id not in heard
    }


def settle(known: Documents, seen: Seen) -> Settled:
    """Decide which known documents stay beside those that were read."""
    absent = gone(known, seen)
    kept = {
        key: document
        for key, document in known.items()
        if key not in seen.read
        and key not in absent
        and not _is_deleted(document, seen)
    }
    unknown = _unknown(known, seen)
    stay = _staying(absent, unknown, seen)
    reasons = [gap.reason for gap in seen.gaps]
    namesakes = sorted(one.doc_id for one in absent.values() if one.names_itself)
    if namesakes and unknown and seen.keep == "latest":
        reasons.append(
            f"{unknown[0].path} cannot be read; it may be {namesakes[0]!r}, which "
            "names itself and is gone; remove the file, or delete the document in a "
            f"manifest: {tombstone(namesakes[0])}"
        )
    documents = {**stay, **kept, **{key: cleared(seen.read[key]) for key in seen.read}}
    marks = {each.mark for each in seen.missed}
    return Settled(
        documents={key: documents[key] for key in sorted(documents)},
        kept=tuple(sorted(kept)),
        absent=tuple(sorted(stay)),
        deleted=tuple(sorted(key for key in known if key not in documents)),
        reasons=tuple(reasons),
        unread=frozenset(marks & seen.unread if namesakes else marks),
    )


def tombstone(doc_id: str) -> str:
    """Give the line of a manifest that deletes a document."""
    return json.dumps({"op": "delete", "doc_id": doc_id}, ensure_ascii=False)


def usurped(known: Documents, seen: Seen) -> dict[str, Missed]:
    """Give documents read under the id of one that is there and cannot be read.

    By their keys, with the file that the id is of.
    """
    paths = {each.path: each for each in seen.missed}
    named = {each.named: each for each in seen.missed} if seen.keep == "latest" else {}
    found = {}
    for key, document in seen.read.items():
        before = known.get(key)
        if before is None or before.path == document.path:
            continue
        rightful = paths.get(before.path) or named.get(document.doc_id)
        if rightful is not None and rightful.path != document.path:
            found[key] = rightful
    return found


def exceeds(count: int, total: int, share: float) -> bool:
    """Tell whether so many of so many are more than a share, as a person wrote it.

    Exact: 29 of 100 are no more than 0.29, which the nearest float is not.
    """
    return count > Fraction(str(share)) * total


def withdrawal(
    document: DocumentState, withdrawn: Mapping[str, Sequence[Entry]]
) -> Entry | None:
    """Give the line that deletes a wording, by its first or its present version."""
    versions = {document.version, document.label or document.version}
    for entry in withdrawn.get(document.doc_id, ()):
        wording = entry.wording
        if wording and wording.names(versions, document.effective_from):
            return entry
    return None


def cleared(document: DocumentState) -> DocumentState:
    """Give a document without chunks whose deletion was withheld."""
    if not document.withheld:
        return document
    chunks = {
        key: known
        for key, known in document.chunks.items()
        if key not in document.withheld
    }
    return replace(document, chunks=chunks, withheld=frozenset())


def _is_deleted(document: DocumentState, seen: Seen) -> bool:
    return (
        document.doc_id in seen.deleted_ids
        or document.path in seen.deleted_paths
        or withdrawal(document, seen.withdrawn) is not None
    )


def _staying(absent: Documents, unknown: Sequence[Missed], seen: Seen) -> Documents:
    """Give what is absent and no sign says that it is gone."""
    if seen.keep == "all":
        return absent
    return {
        key: document
        for key, document in absent.items()
        if any(gap.hides(document) for gap in seen.gaps)
        or (unknown and document.names_itself)
    }


def _unknown(known: Documents, seen: Seen) -> list[Missed]:
    """Give what cannot be read and may be anything that is gone.

    Not what was known under its path or id, nor what could not be read already when
    everything was there.
    """
    paths = {document.path for document in known.values()}
    return [
        each
        for each in seen.missed
        if each.path not in paths
        and each.named not in known
        and each.mark not in seen.unread
    ]
