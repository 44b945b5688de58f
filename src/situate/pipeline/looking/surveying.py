"""What lies in folders and what would become of it, before anything is configured.

Files are read and cut as in a run, one by one, and nothing of them is kept but what
is told. A refusal is told by the reader's own word for it: no file is looked at in a
second way.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from situate import files
from situate.access import is_permission
from situate.corpus import Places, Source, contents, path_id
from situate.enrichment.telling import told
from situate.errors import ConfigError, Refusal, SituateError
from situate.given import find_sidecar
from situate.model import leaf_ids, walk
from situate.pipeline.documents import Failed, Preparer
from situate.readers import format_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from situate.config import CuttingConfig
    from situate.pipeline.documents import Prepared
    from situate.pipeline.watching import Watcher

State: TypeAlias = Literal["readable", "empty"] | Refusal
"""What becomes of a file: it gives chunks; it has no text; or why it is refused."""

_SURE: Final = 0.5
"""Confidence up to which a PDF's headings are guessed from their look, or none are."""

_LANGUAGE_SAMPLE: Final = 20_000
"""Characters by which a language is told where none is named."""

# Docling's page of supported formats, 2026-11; those of old need LibreOffice there.
_DOCLING_READS: Final = frozenset(
    {
        *(".pptx", ".xlsx", ".odt", ".ods", ".odp", ".csv", ".adoc", ".asciidoc"),
        *(".tex", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"),
        *(".doc", ".xls", ".ppt", ".rtf"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a document turned out to be."""

    title: str | None
    """The author's, else the only heading at the top."""
    effective_from: str | None
    acl: tuple[str, ...]
    """Keys that say who may see it."""
    language: str | None
    language_from: Literal["metadata", "text"] | None
    """Who says so: somebody, or script and function words of the text."""
    sections: int
    leaves: int
    structure: str | None
    """Where the headings of a PDF come from; None for other formats."""
    structure_confidence: float | None
    tracked_changes: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """One file: what it is, and what would become of it."""

    path: str
    bytes: int | None
    """None where nobody can say."""
    state: State
    format: str | None
    """What it is read as, by its name; None where there is no reader."""
    reason: str | None
    """Why it is refused; begins with the path."""
    sidecar: bool
    """Whether a file beside it says more of it."""
    duplicate_of: str | None
    """The first file of the same bytes."""
    docling: str | None
    """Why it should go through Docling; None where it need not."""
    contents: Contents | None
    """None where it is refused."""

    @property
    def kind(self) -> str:
        """The format, else the extension, of a file."""
        extension = PurePosixPath(self.path).suffix.lower()
        return self.format or extension or "no extension"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """All files, sorted by path, and the folders that could not be looked into."""

    files: tuple[Surveyed, ...]
    closed: tuple[str, ...]
    """Why folders could not be read, one sentence each."""

    @property
    def readable(self) -> tuple[tuple[Surveyed, Contents], ...]:
        """The files that give chunks, with what they are."""
        return tuple(
            (each, each.contents)
            for each in self.files
            if each.state == "readable" and each.contents is not None
        )

    def kinds(self) -> Mapping[tuple[State, str], tuple[int, int]]:
        """Give number and bytes of the files of each state and kind, readable first."""
        counts: Counter[tuple[State, str]] = Counter()
        sizes: Counter[tuple[State, str]] = Counter()
        for each in self.files:
            counts[each.state, each.kind] += 1
            sizes[each.state, each.kind] += each.bytes or 0
        order = sorted(counts, key=lambda key: (key[0] != "readable", key))
        return {key: (counts[key], sizes[key]) for key in order}


def survey(paths: Sequence[Path], cutting: CuttingConfig, watcher: Watcher) -> Survey:
    """Look at files, and at those in folders, as a glob `**/*` would find them.

    Raises:
        ConfigError: nothing is at one of the paths, or the tokenizer cannot be loaded.
    """
    preparer = Preparer.cutting(cutting)
    found, closed = _found(paths)
    sizes = {path: _size(path) for path in found}
    first = _Firsts(sizes, preparer.options.limits.max_bytes)
    watcher.begin("survey", len(found))
    surveyed = []
    for path in found:
        source = Source(path=path, doc_id=path_id(path), sidecar=find_sidecar(path))
        outcome = preparer.outcome(source)
        surveyed.append(
            _surveyed(source, outcome, size=sizes[path], first=first.of(path))
        )
        watcher.advance()
    return Survey(files=tuple(surveyed), closed=tuple(closed))


def _found(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """List the files, each once, and say which folders are closed.

    Raises:
        ConfigError: nothing is at one of the paths.
    """
    place = Places()
    found: dict[str, Path] = {}
    closed: list[str] = []
    for path in paths:
        if not os.path.lexists(path):
            message = f"{path}: there is no such file or folder"
            raise ConfigError(message)
        waiting = [path] if files.is_folder(path) else []
        if not waiting:
            found.setdefault(place.of(path), path)
        while waiting:
            try:
                documents, folders = contents(waiting.pop())
            except SituateError as error:
                closed.append(str(error))
                continue
            waiting += folders
            for document in documents:
                found.setdefault(place.of(document), document)
    return sorted(found.values(), key=path_id), sorted(closed)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if files.is_regular(path) else None
    except OSError:
        return None


class _Firsts:
    """Finds files of the same bytes; only those of one size are looked at."""

    def __init__(self, sizes: Mapping[Path, int | None], most: int) -> None:
        self._sizes = sizes
        self._most = most
        self._alike = Counter(sizes.values())
        self._paths: dict[tuple[int, str], str] = {}

    def of(self, path: Path) -> str | None:
        """Give the first file that was asked about with the bytes of this one."""
        size = self._sizes[path]
        # Two empty files are no copies of each other, and what no reader takes
        # is not worth the time.
        if not size or size > self._most or self._alike[size] < 2:
            return None
        try:
            with files.opened(path) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None
        first = self._paths.setdefault((size, digest), path_id(path))
        return None if first == path_id(path) else first


def _surveyed(
    source: Source,
    outcome: Prepared | Failed,
    *,
    size: int | None,
    first: str | None,
) -> Surveyed:
    state: State
    known = None
    reason = None
    if isinstance(outcome, Failed):
        # Some formats have no empty file: no bytes at all are one all the same.
        state = "empty" if size == 0 else outcome.refusal
        reason = outcome.reason
        docling = _instead_of(source, outcome)
    else:
        state = "readable" if outcome.chunks else "empty"
        known = _contents(outcome)
        docling = _better_by_docling(known, outcome)
    return Surveyed(
        path=source.doc_id,
        bytes=size,
        state=state,
        format=format_of(source.doc_id),
        reason=reason,
        sidecar=source.sidecar is not None,
        duplicate_of=first,
        docling=docling,
        contents=known,
    )


def _contents(prepared: Prepared) -> Contents:
    document, chunks = prepared.document, prepared.chunks
    metadata = document.metadata
    custom = metadata.custom
    structure = custom.get("structure")
    confidence = custom.get("structure_confidence")
    is_pdf = format_of(prepared.source.doc_id) == "pdf"
    spoken = None if metadata.language else told(_sample(prepared))
    return Contents(
        title=chunks[0].metadata.title if chunks else metadata.title,
        effective_from=metadata.effective_from,
        acl=tuple(sorted(filter(is_permission, custom))),
        language=metadata.language or spoken,
        language_from=_from_where(metadata.language, spoken),
        # The root is no section of the author's.
        sections=sum(1 for _ in walk(document.root)) - 1,
        leaves=len(leaf_ids(chunks)),
        structure=structure if is_pdf and isinstance(structure, str) else None,
        structure_confidence=(
            confidence if is_pdf and isinstance(confidence, float) else None
        ),
        tracked_changes="tracked_changes" in prepared.signs,
        warnings=prepared.warnings,
    )


def _from_where(
    named: str | None, spoken: str | None
) -> Literal["metadata", "text"] | None:
    if named:
        return "metadata"
    return "text" if spoken else None


def _sample(prepared: Prepared) -> str:
    """Give text enough to tell a language by."""
    texts: list[str] = []
    room = _LANGUAGE_SAMPLE
    for chunk in prepared.chunks:
        if room <= 0:
            break
        texts.append(chunk.text[:room])
        room -= len(chunk.text)
    return "\n".join(texts)


def _instead_of(source: Source, failed: Failed) -> str | None:
    """Say why Docling reads what is refused here."""
    if failed.refusal == "scan":
        return "Docling reads pictures of text"
    extension = PurePosixPath(source.doc_id).suffix.lower()
    if failed.refusal in {"unsupported", "legacy"} and extension in _DOCLING_READS:
        return f"Docling reads {extension} files"
    return None


def _better_by_docling(known: Contents, prepared: Prepared) -> str | None:
    """Say why Docling would make more of what is read here."""
    if "needs_ocr" in prepared.signs:
        return "Docling reads the pages that show pictures of text"
    confidence = known.structure_confidence
    if confidence is None or confidence > _SURE:
        return None
    found = "guessed from their look" if confidence else "not found"
    return (
        f"Docling tells tables from text; here headings are {found} "
        f"(confidence {confidence:g}) and tables are not"
    )
