"""Every key of a corpus's TOML file: its type, default and what is allowed.

The classes are plain frozen dataclasses; what pydantic needs to judge a value
stands beside its type. Secrets have no key.
"""

import glob
import json
import re
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from situate.addresses import Server, read_server
from situate.config.allowed import (
    CLOSED,
    LEAST_CHUNK,
    MOST_BYTES,
    VALUES,
    duration,
    http,
    line,
    listed,
    number,
    path,
    seconds,
    server,
    share,
    whole,
)
from situate.config.redacting import ALLOWED, expressions_or_function
from situate.config.versions import VersionsConfig
from situate.model import digest

JOINS = 2
"""Tokens of the line break before a statement and the blank line before a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusConfig:
    """Which documents belong together."""

    __pydantic_config__ = CLOSED

    name: Annotated[str, line()]
    """The corpus, written into every chunk's metadata."""
    documents: Annotated[
        tuple[Annotated[str, line()], ...],
        Field(
            min_length=1,
            description="a glob, a manifest or a list of them, at least one",
        ),
        BeforeValidator(listed),
    ]
    """Globs of the documents, `**` spans folders but follows no linked ones; a path
    that ends in `.jsonl` and has no wildcard is a manifest."""
    doc_type: Annotated[str | None, line()] = None
    """The type of documents that do not name theirs."""
    max_failed_share: Annotated[float, share()] = 0.01
    """Share of documents that may fail before `run` or `sync` ends with exit code 3."""

    @property
    def manifests(self) -> tuple[str, ...]:
        """The manifests among `documents`; no reader reads files of that name."""
        return tuple(filter(_is_manifest, self.documents))

    @property
    def globs(self) -> tuple[str, ...]:
        """What of `documents` is no manifest."""
        return tuple(name for name in self.documents if not _is_manifest(name))


def _is_manifest(name: str) -> bool:
    return name.endswith(".jsonl") and not re.search(r"[*?\[]", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingConfig:
    """How large chunks are and which levels there are."""

    __pydantic_config__ = CLOSED

    max_tokens: Annotated[int, whole(LEAST_CHUNK)] = 512
    """Most tokens of a chunk's `text`."""
    min_tokens: Annotated[int, whole(0)] = 32
    """Sections of fewer tokens share a chunk with their neighbours."""
    granularity: Literal["leaves", "tree", "multi"] = "leaves"
    """`leaves`: the cover alone; `tree`: with parents; `multi`: and every block."""
    container_max_tokens: Annotated[int | None, whole(LEAST_CHUNK)] = None
    """Most tokens of a parent's `text`; four times `max_tokens` if unset."""
    embed: Literal["leaf", "paragraph"] = "leaf"
    """Which level of `multi` is embedded; a leaf of one block is in both."""
    tokenizer: Annotated[str, line()] = "cl100k_base"
    """The tiktoken encoding that counts; only `cl100k_base` needs no download."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixConfig:
    """The line of headings above a chunk."""

    __pydantic_config__ = CLOSED

    max_tokens: Annotated[int, whole(0)] = 96
    """Most tokens of the breadcrumb line; outer headings give way first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingConfig:
    """What of a chunk is indexed."""

    __pydantic_config__ = CLOSED

    form: Literal["reading", "text"] = "reading"
    """`reading`: without layout marks, tables cell by cell; `text`: as it is."""
    heading_weight: Annotated[int, whole(0, 10)] = 0
    """How often a reading repeats its section's heading at its start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderConfig:
    """The model that will embed the chunks."""

    __pydantic_config__ = CLOSED

    instruction: Annotated[str | None, line()] = None
    """Put before documents when `compare` embeds them; in no record."""
    window: Annotated[int | None, whole(1)] = None
    """Tokens it reads; sizes that may go beyond are refused. Unchecked if unset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichmentConfig:
    """Whether, and how, a model is asked for one situating sentence per chunk."""

    __pydantic_config__ = CLOSED

    enabled: Annotated[bool, Field(strict=True, description="true or false")] = False
    """The switch: false asks nothing and needs no key."""
    provider: Literal["anthropic", "openai", "replay"] | None = None
    """Who answers; needed when enabled."""
    model: Annotated[str | None, line()] = None
    """The model that is asked and priced; needed when enabled."""
    endpoint: Annotated[str | None, line()] = None
    """A name for who answers, in cache keys; `base_url` if unset."""
    base_url: Annotated[
        str | None,
        Field(
            description="an address like 'http://localhost:8000/v1', without user, "
            "password, query or fragment"
        ),
        BeforeValidator(http),
    ] = None
    """Where a server of the provider's protocol listens; the vendor's if unset."""
    prompt: Annotated[str | None, line()] = None
    """Name and number of a prompt, like `findable-v1`; needed when enabled."""
    accept_models: Annotated[
        tuple[Annotated[str, line()], ...], Field(description="a list of models")
    ] = ()
    """Models whose earlier answers are kept, beside those of `model`."""
    enrich_when: Annotated[
        dict[Annotated[str, line()], VALUES] | None,
        Field(min_length=1, description="a table of metadata keys, each with values"),
    ] = None
    """What of the metadata a chunk has to have for a model to be shown it."""
    view: Literal["auto", "marked", "full", "window"] = "auto"
    """What the model sees: the document once with all chunks marked in it, the
    document and one chunk, or one chunk and what is around it."""
    mode: Literal["live", "batch"] = "live"
    """`batch` asks through the vendor's batch system, at half the price."""
    reuse: Literal["section", "request"] = "section"
    """`section` keeps answers while the chunk's section is the same, `request` only
    while the whole request is."""
    statement_max_tokens: Annotated[int, whole(8, 1_000)] = 60
    """Most tokens of a statement."""
    concurrency: Annotated[int, whole(1, 1_000)] = 32
    """Most requests under way at once."""
    max_usd: Annotated[
        Decimal | None,
        Field(ge=0, le=1_000_000, description="dollars from 0 to 1,000,000"),
        BeforeValidator(number),
    ] = None
    """Most dollars a run may spend; needed where the model has a price."""
    max_usd_month: Annotated[
        Decimal | None,
        Field(ge=0, le=1_000_000, description="dollars from 0 to 1,000,000"),
        BeforeValidator(number),
    ] = None
    """Most dollars of a calendar month (UTC), all runs on one cache together."""
    max_total_tokens: Annotated[int | None, whole(0, 10**12)] = None
    """Most tokens a run may use, input and output together; no limit if unset."""
    max_attempts: Annotated[int, whole(1, 100)] = 6
    """How often a request is sent before it counts as failed."""
    timeout_seconds: Annotated[float, seconds(0.001)] = 60.0
    """Longest wait for one reply."""
    max_wait_seconds: Annotated[float, seconds(0)] = 120.0
    """Longest pause a provider may ask for; beyond it enrichment stops."""
    requests_per_minute: Annotated[int | None, whole(1)] = None
    """Most requests sent in a minute; no limit if unset."""
    tokens_per_minute: Annotated[int | None, whole(1, 10**9)] = None
    """Most tokens sent in a minute; no limit if unset."""
    deadline: Annotated[
        float | None,
        Field(description="a time like '90m': a whole number and s, m or h"),
        BeforeValidator(duration),
    ] = None
    """How long after its first question a run goes on asking; no limit if unset."""
    max_fallback_share: Annotated[float, share()] = 0.01
    """Share of asked chunks that may get no statement before exit code 3."""
    replay: Annotated[
        Path | None, Field(description="the path of a file"), BeforeValidator(path)
    ] = None
    """The cassette that provider `replay` answers from; the shipped ones if unset."""
    redact: Annotated[
        tuple[Annotated[str, line()], ...] | str | None,
        Field(description=ALLOWED),
        BeforeValidator(expressions_or_function),
    ] = None
    """What of documents no model may see: expressions, or a function that takes a text
    and gives the places to hide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheConfig:
    """Where replies are kept, so that none is paid for twice."""

    __pydantic_config__ = CLOSED

    backend: Literal["disk", "redis"] = "disk"
    """`disk` keeps them in the folder, for one machine; `redis` on a server that many
    share."""
    directory: Annotated[
        Path, Field(description="the path of a folder"), BeforeValidator(path)
    ] = Path(".situate/cache")
    """A folder only its owner may read; made when needed. Tickets of batches and
    vectors lie in it with every backend."""
    url: Annotated[
        str | None,
        Field(
            description="an address like 'redis://host:6379/0', 'rediss://host/0' or "
            "'unix:///path/of/socket?db=0'"
        ),
        BeforeValidator(server),
    ] = field(default=None, repr=False)
    """The server of backend `redis`; with a password in the environment alone."""

    @property
    def place(self) -> Path | Server:
        """Where replies are: the folder, or the server.

        Raises:
            ValueError: the address of the server is none.
        """
        if self.backend == "disk" or self.url is None:
            return self.directory
        return read_server(self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    """Where chunks go."""

    __pydantic_config__ = CLOSED

    path: Annotated[
        Path, Field(description="a path that ends in .jsonl"), BeforeValidator(path)
    ]
    """The chunks file; blocks, manifest and ledger stand beside it."""
    parquet: Annotated[bool, Field(strict=True, description="true or false")] = False
    """Whether `run` writes the chunks as Parquet too, beside the file."""
    max_delete_share: Annotated[float, share()] = 0.01
    """Share of an index's chunks that one `sync` may delete; more are withheld."""

    def beside(
        self,
        kind: Literal[
            "blocks.jsonl",
            "parquet",
            "manifest.json",
            "ledger.jsonl",
            "compare.html",
            "compare.json",
            "compare.ledger.jsonl",
            "queries.ledger.jsonl",
        ],
    ) -> Path:
        """Give the path of a file that belongs to the chunks file."""
        return self.path.with_name(f"{self.path.stem}.{kind}")

    def of_comparisons(self) -> tuple[Path, ...]:
        """Find what `compare` has written here: reports, pages to judge on, keys."""
        named = f"{glob.escape(self.path.stem)}.compare.*"
        return tuple(self.path.parent.glob(named))

    @property
    def index(self) -> Path:
        """The folder where `sync` keeps what the index holds."""
        return self.path.with_name(f"{self.path.stem}.index")

    @property
    def deltas(self) -> Path:
        """The folder of deltas, one folder for each."""
        return self.path.with_name(f"{self.path.stem}.delta")

    @property
    def files(self) -> tuple[Path, ...]:
        """Everything a run writes beside the cache."""
        return (
            self.path,
            self.beside("blocks.jsonl"),
            self.beside("manifest.json"),
            self.beside("ledger.jsonl"),
            *([self.beside("parquet")] if self.parquet else []),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsConfig:
    """Where a file stops being a document; what goes beyond is refused."""

    __pydantic_config__ = CLOSED

    max_bytes: Annotated[int, whole(1, MOST_BYTES)] = 64 * 1024 * 1024
    """Bytes of a file."""
    max_members: Annotated[int, whole(1)] = 2_000
    """Files in an archive, such as a Word or EPUB file is."""
    max_unpacked_bytes: Annotated[int, whole(1, MOST_BYTES)] = 200 * 1024 * 1024
    """Bytes of an archive's files together."""
    max_ratio: Annotated[int, whole(1)] = 100
    """How many times smaller a file of an archive may be packed."""
    max_elements: Annotated[int, whole(1, 10**9)] = 1_000_000
    """Elements of a markup or JSON tree."""
    max_pages: Annotated[int, whole(1)] = 10_000
    """Pages of a PDF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderConfig:
    """How files are read."""

    __pydantic_config__ = CLOSED

    tracked_changes: Literal["accept", "original", "refuse"] = "accept"
    """Word's tracked changes: as if accepted, as if rejected, or an error."""
    legal_numbering: Annotated[
        bool | None, Field(strict=True, description="true or false")
    ] = None
    """Whether numbered clauses become sections; if unset, in plain text only."""
    limits: Annotated[
        LimitsConfig,
        Field(description="a table of " + ", ".join(LimitsConfig.__annotations__)),
    ] = LimitsConfig()
    """Where a file stops being a document, a table of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataConfig:
    """What travels of what documents say about themselves."""

    __pydantic_config__ = CLOSED

    keep: Annotated[
        tuple[Annotated[str, line()], ...] | None,
        Field(description="a list of names"),
    ] = None
    """Keys that travel under `custom`; if unset, all of front matter's and none of
    a file's properties. `acl_*` and `classification` of front matter, headings,
    sidecars and manifests always travel."""
    required: Annotated[
        tuple[Annotated[str, line()], ...], Field(description="a list of names")
    ] = ()
    """Keys without which a document counts as failed, whoever says them."""
    authority: Annotated[
        tuple[Annotated[str, line()], ...],
        Field(description="a list of names, in which `*` stands for any end"),
    ] = ()
    """Keys for which manifest and sidecar win over the document, beside `acl_*`,
    `classification`, `doc_id`, `effective_from` and `effective_to`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CuttingConfig:
    """All that decides how a file is read and cut."""

    metadata: MetadataConfig
    reader: ReaderConfig
    chunking: ChunkingConfig
    prefix: PrefixConfig
    reading: ReadingConfig
    embedder: EmbedderConfig
    statement_max_tokens: int

    @property
    def reading_max_tokens(self) -> int | None:
        """What the embedder's window leaves for a reading; None without a window."""
        if self.embedder.window is None:
            return None
        beside = self.prefix.max_tokens + self.statement_max_tokens + JOINS
        return self.embedder.window - beside


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything one corpus needs, with paths resolved."""

    path: Path
    """The file it came from; globs are relative to its folder."""
    corpus: CorpusConfig
    metadata: MetadataConfig
    versions: VersionsConfig
    reader: ReaderConfig
    chunking: ChunkingConfig
    prefix: PrefixConfig
    reading: ReadingConfig
    embedder: EmbedderConfig
    enrichment: EnrichmentConfig
    cache: CacheConfig
    output: OutputConfig
    hook: str | None = None
    """Hash of the file of the function that `enrichment.redact` names; None until that
    was looked at."""

    @property
    def cutting(self) -> CuttingConfig:
        """What of it decides how files are read and cut."""
        return CuttingConfig(
            metadata=self.metadata,
            reader=self.reader,
            chunking=self.chunking,
            prefix=self.prefix,
            reading=self.reading,
            embedder=self.embedder,
            statement_max_tokens=self.enrichment.statement_max_tokens,
        )

    @property
    def hash(self) -> str:
        """Hash what decides the output: not where it goes, nor how fast."""
        asked = self.enrichment
        decisive = {
            "corpus": [
                self.corpus.name,
                self.corpus.documents,
                self.corpus.doc_type,
            ],
            "chunking": asdict(self.chunking),
            "prefix": asdict(self.prefix),
            # Keys that are newer than hashes of before count where they say something.
            "metadata": {
                key: value
                for key, value in asdict(self.metadata).items()
                if value or key == "keep"
            },
            **({"versions": keep} if (keep := self.versions.keep) != "latest" else {}),
            "reader": asdict(self.reader),
            "reading": asdict(self.reading),
            "reading_max_tokens": self.cutting.reading_max_tokens,
            "enrichment": {
                "provider": asked.provider,
                "model": asked.model,
                "endpoint": asked.endpoint or asked.base_url,
                "prompt": asked.prompt,
                "view": asked.view,
                "statement_max_tokens": asked.statement_max_tokens,
                **({"redact": asked.redact} if asked.redact else {}),
                **({"hook": self.hook} if self.hook else {}),
                **({"enrich_when": asked.enrich_when} if asked.enrich_when else {}),
            }
            if asked.enabled
            else None,
        }
        return digest(json.dumps(decisive, sort_keys=True))
