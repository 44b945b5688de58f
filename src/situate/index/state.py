"""What an index holds: documents, their chunks and the hashes that tell them apart.

Values, nothing else: their files are the concern of `lines` and `folder`. No time and
no path of the machine is in a state, so equal indexes have equal states.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from situate.enrichment.reasons import AGAIN, NOT_WANTED
from situate.errors import RecordError
from situate.fields import Fields, typed
from situate.index.names import wording_key
from situate.model import digest
from situate.records import to_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from situate.model import Chunk, JsonValue
    from situate.records import Record

_RUN_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Hashes:
    """What tells one version of a chunk from another; the document's is not in it."""

    embed: str
    lexical: str
    metadata: str
    content: str
    """Of `text`, which may change where what is indexed of it does not."""
    lineage: str
    """Of parent, level and blocks, which no other hash covers."""
    embeds: bool = True
    """Whether a vector of it is wanted, for which a store needs its text."""

    @classmethod
    def of(cls, record: Mapping[str, JsonValue], where: str) -> Hashes:
        """Take them from a chunk's record.

        Raises:
            RecordError: it is none.
        """
        metadata = typed(dict, record.get("metadata"), f"{where}: metadata")
        embed, lexical, own, content = (
            typed(str, metadata.get(key), f"{where}: metadata: {key}")
            for key in ("embed_hash", "lexical_hash", "metadata_hash", "content_hash")
        )
        lineage = [record.get(key) for key in ("parent_chunk_id", "level", "block_ids")]
        embeds = typed(bool, metadata.get("embed"), f"{where}: metadata: embed")
        return cls(embed, lexical, own, content, digest(json.dumps(lineage)), embeds)

    @property
    def texts(self) -> tuple[str, str, str, bool]:
        """What tells whether a store shows and searches the same of it."""
        return self.embed, self.lexical, self.content, self.embeds

    def to_list(self) -> list[JsonValue]:
        """Give them as they stand in a line."""
        hashes = (self.embed, self.lexical, self.metadata, self.content, self.lineage)
        return [*hashes, self.embeds]

    @classmethod
    def from_list(cls, value: object, where: str) -> Hashes:
        """Read them back.

        Raises:
            RecordError: they are no list of as many texts, and of true or false.
        """
        *hashes, embeds = typed(list, value, where) or [None]
        texts = [typed(str, one, where) for one in hashes]
        if len(texts) != 5:
            message = f"{where}: five hashes were expected, not {len(texts)}"
            raise RecordError(message)
        embed, lexical, own, content, lineage = texts
        return cls(embed, lexical, own, content, lineage, typed(bool, embeds, where))


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """What became of the wish for statements about a document's chunks."""

    bases: Mapping[str, str] = field(default_factory=dict)
    """What each statement is about, as `enrichment.keys.bases` gives it, by the id of
    its leaf."""
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    """Leaves that were asked about in vain, by reason."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Leaves that were not asked about, by reason."""
    overdue: int = 0
    """Leaves whose statement is one of before, as nothing newer came."""

    @classmethod
    def of(cls, leaves: Iterable[Chunk], bases: Mapping[str, str]) -> Statements:
        """Take them from leaves; `bases` says what each of them is about."""
        fallbacks: Counter[str] = Counter()
        skipped: Counter[str] = Counter()
        stated, overdue = {}, 0
        for leaf in leaves:
            reason = leaf.enrichment.reason or "unknown"
            match leaf.enrichment.status:
                case "statement":
                    stated[leaf.chunk_id] = bases[leaf.chunk_id]
                    overdue += leaf.enrichment.overdue
                case "fallback":
                    fallbacks[reason] += 1
                case "skipped":
                    skipped[reason] += 1
                case "off":
                    pass
        return cls(
            bases=stated,
            fallbacks=dict(sorted(fallbacks.items())),
            skipped=dict(sorted(skipped.items())),
            overdue=overdue,
        )

    @property
    def is_open(self) -> bool:
        """Whether asking again may bring a statement, or a newer one."""
        return (
            self.overdue > 0
            or not self.skipped.keys() <= NOT_WANTED
            or not AGAIN.isdisjoint(self.fallbacks)
        )

    def to_record(self) -> Record:
        """Give them as they stand in a line."""
        return {
            "bases": {**self.bases},
            "fallbacks": {**self.fallbacks},
            "skipped": {**self.skipped},
            "overdue": self.overdue,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Statements:
        """Read them back.

        Raises:
            RecordError: they are none.
        """
        where = fields.name("")
        found = cls(
            bases={
                key: typed(str, value, where)
                for key, value in fields.object("bases").items()
            },
            fallbacks=_counts(fields, "fallbacks"),
            skipped=_counts(fields, "skipped"),
            overdue=fields.whole("overdue"),
        )
        fields.end()
        return found


NO_STATEMENTS: Final = Statements()
"""Of a document about which nobody is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentState:
    """A document, or one wording of it, as an index has it."""

    doc_id: str
    path: str
    """Where it stood, below the config's folder."""
    names_itself: bool
    """Whether its id is its own word, and so unknown while it cannot be read."""
    input: str
    """Hash of its bytes, its sidecar and what a manifest says of it."""
    config: str
    """Hash of all that decides how it is read and cut."""
    version: str
    """Its author's word, or the hash of its tree."""
    metadata_hash: str
    records: str
    """Under which name the records of its chunks are kept."""
    chunks: Mapping[str, Hashes]
    """Names and hashes, in the order of its records."""
    access: Mapping[str, JsonValue] = field(default_factory=dict)
    """What it says of who may see it and when it is in force, by key."""
    statements: Statements = NO_STATEMENTS
    withheld: frozenset[str] = frozenset()
    """Chunks that it no longer has, and whose deletion nobody has allowed yet."""
    label: str | None = None
    """What its records are named by beside those of other wordings: the version that
    it came with. None where they have the ids of their chunks."""
    effective_from: str | None = None
    until: str | None = None
    """The day before the next wording begins."""
    since: str | None = None
    """The day on which it begins itself, where wordings may stand side by side: none
    of its sections is in force before."""

    @property
    def key(self) -> str:
        """What it goes by among `Documents`."""
        return wording_key(self.doc_id, self.label)

    def to_record(self) -> Record:
        """Give its line; of wordings, only what there is to say."""
        wording = {
            "label": self.label,
            "effective_from": self.effective_from,
            "until": self.until,
            "since": self.since,
        }
        return {
            "doc_id": self.doc_id,
            "path": self.path,
            "names_itself": self.names_itself,
            "input": self.input,
            "config": self.config,
            "version": self.version,
            "metadata_hash": self.metadata_hash,
            "records": self.records,
            "access": {**self.access},
            "statements": self.statements.to_record(),
            "withheld": [*sorted(self.withheld)],
            **{key: said for key, said in wording.items() if said is not None},
            "chunks": {key: known.to_list() for key, known in self.chunks.items()},
        }

    @classmethod
    def from_record(cls, record: Record, where: str) -> DocumentState:
        """Read its line.

        Raises:
            RecordError: it is none.
        """
        fields = Fields(record, where)
        found = cls(
            doc_id=fields.text("doc_id"),
            path=fields.text("path"),
            names_itself=fields.flag("names_itself"),
            input=fields.text("input"),
            config=fields.text("config"),
            version=fields.text("version"),
            metadata_hash=fields.text("metadata_hash"),
            records=fields.text("records"),
            access=fields.object("access"),
            statements=Statements.from_fields(fields.nested("statements")),
            withheld=frozenset(fields.listed("withheld", str)),
            label=_said(fields, "label"),
            effective_from=_said(fields, "effective_from"),
            until=_said(fields, "until"),
            since=_said(fields, "since"),
            chunks={
                key: Hashes.from_list(value, where)
                for key, value in fields.object("chunks").items()
            },
        )
        fields.end()
        return found


Documents = dict[str, DocumentState]
"""By their keys, in the order of keys."""


Unsure = dict[str, frozenset[Hashes | None]]
"""What a store may have of a chunk instead of what the state says, by its name.

Deltas went out that nobody acknowledged: each may have been taken in, or not. None
where a chunk may be missing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a store has, as far as somebody has acknowledged it."""

    number: int = 0
    """How many runs were acknowledged up to it."""
    run: str | None = None
    """The one that led here."""
    corpus: str | None = None
    """Whose index it is; None before anything was acknowledged."""
    documents: Documents = field(default_factory=dict)
    surplus: Unsure = field(default_factory=dict)
    """What it may have beside these, and whose deletion nobody has allowed yet."""
    unread: frozenset[str] = frozenset()
    """Marks of files that could not be read while nothing was gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The last delta, while nobody has acknowledged it."""

    base: int
    """The number of the state that it starts from."""
    run: str
    corpus: str
    documents: Documents
    """What a store has that takes it in."""
    unsure: Unsure
    """What a store may have that does not, beside what the base says."""
    surplus: frozenset[str] = frozenset()
    """What of this a store may have also when it has taken it in."""
    allowed: int = 0
    """How many deletions it may hold when it comes again."""
    unread: frozenset[str] = frozenset()
    """Marks of files that could not be read while nothing was gone."""

    def acknowledged(self) -> State:
        """Give the state that it leads to."""
        return State(
            number=self.base + 1,
            run=self.run,
            corpus=self.corpus,
            documents=self.documents,
            surplus={name: self.unsure[name] for name in sorted(self.surplus)},
            unread=self.unread,
        )


def run_id(base: State, target: Documents, files: Iterable[str]) -> str:
    """Name a delta by what it starts from, leads to and holds."""
    parts = [str(base.number), base.run or "", of_documents(base.documents)]
    said = "\n".join([*parts, of_documents(target), *files])
    return digest(said)[:_RUN_DIGITS]


def of_documents(documents: Documents) -> str:
    """Hash what is said of documents."""
    hashed = hashlib.sha256()
    for document in documents.values():
        hashed.update(to_line(document.to_record()))
    return hashed.hexdigest()


def _said(fields: Fields, key: str) -> str | None:
    return fields.text(key) if key in fields else None


def _counts(fields: Fields, key: str) -> dict[str, int]:
    where = fields.name(key)
    return {
        name: typed(int, value, where) for name, value in fields.object(key).items()
    }
