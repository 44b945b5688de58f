"""What of a corpus still stands where a document is to be forgotten (S8).

Nothing is forgotten that the next run would derive again, and no path is taken for the
id of what stood there: whoever typed it would believe that this is gone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from situate.corpus import path_id
from situate.errors import ConfigError
from situate.files import resolved
from situate.pipeline.documents import Failed
from situate.pipeline.parallel import write_all

if TYPE_CHECKING:
    from pathlib import Path

    from situate.corpus import Found, Source
    from situate.pipeline.jobs import Job

_SHOWN: Final = 3
"""Ids that a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A document that is to be forgotten, as far as it is known."""

    doc_id: str
    is_held: bool
    """Whether anything derived from it is known, sentences about it aside."""
    paths: frozenset[str]
    """Where it stood, below the config's folder."""
    others: frozenset[str]
    """What documents are called that stood where its id leads to, as a path."""


def present(job: Job, there: Found, wanted: Wanted) -> frozenset[str]:
    """Give what failures of files that are there go by, but for the document's own."""
    paths = _places(job, wanted)
    others = [each for each in there.sources if resolved(each.path) not in paths]
    return frozenset(name for each in others for name in (each.doc_id, each.named))


def refuse(job: Job, there: Found, wanted: Wanted) -> list[str]:
    """Let nothing be forgotten that stands, nor anything by the path of another.

    Gives what cannot be told: whether a document that cannot be read is the one.

    Raises:
        ConfigError: it is among the sources, by its path or by its own word; or
            nothing is known under its id, which is the path of another document.
    """
    doc_id, is_deleted = wanted.doc_id, wanted.doc_id in job.preparer.deleted
    others = set(() if wanted.is_held else wanted.others)
    if not is_deleted:
        _refuse_known(job, there, wanted)
    unread = 0
    for outcome in write_all(there.sources, job.preparer, job.config):
        source = outcome.source
        if isinstance(outcome, Failed):
            unread += not outcome.is_deleted
            if source.named == doc_id and not is_deleted and not others:
                raise _still_there(doc_id, source.path)
        elif outcome.doc_id == doc_id:
            raise _still_there(doc_id, source.path)
        elif not wanted.is_held and _stands_at(doc_id, job, source):
            others.add(outcome.doc_id)
    if others:
        ids = ", ".join(map(repr, sorted(others)[:_SHOWN]))
        message = (
            f"nothing is known under {doc_id!r}; the document at that path has doc_id "
            f"{ids}"
        )
        raise ConfigError(message)
    gaps = (*there.gaps, *there.doubts)
    told = [f"sources that cannot be listed: {gap.reason}" for gap in gaps]
    if unread:
        told.append(f"{unread:,} sources that cannot be read, which may be this one")
    return told


def _refuse_known(job: Job, there: Found, wanted: Wanted) -> None:
    """Refuse what stands where it did, or is known and goes by a source's id.

    Raises:
        ConfigError: it is.
    """
    paths = _places(job, wanted)
    for source in there.sources:
        is_named = wanted.is_held and source.named == wanted.doc_id
        if is_named or resolved(source.path) in paths:
            raise _still_there(wanted.doc_id, source.path)


def _places(job: Job, wanted: Wanted) -> frozenset[Path]:
    return frozenset(resolved(job.folder / path) for path in wanted.paths)


def _stands_at(path: str, job: Job, source: Source) -> bool:
    """Tell whether a path leads to a source, from the glob's or the config's folder."""
    below = path_id(PurePath(os.path.relpath(source.path, job.folder)))
    return path in {source.doc_id, below}


def _still_there(doc_id: str, path: Path) -> ConfigError:
    return ConfigError(
        f"document {doc_id!r} is still there and would be derived again, from "
        f"{str(path)!r}; remove the file, or delete it in a manifest, then forget it"
    )
