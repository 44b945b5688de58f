"""Who sits where, and the key that says so.

A passage carries nothing that one arm has and the other lacks: statements are left
out, and ids, scores and ranks of the arms are not passed on.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from situate.errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA: Final = 1

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One retrieved passage as a judge sees it."""

    heading: str
    """Where it stands; the same whichever arm retrieved it."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A question on which two arms differ, with what each retrieved, best first."""

    qid: str
    query: str
    first: tuple[Passage, ...]
    """Of the first arm."""
    second: tuple[Passage, ...]
    weight: float = 1.0
    """How many questions of the log it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A question with its two rankings, seated; whose they are is not said."""

    qid: str
    query: str
    left: tuple[Passage, ...]
    right: tuple[Passage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Who sits on the left of one question."""

    qid: str
    left: str
    """An arm's name."""
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What the page does not say; to be kept apart from it until all is judged."""

    page: str
    """Names the page that it belongs to."""
    arms: tuple[str, str]
    seed: int
    differing_share: float
    """Of the log's questions, those on which the two arms differ."""
    seats: tuple[Seat, ...]
    basis: str = ""
    """Names what the arms index; judgements are of nothing else."""

    def to_json(self) -> bytes:
        """Write it as one JSON object, the same bytes for the same key."""
        record = {
            "schema": SCHEMA,
            "page": self.page,
            "arms": [*self.arms],
            "seed": self.seed,
            "basis": self.basis,
            "differing_share": float(self.differing_share),
            "questions": [
                {"qid": each.qid, "left": each.left, "weight": float(each.weight)}
                for each in self.seats
            ],
        }
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
        return text.encode("utf-8", "backslashreplace") + b"\n"


def seat(
    contests: Sequence[Contest],
    arms: tuple[str, str],
    *,
    seed: int,
    differing_share: float,
) -> tuple[tuple[Pair, ...], Key]:
    """Seat the arms of every question by chance, the same for the same seed.

    Where an arm sits says nothing of where it sits for another question.

    Raises:
        RecordError: two contests have one `qid`.
    """
    pairs, seats = [], []
    for contest in contests:
        swapped = _coin(seed, contest.qid)
        sides = (contest.first, contest.second)
        left, right = reversed(sides) if swapped else sides
        pairs.append(Pair(qid=contest.qid, query=contest.query, left=left, right=right))
        seats.append(Seat(qid=contest.qid, left=arms[swapped], weight=contest.weight))
    if len({pair.qid for pair in pairs}) < len(pairs):
        message = "two questions of a blind page have one id; give each its own"
        raise RecordError(message)
    key = Key(
        page=page_id(pairs),
        arms=arms,
        seed=seed,
        differing_share=differing_share,
        seats=tuple(seats),
    )
    return tuple(pairs), key


def page_id(pairs: Sequence[Pair]) -> str:
    """Name a page after what it shows and who sits where."""
    shown = [
        [pair.qid, pair.query, *map(_texts, (pair.left, pair.right))] for pair in pairs
    ]
    text = json.dumps(shown, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _texts(passages: Sequence[Passage]) -> list[list[str]]:
    return [[passage.heading, passage.text] for passage in passages]


def _coin(seed: int, qid: str) -> bool:
    """Toss a coin for one question."""
    text = f"{seed}:{qid}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).digest()[0] % 2 == 1
