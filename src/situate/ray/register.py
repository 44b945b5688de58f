"""What is known of the workers of a run, kept where it outlives any of them.

Ray begins what a dead worker was at again, for ever. A document that ends the process
that reads it is found here, and given up. A worker that is put in the place of a dead
one has the rest of its share, not a share of its own: else every death would raise
what a run may spend.
"""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from situate.enrichment.budget import NOTHING, Committed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_INPUT_AND_OUTPUT = ("uncached_input", "cache_write", "cache_read", "output")


class Register:
    """Hears from workers what they are at, and what they have spent."""

    def __init__(self, ledger: Path, workers: int) -> None:
        """Take the ledger that so many workers are about to write."""
        self._ledger = ledger
        self._begins = ledger.stat().st_size if ledger.exists() else 0
        self._workers = workers
        self._said: dict[str, Committed] = {}
        self._open: Counter[str] = Counter()

    def begin(self, work: str) -> int:
        """Note that some work begins; give how often it began and did not end."""
        before = self._open[work]
        self._open[work] += 1
        return before

    def end(self, work: str) -> None:
        """Note that it is done."""
        del self._open[work]

    def enter(self, worker: str) -> Committed:
        """Give what is gone of a worker's share; nothing unless it died before.

        Of one that died that is what it said last, and everything since then of which
        nobody has said that it was theirs: too much rather than too little. What it
        had on the wire when it died is in no ledger.
        """
        gone = self._said.get(worker)
        if gone is None and len(self._said) < self._workers:
            self._said[worker] = NOTHING
            return NOTHING
        if gone is None:
            # In the place of any of them: at worst of the one that spent most.
            gone = _largest(self._said.values())
        spent, told = self._noted(), _sum(self._said.values())
        gone = Committed(
            usd=gone.usd + max(Decimal(0), spent.usd - told.usd),
            tokens=gone.tokens + max(0, spent.tokens - told.tokens),
        )
        self._said[worker] = gone
        return gone

    def report(self, worker: str, gone: Committed) -> None:
        """Hear what is gone of a worker's share, with what was when it entered."""
        self._said[worker] = gone

    def _noted(self) -> Committed:
        """Add up what the ledger has been told since the run began."""
        usd, tokens = Decimal(0), 0
        if not self._ledger.exists():
            return NOTHING
        with self._ledger.open("rb") as lines:
            lines.seek(self._begins)
            for line in lines:
                # Whoever died left half a line, and who lives may be at one.
                if line.startswith(b"{") and line.endswith(b"}\n"):
                    entry = json.loads(line)
                    used = entry["usage"] or {}
                    usd += Decimal(entry["cost_usd"] or 0)
                    tokens += sum(used.get(kind, 0) for kind in _INPUT_AND_OUTPUT)
        return Committed(usd=usd, tokens=tokens)


def _sum(several: Iterable[Committed]) -> Committed:
    usd, tokens = Decimal(0), 0
    for each in several:
        usd, tokens = usd + each.usd, tokens + each.tokens
    return Committed(usd=usd, tokens=tokens)


def _largest(several: Iterable[Committed]) -> Committed:
    found = list(several)
    return Committed(
        usd=max(each.usd for each in found), tokens=max(each.tokens for each in found)
    )
