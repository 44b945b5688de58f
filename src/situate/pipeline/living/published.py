"""What a run has published, without one of its documents.

The manifest goes first into its place and the blocks last: whoever is killed in
between leaves lines of the document, and does it all again.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from situate import parquet
from situate.fields import typed
from situate.files import opened, sync_folder
from situate.manifest import Counts
from situate.output import Draft, put
from situate.records import from_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from situate.config.keys import OutputConfig
    from situate.model import JsonValue
    from situate.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What there is of a document."""

    chunks: int
    """Lines of the chunks file."""
    blocks: int
    """Lines of the blocks file."""
    rows: int
    """Rows of the Parquet file."""
    notes: int
    """Sentences of the manifest that are about it."""
    asides: int
    """Others that quote its id, which may be what somebody else is called."""
    from_there: frozenset[str]
    """The ids of documents that have it for their source, as what names itself has."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is about it for certain."""
        return not (self.chunks or self.blocks or self.rows or self.notes)


def find(output: OutputConfig, doc_id: str) -> Published:
    """Look for a document.

    Raises:
        ConfigError: a Parquet file stands there, and pyarrow is not installed.
        RecordError: a file cannot be read.
    """
    chunks, from_there = 0, set()
    for record, _ in _records(output.path):
        metadata = record.get("metadata")
        if record.get("doc_id") == doc_id:
            chunks += 1
        elif isinstance(metadata, dict) and metadata.get("source") == doc_id:
            from_there.add(str(record.get("doc_id")))
    blocks = sum(
        record.get("doc_id") == doc_id
        for record, _ in _records(output.beside("blocks.jsonl"))
    )
    manifest = _manifest(output.beside("manifest.json")) or {}
    gone = _without_notes(manifest, doc_id)[1]
    notes = sum(
        isinstance(each, dict) and each.get("doc_id") == doc_id for each in gone
    )
    return Published(
        chunks=chunks,
        blocks=blocks,
        rows=sum(record["doc_id"] == doc_id for record in _rows(output)),
        notes=notes,
        asides=len(gone) - notes,
        from_there=frozenset(from_there),
    )


def rewrite(output: OutputConfig, doc_id: str) -> None:
    """Write the files again without a document.

    What was spent on it stays in the manifest, as its ledger keeps it.

    Raises:
        ConfigError: a Parquet file stands there, and pyarrow is not installed.
        OSError: the file system refuses.
        RecordError: a file cannot be read.
    """
    places = (output.path, output.beside("blocks.jsonl"))
    with ExitStack() as stack:

        def drafted(path: Path) -> Draft:
            draft = Draft(path)
            stack.callback(draft.discard)
            return draft

        copies = {path: drafted(path) for path in places if path.exists()}
        left = [_copied(path, doc_id, draft) for path, draft in copies.items()]
        tables = [drafted(path) for path in _tables(output)]
        for draft in tables:
            _copied_rows(output, doc_id, draft)
        drafts = [*tables, *copies.values()]
        manifest = _manifest(output.beside("manifest.json"))
        if manifest is not None:
            manifest, _ = _without_notes(manifest, doc_id)
            files = [*copies.values(), *tables]
            manifest["files"] = [asdict(draft.digest) for draft in files]
            failed = len(typed(list, manifest.get("failed"), "failed"))
            documents = left[-1].documents if left else 0
            counted = left[0] if left else _Left()
            manifest["counts"] = asdict(counted.counts(documents, failed))
            drafts.insert(0, drafted(output.beside("manifest.json")))
            drafts[0].write((json.dumps(manifest, indent=2) + "\n").encode("utf-8"))
        for draft in drafts:
            draft.finish()
        for draft in drafts:
            draft.publish()
    sync_folder(output.path.parent)


def without_failures(output: OutputConfig, present: Collection[str]) -> int:
    """Take failures of documents that are gone out of the manifest; count them.

    `present` are the ids of those that are there. A failure says where a document
    stood and not what it is called, as nobody could read that.

    Raises:
        OSError: the file system refuses.
        RecordError: the manifest cannot be read.
    """
    path = output.beside("manifest.json")
    manifest = _manifest(path)
    if manifest is None:
        return 0
    failed = typed(list, manifest.get("failed"), "failed")
    stay = [
        note
        for note in failed
        if isinstance(note, dict) and note.get("doc_id") in present
    ]
    gone = len(failed) - len(stay)
    if gone:
        counts = typed(dict, manifest.get("counts"), "counts")
        documents = typed(int, counts.get("documents"), "documents") - gone
        counts = {**counts, "documents": documents, "failed": len(stay)}
        content = json.dumps({**manifest, "counts": counts, "failed": stay}, indent=2)
        put(path, [(content + "\n").encode("utf-8")])
    return gone


class _Left:
    """What is left of a file."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._levels: Counter[str] = Counter()
        self._outcomes: Counter[tuple[str, str]] = Counter()

    def add(self, record: Record) -> None:
        """Count a line."""
        self._ids.add(str(record.get("doc_id")))
        metadata = record.get("metadata")
        if not isinstance(metadata, dict):
            return
        self._levels[str(record.get("level"))] += 1
        enrichment = metadata.get("enrichment")
        if isinstance(enrichment, dict):
            reason = str(enrichment.get("reason") or "unknown")
            self._outcomes[str(enrichment.get("status")), reason] += 1

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(self._ids)

    def counts(self, documents: int, failed: int) -> Counts:
        """Give what a manifest counts; `documents` without those that failed."""
        return Counts(
            documents=documents + failed,
            failed=failed,
            chunks=dict(sorted(self._levels.items())),
            statements=sum(self._by_reason("statement").values()),
            fallbacks=self._by_reason("fallback"),
            skipped=self._by_reason("skipped"),
        )

    def _by_reason(self, status: str) -> dict[str, int]:
        found = {
            reason: count
            for (said, reason), count in self._outcomes.items()
            if said == status
        }
        return dict(sorted(found.items()))


def _copied(path: Path, doc_id: str, draft: Draft) -> _Left:
    """Write a file without the lines of a document; say what is left."""
    left = _Left()
    for record, line in _records(path):
        if record.get("doc_id") != doc_id:
            draft.write(line)
            left.add(record)
    return left


def _copied_rows(output: OutputConfig, doc_id: str, draft: Draft) -> None:
    """Write the Parquet file without the rows of a document."""
    with parquet.Writer(draft) as writer:
        for record in _rows(output):
            if record["doc_id"] != doc_id:
                writer.write(record)
        writer.end()


def _rows(output: OutputConfig) -> Iterator[Record]:
    for path in _tables(output):
        yield from parquet.read(path)


def _tables(output: OutputConfig) -> list[Path]:
    """Find the Parquet file, if a run wrote it, whatever the config says now.

    Raises:
        ConfigError: it could not be looked into, as pyarrow is not installed.
        RecordError: it cannot be read.
    """
    path = output.beside("parquet")
    if not path.is_file():
        return []
    parquet.require(str(path))
    return [path] if parquet.is_ours(path) else []


def _without_notes(
    manifest: Record, doc_id: str
) -> tuple[dict[str, JsonValue], list[JsonValue]]:
    """Take out the sentences that are about a document or quote its id; give them."""
    gone: list[JsonValue] = []

    def kept(values: JsonValue, key: str) -> list[JsonValue]:
        listed: list[JsonValue] = typed(list, values, key)
        gone.extend(value for value in listed if _tells_of(value, doc_id))
        return [value for value in listed if not _tells_of(value, doc_id)]

    changed = dict(manifest)
    for key in ("warnings", "failed"):
        if key in manifest:
            changed[key] = kept(manifest[key], key)
    spent = manifest.get("spent")
    if isinstance(spent, dict) and "warnings" in spent:
        changed["spent"] = {**spent, "warnings": kept(spent["warnings"], "warnings")}
    return changed, gone


def _tells_of(note: JsonValue, doc_id: str) -> bool:
    """Tell whether a sentence is about a document, or quotes its id as ours do.

    Without the quotes an id may be a word, or a part of another id.
    """
    if not isinstance(note, dict):
        return isinstance(note, str) and repr(doc_id) in note
    message = note.get("message")
    return note.get("doc_id") == doc_id or _tells_of(message, doc_id)


def _manifest(path: Path) -> Record | None:
    if not path.exists():
        return None
    with opened(path) as file:
        return from_line(file.read(), str(path))


def _records(path: Path) -> Iterator[tuple[Record, bytes]]:
    if path.exists():
        for where, line in read_lines(path):
            yield from_line(line, where), line
