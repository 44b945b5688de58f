"""Need scores: which chunks to ask sentences for, known before any is paid for.

None of these has beaten a random choice of the same share. They are here because
somebody who has read of one of them should see what it does on a corpus of their own,
and because the next idea is to be held against them. What each did on 38 pages of
the Kubernetes documentation (793 chunks, sentences of a capable model, 186 questions)
is what `python -m benchmarks.frontier` prints.
"""

from __future__ import annotations

import math
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

_FOLDS: Final = 5

_RIDGE: Final = 100.0
"""The penalty on weights of features that vary by about 1; not tuned."""

_ROWS_AT_ONCE: Final = 256
"""Of similarities: 20 MB beside 20,000 entries."""


def needs(
    pair: Pair, words: Callable[[str], list[str]], log: Rows | None = None
) -> dict[str, tuple[float, ...]]:
    """Give every score, by the name that reports show; the highest is neediest.

    `words` finds the words of a text; `log` has a row for each question of a query
    log. Time grows with the square of the entries: seconds for 20,000.
    """
    entries = pair.free.entries
    near = neighbourhoods(entries, pair.free_rows)
    found = {
        "short text": -_lengths(entries),
        "missing heading words": missing_words(entries, words),
        "near a sibling": near.sibling,
        "near to few": -near.neighbour_of,
    }
    learnt = expected_shift(pair, np.stack(list(found.values()), axis=1))
    if learnt is not None:
        found["expected shift"] = learnt
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
            nearest = np.argpartition(-likeness, most - 1, axis=1)[:, :most]
            neighbour_of += np.bincount(nearest.reshape(-1), minlength=count)
        related = documents[block][:, None] == documents[None, :]
        sibling[block] = np.where(related, likeness, -1).max(axis=1)
    return Neighbourhoods(sibling=sibling, neighbour_of=neighbour_of)


def expected_shift(pair: Pair, features: Floats) -> Floats | None:
    """Give how far a sentence will move an entry's vector, learnt on other documents.

    Ridge regression on `features` and the vector without a sentence; what is learnt
    is one less the cosine of both vectors. Documents are dealt to five folds and each
    is told by the others, so that no entry's own sentence has a say. None where all
    sentences are of one document.
    """
    places = pair.places
    documents = [pair.free.entries[place].doc_id for place in places]
    turns = {name: turn for turn, name in enumerate(dict.fromkeys(documents))}
    if len(turns) < 2:
        return None
    folds = np.array([turns[name] % _FOLDS for name in documents])
    free, stated = (
        one.astype(np.float64) for one in (pair.free_rows, pair.stated_rows)
    )
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)
    table = np.hstack((scaled, free * math.sqrt(free.shape[1])))[places]
    shifts = 1 - (free[places] * stated[places]).sum(axis=1)
    found = np.zeros(len(pair.free.entries))
    for fold in range(min(_FOLDS, len(turns))):
        known = folds != fold
        found[places[~known]] = _ridge(table[known], shifts[known], table[~known])
    return found


def _ridge(features: Floats, wanted: Floats, others: Floats) -> Floats:
    middle, mean = features.mean(axis=0), wanted.mean()
    centred = features - middle
    penalty = _RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(
        centred.T @ centred + penalty, centred.T @ (wanted - mean)
    )
    predicted: Floats = mean + (others - middle) @ weights
    return predicted


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
