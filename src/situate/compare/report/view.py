"""What the browser of questions needs, as values JSON can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situate.compare.report import words
from situate.compare.report.record import plain

if TYPE_CHECKING:
    from situate.compare.comparison import Comparison, Shown
    from situate.compare.report.tables import Order
    from situate.model import JsonValue
    from situate.records import Record


def view(comparison: Comparison, order: Order) -> Record:
    """Give the questions and, once each, the entries that they retrieved.

    A hit is an index into `entries` and a share; an entry is id, document,
    breadcrumb, statement and text.
    """
    against: Record = {
        each.arm: each.against
        for each in comparison.standings
        if each.against is not None
    }
    against |= {each.arm: each.against for each in comparison.verdicts}
    # What a reader comes for: where a sentence pays, else the first that was judged.
    opening = sorted(comparison.verdicts, key=lambda each: each.choice != "keep")[:1]
    return {
        "primary": words.measure(comparison.primary),
        "questions_in_all": comparison.questions,
        "retrievers": [*order.retrievers],
        "arms": [*order.arms],
        "against": against,
        "opening": [[each.retriever, each.arm] for each in opening],
        "questions": [_question(each, order) for each in comparison.shown],
        "entries": [
            [each.entry_id, each.doc_id, each.breadcrumb, each.statement, each.text]
            for each in comparison.entries
        ],
    }


def _question(shown: Shown, order: Order) -> Record:
    """Give hits and primary measure as lists in the order of retrievers and arms."""
    hits: list[JsonValue] = []
    primary: list[JsonValue] = []
    for retriever in order.retrievers:
        ranked = shown.hits.get(retriever, {})
        scored = shown.primary.get(retriever, {})
        hits.append([plain(ranked.get(arm)) for arm in order.arms])
        primary.append([plain(scored.get(arm)) for arm in order.arms])
    return {
        "qid": shown.qid,
        "query": shown.query,
        "kind": shown.kind,
        "origin": shown.origin,
        "gold": [[doc_id, text] for doc_id, text in shown.gold],
        "hits": hits,
        "primary": primary,
    }
