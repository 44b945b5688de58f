"""Questions that a model drafts, one for each chunk that is drawn.

Asked as statements are: priced first, within the config's limits, kept in the cache
and noted in a ledger. The model should be another one than writes the statements:
it would ask in the words that it has put into their index itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from situate.compare.drafting import MODEL, QUESTIONS, Draft, draw
from situate.enrichment.audience import withheld
from situate.enrichment.cache import Cache
from situate.enrichment.estimate import estimate
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import Session
from situate.enrichment.plan import plan
from situate.enrichment.reasons import REASONS
from situate.errors import ConfigError
from situate.model import leaf_ids
from situate.pipeline.comparison.stating import Spending, job_for
from situate.pipeline.enriching import waited_for
from situate.pipeline.watching import Forecast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.compare.drafting import Drawn, Limits
    from situate.enrichment.answers import Settled
    from situate.enrichment.estimate import Estimate
    from situate.enrichment.live import Summary
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.questions import Passage
    from situate.pipeline.asking import Asking
    from situate.pipeline.documents import Prepared
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher

PROMPT: Final = "question-v1"

_MOST_TOKENS: Final = 60
"""Of a question: 25 words, in languages whose words are long too. Whatever cap the
config has for statements, an answer is found again under this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questioning:
    """What a model is asked for."""

    limits: Limits
    model: str | None = None
    """Who is asked; None for the config's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is asked about the chunks of one document."""

    document: Prepared
    plan: DocumentPlan
    drawn: Mapping[str, Drawn]
    """By the id of the chunk."""


def questions(
    job: Job,
    documents: Sequence[Prepared],
    asked: Questioning,
    *,
    seed: int,
    watcher: Watcher,
) -> tuple[tuple[Draft, ...], bool]:
    """Draft a question for each chunk drawn; say whether all could be asked about.

    What that will cost is said first. A question that does not pass is repaired once,
    else there is none: how many, and why, is said.

    Raises:
        ConfigError: no provider or model is named, limits do not fit the model, or
            answers cannot be kept.
        SituateError: no request can succeed.
    """
    asking = _asking(job, asked, watcher)
    asking.check()
    drawn = draw(
        [(each.document, each.chunks) for each in documents],
        asked.limits,
        seed=seed,
        withheld=_withheld(asking, documents),
    )
    if not drawn:
        watcher.note("no chunk has anything to ask a model about")
        return (), True
    works = _planned(job, asking, documents, drawn)
    ledger = job.config.output.beside("queries.ledger.jsonl")
    with Cache(asking.cache_place) as cache, Ledger(ledger) as entries:
        found = _estimated(asking, works, cache)
        watcher.forecast(_forecast(job, asking, found, works))
        if found.requests:
            asking.provider.check()
        settled, summary = waited_for(_asked(job, asking, works, (cache, entries)))
    drafts = tuple(_drafts(works, settled))
    _report(asking, summary, watcher)
    return drafts, summary.stopped is None


def _asking(job: Job, asked: Questioning, watcher: Watcher) -> Asking:
    """Give whom to ask, and say so where the same model writes the statements.

    Raises:
        ConfigError: no provider or model is named, or one cannot be used.
    """
    config = job.config
    own = config.enrichment
    model = asked.model or own.model
    if own.provider is None or model is None:
        message = (
            f"{config.path}: enrichment.provider and a model are needed for questions "
            "that a model drafts; name them there, the model there or with --model"
        )
        raise ConfigError(message)
    if own.enabled and model == own.model:
        watcher.note(
            f"{model} drafts the questions and writes the statements as well, and "
            "finds again what it would say itself; name another with --model, or a "
            "config that names one"
        )
    enrichment = replace(
        own,
        model=model,
        # Who answered stands beside each question.
        accept_models=(),
        view="auto" if own.view == "marked" else own.view,
        statement_max_tokens=_MOST_TOKENS,
    )
    asked_so = replace(job, config=replace(config, enrichment=enrichment))
    return job_for(asked_so, PROMPT, Spending()).asked()


def _withheld(asking: Asking, documents: Sequence[Prepared]) -> frozenset[str]:
    """Name the chunks that no model may be shown (S6)."""
    conditions = asking.settings.enrich_when
    if conditions is None:
        return frozenset()
    found: set[str] = set()
    for each in documents:
        ids = leaf_ids(each.chunks)
        leaves = [chunk for chunk in each.chunks if chunk.chunk_id in ids]
        found |= withheld(each.document, leaves, conditions)
    return frozenset(found)


def _planned(
    job: Job, asking: Asking, documents: Sequence[Prepared], drawn: Sequence[Drawn]
) -> list[_Work]:
    """Plan the requests of the documents that chunks were drawn from."""
    by_document: dict[str, dict[str, Drawn]] = {}
    for each in drawn:
        by_document.setdefault(each.chunk.doc_id, {})[each.chunk.chunk_id] = each
    return [
        _Work(
            document=document,
            plan=plan(
                document.chunks,
                document.document,
                settings=asking.settings,
                prompt=asking.prompt,
                provider=asking.provider,
                facts=asking.facts,
                counter=job.preparer.counter,
                asked=chosen.keys(),
            ),
            drawn=chosen,
        )
        for document in documents
        if (chosen := by_document.get(document.doc_id))
    ]


def _estimated(asking: Asking, works: Sequence[_Work], cache: Cache) -> Estimate:
    """Price what is not at hand; under replay, all of it."""

    def known(passage: Passage) -> bool:
        return not asking.settings.replayed and cache.knows(passage)

    return estimate(
        (work.plan for work in works),
        settings=asking.settings,
        facts=asking.facts,
        known=known,
        stored=None if asking.settings.replayed else cache.holds,
    )


def _forecast(
    job: Job, asking: Asking, found: Estimate, works: Sequence[_Work]
) -> Forecast:
    return Forecast(
        corpus=f"{job.config.corpus.name}, questions of a model",
        documents=len(works),
        failed=(),
        chunks=sum(len(work.drawn) for work in works),
        provider=asking.settings.provider,
        model=asking.settings.model,
        estimate=found,
        objection=asking.objection(found),
    )


async def _asked(
    job: Job, asking: Asking, works: Sequence[_Work], kept: tuple[Cache, Ledger]
) -> tuple[list[dict[int, Settled]], Summary]:
    """Ask about all documents at once; give what became of each, in their order."""
    async with (
        Session(
            settings=asking.settings,
            prompt=asking.prompt,
            provider=asking.provider,
            cache=kept[0],
            ledger=kept[1],
            counter=job.preparer.counter,
            facts=asking.facts,
            gate=QUESTIONS,
        ) as session,
        asyncio.TaskGroup() as group,
    ):
        tasks = [
            group.create_task(session.settle(work.document.document, work.plan))
            for work in works
        ]
    return [task.result() for task in tasks], session.summary


def _drafts(
    works: Sequence[_Work], settled: Sequence[Mapping[int, Settled]]
) -> list[Draft]:
    """Give the questions in the order of documents, then of reading."""
    found = []
    for work, outcomes in zip(works, settled, strict=True):
        for index in sorted(outcomes):
            outcome, chunk = outcomes[index], work.document.chunks[index]
            if outcome.statement is None:
                continue
            found.append(
                Draft(
                    query=outcome.statement,
                    kind=MODEL,
                    gold=(work.drawn[chunk.chunk_id].gold,),
                    section_id=chunk.section_id,
                    model=outcome.model,
                    prompt=PROMPT,
                )
            )
    return found


def _report(asking: Asking, summary: Summary, watcher: Watcher) -> None:
    """Say what came of it, where that is not a question for each chunk."""
    model = asking.settings.model
    for warning in summary.warnings:
        watcher.note(warning)
    failed = sum(summary.fallbacks.values())
    if failed:
        reasons = ", ".join(f"{name} {n:,}" for name, n in summary.fallbacks.items())
        watcher.note(
            f"{model}: no question for {failed:,} of {summary.chunks:,} chunks "
            f"({reasons})"
        )
    if summary.stopped is not None:
        watcher.note(
            f"{model}: {sum(summary.skipped.values()):,} chunks were not asked about: "
            f"{summary.stop_message or REASONS[summary.stopped]}"
        )
