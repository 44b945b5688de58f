"""Holds a chunks file to its contract and names every rule it breaks.

Files are read line by line; memory is bounded by the largest document and the
number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from situate import manifest
from situate.check.document import examine
from situate.check.files import Blocks, altered, beside
from situate.check.findings import Finding, Limits, Place, Rule
from situate.check.listing import differences, listing
from situate.check.record import examine_record
from situate.check.source import Source
from situate.errors import RecordError
from situate.readers.options import DEFAULTS
from situate.records import from_line, parse, read_lines
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from situate.check.coverage import Coverage
    from situate.check.findings import Listed
    from situate.model import Chunk
    from situate.readers import ReaderOptions

__all__ = ["Finding", "Report", "Rule", "check"]

_SHOWN = 100


@dataclass(slots=True, kw_only=True)
class Report:
    """What a check saw."""

    chunks: int = 0
    documents: int = 0
    not_checked: list[str] = field(default_factory=list)
    """What could not be checked, and what would make it possible."""
    broken: dict[Rule, int] = field(default_factory=dict)
    """How often each rule is broken."""
    findings: list[Finding] = field(default_factory=list)
    """The first hundred."""
    coverage: Coverage | None = None
    """How much of the source reached a leaf; None where none was named."""

    def add(self, finding: Finding) -> None:
        """Count a broken rule, and keep it while there are few."""
        self.broken[finding.rule] = self.broken.get(finding.rule, 0) + 1
        if len(self.findings) < _SHOWN:
            self.findings.append(finding)


def check(
    chunks: Path,
    *,
    blocks: Path | None = None,
    source: Path | None = None,
    max_tokens: int | None = None,
    options: ReaderOptions = DEFAULTS,
) -> Report:
    """Check a chunks file, with what stands beside it or is named.

    The blocks file and the manifest are taken from beside `chunks` when they are
    there. `source` is the document that one of the documents was read from.
    `max_tokens` and `options`, how it is read, serve where there is no manifest.

    Raises:
        RecordError: a file cannot be read, or is not what its name says.
        ReadError: the source cannot be decoded.
        ConfigError: the manifest's tokenizer cannot be loaded.
    """
    report = Report()
    about = beside(chunks, "manifest.json")
    if about is not None:
        options = manifest.read_options(about)
    limits, tree = _limits(chunks, max_tokens, report)
    blocks = blocks or beside(chunks, "blocks.jsonl")
    against = _Against(
        limits=limits,
        tree=tree,
        blocks=None if blocks is None else Blocks(blocks),
        source=None if source is None else Source(source, chunks, options),
    )
    if against.blocks is None:
        report.not_checked.append("cover not checked: no blocks file")
    seen: set[str] = set()
    records = _chunks(chunks, against, report)
    for doc_id, of_document in groupby(records, key=lambda chunk: chunk.doc_id):
        if doc_id in seen:
            _add(report, "C2-order", doc_id, "its chunks do not stand together")
        seen.add(doc_id)
        _document(doc_id, of_document, against, report)
    if against.blocks is not None:
        for doc_id in against.blocks.left():
            _add(report, "C2-cover", doc_id, "no chunk of it is in the file")
    if against.source is not None:
        _cover(against.source, report)
    return report


def _cover(source: Source, report: Report) -> None:
    """Measure what of the source is in the chunks, which may be of another version."""
    report.coverage = found = source.coverage()
    for heading in found.headings_missing if found.is_same_version else ():
        message = f"heading {heading!r} is in no leaf's text or breadcrumb"
        _add(report, "C2-cover", source.doc_id, message)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Against:
    """What chunks are held against; None where it is not known."""

    limits: Limits | None
    tree: bool | None
    blocks: Blocks | None
    source: Source | None

    def source_of(self, doc_id: str) -> Source | None:
        """Give the source if it is that of this document."""
        source = self.source
        return source if source is not None and source.doc_id == doc_id else None


def _limits(
    chunks: Path, max_tokens: int | None, report: Report
) -> tuple[Limits | None, bool | None]:
    """Take the sizes from the manifest, else from the caller, else none."""
    path = beside(chunks, "manifest.json")
    if path is not None:
        sizes, files = manifest.read_sizes(path)
        for finding in altered(chunks.parent, files):
            report.add(finding)
        limits = Limits(
            counter=load_counter(sizes.tokenizer),
            max_tokens=max_tokens or sizes.max_tokens,
            container_max_tokens=sizes.container_max_tokens,
            prefix_max_tokens=sizes.prefix_max_tokens,
            statement_max_tokens=sizes.statement_max_tokens,
            reading_max_tokens=sizes.reading_max_tokens,
        )
        return limits, sizes.granularity != "leaves"
    if max_tokens is None:
        report.not_checked.append("sizes not checked: no manifest and no --max-tokens")
        return None, None
    limits = Limits(
        counter=load_counter("cl100k_base"),
        max_tokens=max_tokens,
        container_max_tokens=4 * max_tokens,
        reading_max_tokens=max_tokens * 5 // 2,
    )
    return limits, None


def _chunks(path: Path, against: _Against, report: Report) -> Iterator[Chunk]:
    """Yield what can be read as a chunk, and note what each breaks by itself."""
    for where, line in read_lines(path):
        try:
            record = from_line(line, where)
            chunk = parse(record, where)
        except RecordError as error:
            # One bad line ends neither the file nor the check of the others.
            _add(report, "record", where, str(error).removeprefix(f"{where}: "))
            continue
        report.chunks += 1
        for finding in examine_record(record, chunk, against.limits):
            report.add(finding)
        if source := against.source_of(chunk.doc_id):
            for finding in source.examine(chunk, against.limits):
                report.add(finding)
        yield chunk


def _document(
    doc_id: str, chunks: Iterator[Chunk], against: _Against, report: Report
) -> None:
    """Check the chunks of one document against each other."""
    report.documents += 1
    versions = set()
    places = []
    for chunk in chunks:
        versions.add(chunk.doc_version)
        places.append(_place(chunk))
    listed: tuple[Listed, ...] | None = None
    source = against.source_of(doc_id)
    if against.blocks is not None:
        found = against.blocks.take(doc_id)
        if found is None:
            _add(report, "C2-lineage", doc_id, "is not in the blocks file")
        else:
            version, listed = found
            versions.add(version)
            for finding in listing(doc_id, listed):
                report.add(finding)
    if len(versions) != 1:
        _add(report, "identity", doc_id, f"has {len(versions)} versions")
    if source is not None and source.version not in versions:
        _add(report, "identity", doc_id, "was cut from another version of its source")
    elif source is not None and listed is not None:
        for finding in differences(doc_id, listed, source.blocks):
            report.add(finding)
    for finding in examine(
        doc_id, places, listed, tree=against.tree, limits=against.limits
    ):
        report.add(finding)


def _place(chunk: Chunk) -> Place:
    return Place(
        chunk_id=chunk.chunk_id,
        parent_chunk_id=chunk.parent_chunk_id,
        level=chunk.level,
        leaf=chunk.embed,
        embed=chunk.embed,
        token_count=chunk.token_count,
        asked=chunk.enrichment.status != "off",
        forced_split=chunk.forced_split,
        ordinal=chunk.ordinal,
        section_id=chunk.section_id,
        section_ids=chunk.section_ids,
        breadcrumb=chunk.breadcrumb,
        corpus=chunk.corpus,
        metadata=chunk.metadata,
        block_ids=chunk.block_ids,
        parts=chunk.parts,
        spans=chunk.spans,
    )


def _add(report: Report, rule: Rule, subject: str, message: str) -> None:
    report.add(Finding(rule=rule, subject=subject, message=message))
