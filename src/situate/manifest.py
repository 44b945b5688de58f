"""The manifest beside a chunks file: what made it and what is in it.

It holds no time and no path of the machine, so that a run that changes nothing
writes the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from situate.errors import RecordError
from situate.fields import Fields, typed
from situate.files import opened
from situate.readers.options import Limits, ReaderOptions, TrackedChanges
from situate.records import from_line
from situate.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from pathlib import Path

    from situate.model import JsonValue

SCHEMA: Final = 1
"""Version of the manifest."""

Granularity = Literal["leaves", "tree", "multi"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What the chunks were cut to, in tokens of `tokenizer`."""

    tokenizer: str
    granularity: Granularity
    max_tokens: int
    min_tokens: int
    container_max_tokens: int
    prefix_max_tokens: int
    reading_max_tokens: int | None
    """None where texts are indexed as they are."""
    statement_max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDigest:
    """A file as it was written."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence about one document."""

    doc_id: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a corpus came to."""

    documents: int
    """All that globs and manifests name, failed ones included."""
    failed: int
    chunks: Mapping[str, int]
    """Records by level."""
    statements: int
    fallbacks: Mapping[str, int]
    """Chunks that were asked for and got no statement, by reason."""
    skipped: Mapping[str, int]
    """Chunks that were not asked for, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What enrichment used in this run."""

    requests: int
    """Answered or given up in this run, re-asks and repairs included."""
    attempts: int
    """Times one was put on the wire."""
    cache_hits: int
    """Chunks whose answer was at hand."""
    usage: Usage
    cost_usd: Decimal | None
    """None when no price is known, and where nothing was asked."""
    saved_usd: Decimal | None = None
    """What the vendor's prompt cache saved; below 0 where it cost more."""
    prefix_writes: int = 0
    """Requests that put their document into the vendor's cache."""
    prefix_reads: int = 0
    """Requests that found it there."""
    wasted_writes: int = 0
    """Writes beyond one for each document."""
    distinct_statements: int = 0
    """Different ones within each document, added up."""
    trimmed: int = 0
    """Statements whose answer had more sentences."""
    stopped: str | None = None
    """Why enrichment ended before all was asked; None when it did not."""
    warnings: tuple[str, ...] = ()


NOTHING_SPENT: Final = Spent(
    requests=0, attempts=0, cache_hits=0, usage=Usage(), cost_usd=None
)
"""For runs that ask nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything a person or `check` wants to know of a chunks file."""

    situate: str
    """The version that wrote it."""
    corpus: str
    config: str
    """Hash of what in the config decides the output."""
    sizes: Sizes
    reader: ReaderOptions
    """How the documents were read."""
    files: tuple[FileDigest, ...]
    counts: Counts
    spent: Spent
    warnings: tuple[Note, ...]
    failed: tuple[Note, ...]


def to_json(manifest: Manifest) -> bytes:
    """Write a manifest as indented JSON."""
    values: dict[str, JsonValue] = {"schema": SCHEMA, **asdict(manifest)}
    return (json.dumps(values, indent=2, default=_plain) + "\n").encode("utf-8")


def _plain(money: Decimal) -> str:
    """Write dollars without an exponent, and exactly."""
    return f"{money:f}"


def read_sizes(path: Path) -> tuple[Sizes, tuple[FileDigest, ...]]:
    """Read what `check` needs of a manifest: sizes, and the files it stands for.

    Raises:
        RecordError: it cannot be read or is no manifest of this version.
    """
    manifest = _opened(path)
    sizes = manifest.nested("sizes")
    files = [
        Fields(file, manifest.name("files")) for file in manifest.listed("files", dict)
    ]
    return (
        Sizes(
            tokenizer=sizes.text("tokenizer"),
            granularity=cast(
                "Granularity", sizes.choice("granularity", get_args(Granularity))
            ),
            max_tokens=sizes.whole("max_tokens"),
            min_tokens=sizes.whole("min_tokens"),
            container_max_tokens=sizes.whole("container_max_tokens"),
            prefix_max_tokens=sizes.whole("prefix_max_tokens"),
            reading_max_tokens=sizes.whole_or_none("reading_max_tokens"),
            statement_max_tokens=sizes.whole("statement_max_tokens"),
        ),
        tuple(
            FileDigest(
                name=file.text("name"),
                bytes=file.whole("bytes"),
                sha256=file.text("sha256"),
            )
            for file in files
        ),
    )


def read_options(path: Path) -> ReaderOptions:
    """Read how the documents of a run were read, to read one of them again.

    Raises:
        RecordError: it cannot be read or is no manifest of this version.
    """
    reader = _opened(path).nested("reader")
    legal_numbering = reader.take("legal_numbering")
    limits = reader.object("limits")
    return ReaderOptions(
        tracked_changes=cast(
            "TrackedChanges",
            reader.choice("tracked_changes", get_args(TrackedChanges)),
        ),
        legal_numbering=legal_numbering if isinstance(legal_numbering, bool) else None,
        keep=reader.listed("keep", str),
        limits=Limits(
            **{
                field.name: typed(int, limits.get(field.name), field.name)
                for field in fields(Limits)
            }
        ),
    )


def read_notes(path: Path) -> tuple[Note, ...]:
    """Read what a run said of single documents, those that failed last.

    Raises:
        RecordError: it cannot be read or is no manifest of this version.
    """
    manifest = _opened(path)
    return tuple(
        Note(doc_id=note.text("doc_id"), message=note.text("message"))
        for key in ("warnings", "failed")
        for value in manifest.listed(key, dict)
        for note in (Fields(value, manifest.name(key)),)
    )


def _opened(path: Path) -> Fields:
    try:
        with opened(path) as file:
            manifest = Fields(from_line(file.read(), str(path)), str(path))
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}"
        raise RecordError(message) from error
    schema = manifest.whole("schema")
    if schema != SCHEMA:
        message = f"{path}: schema is {schema}; this situate reads {SCHEMA}"
        raise RecordError(message)
    return manifest
