"""Asks a person which of two rankings serves a question better, without saying whose.

`seat` decides by its seed who sits on the left and keeps that in a key of its own;
`page` is given what is seated and never learns the arms; `read` puts a person's
judgements and the key together again.
"""

from __future__ import annotations

from situate.compare.blind.judgements import Judged, Judgement, read
from situate.compare.blind.page import page
from situate.compare.blind.seating import Contest, Key, Pair, Passage, Seat, seat

__all__ = [
    "Contest",
    "Judged",
    "Judgement",
    "Key",
    "Pair",
    "Passage",
    "Seat",
    "page",
    "read",
    "seat",
]
