"""Chooses among drafts: nothing asked twice, no document or section too often.

A seed says which are kept, through hashes of what they are: no generator of random
numbers has a state to share, and adding a document moves no other's questions.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from situate.compare.drafting.wording import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from situate.compare.drafting.values import Draft


def asked_once(drafts: Iterable[Draft]) -> list[Draft]:
    """Leave out every question that is asked of two places.

    Its answers would each be right, and only one of them would count.
    """
    listed = list(drafts)
    asked = [" ".join(words(draft.query)) for draft in listed]
    times = Counter(asked)
    return [
        draft for draft, said in zip(listed, asked, strict=True) if times[said] == 1
    ]


def spread(
    drafts: Sequence[Draft], *, seed: int, most: int, most_per_section: int
) -> list[Draft]:
    """Keep at most so many of one document's drafts, taken from all over it.

    Drafts come in reading order and are kept in it. The sources take turns.
    """
    by_kind: dict[str, list[int]] = defaultdict(list)
    for index, draft in enumerate(drafts):
        by_kind[draft.kind].append(index)
    waiting = [_scattered(drafts, indexes, seed) for indexes in by_kind.values()]
    per_section: Counter[str] = Counter()
    kept: list[int] = []
    while waiting and len(kept) < most:
        turn = waiting.pop(0)
        for index in turn:
            section = drafts[index].section_id
            if per_section[section] < most_per_section:
                per_section[section] += 1
                kept.append(index)
                waiting.append(turn)
                break
    return [drafts[index] for index in sorted(kept)]


def _scattered(
    drafts: Sequence[Draft], indexes: Sequence[int], seed: int
) -> Iterator[int]:
    """Yield indexes so that the first few of them lie far apart.

    Read backwards, the digits of 0, 1, 2, 3 give halves, then quarters.
    """
    count = len(indexes)
    width = max(1, (count - 1).bit_length())
    first = drafts[indexes[0]].qid
    said = hashlib.sha256(f"{seed}\0{first}\0{count}".encode()).digest()
    shift = int.from_bytes(said[:8], "big") % count
    for turn in range(1 << width):
        place = int(f"{turn:0{width}b}"[::-1], 2)
        if place < count:
            yield indexes[(place + shift) % count]
