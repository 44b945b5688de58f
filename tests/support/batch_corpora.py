"""A corpus that is asked about in batches, and what is left of that on the disk."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from situate.config import load
from situate.enrichment.batches import Pending, Ticket, Tickets, tickets_folder
from situate.enrichment.cache import Cache
from situate.pipeline import batches
from tests.enrichment.scenes import VirtualTime
from tests.support.agreements import agreement
from tests.support.corpora import Corpus, Heard, asking

if TYPE_CHECKING:
    from pathlib import Path

    from situate.config import Config
    from situate.enrichment.batches import Collected
    from situate.enrichment.throttle import Timing
    from tests.support.batches import BatchVendor

SECTIONS = 4
"""Requests of each document."""


@dataclass(slots=True, kw_only=True)
class BatchCorpus:
    """Documents that need a few statements each, and a vendor to ask."""

    corpus: Corpus
    vendor: BatchVendor
    config: Config = field(init=False)
    """The config as it was written last."""

    @classmethod
    def of(
        cls, folder: Path, vendor: BatchVendor, *, documents: int = 2, **keys: object
    ) -> BatchCorpus:
        """Write documents and config; each chunk is asked about alone."""
        corpus = Corpus(folder=folder)
        for number in range(documents):
            corpus.document(f"{number}.md", agreement(number, SECTIONS))
        made = cls(corpus=corpus, vendor=vendor)
        made.configure(**keys)
        return made

    def configure(self, **keys: object) -> None:
        """Write the config, with changes."""
        plain = {
            "provider": self.vendor.name,
            "endpoint": "loopback",
            "view": "full",
            "max_total_tokens": 10_000_000,
            **keys,
        }
        # A limit of one kind is refused beside one of the other.
        if "max_usd" in keys:
            del plain["max_total_tokens"]
        self.corpus.configure(
            enrichment=asking(self.vendor.base_url, **plain),
            cache={"directory": "cache"},
        )
        (self.config,) = load([self.corpus.config], environment={})

    def submit(self, time: VirtualTime | None = None) -> batches.Submission:
        """Hand in what is missing; nobody waits."""
        timing = (time or VirtualTime()).timing
        return batches.submit(self.config, Heard(), timing=timing)

    def collect(self, *, wait: bool = False, timing: Timing | None = None) -> Collected:
        """Look at the open tickets; nobody waits."""
        timing = timing or VirtualTime().timing
        return batches.collect(self.config, Heard(), wait=wait, timing=timing)

    @property
    def states(self) -> list[str]:
        """The state of every ticket."""
        return [ticket.state for ticket in self.tickets]

    @property
    def cache_directory(self) -> Path:
        """Where answers and tickets go."""
        return self.corpus.folder / "cache"

    @property
    def tickets(self) -> tuple[Ticket, ...]:
        """All tickets."""
        return Tickets(tickets_folder(self.cache_directory)).all()

    @property
    def pending(self) -> Pending:
        """What they say of chunks."""
        return Pending.of(tickets_folder(self.cache_directory))

    @property
    def outcomes(self) -> Counter[str]:
        """What became of the chunks that are published: why not, or `statement`."""
        found = (record["metadata"]["enrichment"] for record in self.corpus.records)
        return Counter(each["reason"] or each["status"] for each in found)

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """What the ledger says."""
        path = self.config.output.beside("ledger.jsonl")
        lines = path.read_text("utf-8").splitlines() if path.exists() else ()
        return [json.loads(line) for line in lines]

    def append(self, name: str, text: str) -> None:
        """Write more at the end of a document."""
        path = self.corpus.folder / "docs" / name
        path.write_text(path.read_text("utf-8") + text, "utf-8")

    def answered(self, *keys: str) -> set[str]:
        """Give the requests among these whose reply is in the cache."""
        with Cache(self.cache_directory) as cache:
            return {key for key in keys if cache.reply(key) is not None}

    def wait_until_settled(self) -> None:
        """Let time pass for tickets that the vendor was found not to have."""
        for path in tickets_folder(self.cache_directory).glob("*.json"):
            record: dict[str, Any] = json.loads(path.read_text("utf-8"))
            if record["unseen_since"] is not None:
                record["unseen_since"] = "2026-01-01T00:00:00+00:00"
                path.write_text(json.dumps(record), "utf-8")
