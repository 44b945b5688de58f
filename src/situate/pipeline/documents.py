"""From a file to its chunks: the part of a run that asks nobody anything."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from situate import readers
from situate.access import closed_otherwise
from situate.chunking import Rules, chunk
from situate.collector import collector_paused
from situate.corpus import same_id, same_wording
from situate.errors import ReadError
from situate.files import opened
from situate.given import Given, read_sidecar
from situate.model import walk
from situate.precedence import Policy, disorder, lacking, settle
from situate.readers.options import DEFAULTS, Limits, ReaderOptions
from situate.tokens import load_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from situate.config import Config, CuttingConfig
    from situate.corpus import Source
    from situate.errors import Refusal
    from situate.model import Chunk, Document, Metadata, Section
    from situate.precedence import Settled
    from situate.readers import Read
    from situate.readers.tree import Sign
    from situate.tokens import TokenCounter
    from situate.validity import Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document with its chunks, none of them asked about yet."""

    source: Source
    document: Document
    chunks: tuple[Chunk, ...]
    warnings: tuple[str, ...]
    signs: frozenset[Sign] = frozenset()

    @property
    def doc_id(self) -> str:
        """The id the document goes by."""
        return self.document.doc_id

    @property
    def effective_from(self) -> str | None:
        """The first day on which the document is in force."""
        return self.document.metadata.effective_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A document that is not taken in, and why; the reason names it."""

    source: Source
    reason: str
    refusal: Refusal = "other"

    @property
    def is_deleted(self) -> bool:
        """Whether a manifest wants it so: it is left out, and nothing is wrong."""
        return self.refusal == "deleted"

    @property
    def told(self) -> str:
        """Say it in one line."""
        return f"{'left out' if self.is_deleted else 'failed'}: {self.reason}"


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


def policy_of(cutting: CuttingConfig) -> Policy:
    """Give what a config wants of metadata."""
    wanted = cutting.metadata
    return Policy(
        keep=wanted.keep, required=wanted.required, authority=wanted.authority
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparer:
    """Reads and cuts the documents of one corpus."""

    rules: Rules
    counter: TokenCounter
    corpus: str | None = None
    doc_type: str | None = None
    options: ReaderOptions = DEFAULTS
    policy: Policy = field(default_factory=Policy)
    deleted: Mapping[str, str] = field(default_factory=dict)
    """Ids that a manifest deletes, and where it does."""
    keep: Keep = "latest"
    """Whether documents may be wordings of one, as in an index that keeps all."""
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
            policy=policy_of(cutting),
        )

    def prepare(self, source: Source) -> Prepared:
        """Read and cut one document.

        Raises:
            ReadError: it cannot be read, or is not what its name says; it, or its
                sidecar, says what cannot be, or lacks what is required.
        """
        data = _bytes_of(source, self.options.limits.max_bytes)
        outside = _outside(source)
        with collector_paused():
            read = readers.read(
                data,
                source.doc_id,
                doc_type=None if outside else self.doc_type,
                options=self.options,
            )
            settled = settle(
                read.document,
                _own(read, source),
                outside,
                self.policy,
                doc_type=self.doc_type,
            )
            self._refuse(settled, source)
            document = _kept(settled.document, self.policy)
            chunks = chunk(document, self.rules, self.counter, corpus=self.corpus)
        title = chunks[0].metadata.title if chunks else document.metadata.title
        self._miss(settled, title, source)
        return Prepared(
            source=source,
            document=document,
            chunks=chunks,
            warnings=(
                *read.warnings,
                *(warning for each in outside for warning in each.warnings),
                *settled.warnings,
                *closed_otherwise(document),
            ),
            signs=read.signs,
        )

    def _refuse(self, settled: Settled, source: Source) -> None:
        """Refuse what is deleted, never in force, or for nobody knows whom.

        Raises:
            ReadError: it is.
        """
        if settled.conflicts:
            message = (
                f"{source.doc_id}: {settled.conflicts[0]}; who may see it is not clear"
            )
            raise ReadError(message)
        if dates := disorder(settled.document):
            message = f"{source.doc_id}: {dates}"
            raise ReadError(message)
        doc_id = settled.document.doc_id
        if doc_id in self.deleted:
            message = (
                f"{source.doc_id}: names doc_id {doc_id!r}, which "
                f"{self.deleted[doc_id]} deletes"
            )
            if source.given is None:
                raise ReadError(message, refusal="deleted")
            # A manifest lists it as well.
            message = f"{message}; remove the file or that line"
            raise ReadError(message)

    def _miss(self, settled: Settled, title: str | None, source: Source) -> None:
        """Refuse a document that lacks a required key.

        Raises:
            ReadError: it does.
        """
        missing = lacking(
            self.policy.required, settled.said, settled.document.metadata, title
        )
        if missing:
            message = (
                f"{source.doc_id}: lacks {', '.join(missing)}, which "
                "metadata.required names"
            )
            raise ReadError(message)

    def prepare_all(self, sources: Iterable[Source]) -> Iterator[Prepared | Failed]:
        """Read and cut documents one by one; a bad one is a value.

        Raises:
            SituateError: two documents name one id.
        """
        ids = Ids(self.keep)
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
            return Failed(source=source, reason=str(error), refusal=error.refusal)


def _outside(source: Source) -> tuple[Given, ...]:
    """Give what manifest and sidecar say, those that there are.

    Raises:
        ReadError: the sidecar cannot be read.
    """
    said = [source.given] if source.given is not None else []
    if source.sidecar is not None:
        said.append(read_sidecar(source.sidecar, source.doc_id))
    return tuple(said)


def _own(read: Read, source: Source) -> Given:
    """Give what a document says itself: not what its path or its hash is."""
    document, path_id = read.document, source.doc_id
    metadata = document.metadata
    return Given(
        where="the document",
        doc_id=None if document.doc_id == path_id else document.doc_id,
        version=read.named_version,
        metadata=replace(
            metadata, source=None if metadata.source == path_id else metadata.source
        ),
    )


def _kept(document: Document, policy: Policy) -> Document:
    """Leave out the keys that are not to travel, also those of sections."""
    if policy.keep is None:
        return document
    return replace(
        document,
        metadata=_only(document.metadata, policy),
        root=_with_only(document.root, policy),
    )


def _with_only(root: Section, policy: Policy) -> Section:
    """Give a section whose metadata, and that of all below it, keep these keys."""
    made: dict[str, Section] = {}
    for section, _ in reversed(list(walk(root))):
        metadata = section.metadata
        made[section.section_id] = replace(
            section,
            metadata=None if metadata is None else _only(metadata, policy),
            children=tuple(made[child.section_id] for child in section.children),
        )
    return made[root.section_id]


def _only(metadata: Metadata, policy: Policy) -> Metadata:
    custom = metadata.custom
    kept = {key: custom[key] for key in custom if policy.keeps(key)}
    return replace(metadata, custom=kept)


class Named(Protocol):
    """A document that has been read, in whatever form."""

    @property
    def source(self) -> Source:
        """Where it was read from."""

    @property
    def doc_id(self) -> str:
        """The id it goes by."""

    @property
    def effective_from(self) -> str | None:
        """The first day on which it is in force."""


class Ids:
    """The ids seen so far, which documents may choose themselves.

    Where every wording is kept, documents of one id differ in when they begin.
    """

    def __init__(self, keep: Keep = "latest") -> None:
        self._keep = keep
        self._paths: dict[tuple[str, str | None], Path] = {}

    def add(self, outcome: Named | Failed) -> None:
        """Note a document's id.

        Raises:
            SituateError: an earlier document has it.
        """
        if isinstance(outcome, Failed):
            return
        doc_id, path = outcome.doc_id, outcome.source.path
        begins = outcome.effective_from if self._keep == "all" else None
        other = self._paths.setdefault((doc_id, begins), path)
        if other != path:
            if self._keep == "all":
                raise same_wording(doc_id, begins, other, path)
            raise same_id(doc_id, other, path)


def _bytes_of(source: Source, most: int) -> bytes:
    """Read a file, no further than a reader would accept.

    Raises:
        ReadError: it cannot be read.
    """
    if source.content is not None:
        return source.content
    try:
        with opened(source.path) as file:
            return file.read(most + 1)
    except OSError as error:
        message = f"{source.doc_id}: cannot be read: {error.strerror or error}"
        raise ReadError(message, refusal="unreadable") from error
