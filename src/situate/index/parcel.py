"""A delta as a folder of files, which appears whole or not at all.

    RUN/upserts.jsonl            records, as in a chunks file
    RUN/metadata_updates.jsonl   records without their texts
    RUN/deletes.jsonl            names of records, with those of their documents
    RUN/manifest.json            what the three are, for whoever takes them in
    RUN/summary.json             what became of the documents, for people

It is written beside its place and renamed. RUN comes from what is in it, so that the
same delta has the same name, and is left as it is where it stands already.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from situate.fields import Fields
from situate.files import is_folder, opened, sync_folder
from situate.index.names import chunk_id_of
from situate.index.wordings import as_sent
from situate.model import document_of
from situate.output import Draft, put
from situate.records import from_line, read_lines, to_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from situate.index.delta import Changes, Op
    from situate.index.folder import IndexFolder
    from situate.index.state import Documents, DocumentState
    from situate.manifest import FileDigest

FILES: Final[Mapping[Op, str]] = {
    "upsert": "upserts.jsonl",
    "metadata_update": "metadata_updates.jsonl",
    "delete": "deletes.jsonl",
}
"""The file of each kind of change."""

MANIFEST, SUMMARY = "manifest.json", "summary.json"

TEXTS: Final = ("text", "context_prefix", "embed_text", "lexical_text")
"""What a metadata update leaves as it is."""

_DRAFT: Final = ".next.part"

_RUN: Final = re.compile(r"[0-9a-f]{16}\Z")


class Parcel:
    """A delta being written.

        with Parcel(folder) as parcel:
            parcel.fill(changes, target, index)
            parcel.publish(run, manifest, summary)

    Whatever is not published when the block ends is gone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._draft = folder / _DRAFT
        self.files: tuple[FileDigest, ...] = ()
        """What was filled in."""

    def __enter__(self) -> Self:
        """Make room, also for what a killed run has left.

        Raises:
            OSError: the file system refuses.
        """
        shutil.rmtree(self._draft, ignore_errors=True)
        self._draft.mkdir(parents=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._draft, ignore_errors=True)

    def fill(
        self, sent: Iterable[Changes], target: Documents, index: IndexFolder
    ) -> None:
        """Write what is to be done.

        Raises:
            OSError: the file system refuses.
            RecordError: the records of a document are not there.
        """
        with ExitStack() as stack:
            drafts = {}
            for op, name in FILES.items():
                drafts[op] = Draft(self._draft / name)
                stack.callback(drafts[op].discard)
            for each in sent:
                kept = each.count("upsert") + each.count("metadata_update")
                lines = index.records(target[each.key]) if kept else {}
                for name, op in each.ops.items():
                    if op == "delete":
                        drafts[op].write(_gone(each.doc_id, name))
                    else:
                        drafts[op].write(_line(target[each.key], op, lines[name]))
            for draft in drafts.values():
                draft.finish()
                draft.publish()
        self.files = tuple(draft.digest for draft in drafts.values())

    def publish(
        self, run: str, manifest: Mapping[str, object], summary: Mapping[str, object]
    ) -> None:
        """Put it in its place, where the same may stand already.

        Raises:
            OSError: the file system refuses.
        """
        place = self._folder / run
        told, said = _json(manifest), _json(summary)
        if self._stands(place, told):
            # The same delta, perhaps of a run that came across something else.
            if _content(place / SUMMARY) != said:
                put(place / SUMMARY, [said])
            return
        put(self._draft / MANIFEST, [told])
        put(self._draft / SUMMARY, [said])
        shutil.rmtree(place, ignore_errors=True)
        self._draft.replace(place)
        sync_folder(self._folder)

    def _stands(self, place: Path, manifest: bytes) -> bool:
        """Tell whether all of it is there, and is what it was."""
        return _content(place / MANIFEST) == manifest and all(
            _sha256(place / file.name) == file.sha256 for file in self.files
        )


def clear(folder: Path, kept: Collection[str]) -> None:
    """Remove deltas that are not to be taken in, or were long ago.

    Raises:
        OSError: the file system refuses.
    """
    if is_folder(folder):
        for path in list(folder.iterdir()):
            if _RUN.match(path.name) and path.name not in kept and is_folder(path):
                shutil.rmtree(path)


def tidy(folder: Path) -> int:
    """Remove what a killed run has left; count folders.

    Raises:
        OSError: the file system refuses.
    """
    if not is_folder(folder / _DRAFT):
        return 0
    shutil.rmtree(folder / _DRAFT)
    return 1


def without_failures(folder: Path, present: Collection[str]) -> int:
    """Take failures of documents that are gone out of summaries; count the failures.

    `present` are the ids of those that are there.

    Raises:
        OSError: the file system refuses.
        RecordError: a summary cannot be read.
    """
    count = 0
    for run in _runs(folder):
        path = folder / run / SUMMARY
        content = _content(path)
        if content is None:
            continue
        summary = dict(from_line(content, str(path)))
        fields = Fields(summary, str(path))
        failed = fields.listed("failed", dict)
        stay = [note for note in failed if note.get("doc_id") in present]
        if len(stay) == len(failed):
            continue
        gone = {str(note.get("doc_id")) for note in failed} - set(present)
        documents = fields.object("documents")
        summary["documents"] = {
            key: documents[key] for key in documents if key not in gone
        }
        summary["counts"] = {**fields.object("counts"), "failed": len(stay)}
        summary["failed"] = list(stay)
        summary["reasons"] = [
            reason
            for reason in fields.listed("reasons", str)
            if not any(f"{name} cannot be read" in reason for name in gone)
        ]
        put(path, [_json(summary)])
        count += len(failed) - len(stay)
    return count


def _runs(folder: Path) -> list[str]:
    """Name the deltas in a folder."""
    return [
        path.name
        for path in (folder.iterdir() if is_folder(folder) else ())
        if _RUN.match(path.name) and is_folder(path)
    ]


def naming(folder: Path, doc_id: str) -> frozenset[str]:
    """Give the deltas that delete chunks of a document, or whose summary lists it.

    Raises:
        RecordError: one cannot be read.
    """
    return frozenset(
        run
        for run in _runs(folder)
        if doc_id in _listed_in(folder / run / SUMMARY)
        or doc_id in deleted_in(folder, run)
    )


def _listed_in(path: Path) -> frozenset[str]:
    """Name the documents of a summary; none where it is gone.

    Raises:
        RecordError: it cannot be read.
    """
    content = _content(path)
    if content is None:
        return frozenset()
    summary = Fields(from_line(content, str(path)), str(path))
    failed = [note.get("doc_id") for note in summary.listed("failed", dict)]
    withheld = summary.listed("withheld_ids", str)
    return frozenset(summary.object("documents")).union(
        map(str, failed), map(document_of, withheld)
    )


def deleted_in(folder: Path, run: str) -> frozenset[str]:
    """Name the documents that a delta deletes chunks of; none where it is gone.

    Raises:
        RecordError: the file cannot be read.
    """
    path = folder / run / FILES["delete"]
    if not path.is_file():
        return frozenset()
    return frozenset(
        str(from_line(line, where).get("doc_id")) for where, line in read_lines(path)
    )


def _gone(doc_id: str, name: str) -> bytes:
    return to_line({"chunk_id": chunk_id_of(name), "record_id": name, "doc_id": doc_id})


def _line(document: DocumentState, op: Op, line: bytes) -> bytes:
    record = as_sent(from_line(line, document.doc_id), document)
    left_out = TEXTS if op == "metadata_update" else ()
    return to_line({key: record[key] for key in record if key not in left_out})


def _json(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode("ascii")


def _content(path: Path) -> bytes | None:
    try:
        with opened(path) as file:
            return file.read()
    except OSError:
        return None


def _sha256(path: Path) -> str | None:
    try:
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
