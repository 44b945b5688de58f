"""The arms of a comparison: a corpus read once, and every way to index it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from situate import readers
from situate.compare.arms import FREE, KINDS, Leaves, bare, stated, windows
from situate.compare.grounds import lay
from situate.compare.lexical import prevailing
from situate.compare.outside import chunk_file
from situate.compare.ranking import LEXICAL
from situate.errors import ConfigError, SituateError
from situate.files import opened
from situate.model import leaf_ids
from situate.pipeline.documents import Failed, Prepared
from situate.pipeline.stating import Spending, job_for, statements
from situate.pricing import load_models
from situate.prompts import load_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from situate.compare.arms import Arm, Kind, Placing
    from situate.compare.grounds import Ground
    from situate.compare.ranking import Retriever
    from situate.compare.summary import Terms
    from situate.compare.trial import Returned
    from situate.corpus import Source
    from situate.model import Span
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to compare, settled before anybody looks at a number."""

    queries: Path | None
    """Questions with their gold."""
    query_log: Path | None = None
    """Questions without."""
    judged: tuple[tuple[str, Path], ...] = ()
    """Keys of blind pages, and what was judged on them."""
    kinds: tuple[Kind, ...] = ()
    """Arms of situate's; none named: all that the prompts allow."""
    prompts: tuple[str, ...] = ()
    """Prompts whose statements are compared; none named: the config's, if it asks."""
    placings: tuple[Placing, ...] = ("dense",)
    retrievers: tuple[Retriever, ...] = ("bm25", "dense", "hybrid")
    windows: tuple[int, ...] = ()
    """Sizes of token windows to compare with."""
    chunk_files: tuple[tuple[str, Path], ...] = ()
    """Names and files of chunks made elsewhere."""
    run_files: tuple[tuple[str, Path], ...] = ()
    """Names and files of rankings made elsewhere."""
    returned: Returned = "leaf"
    drilled: bool = False
    embedder: str = "static"
    base_url: str | None = None
    """Where an embedder of OpenAI's protocol listens; OpenAI's own if unset."""
    reranker: str | None = None
    terms: Terms
    report: Path | None = None
    """The HTML file; beside the config's output if unset."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it names to be read."""
        return (
            *filter(None, (self.queries, self.query_log)),
            *(path for _, path in (*self.chunk_files, *self.run_files, *self.judged)),
            *(Path(key) for key, _ in self.judged),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What was read of a corpus, once."""

    leaves: Leaves
    grounds: Mapping[str, Ground]
    language: str | None
    """The one most documents name."""
    notes: tuple[str, ...]
    """What could not be read."""


def prepared(
    job: Job, sources: Sequence[Source], watcher: Watcher
) -> dict[Path, Prepared | Failed]:
    """Read and cut every document, once for all arms.

    Raises:
        SituateError: none can be read, or two name one id.
    """
    watcher.begin(f"{job.config.corpus.name}: reading", len(sources))
    found: dict[Path, Prepared | Failed] = {}
    for outcome in job.preparer.prepare_all(sources):
        found[outcome.source.path] = outcome
        if isinstance(outcome, Failed):
            watcher.note(f"failed: {outcome.reason}")
        watcher.advance()
    if all(isinstance(outcome, Failed) for outcome in found.values()):
        message = f"none of {len(sources)} documents could be read"
        raise SituateError(message)
    return found


def read_corpus(job: Job, prepared: Mapping[Path, Prepared | Failed]) -> Corpus:
    """Lay every document on its ground and find where its leaves stand."""
    chunks, containers = [], []
    grounds: dict[str, Ground] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    notes: list[str] = []
    for outcome in prepared.values():
        if isinstance(outcome, Failed):
            notes.append(f"not compared: {outcome.reason}")
            continue
        ground = lay(outcome.document, _source_text(job, outcome))
        grounds[outcome.doc_id] = ground
        leaves = leaf_ids(outcome.chunks)
        for chunk in outcome.chunks:
            if chunk.chunk_id in leaves:
                chunks.append(chunk)
                spans[chunk.chunk_id] = ground.place(chunk)
            else:
                containers.append(chunk)
    return Corpus(
        leaves=Leaves(chunks=tuple(chunks), spans=spans, containers=tuple(containers)),
        grounds=grounds,
        language=prevailing(chunk.metadata.language for chunk in chunks),
        notes=tuple(notes),
    )


def _source_text(job: Job, document: Prepared) -> str | None:
    """Give the source that spans count in, None where the format counts none.

    Raises:
        SituateError: it has gone since it was read.
    """
    if not any(span is not None for chunk in document.chunks for span in chunk.spans):
        return None
    source = document.source
    try:
        with opened(source.path) as file:
            data = file.read(job.preparer.options.limits.max_bytes)
    except OSError as error:
        message = f"{source.doc_id}: cannot be read again: {error.strerror or error}"
        raise SituateError(message) from error
    return readers.decode(data, source.doc_id).text


@dataclass(slots=True, kw_only=True)
class Maker:
    """Makes the arms of a request; asks for statements within the config's limits."""

    job: Job
    sources: Sequence[Source]
    corpus: Corpus
    request: Request
    watcher: Watcher
    spending: Spending = field(default_factory=Spending)

    def arms(self) -> Iterator[Arm]:
        """Yield the arms of the request, those that cost nothing first.

        Raises:
            ConfigError: an arm needs statements and nobody is asked for them.
            RecordError: a chunk file does not fit the corpus.
            SituateError: no request can succeed.
        """
        counter = self.job.preparer.counter
        leaves, grounds = self.corpus.leaves, self.corpus.grounds
        asks = self.job.config.enrichment
        prompts = self.request.prompts or (
            (asks.prompt,) if asks.enabled and asks.prompt is not None else ()
        )
        kinds = self.request.kinds or (KINDS if prompts else FREE)
        wanted = [kind for kind in kinds if kind not in FREE]
        if wanted and not prompts:
            message = f"arm {wanted[0]!r} needs statements: name --prompts"
            raise ConfigError(message)
        # All that can be wrong is found before a statement is paid for.
        for prompt in prompts:
            load_prompt(prompt)
        outside = [
            *(windows(grounds, size, counter) for size in self.request.windows),
            *(
                chunk_file(name, path, grounds, counter)
                for name, path in self.request.chunk_files
            ),
        ]
        for kind in FREE:
            if kind in kinds:
                yield bare(leaves, kind, counter)
        for prompt in prompts if wanted else ():
            job = job_for(self.job, prompt, self.spending)
            said = statements(job, self.sources, self.spending, self.watcher)
            for kind in wanted:
                for placing in self.request.placings:
                    yield stated(leaves, kind, said, placing, counter)
        yield from outside

    def check_embedding(self, arms: Sequence[Arm]) -> None:
        """Say what a vendor's vectors will cost, before one is asked for.

        Raises:
            ConfigError: with what was spent on statements they may go beyond
                `enrichment.max_usd`, or that is unset.
        """
        request = self.request
        kind, _, model = request.embedder.partition(":")
        is_lexical = LEXICAL.issuperset(request.retrievers)
        if kind != "openai" or request.base_url or is_lexical:
            return
        tokens = sum(entry.embed_tokens for arm in arms for entry in arm.entries)
        told = f"embedding: at most {tokens:,} tokens with {model}"
        price = load_models().embedding(model)
        if price is None:
            self.watcher.note(f"{told}, whose price is not known")
            return
        cost, spent = price.cost(tokens), self.spending.usd
        self.watcher.note(f"{told}, ${cost:.4f}")
        most = self.job.config.enrichment.max_usd
        if most is None or spent + cost > most:
            message = (
                f"embedding may cost ${cost:.4f} after ${spent:.4f} for statements; "
                f"enrichment.max_usd is {'unset' if most is None else most}"
            )
            raise ConfigError(message)
