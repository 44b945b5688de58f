"""The statements of a corpus, prompt by prompt, for `compare`.

Nothing is published: answers go into the cache, where the next `run` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, get_args

from situate.compare.arms import Statements
from situate.enrichment.asking import Held
from situate.enrichment.batches import outstanding
from situate.enrichment.cache import Cache
from situate.enrichment.estimate import Tally
from situate.enrichment.ledger import Ledger
from situate.enrichment.reasons import NOT_WANTED, REASONS, ChunkReason
from situate.pipeline.asking import Asking
from situate.pipeline.documents import Prepared
from situate.pipeline.enriching import Kept, ask
from situate.pipeline.shortfall import cut_short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from situate.corpus import Source
    from situate.enrichment.live import Summary
    from situate.model import Chunk
    from situate.pipeline.documents import Failed
    from situate.pipeline.jobs import Job
    from situate.pipeline.watching import Watcher


@dataclass(slots=True)
class Spending:
    """What a comparison has spent so far: its prompts share the limits of a run."""

    usd: Decimal = Decimal(0)
    tokens: int = 0


def job_for(job: Job, prompt: str, spending: Spending) -> Job:
    """Give the job that asks with another prompt, live, with what is left to spend.

    Batches are for runs: what waits in one is not asked for twice, and what does not
    is asked for now.

    Raises:
        ConfigError: no provider is named, or the prompt cannot be used.
    """
    asked = job.config.enrichment
    usd, tokens = asked.max_usd, asked.max_total_tokens
    enrichment = replace(
        asked,
        enabled=True,
        prompt=prompt,
        mode="live",
        max_usd=None if usd is None else max(Decimal(0), usd - spending.usd),
        max_total_tokens=None if tokens is None else max(0, tokens - spending.tokens),
    )
    config = replace(job.config, enrichment=enrichment)
    return replace(job, config=config, asking=Asking.of(config))


def statements(
    job: Job, sources: Sequence[Source], spending: Spending, watcher: Watcher
) -> Statements:
    """Ask for the statements of one prompt, as far as they are not at hand.

    What it will cost is said first, and the limits of the config hold.

    Raises:
        ConfigError: limits do not fit the model, or answers cannot be kept.
        SituateError: no request can succeed.
    """
    asking = job.asked()
    asking.check()
    forecast = job.forecast(sources, watcher)
    watcher.forecast(forecast)
    for reason in forecast.withheld:
        watcher.note(reason)
    if forecast.estimate is not None and forecast.estimate.requests:
        asking.provider.check()
    found: dict[str, str] = {}

    def take(_: Prepared | Failed, chunks: Sequence[Chunk]) -> None:
        found.update(
            (chunk.chunk_id, chunk.statement) for chunk in chunks if chunk.statement
        )
        watcher.advance()

    watcher.begin(f"{job.config.corpus.name}: {asking.settings.prompt}", len(sources))
    held = None
    if not asking.settings.replayed:
        held = Held(outlook=outstanding(asking.cache_directory))
    ledger = job.config.output.beside("compare.ledger.jsonl")
    with Cache(asking.cache_place) as cache, Ledger(ledger) as entries:
        summary = ask(job, sources, Kept(cache=cache, ledger=entries, held=held), take)
    spending.usd += summary.cost_usd or 0
    spending.tokens += summary.usage.input + summary.usage.output
    if summary.stopped is not None:
        said = cut_short(sum(summary.skipped.values()), summary.fallbacks)
        watcher.note(
            f"{asking.settings.prompt}: {said}: "
            f"{summary.stop_message or REASONS[summary.stopped]}"
        )
    if summary.fallbacks:
        reasons = ", ".join(f"{name} {n}" for name, n in summary.fallbacks.items())
        watcher.note(
            f"{asking.settings.prompt}: {sum(summary.fallbacks.values())} chunks have "
            f"no answer of use: {reasons}"
        )
    return Statements(
        prompt=asking.settings.prompt,
        by_chunk=found,
        usd=_list_price(job, asking, sources),
        unanswered=_unanswered(job, summary),
        shortfall=_shortfall(job, summary),
    )


def _unanswered(job: Job, summary: Summary) -> int:
    """Count chunks without an answer to judge, where a run may not have so many."""
    wanting = [reason for reason in summary.skipped if reason not in NOT_WANTED]
    missing = sum(summary.skipped[reason] for reason in wanting)
    missing += sum(summary.fallbacks.get(reason, 0) for reason in get_args(ChunkReason))
    asked = missing + summary.statements
    most = job.config.enrichment.max_fallback_share
    return missing if asked and missing / asked > most else 0


def _shortfall(job: Job, summary: Summary) -> str | None:
    """Say what keeps the statements from being all that were wanted."""
    if summary.stopped is not None:
        return cut_short(sum(summary.skipped.values()), summary.fallbacks)
    fallbacks = sum(summary.fallbacks.values())
    asked = fallbacks + summary.statements
    most = job.config.enrichment.max_fallback_share
    if asked and fallbacks / asked > most:
        return (
            f"{fallbacks} of {asked} chunks got no statement, above "
            f"enrichment.max_fallback_share = {most}"
        )
    return None


def _list_price(job: Job, asking: Asking, sources: Sequence[Source]) -> Decimal | None:
    """Give what all statements cost with nothing at hand: the upper estimate."""
    tally = Tally(settings=asking.settings, facts=asking.facts)
    for document in job.preparer.prepare_all(sources):
        if isinstance(document, Prepared):
            tally.add(asking.plan(document, job.preparer), lambda _: False)
    return tally.estimate().usd_high
