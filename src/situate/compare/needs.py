"""Need scores: which chunks to ask sentences for, before any is paid for.

None of these has beaten a random choice of the same share, so that none is a key of
the config. They are here because somebody who has thought of one should see what it
does on a corpus of their own, and because the next idea is to be held against them.

What each has over random choices, as the mean over all shares of recall at 2,000
tokens; dense, then hybrid retrieval. 793 chunks of 38 pages of the Kubernetes
documentation, 186 questions, both sentences of a capable model; the vectors are
static ones and those of all-MiniLM-L6-v2 in 8 bits. Intervals reach 0.01 to 0.02
either way. `python -m benchmarks.frontier` prints them.

    score                   situating                     findable
                            static        MiniLM          static        MiniLM
    short text              -.002 +.004   -.001 -.002     +.003 +.002   +.007 +.012
    missing heading words   -.006 +.004   -.001 +.000     -.000 +.004   -.002 -.006
    near a sibling          +.001 +.001   -.008 -.002     -.004 +.003   -.004 -.002
    near to few             +.008 +.005   +.005 +.004     +.011 +.006   -.005 -.006
    asked about             +.001 -.002   +.007 +.001     -.008 -.003   +.007 +.000
    holds an answer         +.026 +.005   -.003 -.002     +.028 +.012   +.018 +.014

The last is no score, since nobody knows it: what can be had by knowing. Tried and not
kept: how far down a chunk is found by its own heading, its first sentence or all of
them, likeness to the heading, the document or the corpus, how mixed the sentences
are, rare words, words that point elsewhere, words that a sentence is
expected to add, and how far it is expected to move the vector, learnt on the
sentences of other documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from situate.compare.arms import Entry
    from situate.compare.embedders.contract import Rows
    from situate.compare.mixing import Pair

    Floats = NDArray[np.float64]

_NEIGHBOURS: Final = 10

_WITHIN: Final = 100
"""Entries of a ranking that somebody who asked may have seen."""

_RRF: Final = 60

_ROWS_AT_ONCE: Final = 256
"""Of similarities: 20 MB beside 20,000 entries."""


def needs(
    pair: Pair, words: Callable[[str], list[str]], log: Rows | None = None
) -> dict[str, tuple[float, ...]]:
    """Give every score, by the name that reports show; the highest is neediest.

    Short texts are needy since little else is in their vector. `words` finds the
    words of a text; `log` has a row for each question of a query log. Time grows with
    the square of the entries: seconds for 20,000.
    """
    entries = pair.free.entries
    near = neighbourhoods(entries, pair.free_rows)
    found = {
        "short text": -_lengths(entries),
        "missing heading words": missing_words(entries, words),
        "near a sibling": near.sibling,
        "near to few": -near.neighbour_of,
    }
    if log is not None and len(log):
        found["asked about"] = asked_about(pair.free_rows, log)
    return {name: tuple(scores.tolist()) for name, scores in found.items()}


def _lengths(entries: Sequence[Entry]) -> Floats:
    return np.array([entry.text_tokens for entry in entries], np.float64)


def missing_words(
    entries: Sequence[Entry], words: Callable[[str], list[str]]
) -> Floats:
    """Give the share of the breadcrumb's words that a text does not say itself.

    Where a text does not name its subject a sentence would.
    """
    return np.array(
        [
            len(wanted.difference(words(entry.text))) / max(1, len(wanted))
            for entry in entries
            for wanted in (frozenset(words(entry.breadcrumb)),)
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbourhoods:
    """Where entries stand among each other, a number for each."""

    sibling: Floats
    """Cosine with the nearest other entry of the document, -1 without one: what is
    easily taken for its neighbour needs telling apart."""
    neighbour_of: Floats
    """How many others have it among their ten nearest. What is near to few is found
    by few questions (Radovanovic, Nanopoulos and Ivanovic, Hubs in Space, Journal of
    Machine Learning Research 11, 2010)."""


def neighbourhoods(entries: Sequence[Entry], rows: Rows) -> Neighbourhoods:
    """Hold every entry's vector against all others."""
    numbers: dict[str, int] = {}
    documents = np.array(
        [numbers.setdefault(entry.doc_id, len(numbers)) for entry in entries]
    )
    count = len(entries)
    most = min(_NEIGHBOURS, count - 1)
    sibling, neighbour_of = np.empty(count), np.zeros(count)
    for start in range(0, count, _ROWS_AT_ONCE):
        block = np.arange(start, min(count, start + _ROWS_AT_ONCE))
        likeness = rows[block] @ rows.T
        likeness[np.arange(len(block)), block] = -1
        if most > 0:
            kth = np.partition(likeness, count - most, axis=1)[:, count - most]
            neighbour_of += (likeness >= kth[:, None]).sum(axis=0)
        related = documents[block][:, None] == documents[None, :]
        sibling[block] = np.where(related, likeness, -1).max(axis=1)
    return Neighbourhoods(sibling=sibling, neighbour_of=neighbour_of)


def asked_about(rows: Rows, log: Rows) -> Floats:
    """Give how much the questions of a log have to do with each entry.

    The sum of reciprocal ranks in their dense rankings: what nobody asks about needs
    no sentence.
    """
    demand = np.zeros(len(rows))
    most = min(_WITHIN, len(rows))
    parts = 1 / (_RRF + np.arange(1, most + 1))
    for question in log:
        ranking = np.argsort(-(rows @ question), kind="stable")[:most]
        demand[ranking] += parts
    return demand
