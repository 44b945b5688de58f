"""Which documents an index goes on having (S3).

Pure. A document leaves an index on a positive sign alone: a manifest deletes it, or it
is absent from a listing that is complete. Where an index keeps every wording, absence
is no sign: a wording is not withdrawn by the next one taking its place. Too many
deletions at once are held back until a person has allowed them, whatever the sign.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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
    gaps: tuple[str, ...]
    """Why there may be more documents."""
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
    stay: Documents = {}
    reasons = list(seen.gaps)
    if seen.gaps or seen.keep == "all":
        stay = absent
    elif unknown := _unknown(known, seen):
        stay = {key: one for key, one in absent.items() if one.names_itself}
        if stay:
            reasons.append(
                f"{unknown[0].path} cannot be read; it may be {min(stay)!r}, which "
                "names itself and is gone"
            )
    documents = {**stay, **kept, **{key: cleared(seen.read[key]) for key in seen.read}}
    return Settled(
        documents={key: documents[key] for key in sorted(documents)},
        kept=tuple(sorted(kept)),
        absent=tuple(sorted(stay)),
        deleted=tuple(sorted(key for key in known if key not in documents)),
        reasons=tuple(reasons) if stay or seen.gaps else (),
    )


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


def lost(
    latest: Documents, target: Documents, *, among: Documents
) -> dict[str, frozenset[str]]:
    """Name the chunks that an index would no longer have, of those in `among`."""
    found = {}
    for doc_id, before in latest.items():
        after, counted = target.get(doc_id), among.get(doc_id)
        if after is before or counted is None:
            continue
        left: Collection[str] = () if after is None else after.chunks
        away = frozenset(
            key for key in before.chunks if key not in left and key in counted.chunks
        )
        if away:
            found[doc_id] = away
    return found


def put_back(
    latest: Documents, target: Documents, away: Mapping[str, frozenset[str]]
) -> Documents:
    """Give a target that keeps chunks which it was to lose.

    A document that was read anew has the `records` of what was read; whoever keeps
    records has to add those that were put back.
    """
    found = dict(target)
    for doc_id, chunk_ids in away.items():
        before, after = latest[doc_id], target.get(doc_id)
        if after is None:
            # All that it had, as nobody has read it: also what is not counted.
            found[doc_id] = before
            continue
        kept = {key: known for key, known in before.chunks.items() if key in chunk_ids}
        found[doc_id] = replace(
            after, chunks={**after.chunks, **kept}, withheld=frozenset(kept)
        )
    return {key: found[key] for key in sorted(found)}


def _is_deleted(document: DocumentState, seen: Seen) -> bool:
    return (
        document.doc_id in seen.deleted_ids
        or document.path in seen.deleted_paths
        or withdrawal(document, seen.withdrawn) is not None
    )


def _unknown(known: Documents, seen: Seen) -> list[Missed]:
    """Give what cannot be read and was never known under its path or id."""
    paths = {document.path for document in known.values()}
    return [
        each
        for each in seen.missed
        if each.path not in paths and each.named not in known
    ]
