"""`compare`: a corpus's own documents and questions, every arm, one answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from situate.compare import notes
from situate.compare.browsing import browse
from situate.compare.comparison import Comparison
from situate.compare.embedders import open_embedder, open_reranker
from situate.compare.embedders.contract import PaidEmbedder
from situate.compare.frontier import frontier
from situate.compare.lexical import analyzer
from situate.compare.mixing import pair
from situate.compare.needs import needs
from situate.compare.outside import run_file
from situate.compare.querylog import (
    basis,
    blind_page,
    check_judged,
    contests,
    load_log,
    read_judged,
)
from situate.compare.questions import load
from situate.compare.ranking import LEXICAL
from situate.compare.report import page, to_json
from situate.compare.summary import (
    counted_of,
    facts,
    judged_arms,
    rivals,
    summarize,
)
from situate.compare.trial import Setting, retrievers_of, try_arm, try_run
from situate.compare.vectors import Vectors
from situate.errors import ConfigError
from situate.files import is_folder, resolved
from situate.output import Output, writing
from situate.pipeline.comparison.arming import Maker, prepared, read_corpus
from situate.pipeline.jobs import ready
from situate.pipeline.living.decisive import config_of
from situate.pricing import load_models

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from situate.compare.arms import Arm
    from situate.compare.embedders.contract import Reranker
    from situate.compare.frontier import Frontier
    from situate.compare.questions import Question
    from situate.compare.trial import Result
    from situate.config import Config
    from situate.corpus import Source
    from situate.pipeline.comparison.arming import Corpus, Request
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher


_NO_PAGE = (
    "--query-log: there is nothing to judge: no arm has statements that a retriever of "
    "these sees, or all arms hand over the same for every query"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a comparison came to, and where it stands."""

    comparison: Comparison
    json: bytes
    written: tuple[Path, ...]
    short: tuple[str, ...]
    """What keeps the statements from being all that were wanted."""


def compare(config: Config, request: Request, watcher: Watcher) -> Compared:
    """Compare the arms of a corpus on its questions, and write the report.

    Raises:
        ConfigError: something in the config or the request cannot be used.
        RecordError: the questions, chunks or rankings given do not match the corpus.
        Locked: another comparison writes the same report.
        SituateError: no document can be read, or no request can succeed.
    """
    if request.queries is None and request.query_log is None and not request.judged:
        message = "nothing to compare on: name --queries, --query-log or --judged"
        raise ConfigError(message)
    trees = request.returned == "section" or request.drilled
    if trees and config.chunking.granularity == "leaves":
        config = replace(config, chunking=replace(config.chunking, granularity="tree"))
    job = ready((config,))[0]
    sources = job.sources()
    report = resolved(request.report or config.output.beside("compare.html"))
    if not report.name or is_folder(report):
        message = f"--report: {str(request.report)!r} is no file; name an HTML file"
        raise ConfigError(message)
    beside = report.with_suffix(".json")
    if beside == report:
        message = f"--report: {str(report)!r} is where the JSON goes; name an HTML file"
        raise ConfigError(message)
    kept = (*job.kept(sources), *config.output.files, *request.files)
    with Output(report, beside, kept=kept) as files, writing(report):
        work = _worked(job, sources, request, watcher)
        written = {
            report: page(work.comparison),
            beside: to_json(work.comparison),
            **{
                report.with_name(f"{report.stem}.{name}"): content
                for name, content in work.pages.items()
            },
        }
        drafts = []
        for path, content in written.items():
            draft = files.draft(path.name)
            draft.write(content)
            drafts.append(draft)
        files.publish(*drafts)
    return Compared(
        comparison=work.comparison,
        json=written[beside],
        written=tuple(written),
        short=work.short,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """All that is to be written."""

    comparison: Comparison
    pages: Mapping[str, bytes]
    """Pages to judge on and their keys, by the end of their names."""
    short: tuple[str, ...]
    """What keeps the statements from being all that were wanted."""


def _worked(
    job: Job, sources: Sequence[Source], request: Request, watcher: Watcher
) -> _Work:
    """Read, ask, index, rank and judge; what can be wrong is found before asking."""
    outcomes = prepared(job, sources, watcher)
    job = replace(job, preparer=replace(job.preparer, at_hand=outcomes))
    corpus = read_corpus(job, outcomes)
    questions: tuple[Question, ...] = ()
    if request.queries is not None:
        questions = load(request.queries, corpus.grounds)
    log = load_log(request.query_log) if request.query_log is not None else ()
    embedder = open_embedder(
        request.embedder,
        base_url=request.base_url,
        instruction=job.config.embedder.instruction,
    )
    reranker = open_reranker(request.reranker) if request.reranker else None
    judged = read_judged(request.judged)
    maker = Maker(
        job=job,
        sources=sources,
        corpus=corpus,
        request=request,
        watcher=watcher,
        queries=[one.query for one in (*questions, *log)],
    )
    arms = list(maker.without_statements())
    check_judged(judged, maker.names)
    runs = [run_file(name, path, questions, arms) for name, path in request.run_files]
    is_lexical = LEXICAL.issuperset(request.retrievers)
    if isinstance(embedder, PaidEmbedder) and not is_lexical:
        embedder.check()
    arms += maker.with_statements()
    with Vectors(embedder, job.config.cache.directory) as vectors:
        setting = _setting(request, corpus, vectors, reranker)
        results = [*_tried(arms, questions, setting, watcher)] if questions else []
        results += [try_run(run, questions, setting) for run in runs]
        frontiers = list(_frontiers(arms, questions, log, setting, request.terms.seed))
        pages = dict(_blind_pages(job, arms, log, setting, request.terms.seed))
        arms += [run.arm for run in runs]
        told = (
            *corpus.notes,
            *(notes.of_budget(arms, setting) if questions else ()),
            *notes.of_questions(questions, runs),
            *notes.of_arms(arms, setting),
            *notes.of_frontiers(frontiers),
            *_of_log(log, pages),
            *vectors.notes,
        )
    found = summarize(arms, results, questions, judged, request.terms)
    shown, entries = browse(
        questions, results, corpus.grounds, request.terms.cuts.primary
    )
    comparison = Comparison(
        corpus=job.config.corpus.name,
        documents=len(corpus.grounds),
        questions=len(questions),
        clusters=len({question.cluster for question in questions}),
        origins=found.origins,
        primary=request.terms.cuts.primary,
        margin=request.terms.margin,
        seed=request.terms.seed,
        embedder=None if setting.embedder is None else setting.embedder.name,
        verdicts=found.verdicts,
        arms=facts(arms, setting.words),
        standings=found.standings,
        frontier=tuple(point for each in frontiers for point in each.points),
        milliseconds={
            f"{result.retriever} / {result.arm}": result.milliseconds
            for result in results
            if result.milliseconds is not None
        },
        notes=told,
        made=_made(job, request),
        shown=shown,
        entries=entries,
    )
    short = [
        f"{arm.statements.prompt}: {arm.statements.shortfall}"
        for arm in arms
        if arm.statements and arm.statements.shortfall
    ]
    return _Work(comparison=comparison, pages=pages, short=tuple(dict.fromkeys(short)))


def _made(job: Job, request: Request) -> dict[str, str]:
    """Say how a comparison was made; nothing of when and where."""
    config, chunking = config_of(job), job.config.chunking
    asked = config.enrichment
    made = {
        "situate": version("situate"),
        "Config": f"{config.hash}, {chunking.max_tokens} {chunking.tokenizer} tokens",
        "Retrievers": ", ".join(request.retrievers),
        "Handed over": request.returned,
        "Ranked": "documents first, then leaves" if request.drilled else "leaves",
    }
    if request.queries is not None:
        made["Question file"] = request.queries.name
    if request.reranker is not None:
        made["Reranker"] = request.reranker
    if asked.model is not None:
        prices = load_models().facts(asked.provider or "", asked.model).prices
        told = "no price known" if prices is None else f"prices of {prices.as_of}"
        made["Model"] = f"{asked.model}, {told}"
    return made


def _setting(
    request: Request, corpus: Corpus, vectors: Vectors, reranker: Reranker | None
) -> Setting:
    """Give how every arm is asked."""
    needs_vectors = not LEXICAL.issuperset(request.retrievers)
    return Setting(
        retrievers=request.retrievers,
        words=analyzer(corpus.language),
        embedder=vectors if needs_vectors else None,
        reranker=reranker,
        cuts=request.terms.cuts,
        returned=request.returned,
        drilled=request.drilled,
    )


def _tried(
    arms: Sequence[Arm],
    questions: Sequence[Question],
    setting: Setting,
    watcher: Watcher,
) -> Iterator[Result]:
    watcher.begin("comparing", len(arms))
    for arm in arms:
        yield from try_arm(arm, questions, setting)
        watcher.advance()


def _of_log(log: Sequence[Question], pages: Mapping[str, bytes]) -> Iterator[str]:
    """Say what became of a query log."""
    if not log:
        return
    if not pages:
        yield _NO_PAGE
    for name in pages:
        if name.endswith(".key.json"):
            yield (
                f"{len(log):,} queries logged: judge the page {name[:-9]}.html in a "
                f"browser, save, and pass --judged KEY={name} and the saved file"
            )


def _blind_pages(
    job: Job,
    arms: Sequence[Arm],
    log: Sequence[Question],
    setting: Setting,
    seed: int,
) -> Iterator[tuple[str, bytes]]:
    """Yield a page and its key for every arm with a verdict, by the end of its name.

    The retriever is the last named that sees the statements.
    """
    by_name = {arm.name: arm for arm in arms}
    against = rivals(arms)
    for arm in judged_arms(arms) if log else ():
        rival = by_name.get(against[arm.name] or "")
        seen = retrievers_of(arm, setting)
        if rival is None or not seen:
            continue
        one = replace(setting, retrievers=seen[-1:])
        names = tuple(f"{seen[-1]}: {each.name}" for each in (arm, rival))
        found = contests((arm, rival), log, one, seen[-1], seed=seed)
        if not found[0]:
            continue
        content, key = blind_page(
            job.config.corpus.name,
            (names[0], names[1]),
            found,
            basis=basis(arm, rival),
            seed=seed,
        )
        # Named by what is on it: a page that is being judged is not replaced.
        yield f"blind-{key.page}.html", content
        yield f"blind-{key.page}.key.json", key.to_json()


def _frontiers(
    arms: Sequence[Arm],
    questions: Sequence[Question],
    log: Sequence[Question],
    setting: Setting,
    seed: int,
) -> Iterator[Frontier]:
    """Yield what buying a share of the statements would bring, arm by arm.

    Mixtures are ranked as leaves, by what the dense index has: not where sections are
    handed over, levels drilled down or rankings ordered anew. Drafted questions have
    no say where others are given.
    """
    plain = setting.returned == "leaf" and not setting.drilled
    if not questions or not plain or setting.reranker or setting.embedder is None:
        return
    counted = [questions[number] for number in counted_of(questions)]
    by_name = {arm.name: arm for arm in arms}
    for arm in judged_arms(arms):
        if arm.kind != "breadcrumb+statement" or arm.placing != "dense":
            continue
        both = pair(by_name["breadcrumb"], arm, setting.embedder)
        asked = [question.query for question in log]
        rows = setting.embedder.embed(asked, "query") if asked else None
        scores = needs(both, setting.words, rows)
        yield frontier(both, counted, setting, scores, seed=seed)
