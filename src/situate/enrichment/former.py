"""Statements of before, and chunks that nothing came for (E10, S7).

Pure. A statement stays while what it is about is as it was and the gate lets it
through: what it says of the rest of its document may have become wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, get_args

from situate.enrichment.gate import STATEMENTS
from situate.enrichment.reasons import ChunkReason, is_open
from situate.model import Enrichment, is_paragraph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from situate.enrichment.contexts import Contexts
    from situate.enrichment.gate import Gate
    from situate.enrichment.plan import DocumentPlan
    from situate.enrichment.reasons import StopReason
    from situate.model import Chunk
    from situate.prompts import Prompt

_UNANSWERED: Final = frozenset(get_args(ChunkReason)) - {"refusal"}


def kept(
    outcomes: Mapping[int, Enrichment],
    former: Mapping[str, Enrichment],
    contexts: Contexts,
    gate: Gate,
) -> dict[int, Enrichment]:
    """Give what became of chunks, those with a statement of before that stays.

    `former` has them by the ids of chunks that are as they were.
    """
    found = dict(outcomes)
    for request in contexts.planned.requests:
        for passage in request.passages:
            now, before = found.get(passage.index), former.get(passage.chunk_id)
            if now is None or before is None or not _is_unanswered(now):
                continue
            said = before.statement or ""
            if contexts.judge(gate, said, request, passage).statement == said:
                found[passage.index] = replace(before, overdue=True)
    return found


def _is_unanswered(now: Enrichment) -> bool:
    """Tell whether nobody said anything: an answer that is refused is one."""
    return is_open(now) or now.reason in _UNANSWERED


def without_asking(
    chunks: Sequence[Chunk],
    former: Mapping[str, Enrichment],
    contexts: Contexts,
    prompt: Prompt,
    reason: StopReason,
) -> tuple[Chunk, ...]:
    """Give the chunks of a run that can ask for nothing, with the reason."""
    outcomes = unasked(contexts.planned, prompt, reason)
    return merged(chunks, kept(outcomes, former, contexts, STATEMENTS))


def unasked(
    planned: DocumentPlan, prompt: Prompt, reason: StopReason | None
) -> dict[int, Enrichment]:
    """Give what becomes of chunks that nobody is asked about.

    Without a reason those alone that need no statement (E13).
    """
    found: dict[int, Enrichment] = {}
    for part in planned.parts:
        reasons: dict[int, str] = dict(part.skipped)
        if reason is not None:
            reasons |= {passage.index: reason for passage in part.passages}
        for index, why in reasons.items():
            found[index] = Enrichment(
                status="skipped", reason=why, prompt=prompt.reference, view=part.view
            )
    return found


def merged(
    chunks: Sequence[Chunk], outcomes: Mapping[int, Enrichment]
) -> tuple[Chunk, ...]:
    """Give chunks what became of them, and single blocks what their leaf has (C9)."""
    found = list(chunks)
    for index, enrichment in outcomes.items():
        found[index] = replace(found[index], enrichment=enrichment)
    of_leaves = {chunk.chunk_id: chunk.enrichment for chunk in found}
    return tuple(
        replace(chunk, enrichment=of_leaves[chunk.parent_chunk_id])
        if chunk.parent_chunk_id is not None and is_paragraph(chunk.chunk_id)
        else chunk
        for chunk in found
    )
