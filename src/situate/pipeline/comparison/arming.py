"""The arms of a comparison: a corpus read once, and every way to index it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from situate import readers
from situate.compare.arms import FREE, KINDS, Leaves, bare, name_of, stated, windows
from situate.compare.grounds import lay
from situate.compare.lexical import prevailing
from situate.compare.outside import chunk_file
from situate.compare.ranking import LEXICAL
from situate.config.keys import JOINS
from situate.errors import ConfigError, SituateError
from situate.files import opened
from situate.model import leaf_ids
from situate.pipeline.comparison.stating import Spending, job_for, statements
from situate.pipeline.documents import Failed, Prepared
from situate.pipeline.shortfall import none_read
from situate.pricing import load_models
from situate.prompts import refuse_questions

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
            watcher.note(outcome.told)
        watcher.advance()
    failed = [each for each in found.values() if isinstance(each, Failed)]
    if len(failed) == len(found):
        raise none_read(sum(not each.is_deleted for each in failed))
    return found


def read_corpus(job: Job, prepared: Mapping[Path, Prepared | Failed]) -> Corpus:
    """Lay every document on its ground and find where its leaves stand."""
    chunks, containers = [], []
    grounds: dict[str, Ground] = {}
    spans: dict[str, tuple[Span, ...]] = {}
    notes: list[str] = []
    for outcome in prepared.values():
        if isinstance(outcome, Failed):
            # What a manifest deletes is nobody's loss.
            if not outcome.is_deleted:
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
    queries: Sequence[str] = ()
    """All that will be asked."""
    spending: Spending = field(default_factory=Spending)

    def without_statements(self) -> tuple[Arm, ...]:
        """Make the arms that cost nothing, and set aside what vectors will cost.

        All that can be wrong with the others is found here, before a statement is paid
        for. Arms of statements bring the breadcrumb with them: it is what they are
        held against.

        Raises:
            ConfigError: an arm needs statements and nobody is asked for them, or
                vectors may cost more than `enrichment.max_usd`.
            RecordError: a chunk file does not fit the corpus.
        """
        counter = self.job.preparer.counter
        leaves, grounds = self.corpus.leaves, self.corpus.grounds
        kinds, wanted, prompts = self._kinds(), self._wanted(), self._prompts()
        self._check_names()
        for prompt in prompts if wanted else ():
            refuse_questions(prompt)
            job_for(self.job, prompt, self.spending).asked().check()
        arms = (
            *(
                bare(leaves, kind, counter)
                for kind in FREE
                if kind in kinds or (wanted and kind == "breadcrumb")
            ),
            *(windows(grounds, size, counter) for size in self.request.windows),
            *(
                chunk_file(name, path, grounds, counter)
                for name, path in self.request.chunk_files
            ),
        )
        more = len(wanted) * len(prompts) * len(self.request.placings)
        self._set_aside(arms, more)
        return arms

    def with_statements(self) -> Iterator[Arm]:
        """Yield the arms of every prompt's statements, asked for where not at hand.

        Raises:
            SituateError: no request can succeed.
        """
        wanted, counter = self._wanted(), self.job.preparer.counter
        for prompt in self._prompts() if wanted else ():
            job = job_for(self.job, prompt, self.spending)
            said = statements(job, self.sources, self.spending, self.watcher)
            for kind in wanted:
                for placing in self.request.placings:
                    yield stated(self.corpus.leaves, kind, said, placing, counter)

    def _wanted(self) -> list[Kind]:
        return [kind for kind in self._kinds() if kind not in FREE]

    def _prompts(self) -> tuple[str, ...]:
        asks = self.job.config.enrichment
        own = (asks.prompt,) if asks.enabled and asks.prompt is not None else ()
        return tuple(dict.fromkeys(self.request.prompts or own))

    def _kinds(self) -> tuple[Kind, ...]:
        """Give the kinds of arms to make; none that nobody would see.

        Raises:
            ConfigError: those that are named need statements, and nobody is asked for
                them, or no retriever would see them.
        """
        request, prompts = self.request, self._prompts()
        unseen = request.placings == ("dense",) and LEXICAL.issuperset(
            request.retrievers
        )
        if not request.kinds:
            return KINDS if prompts and not unseen else FREE
        wanted = [kind for kind in request.kinds if kind not in FREE]
        if wanted and not prompts:
            message = f"arm {wanted[0]!r} needs statements: name --prompts"
            raise ConfigError(message)
        if wanted and unseen:
            message = (
                f"arm {wanted[0]!r}: no retriever named sees statements in the dense "
                "index alone; name dense or hybrid, or --statement-in both"
            )
            raise ConfigError(message)
        return request.kinds

    @property
    def names(self) -> tuple[str, ...]:
        """What the arms will be called, in no order."""
        request, wanted = self.request, self._wanted()
        return (
            *(
                kind
                for kind in FREE
                if kind in self._kinds() or (wanted and kind == "breadcrumb")
            ),
            *(
                name_of(kind, prompt, placing)
                for kind in wanted
                for prompt in self._prompts()
                for placing in request.placings
            ),
            *(f"fixed:{size}" for size in request.windows),
            *(name for name, _ in request.chunk_files),
            *(f"run:{name}" for name, _ in request.run_files),
        )

    def _check_names(self) -> None:
        """Refuse two arms of one name, and those of situate's for others.

        Raises:
            ConfigError: names are not told apart.
        """
        names = Counter((*self.names, *set(FREE).difference(self.names)))
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            message = f"two arms are called {twice!r}; give each its own name"
            raise ConfigError(message)

    def _set_aside(self, known: Sequence[Arm], more: int) -> None:
        """Say what a vendor's vectors cost at most, and set that much aside.

        `known` are the arms whose texts are there; `more` will have a statement more
        for each leaf. What does not fit is refused before anything is paid for.

        Raises:
            ConfigError: it goes beyond `enrichment.max_usd`, or that is unset.
        """
        kind, _, model = self.request.embedder.partition(":")
        if kind != "openai" or LEXICAL.issuperset(self.request.retrievers):
            return
        tokens = self._embedded(known, more)
        told = f"embedding: at most {tokens:,} tokens with {model}"
        price = load_models().embedding(model)
        enrichment = self.job.config.enrichment
        if price is None:
            self.watcher.note(f"{told}, whose price is not known")
            most_tokens = enrichment.max_total_tokens
            if most_tokens is not None and tokens > most_tokens:
                message = f"{told}; enrichment.max_total_tokens is {most_tokens:,}"
                raise ConfigError(message)
            self.spending.tokens += tokens
            return
        cost, most = price.cost(tokens), enrichment.max_usd
        self.watcher.note(f"{told}, ${cost:.4f}")
        if most is None or cost > most:
            limit = "unset" if most is None else f"{most}"
            message = f"embedding may cost ${cost:.4f}; enrichment.max_usd is {limit}"
            raise ConfigError(message)
        self.spending.usd += cost

    def _embedded(self, known: Sequence[Arm], more: int) -> int:
        """Count the tokens that are embedded at most: entries, documents, questions."""
        config, counter = self.job.config, self.job.preparer.counter
        texts = [entry for arm in known for entry in (*arm.entries, *arm.documents)]
        tokens = sum(entry.embed_tokens for entry in texts)
        if more:
            line = max(known, key=lambda arm: arm.kind == "breadcrumb")
            own = sum(entry.embed_tokens for entry in (*line.entries, *line.documents))
            said = len(line.entries) * (config.enrichment.statement_max_tokens + JOINS)
            tokens += more * (own + said)
        queries = sum(counter.count(query) for query in self.queries)
        instruction = counter.count(config.embedder.instruction or "")
        own_texts = len(known[0].entries) + len(known[0].documents)
        texts_more = len(texts) + more * own_texts
        return tokens + queries + instruction * texts_more
