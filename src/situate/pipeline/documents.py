"""From a file to its chunks: the part of a run that asks nobody anything."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from situate import readers
from situate.chunking import Rules, chunk
from situate.collector import collector_paused
from situate.corpus import same_id
from situate.errors import ReadError
from situate.files import opened
from situate.model import walk
from situate.readers.options import DEFAULTS, Limits, ReaderOptions
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from situate.config import Config, CuttingConfig
    from situate.corpus import Source
    from situate.model import Chunk, Document, Metadata, Section
    from situate.tokens import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document with its chunks, none of them asked about yet."""

    source: Source
    document: Document
    chunks: tuple[Chunk, ...]
    warnings: tuple[str, ...]

    @property
    def doc_id(self) -> str:
        """The id the document goes by."""
        return self.document.doc_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A document that cannot be read, and why; the reason names it."""

    source: Source
    reason: str


def rules_of(cutting: CuttingConfig) -> Rules:
    """Give what the chunker takes from a config."""
    chunking = cutting.chunking
    return Rules(
        max_tokens=chunking.max_tokens,
        min_tokens=chunking.min_tokens,
        granularity=chunking.granularity,
        embed=chunking.embed,
        container_max_tokens=chunking.container_max_tokens,
        prefix_max_tokens=cutting.prefix.max_tokens,
        reading=cutting.reading.form,
        reading_max_tokens=cutting.reading_max_tokens,
        heading_weight=cutting.reading.heading_weight,
    )


def options_of(cutting: CuttingConfig) -> ReaderOptions:
    """Give what readers take from a config."""
    return ReaderOptions(
        tracked_changes=cutting.reader.tracked_changes,
        legal_numbering=cutting.reader.legal_numbering,
        keep=cutting.metadata.keep or (),
        limits=Limits(**asdict(cutting.reader.limits)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparer:
    """Reads and cuts the documents of one corpus."""

    rules: Rules
    counter: TokenCounter
    corpus: str | None = None
    doc_type: str | None = None
    options: ReaderOptions = DEFAULTS
    keep: tuple[str, ...] | None = None
    """Keys that travel under `custom`; None: all that readers give."""
    at_hand: Mapping[Path, Prepared | Failed] = field(default_factory=dict)
    """What has been read and cut before, and is not again."""

    @classmethod
    def of(cls, config: Config) -> Preparer:
        """Make the one that a config describes.

        Raises:
            ConfigError: the tokenizer cannot be loaded.
        """
        preparer = cls.cutting(config.cutting)
        corpus = config.corpus
        return replace(preparer, corpus=corpus.name, doc_type=corpus.doc_type)

    @classmethod
    def cutting(cls, cutting: CuttingConfig) -> Preparer:
        """Make one for files that belong to no corpus.

        Raises:
            ConfigError: the tokenizer cannot be loaded.
        """
        return cls(
            rules=rules_of(cutting),
            counter=load_counter(cutting.chunking.tokenizer),
            options=options_of(cutting),
            keep=cutting.metadata.keep,
        )

    def prepare(self, source: Source) -> Prepared:
        """Read and cut one document.

        Raises:
            ReadError: it cannot be read, or is not what its name says.
        """
        data = _bytes_of(source, self.options.limits.max_bytes)
        with collector_paused():
            read = readers.read(
                data, source.doc_id, doc_type=self.doc_type, options=self.options
            )
            document = self._kept(read.document)
            chunks = chunk(document, self.rules, self.counter, corpus=self.corpus)
        return Prepared(
            source=source,
            document=document,
            chunks=chunks,
            warnings=read.warnings,
        )

    def _kept(self, document: Document) -> Document:
        """Leave out the keys that are not to travel, also those of sections."""
        if self.keep is None:
            return document
        keep = frozenset(self.keep)
        return replace(
            document,
            metadata=_only(document.metadata, keep),
            root=_with_only(document.root, keep),
        )

    def prepare_all(self, sources: Iterable[Source]) -> Iterator[Prepared | Failed]:
        """Read and cut documents one by one; a bad one is a value.

        Raises:
            SituateError: two documents name one id.
        """
        ids = Ids()
        for source in sources:
            outcome = self.outcome(source)
            ids.add(outcome)
            yield outcome

    def outcome(self, source: Source) -> Prepared | Failed:
        """Read and cut one document; a bad one is a value."""
        if source.path in self.at_hand:
            return self.at_hand[source.path]
        try:
            return self.prepare(source)
        except ReadError as error:
            return Failed(source=source, reason=str(error))


def _with_only(root: Section, keep: frozenset[str]) -> Section:
    """Give a section whose metadata, and that of all below it, keep these keys."""
    made: dict[str, Section] = {}
    for section, _ in reversed(list(walk(root))):
        metadata = section.metadata
        made[section.section_id] = replace(
            section,
            metadata=None if metadata is None else _only(metadata, keep),
            children=tuple(made[child.section_id] for child in section.children),
        )
    return made[root.section_id]


def _only(metadata: Metadata, keep: frozenset[str]) -> Metadata:
    custom = metadata.custom
    return replace(metadata, custom={key: custom[key] for key in custom if key in keep})


class Named(Protocol):
    """A document that has been read, in whatever form."""

    @property
    def source(self) -> Source:
        """Where it was read from."""

    @property
    def doc_id(self) -> str:
        """The id it goes by."""


class Ids:
    """The ids seen so far, which documents may choose themselves."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}

    def add(self, outcome: Named | Failed) -> None:
        """Note a document's id.

        Raises:
            SituateError: an earlier document has it.
        """
        if not isinstance(outcome, Failed):
            doc_id, path = outcome.doc_id, outcome.source.path
            other = self._paths.setdefault(doc_id, path)
            if other != path:
                raise same_id(doc_id, other, path)


def _bytes_of(source: Source, most: int) -> bytes:
    """Read a file, no further than a reader would accept.

    Raises:
        ReadError: it cannot be read.
    """
    try:
        with opened(source.path) as file:
            return file.read(most + 1)
    except OSError as error:
        message = f"{source.doc_id}: cannot be read: {error.strerror or error}"
        raise ReadError(message) from error
