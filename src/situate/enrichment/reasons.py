"""Why a chunk has no statement: the whole vocabulary, in one place.

These words stand in `metadata.enrichment.reason`, in manifests and in exit
messages. A chunk is a `fallback` when its own question failed, and `skipped`
when enrichment had stopped before its question was settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from situate.model import Enrichment

GateReason = Literal[
    "redacted",
    "too_short",
    "too_long",
    "language",
    "url",
    "instruction",
    "markup",
    "copy",
    "number",
    "date",
    "unit",
    "quotation",
    "name",
]
"""The model answered, twice, and neither answer is fit to be indexed."""

ChunkReason = Literal[
    "refusal",
    "empty",
    "truncated",
    "rejected",
    "context_too_long",
    "not_recorded",
    "rate_limited",
    "unavailable",
]
"""There is no answer to judge, for this chunk alone."""

QuestionReason = Literal["no_question", "pointer", "headings", "unrelated", "verbatim"]
"""A question was asked for, for `compare`, and what came is none: it stands in no
record of a chunk."""

FallbackReason: TypeAlias = GateReason | QuestionReason | ChunkReason

SkipReason = Literal[
    "one_chunk", "no_prose", "not_allowed", "pending", "redaction_failed"
]
"""A chunk is not asked about: it needs no statement, is not to be shown to a model,
the batch it was handed to has not ended, or nobody could say what of its document to
hide."""

NOT_WANTED = frozenset({"one_chunk", "no_prose", "not_allowed"})
"""Why chunks are skipped of which nothing is missing."""

NOT_SHOWN = frozenset({"not_allowed", "redaction_failed"})
"""Why chunks are skipped that no model may see."""

AGAIN = frozenset({"rate_limited", "unavailable"})
"""Why chunks are fallbacks of which another run may get a statement."""

StopReason = Literal[
    "budget",
    "deadline",
    "quota",
    "authentication",
    "model_unknown",
    "unusable",
    "wait_too_long",
    "outage",
    "cache",
    "ledger",
]
"""What ended enrichment; chunks are published and the next run goes on."""

REASONS: dict[str, str] = {
    "redacted": "the answer holds what enrichment.redact hides from the model",
    "too_short": "the answer is no sentence",
    "too_long": "the answer is above statement_max_tokens",
    "language": "the answer is not in the document's language",
    "url": "the answer holds a link or an e-mail address",
    "instruction": "the answer tells a reader or a model what to do",
    "markup": "the answer holds JSON, tags or table marks",
    "copy": "the answer repeats the document or its headings",
    "number": "the answer holds a number that was not shown to the model",
    "date": "the answer holds a date or time that was not shown to the model",
    "unit": "the answer gives a number another unit than it was shown with",
    "quotation": "the answer quotes words that were not shown to the model",
    "name": "the answer holds a name that was not shown to the model",
    "refusal": "the model refused",
    "empty": "the model answered nothing, asked twice",
    "truncated": (
        "the answer reached the output limit, also with twice the room; "
        "raise statement_max_tokens"
    ),
    "rejected": "the provider refused this request",
    "context_too_long": "document and chunk do not fit the model",
    "not_recorded": "the cassette holds no reply to this request",
    "rate_limited": "the provider said to slow down on every attempt",
    "unavailable": "the provider failed on every attempt",
    "one_chunk": (
        "the document, or all of it that may be shown together, is this chunk; its "
        "headings say where it stands"
    ),
    "no_prose": "headings, links, directives or data alone; no sentence helps",
    "not_allowed": (
        "metadata, its own or that of what it lies in, is not what enrich_when names"
    ),
    "pending": "the batch that asks for it has not ended; `batch collect` fetches it",
    "redaction_failed": (
        "enrichment.redact failed for the document; nothing of it was sent"
    ),
    "budget": (
        "the next request would have crossed max_usd, max_usd_month or max_total_tokens"
    ),
    "deadline": "enrichment.deadline had passed",
    "quota": "the account has nothing left to spend",
    "authentication": "the provider stopped accepting the key",
    "model_unknown": "the provider stopped serving the model",
    "unusable": "the provider stopped serving this address",
    "wait_too_long": "the provider asked for a wait above max_wait_seconds",
    "outage": "the provider answered nothing, chunk after chunk",
    "cache": "the cache cannot be read or written",
    "ledger": "the ledger cannot be written",
}
"""What each reason means, for people."""


def is_open(enrichment: Enrichment) -> bool:
    """Tell whether asking again may bring a statement, or a newer one."""
    reason = enrichment.reason
    match enrichment.status:
        case "skipped":
            return reason not in NOT_WANTED
        case "fallback":
            return reason in AGAIN
        case _:
            return enrichment.overdue
