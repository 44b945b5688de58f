"""Counts what goes into a manifest while it is written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from situate.manifest import Counts, Note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from situate.model import Chunk
    from situate.pipeline.documents import Failed, Prepared


class Tally:
    """Documents, chunks and what became of the wish for statements."""

    def __init__(self) -> None:
        self.documents = 0
        self.warnings: list[Note] = []
        self.failed: list[Note] = []
        self._levels: Counter[str] = Counter()
        self._statements = 0
        self._fallbacks: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    def add(self, document: Prepared, chunks: Iterable[Chunk]) -> None:
        """Count a document and its chunks as they are published."""
        self.documents += 1
        doc_id = document.document.doc_id
        self.warnings.extend(
            Note(doc_id=doc_id, message=message) for message in document.warnings
        )
        for chunk in chunks:
            self._levels[chunk.level] += 1
            reason = chunk.enrichment.reason or "unknown"
            match chunk.enrichment.status:
                case "statement":
                    self._statements += 1
                case "fallback":
                    self._fallbacks[reason] += 1
                case "skipped":
                    self._skipped[reason] += 1
                case "off":
                    pass

    def fail(self, document: Failed) -> None:
        """Count a document that could not be read."""
        self.documents += 1
        self.failed.append(Note(doc_id=document.source.doc_id, message=document.reason))

    @property
    def counts(self) -> Counts:
        """All of it so far, in an order that does not depend on the run."""
        return Counts(
            documents=self.documents,
            failed=len(self.failed),
            chunks=dict(sorted(self._levels.items())),
            statements=self._statements,
            fallbacks=dict(sorted(self._fallbacks.items())),
            skipped=dict(sorted(self._skipped.items())),
        )
