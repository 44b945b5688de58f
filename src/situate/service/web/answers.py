"""Writes the pipeline's values as the JSON that the service answers with."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING

from situate.enrichment.reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from situate.config import Config
    from situate.manifest import Spent
    from situate.pipeline.watching import Forecast
    from situate.pipeline.written import Written
    from situate.service.values import CorpusView, JobView


def chunked(name: str, written: Written, spent: Spent) -> bytes:
    """Write a document's chunks; each record to the byte as `situate run` has it."""
    outcomes = {
        status if reason is None else f"{status}:{reason}": count
        for (status, reason), count in written.outcomes.items()
    }
    document = {
        "name": name,
        "doc_id": written.doc_id,
        "version": written.version,
        "chunks": sum(written.levels.values()),
        "outcomes": outcomes,
    }
    records = b",".join(written.chunks.splitlines())
    return b'{"document":%b,"chunks":[%b],"spent":%b,"warnings":%b}' % (
        to_json(document),
        records,
        to_json(spending(spent)),
        to_json(written.warnings),
    )


def priced(forecast: Forecast) -> bytes:
    """Write a forecast as `situate plan --json` does."""
    return to_json(asdict(forecast))


def spending(spent: Spent) -> dict[str, object]:
    """Give what was asked and spent."""
    return {
        "requests": spent.requests,
        "cache_hits": spent.cache_hits,
        "usage": asdict(spent.usage),
        "cost_usd": spent.cost_usd,
        "stopped": spent.stopped and _reason(spent.stopped),
    }


def _reason(stopped: str) -> str:
    """Say why asking ended in words of ours: those of a server name where it is."""
    reason = stopped.partition(":")[0]
    return f"{reason}: {REASONS[reason]}"


def job(view: JobView) -> dict[str, object]:
    """Give a job as it stands; whose it is, they know themselves."""
    return {
        "job_id": view.job_id,
        "corpus": view.corpus,
        "state": view.state,
        "documents": view.documents,
        "finished": view.finished,
        "failed": view.failed,
        "chunks": view.chunks,
        "outcomes": dict(view.outcomes),
        "spent": spending(view.spent),
        "failures": [asdict(failure) for failure in view.failures],
        "reason": view.reason,
        "created": view.created.isoformat(),
        "ended": view.ended and view.ended.isoformat(),
        "expires": view.expires and view.expires.isoformat(),
    }


def corpus(config: Config, view: CorpusView) -> dict[str, object]:
    """Give what a client may know of a corpus: no path, address or secret."""
    return {
        "name": view.name,
        "doc_type": config.corpus.doc_type,
        "max_tokens": config.chunking.max_tokens,
        "min_tokens": config.chunking.min_tokens,
        "granularity": config.chunking.granularity,
        "tokenizer": config.chunking.tokenizer,
        "statements": config.enrichment.enabled,
        "provider": view.provider,
        "model": view.model,
        "prompt": config.enrichment.prompt if config.enrichment.enabled else None,
        "max_usd": view.max_usd,
        "max_usd_month": view.max_usd_month,
    }


def to_json(value: object) -> bytes:
    """Write JSON; half a character becomes the escape that JSON reads it from."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _plain(money: Decimal | Mapping[object, object]) -> object:
    """Write dollars without an exponent, and exactly."""
    return f"{money:f}" if isinstance(money, Decimal) else dict(money)
