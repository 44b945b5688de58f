"""What requests and answers look like: the part of the service that is a contract.

pydantic's idea of a value ends here: what comes in becomes a `Handed`, what goes out
is made of the pipeline's own values. FastAPI writes the OpenAPI document from these.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    JsonValue,
    StringConstraints,
    Tag,
    TypeAdapter,
)

from situate.service.values import JobState

AS_JSON: Final = frozenset({"metadata", "documents", "statements"})
"""Fields of a form that are written as JSON."""

_CONTROLS: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_NAME: Final = rf"^[^/\\{_CONTROLS}][^{_CONTROLS}]*$"

Line = Annotated[str, StringConstraints(min_length=1, max_length=200)]

Label = Annotated[
    str,
    StringConstraints(min_length=1, max_length=1_000),
    Field(
        description="A name like a file's, whose extension says how it is read: a "
        "label, which nothing opens. It is the id where neither the document nor the "
        "request gives one.",
        examples=["policies/travel.md"],
        # Told, not held: what is refused here is refused with a better word later.
        json_schema_extra={"pattern": _NAME},
    ),
]

Corpus = Annotated[
    Line, Field(description="The corpus whose rules hold.", examples=["handbook"])
]

Metadata = Annotated[
    dict[str, JsonValue],
    Field(
        description="What is said of the document, as in a line of a manifest: "
        "`title`, `effective_from`, `acl_*` and what else travels.",
        examples=[{"title": "Travel policy", "acl_groups": ["staff"]}],
    ),
]


_OF_ONE: Final = (
    "Where there is one file; of several, `documents` says it under their names."
)


class _Closed(BaseModel):
    """Has the keys it has, of the types they have."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DocumentSaid(_Closed):
    """What is said of a document."""

    name: Label
    doc_id: Line | None = Field(
        default=None,
        description="Its id, whatever it says itself.",
        examples=["HR-7"],
    )
    version: Line | None = Field(
        default=None,
        description="Its version, where it says none; else a hash of its tree.",
        examples=["3"],
    )
    metadata: Metadata = Field(default_factory=dict)


class DocumentText(DocumentSaid):
    """A document as text."""

    text: str = Field(
        description="All of it.",
        examples=["# Meals\n\nReceipts are needed above EUR 15 a day.\n"],
    )


class DocumentFields(DocumentText):
    """One document and what is wanted of it."""

    corpus: Corpus
    statements: bool = Field(
        default=True,
        description="Whether a model is asked, where the corpus has one.",
    )


class JobFields(_Closed):
    """Documents of one corpus."""

    corpus: Corpus
    # Of a million documents that are wrong in one way, one says it all.
    documents: Annotated[list[DocumentText], FailFast()] = Field(min_length=1)


class FileSaid(_Closed):
    """What is said of a file in a form."""

    name: Label | None = Field(
        default=None, description="The label; the file's own name if there is none."
    )
    doc_id: Line | None = None
    version: Line | None = None
    metadata: Metadata = Field(default_factory=dict)


class FormFields(_Closed):
    """The fields beside the files of a form."""

    corpus: Corpus
    name: Label | None = Field(
        default=None,
        description="A label in the place of the file's own name, where there is one "
        "file.",
    )
    doc_id: Line | None = Field(default=None, description=_OF_ONE)
    version: Line | None = Field(default=None, description=_OF_ONE)
    metadata: Metadata = Field(default_factory=dict)
    documents: dict[str, FileSaid] = Field(
        default_factory=dict,
        description="What is said of files, by the names they have in the form.",
        examples=[{"travel.md": {"doc_id": "HR-7", "metadata": {"title": "Travel"}}}],
    )

    @property
    def is_of_one(self) -> bool:
        """Whether something is said as of an only file."""
        return bool(self.name or self.doc_id or self.version or self.metadata)

    def of_one(self, filename: str) -> DocumentSaid:
        """Give what is said of an only file."""
        return DocumentSaid(
            name=self.name or filename,
            doc_id=self.doc_id,
            version=self.version,
            metadata=self.metadata,
        )

    def of_files(self) -> dict[str, DocumentSaid]:
        """Give what is said, each with the name that counts."""
        return {
            name: DocumentSaid(
                name=said.name or name,
                doc_id=said.doc_id,
                version=said.version,
                metadata=said.metadata,
            )
            for name, said in self.documents.items()
        }


def _kind(value: object) -> str:
    is_list = isinstance(value, dict) and "documents" in value
    return "documents" if is_list else "document"


DOCUMENT: Final = TypeAdapter(DocumentFields)
FORM: Final = TypeAdapter(FormFields)
Shape = TypeAdapter[DocumentFields | JobFields]
"""What a body of one or several documents may be."""

JOB: Final[Shape] = TypeAdapter(JobFields)
DOCUMENTS: Final[Shape] = TypeAdapter(
    Annotated[
        Annotated[DocumentFields, Tag("document")]
        | Annotated[JobFields, Tag("documents")],
        Discriminator(_kind),
    ]
)


class Tokens(BaseModel):
    """Tokens in four counts that never overlap, and how many of them were thinking."""

    uncached_input: int
    cache_write: int
    cache_read: int
    output: int
    thinking: int


class Spending(BaseModel):
    """What was asked of a model, and what that cost."""

    requests: int = Field(description="Answered or given up, re-asks included.")
    cache_hits: int = Field(description="Chunks whose answer was at hand.")
    usage: Tokens
    cost_usd: str | None = Field(
        description="Dollars, exactly; null where no price is known or nobody was "
        "asked.",
        examples=["0.00031"],
    )
    stopped: str | None = Field(
        description="Why statements are missing, where asking ended before its time.",
        examples=["authentication: the provider stopped accepting the key"],
    )


class DocumentCut(BaseModel):
    """A document that was cut."""

    name: str
    doc_id: str
    version: str = Field(description="As it says itself, else a hash of its tree.")
    chunks: int = Field(description="Records, parents included.")
    outcomes: dict[str, int] = Field(
        description="Chunks by what became of the wish for a statement: the status, "
        "or status and reason.",
        examples=[{"statement": 12, "skipped:short": 1}],
    )


class ChunkRecord(BaseModel):
    """A chunk, as a line of a chunks file: README says what each key means."""

    model_config = ConfigDict(extra="allow")

    schema_: int = Field(alias="schema")
    chunk_id: str
    doc_id: str
    doc_version: str
    parent_chunk_id: str | None
    level: str
    text: str = Field(description="To be shown and cited.")
    context_prefix: str
    block_ids: list[str]
    metadata: dict[str, Any]
    embed_text: str = Field(description="For the dense index.")
    lexical_text: str = Field(description="For BM25.")


class Chunked(BaseModel):
    """A document's chunks."""

    document: DocumentCut
    chunks: list[ChunkRecord]
    spent: Spending
    warnings: list[str] = Field(description="What the reader left out or guessed.")


class Priced(BaseModel):
    """What asking would send, cost and take, as `situate plan --json` says it."""

    model_config = ConfigDict(extra="allow")

    corpus: str
    documents: int
    failed: list[str] = Field(description="Why documents cannot be read.")
    chunks: int
    provider: str | None
    model: str | None
    estimate: dict[str, Any] | None = Field(
        description="Requests, tokens by class, dollars from `usd_low` to `usd_high` "
        "and hours; null where enrichment is off."
    )
    objection: str | None = Field(description="What would keep it from being asked.")


class FailedDocument(BaseModel):
    """A document of a job that failed."""

    ordinal: int = Field(description="Its place in the job, from 0.")
    name: str
    reason: str


class JobStatus(BaseModel):
    """A job as it stands."""

    job_id: str = Field(examples=["5f0c0f3e6c1b4f0b9d1f9a1c2e3d4b5a"])
    corpus: str
    state: JobState
    documents: int
    finished: int = Field(description="Of them, failed ones included.")
    failed: int
    chunks: int
    outcomes: dict[str, int]
    spent: Spending
    failures: list[FailedDocument] = Field(description="The first hundred.")
    reason: str | None = Field(description="Why it failed as a whole.")
    created: datetime
    ended: datetime | None
    expires: datetime | None = Field(description="When it and its result are removed.")


class JobList(BaseModel):
    """The jobs of a key, the newest first; at most a hundred."""

    jobs: list[JobStatus]


class ServedCorpus(BaseModel):
    """A corpus that is served."""

    name: str
    doc_type: str | None
    max_tokens: int
    min_tokens: int
    granularity: str
    tokenizer: str
    statements: bool = Field(description="Whether a model is asked for sentences.")
    provider: str | None
    model: str | None
    prompt: str | None
    max_usd: str | None = Field(description="Dollars for each job and each upload.")
    max_usd_month: str | None = Field(description="Dollars for all together.")


class CorpusList(BaseModel):
    """The corpora that are served, by name."""

    corpora: list[ServedCorpus]


class Health(BaseModel):
    """That the service runs."""

    status: str = Field(examples=["ok"])


class Readiness(BaseModel):
    """Whether it can do its work: each thing with `ok`, or what is wrong with it."""

    ready: bool
    checks: dict[str, str] = Field(
        examples=[dict.fromkeys(("service", "engine", "jobs", "cache", "models"), "ok")]
    )


class PartProblem(BaseModel):
    """A part of a request that is wrong."""

    where: str
    message: str


class Problem(BaseModel):
    """Why a request was refused (RFC 9457)."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(description="The words of the status.")
    status: int
    detail: str = Field(description="One line that names the thing.")
    retry_after_seconds: int | None = None
    problems: list[PartProblem] = Field(default_factory=list)


REF: Final = "#/components/schemas/{model}"
"""How models name each other in an OpenAPI document."""


def form_schema(*, many: bool) -> Mapping[str, Any]:
    """Describe a form: a file and what is said of it, or files of one corpus."""
    file: dict[str, Any] = {
        "type": "string",
        "format": "binary",
        "description": "The document, with a name whose extension says how it is read.",
    }
    described = FormFields.model_json_schema(ref_template=REF)["properties"]
    fields = {name: _without_null(each) for name, each in described.items()}
    if many:
        file = {
            "type": "array",
            "items": file,
            "minItems": 1,
            "description": "Documents, each in a field of this name with a name of its "
            "own, whose extension says how it is read.",
        }
    else:
        fields.pop("documents")
        alone = DocumentFields.model_json_schema(ref_template=REF)["properties"]
        for name in ("name", "doc_id", "version", "statements"):
            fields[name] = _without_null(alone[name])
    return {
        "type": "object",
        "properties": {"file": file, **fields},
        "required": ["corpus", "file"],
        "additionalProperties": False,
    }


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a field that a form leaves out where it would be null."""
    kinds = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    rest = {key: schema[key] for key in schema if key not in {"anyOf", "default"}}
    return dict(schema) if not kinds else rest | kinds[0]
